"""Public test kit: builders of messages, hypothesis strategies of sessions, a counter without a tokenizer, and suites
that any pass or codec, a stranger's too, can be held to.

Stands beside the layers and may use all of them; nothing in the product imports it. `hypothesis` is needed for
`strategies` alone.
"""
