"""A thousand addresses, drawn over all results, each opened on the file it came from.

`FOLDLINE_CORPUS` names a folder of session files to draw from beside the bundled ones.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from foldline import files, reading
from foldline.core.address import parse_address
from foldline.core.message import ToolResult
from foldline.core.received import slotted
from foldline.lookup import show, text_of
from foldline.transcripts.transcript import Transcript

DATA = Path(__file__).parents[1] / "data"
SUFFIXES = (".json", ".jsonl", ".traj")
SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.1, 0.05)
CONVERSATIONS_MAX = 5
SAMPLE = 1_000
BYTES_MAX = 400_000


def sessions() -> Iterator[Path]:
    """Session files: the bundled ones, and all of the folder that the environment names."""
    found = [path for path in DATA.rglob("*") if path.suffix in SUFFIXES and "bugs" not in path.parts]
    yield from sorted(path for path in found if path.stat().st_size <= BYTES_MAX)
    corpus = os.environ.get("FOLDLINE_CORPUS")
    if corpus:
        yield from sorted(path for path in Path(corpus).rglob("*") if path.suffix in SUFFIXES)


def addresses() -> Iterator[tuple[Transcript, str]]:
    """Every address of every result, with the conversation it came from."""
    for path in sessions():
        for transcript in reading.read(str(path))[:CONVERSATIONS_MAX]:
            for share in SHARES:
                options = files.CompactOptions(to=share, counter="length/4")
                report = files.compact([transcript], options).results[0].report
                yield from ((transcript, address) for address in report.covers.addresses)


def test_a_thousand_addresses_open_to_what_stood_there() -> None:
    """Law TRACE: to the character; a part's text alone, a range with every part of every message in it
    (ahmadrosid/nakama#588)."""
    drawn = list(addresses())
    random.Random(0).shuffle(drawn)
    parts = ranges = 0
    for transcript, address in drawn[:SAMPLE]:
        place, opened = parse_address(address), show([transcript], address)
        messages = [slotted(message) for message in transcript.messages[place.start : place.end]]
        if place.slot is None:
            ranges += 1
            texts = [text_of(part) for message in messages for part in message.parts]
            assert all(text in (opened.text or "") for text in texts), address
            continue
        parts += 1
        original = next(part for part in messages[0].parts if part.slot == place.slot)
        assert opened.text == text_of(original), address
        assert not isinstance(original, ToolResult) or original.call_id
    assert parts > 50
    assert ranges > 10
    sys.stdout.write(f"{parts + ranges} of {len(drawn)} addresses opened: {parts} parts, {ranges} ranges")
