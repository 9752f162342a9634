"""Counting tokens: exact, corrected and estimated counters, and the table of models.

Knows `foldline.core` alone: a counter is handed to passes and engine as a `foldline.core.ports.TokenCounter`.
`foldline.tokens.choose.counter_for` is the door; `docs/concepts/tokens.md` says what is counted and how well.
"""
