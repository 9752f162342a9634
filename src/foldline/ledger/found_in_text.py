"""Facts in text: paths, identifiers, keyed numbers, error lines and names of code. First version."""

from __future__ import annotations

import re

from foldline.ledger.facts import Fact

_PATH = re.compile(r"(?:~/|\.{1,2}/|/)?(?:[\w.@-]+/)+[\w.@-]+")


def extract(text: str) -> tuple[Fact, ...]:
    """Facts of one text."""
    return tuple(Fact(kind="paths", key=path, text=path) for path in dict.fromkeys(_PATH.findall(text)))
