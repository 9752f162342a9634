"""How bytes go out: whole by default, and broken exactly where the script says."""

from __future__ import annotations

from foldline.testing.twin.delivery import Close, Wait, Write, acts
from foldline.testing.twin.desk import Response
from foldline.testing.twin.script import Delivery

FRAMES = (b"data: a\n\n", b"data: b\n\n", b"data: c\n\n")


def sent(delivery: Delivery) -> list[object]:
    response = Response(frames=FRAMES, ping=b": ping\n\n", error=b"data: error\n\n", delivery=delivery)
    return [act.data if isinstance(act, Write) else act for act in acts(response)]


def test_an_event_is_one_write() -> None:
    assert sent(Delivery()) == list(FRAMES)


def test_events_may_be_split_anywhere_without_losing_a_byte() -> None:
    split = sent(Delivery(bytes_per_write=4))
    assert all(isinstance(data, bytes) and len(data) <= 4 for data in split)
    assert b"".join(data for data in split if isinstance(data, bytes)) == b"".join(FRAMES)


def test_events_may_come_twice_and_pings_between_them() -> None:
    assert sent(Delivery(duplicated=(1,), pings=(0, 2))) == [
        b": ping\n\n",
        FRAMES[0],
        FRAMES[1],
        FRAMES[1],
        b": ping\n\n",
        FRAMES[2],
    ]


def test_a_stream_may_stand_still() -> None:
    assert sent(Delivery(stall_after=1, stall_s=3)) == [FRAMES[0], Wait(3), FRAMES[1], FRAMES[2]]


def test_a_stream_may_end_in_the_middle() -> None:
    assert sent(Delivery(end="cut", end_after=2)) == [*FRAMES[:2], Close(reset=False)]
    assert sent(Delivery(end="reset", end_after=1)) == [FRAMES[0], Close(reset=True)]
    assert sent(Delivery(end="error", end_after=1)) == [FRAMES[0], b"data: error\n\n"]
