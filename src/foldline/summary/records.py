"""Exact records: lines that the agent wrote down to be kept word for word, put back by the host and not left to a model.

    EXACT CONTINUATION RECORD [Exact next action] :: run `pytest tests/auth -x`, then mend the second failure

One line, a label, one of the ledger's seven headings, and the text (requirements CMP-27, CMP-28). They come from what the user
and the agent said, never from a tool's output, a file or an earlier summary. Knows messages and the ledger's entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from foldline.core.message import Message, Text, is_injected
from foldline.core.view import Item
from foldline.ledger.entries import HEADINGS, Entry, Section
from foldline.ledger.facts import Origin

LABEL: Final = "EXACT CONTINUATION RECORD"
HEADING_CHARS_MAX: Final = 64
PAYLOAD_CHARS_MAX: Final = 2_048
RECORDS_MAX: Final = 32
CHARS_MAX: Final = 16_384
"""Of all payloads of one compaction."""
_RECORD: Final = re.compile(
    rf"^[ \t>*-]{{0,8}}{LABEL} \[([^\[\]\n]{{1,{HEADING_CHARS_MAX}}})\][ \t]{{0,8}}::[ \t]{{0,8}}(\S[^\n]{{0,{PAYLOAD_CHARS_MAX - 1}}})$",
    re.MULTILINE,
)
_SECTIONS: Final[dict[str, Section]] = {
    heading.lower(): section for section, heading in HEADINGS if section != "read"
}


def records_of(items: Iterable[Item]) -> tuple[Entry, ...]:
    """The records in messages, oldest first, each once; of too many the newest. What an unknown heading says is ignored."""
    found: dict[tuple[Section, str], Entry] = {}
    chars = 0
    for item in reversed(list(items)):
        for section, payload in reversed(_in_message(item.message)):
            if (section, payload) in found:
                continue
            if len(found) == RECORDS_MAX or chars + len(payload) > CHARS_MAX:
                return _in_order(found)
            chars += len(payload)
            origin: Origin = "assistant" if item.message.role == "assistant" else "user"
            found[section, payload] = Entry(
                section=section, key=payload, text=payload, seq=item.seq, origin=origin
            )
    return _in_order(found)


def _in_order(found: dict[tuple[Section, str], Entry]) -> tuple[Entry, ...]:
    return tuple(reversed(found.values()))


def _in_message(message: Message) -> list[tuple[Section, str]]:
    if message.synthetic or message.role not in ("user", "assistant"):
        return []
    if is_injected(message):
        return []
    texts = [part.text for part in message.parts if isinstance(part, Text) and LABEL in part.text]
    rows = [
        (found[1].strip().lower(), found[2].rstrip()) for text in texts for found in _RECORD.finditer(text)
    ]
    return [(_SECTIONS[heading], payload) for heading, payload in rows if heading in _SECTIONS]


def without_payloads(text: str, records: Sequence[Entry]) -> str:
    """A model's text without the lines that repeat a record."""
    payloads = [record.text for record in records]
    lines = [
        line
        for line in text.split("\n")
        if LABEL not in line and not any(payload in line for payload in payloads)
    ]
    return "\n".join(lines) if payloads or LABEL in text else text
