"""Public fault reports of other products as tests: the input of each report, and its siblings.

`tests/data/bugs/` holds the inputs, `tests/data/SOURCES.md` credits them. Everything here goes through the public
interface; what comes out is judged by `tests.judges`, which share no code with the product.
"""
