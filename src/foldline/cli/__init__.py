"""The command line: argv in, words for people or one JSON document out.

Owns exit codes, what reaches a terminal and how files are written. Knows nothing of passes, codecs or laws: what is done stands
behind the facade, which each command asks by the module that does it. Its counterpart for Python callers is the package
`foldline` itself.
"""
