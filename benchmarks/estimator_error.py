"""How far the built-in estimate is from the exact count, over real files: the source of the figures in the docs.

    python benchmarks/estimator_error.py [FILE...]

Takes every string of at least 40 characters out of each JSON or JSONL file (any other file is one string for each
2,000 characters) and prints, against o200k_base: the error of the sum, the median and the 95th percentile of the
error of single strings, and the error of `length / 4` beside it. Without files: the sessions in tests/data.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from foldline.tokens.bpe import Exact
from foldline.tokens.estimate import estimate, quarter

CHARS_MIN = 40
"""Shorter strings are keys and ids; their error is one token either way."""
CHUNK_CHARS = 2_000
SAMPLE = Path(__file__).parent.parent / "tests" / "data"


def main(arguments: list[str]) -> None:
    """Print the table."""
    files = [Path(argument) for argument in arguments] or sorted(SAMPLE.glob("[!b]*/*"))
    rows, everything = [], []
    for file in files:
        texts = [text for text in texts_of(file) if len(text) >= CHARS_MIN]
        if texts:
            rows.append((file.name, texts))
            everything += texts
    print(f"{'file':44} {'strings':>8} {'tokens':>9} {'sum':>7} {'median':>7} {'p95':>7} {'length/4':>9}")
    for name, texts in [*rows, ("all", everything)]:
        print(row(name, texts))


def row(name: str, texts: list[str]) -> str:
    """One line of the table."""
    exact = Exact("o200k_base").many(texts)
    guesses = [estimate(text) for text in texts]
    errors = sorted(abs(guess / tokens - 1) for guess, tokens in zip(guesses, exact, strict=True))
    total = sum(exact)
    of_sum, of_quarter = sum(guesses) / total - 1, sum(map(quarter, texts)) / total - 1
    p95 = errors[int(0.95 * len(errors))]
    return f"{name[:44]:44} {len(texts):8,} {total:9,} {of_sum:+7.1%} {median(errors):7.1%} {p95:7.1%} {of_quarter:+9.1%}"


def texts_of(file: Path) -> Iterator[str]:
    """The strings of a file, in order."""
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        yield from strings_in(json.loads(text))
    except json.JSONDecodeError:
        for line in text.split("\n"):
            try:
                yield from strings_in(json.loads(line))
            except json.JSONDecodeError:
                yield from (line[at : at + CHUNK_CHARS] for at in range(0, len(line), CHUNK_CHARS))


def strings_in(value: Any) -> Iterator[str]:
    """Every string inside a JSON value."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from strings_in(inner)
        case list():
            for inner in value:
                yield from strings_in(inner)
        case _:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
