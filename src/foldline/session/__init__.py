"""Durable sessions: a conversation that keeps its own log, and stays inside its window before every request.

`opening` opens one, `session` is what a caller holds, `conversation` what a session and its nodes have in common. `keep` is
the only module here that writes to a log; what the log comes to is `foldline.log.replay`'s to know, where it lies a store's.
"""
