"""Server-sent events come out whole however their bytes were cut, and what is no event is passed over and counted."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from foldline.wire import events
from foldline.wire.events import Events

VALUES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6)


@given(values=VALUES, cuts=st.lists(st.integers(min_value=1, max_value=9), max_size=40), crlf=st.booleans())
def test_events_are_the_same_however_the_stream_was_cut(
    values: list[dict[str, str]], cuts: list[int], crlf: bool
) -> None:
    """CMP-20: gateways split frames anywhere, in the middle of a character and of a line end too."""
    end = "\r\n" if crlf else "\n"
    frames = [f"event: x{end}data: {json.dumps(value, ensure_ascii=False)}{end}{end}" for value in values]
    data = f": ping{end}{end}{''.join(frames)}data: [DONE]{end}{end}".encode()
    reader, found = Events(), []
    for size in cuts:
        found += reader.feed(data[:size])
        data = data[size:]
    found += reader.feed(data)
    assert found == values
    assert reader.passed_over == 0


def test_a_last_event_without_its_blank_line_is_read_at_the_end() -> None:
    """Some servers close the connection behind the last line."""
    reader = Events()
    assert reader.feed(b'data: {"a":1}') == []
    assert reader.close() == [{"a": 1}]


def test_lines_of_data_are_one_value_and_a_lone_carriage_return_ends_a_line() -> None:
    """The event-stream format of the HTML standard, 9.2.6."""
    assert Events().feed(b'data: {"a":\rdata:1}\r\r\n') == [{"a": 1}]


def test_what_is_no_object_is_counted_and_never_given() -> None:
    """A frame that cannot be read says nothing; the stream goes to its caller as it came."""
    reader = Events()
    assert reader.feed(b"data: {\n\ndata: [1]\n\nid: 4\n\n") == []
    assert reader.passed_over == 2


def test_an_event_without_end_does_not_fill_the_memory() -> None:
    """Every buffer has a bound (style 11)."""
    reader = Events()
    bound = events.EVENT_BYTES_MAX
    assert reader.feed(b"data: " + b"x" * bound) == []
    assert reader.feed(b"x" * bound) == []
    assert len(reader._rest) <= bound
    assert reader.feed(b'\n\ndata: {"a":1}\n\n') == [{"a": 1}]
    assert reader.passed_over == 1
    assert reader.feed(b"data: " + b"x" * (bound - 20) + b"\ndata: " + b"x" * 40 + b"\n\n") == []
    assert reader.passed_over == 2
