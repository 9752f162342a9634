"""Durable sessions: a conversation that keeps its own log, and stays inside its window before every request.

`opening` opens one, `session` is what a caller holds, `conversation` what a session and its nodes have in common. Of an open
session `keep` alone writes the log; `library` (an import), `forking` and `changes` (a dry run) begin new ones. What a log comes to is
`foldline.log.replay`'s to know, where it lies a store's.
"""
