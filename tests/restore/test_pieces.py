"""A block is closed by us alone, is read back as it was written, and a text is cut to its tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.core.message import Message, Text
from foldline.restore.pieces import DROPPED, ORDER, clipped, piece, read_pieces
from foldline.testing.builders import assistant, user
from foldline.testing.counting import CharacterCounter

COUNTER = CharacterCounter()


@given(st.text(max_size=80), st.text(max_size=200))
def test_a_piece_is_read_back_and_holds_one_block(name: str, body: str) -> None:
    """S15: the delimiter cannot be forged; name and lines come back as the block has them."""
    made = piece("file", name, body=body, counter=COUNTER)
    assert made.text.lower().count("<foldline") == 1
    [read] = read_pieces(Message(role="user", parts=(Text(text=made.text),)))
    assert read.kind == "file"
    assert "\n" not in read.name
    assert made.tokens == COUNTER.part(Text(text=made.text))


def test_only_a_users_message_of_blocks_is_read() -> None:
    """A tool's result, a model's words and a text around a block name nothing."""
    text = piece("file", "a.py", body="x", counter=COUNTER).text
    assert [one.name for one in read_pieces(user(text, text))] == ["a.py", "a.py"]
    assert list(read_pieces(assistant(text))) == []
    assert list(read_pieces(user(f"see {text}"))) == []
    assert list(read_pieces(user(f"{text} and"))) == []


def test_the_same_content_has_the_same_id_and_another_another() -> None:
    """Law SAME: no clock, no randomness."""
    one, same, other = (piece("plan", "p", body=body, counter=COUNTER).text for body in "aab")
    assert one == same
    assert one.partition("\n")[0] != other.partition("\n")[0]


def test_every_kind_has_a_place_in_both_orders() -> None:
    """What was left out is named as long as there is room, and is no content that could be dropped."""
    assert set(ORDER) == {*DROPPED, "left out"}
    assert len(ORDER) == len(set(ORDER)) == len(DROPPED) + 1


@given(st.text(max_size=2_000), st.integers(-1, 300))
def test_a_text_is_cut_to_its_tokens_from_its_beginning(text: str, tokens_max: int) -> None:
    """Never more than it may have, and most of it where there is more."""
    shown = clipped(text, tokens_max, count=COUNTER.text)
    assert text.startswith(shown)
    assert COUNTER.text(shown) <= max(0, tokens_max)
    if COUNTER.text(text) <= tokens_max:
        assert shown == text
    elif tokens_max > 20:
        assert COUNTER.text(shown) >= tokens_max // 3
