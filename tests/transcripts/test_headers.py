"""Typed headers of JSON Lines records."""

from __future__ import annotations

from msgspec import Raw, Struct, field

from foldline.transcripts.headers import header_of


class Head(Struct):
    """A header as a reader declares one."""

    type: str = ""
    body: Raw = Raw(b"")
    place: int = field(default=7, name=" place")


head = header_of(Head)


def test_named_keys_are_typed_and_the_rest_is_passed_over() -> None:
    """A reader decides by a few keys without reading the line."""
    made = head(b'{"type":"user","other":[1,2],"body":{"a":1}}')
    assert isinstance(made, Head)
    assert (made.type, bytes(made.body), made.place) == ("user", b'{"a":1}', 7)


def test_a_lone_surrogate_anywhere_in_the_line_is_no_obstacle() -> None:
    """anthropics/claude-code#69927: an already damaged transcript is still read."""
    made = head(b'{"type":"user","body":{"a":"\\ud83d"},"other":"\\udc00"}')
    assert isinstance(made, Head)
    assert (made.type, bytes(made.body)) == ("user", b'{"a":"\\ud83d"}')


def test_what_is_no_record_is_explained() -> None:
    """The words stand in the note about skipped lines."""
    assert "unexpected record" in str(head(b'{"type":5}'))
    assert "unexpected record" in str(head(b"[1]"))
    assert isinstance(head(b'{"type":"us'), str)
    assert isinstance(head(b"\xff\xfe"), str)
    assert isinstance(head(b'{"other":' + b"[" * 100_000), str)
    assert isinstance(head(b'{"type":"\\ud83d","type'), str)


def test_a_line_cannot_set_what_belongs_to_the_reader_under_its_name() -> None:
    """Line numbers are ours."""
    made = head(b'{"place":1}')
    assert isinstance(made, Head)
    assert made.place == 7
