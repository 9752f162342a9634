"""Values and laws: messages, views, edits, budgets and errors.

Knows nothing of wire formats, files, clocks, randomness, the environment or the network: everything from
outside comes in as a value. Its counterparts are `foldline.wire` (bytes to messages and back) and
`foldline.engine` (when and how far to reduce).
"""
