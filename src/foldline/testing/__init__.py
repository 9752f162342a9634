"""Public test kit: builders of messages, hypothesis strategies of sessions, a counter without a tokenizer, for tests of any
pass or codec, a stranger's too; `judges` of requests, and `twin`, a provider on loopback, for tests of an agent.

Stands beside the layers and may use all of them; nothing in the product imports it. `hypothesis` is needed for
`strategies` alone.
"""
