"""Independent judges: validators of request bodies, written from the providers' rules and from nothing of ours.

Each judge is a table of rules for one wire format and one function, `violations`. A judge imports nothing of the rest of
`foldline`: a wrong law must not be able to approve itself. `tests/testing/judges` breaks every rule once.
"""
