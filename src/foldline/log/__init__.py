"""The foldline log: how its lines are spelt, what stands in them, and what they come to.

Pure functions on bytes and values, the format in words is `docs/reference/log-format.md`. Knows no file: stores
(`foldline.stores`) keep logs on disk, and `foldline.transcripts.foldline_log` reads one as a session file.
"""
