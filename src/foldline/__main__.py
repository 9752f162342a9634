"""`python -m foldline`: the program, where its script is not on the path.

Owns nothing but the door; what it opens is `foldline.cli.main`, as the script `foldline` does. Importing it runs nothing.
"""

from foldline.cli.main import main

if __name__ == "__main__":
    main(prog_name="foldline")
