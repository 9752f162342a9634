"""One module, one command: each parses, has the facade do the work, and prints.

`foldline.cli.main` imports a module when its command runs; the click command in it is called `command`.
"""
