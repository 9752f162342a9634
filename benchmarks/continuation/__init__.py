"""What is needed next: a benchmark of compaction by what the rest of a real session goes on to mention.

Owns nothing but the parts below it: `judge` says what a fact is, `session` reads and cuts, `need` looks at the real
continuation, `rows` makes the histories that are compared, `designs`
names those that were tried, `measure` weighs what is left, `__main__` prints. Run `python -m benchmarks.continuation`.
"""
