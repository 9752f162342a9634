"""Recall: finding again, and opening, what left the view.

Knows entries and messages, not where logs are kept (`foldline.stores`).
"""
