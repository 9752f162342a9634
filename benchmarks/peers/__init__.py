"""Other libraries beside this one, measured in one run: the steady check, the compaction, memory, validity, what is left.

    make bench-peers FILES="SESSION..."       its own environment, at the versions of `requirements.txt`
    python -m benchmarks.peers [FILE...]      in an environment that has them

What is measured and how stands in docs/reference/peers.md. `libraries` drives each library through its own entry point,
`worker` measures one of them in a process of its own, `judge` looks at what came out, `table` prints.
"""
