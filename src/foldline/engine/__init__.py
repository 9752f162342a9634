"""The engine: which pass runs when, and how far.

`policy` says it as a value, `run` does it, `report` tells it. Passes know how to reduce; nothing here does. Knows core
alone.
"""
