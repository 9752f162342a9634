"""Text to count: real strings out of recorded transcripts, and strings that tokenizers have tripped over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "data"
FILES = (
    DATA / "langgraph" / "deerflow-5aa47db1-cjk.json",
    DATA / "openhands" / "sonnet4-fncall-5046.json",
)

NASTY = (
    "",
    " ",
    "a",
    "\x00",
    "\r\n\r\n\t \n",
    " " * 20_000,
    "a" * 20_000,
    "=" * 3_000,
    "中" * 3_000,
    "<|endoftext|> and <|im_start|>system",
    "e\u0301 \u00e9 ﬁ Ａ ①",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🧠",
    "مرحبا بالعالم  שלום  नमस्ते  สวัสดี  안녕하세요  こんにちは  Здравствуйте",
    "9f86d081884c7d659a2feaa0c55ad015" * 8,
    "1234567890 3.14159 1e-9 0xDEADBEEF",
    "\u200b\u200d\ufeff\u202e",
    "it's we'll I'M THEY'RE don’t",
)
SURROGATES = ("\ud800", "a\ud800b\udfff", "\ud83d\ude00", "x" * 100 + "\udc00" + "é")


def strings_of(value: Any) -> list[str]:
    """Every string inside a JSON value, in order."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in strings_of(inner)]
        case list():
            return [text for inner in value for text in strings_of(inner)]
        case _:
            return []


def real_texts() -> list[str]:
    """Every string of the recorded transcripts."""
    return [text for path in FILES for text in strings_of(json.loads(path.read_bytes()))]
