"""Recall: finding again, and opening, what left the view.

Knows entries, messages and the port of a store, not where logs are kept (`foldline.stores`). `Recall` in `foldline.recall.find`
is the door; `foldline.recall.tool` puts it before a model, `foldline.recall.loops` says when it is used too often.
"""
