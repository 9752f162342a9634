"""One module, one command: each parses, calls one function of the facade, and prints.

`foldline.cli.main` imports a module when its command runs; the click command in it is called `command`.
"""
