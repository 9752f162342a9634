"""Words that a later message supersedes are marked where they stand, and never rewritten."""

from __future__ import annotations

from foldline.core.address import read_mark
from foldline.core.edit import apply
from foldline.core.message import Message, Text
from foldline.passes.supersession import MarkSuperseded
from foldline.testing.builders import assistant, frame_for, image, moment_for, user, view_from


def marked(*messages: Message, pins: tuple[int, ...] = ()) -> list[Message]:
    """The messages after the pass, which finds nothing more to do on its own result."""
    view = view_from(messages)
    frame = frame_for(view, pins=pins, originals=[item.message for item in view])
    after = apply(view, MarkSuperseded().plan(view, moment_for(view, 0), frame).edits, frame=frame)
    again = frame_for(after, pins=pins, originals=frame.originals)
    assert MarkSuperseded().plan(after, moment_for(after, 0), again).edits == ()
    return [item.message for item in after]


def texts(message: Message) -> list[str]:
    """The texts of a message."""
    return [part.text for part in message.parts if isinstance(part, Text)]


def test_a_superseded_message_stands_word_for_word_with_the_address_of_what_supersedes_it_behind() -> None:
    """`design.md`, the ledger: user text is never rewritten; an added part says `[superseded by ADDRESS]`."""
    first, _, _ = marked(user("The port is 8080."), assistant("ok"), user("The port is 9090 now."))
    said, mark = texts(first)
    assert said == "The port is 8080."
    assert mark.startswith("[superseded by m2@")
    found = read_mark(mark)
    assert found is not None
    assert found.quotes == ()


def test_of_a_message_that_stands_in_part_the_mark_quotes_what_does_not() -> None:
    """The rest of it still holds."""
    said = "Goal: ship it in May. The port is 8080."
    first, *_ = marked(user(said), assistant("ok"), user("The port is 9090 now."))
    assert texts(first)[0] == said
    found = read_mark(texts(first)[1])
    assert found is not None
    assert found.quotes == ("The port is 8080.",)


def test_of_a_sentence_with_two_values_the_mark_quotes_the_older_one_alone() -> None:
    """Kind stale-instruction: a value that nobody changed left the view with its neighbour."""
    said = "The database port is 5432 and the port is 8080."
    first, *_ = marked(user(said), assistant("ok"), user("The port is 9090 now."))
    found = read_mark(texts(first)[1])
    assert found is not None
    assert found.quotes == ("and the port is 8080",)


def test_a_mark_stands_behind_the_text_it_speaks_of_where_a_message_has_several() -> None:
    """Messages are joined where roles must alternate, so that a message may be several."""
    first, *_ = marked(
        user("The port is 8080.", image(), "The host is db1."), assistant("ok"), user("The port is 9090 now.")
    )
    assert [read_mark(text) is not None for text in texts(first)] == [False, True, False]
    assert isinstance(first.parts[1], Text)


def test_what_is_superseded_further_gets_one_more_mark_behind_the_first() -> None:
    """A second compaction adds what is new and repeats nothing."""
    said = "The port is 8080. The timeout is 30s. Look at the logs."
    first, *_ = marked(
        user(said), assistant("ok"), user("The port is 9090 now."), assistant("ok"), user("Go.")
    )
    again, *_ = marked(
        user(*texts(first)),
        assistant("ok"),
        user("The port is 9090 now."),
        user("The timeout is 60s now."),
        user("Go."),
    )
    marks = [found.quotes for text in texts(again) if (found := read_mark(text)) is not None]
    assert marks == [("The port is 8080.",), ("The timeout is 30s.",)]


def test_pins_and_the_last_words_of_a_user_get_no_mark() -> None:
    """Laws PIN and TAIL."""
    first, *_ = marked(user("The port is 8080."), user("The port is 9090 now."), pins=(0,))
    assert texts(first) == ["The port is 8080."]


def test_what_stands_is_left_alone() -> None:
    """Precision first: two ports are two values."""
    said = [user("The staging port is 8080."), assistant("ok"), user("The production port is 9090.")]
    assert [texts(message) for message in marked(*said)] == [texts(message) for message in said]
