"""Summaries by a model: what is asked, what the model is shown, what is taken of its reply, and the passes that put it in the
place of what it sums up.

Stands above the passes, whose folds it fills, and knows no completer: a pass yields an `Ask` and is sent a `Reply`.
"""
