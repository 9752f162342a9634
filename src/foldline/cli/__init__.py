"""The command line: argv in, one facade call, words for people or one JSON document out.

Owns exit codes, what reaches a terminal and how files are written. Knows nothing of passes, codecs or laws: all
of that is behind the facade: `foldline.files`, `foldline.lookup`, `foldline.distribution`, `foldline.catalogue`. Its counterpart for Python callers is the package `foldline` itself.
"""
