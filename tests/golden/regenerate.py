"""Writes the expected files of the golden cases anew: `python -m tests.golden.regenerate [CASE …]`.

Read the difference (`git diff tests/golden`) before you commit it: a person must be able to go on working from each.
"""

from __future__ import annotations

import sys

from tests.golden.cases import FOLDER, expected, made, names


def main(chosen: list[str]) -> None:
    """The cases named, or all."""
    for name in chosen or names():
        files = made(name)
        for stale in expected(name).keys() - files.keys():
            (FOLDER / name / stale).unlink()
        for file, text in files.items():
            (FOLDER / name / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
