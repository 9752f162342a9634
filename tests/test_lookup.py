"""The original behind an address: to the character, or refused."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from foldline.core.address import block, part_address, span_address
from foldline.core.errors import UnknownAddress
from foldline.core.message import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from foldline.lookup import show, text_of, told_of
from foldline.testing.builders import assistant, call, result, user
from foldline.transcripts.transcript import Transcript

PIXEL = b"\x89PNG\r\n"
IMAGE = Media(kind="image", mime="image/png", data=b64encode(PIXEL).decode(), slot=1)
MESSAGES = (
    Message(role="user", parts=(Text(text="look", slot=0), IMAGE)),
    assistant("on it", call("read", path="a")),
    result("read", "line 1\n  line 2 \n", "more"),
    assistant(Reasoning(text="so")),
)


def transcript(*messages: Message) -> Transcript:
    return Transcript(format="test", wire="anthropic", messages=messages)


FILE = transcript(*MESSAGES)


def test_a_part_opens_to_the_character() -> None:
    """TRACE: the original gives itself back, white space and all."""
    shown = show([FILE], part_address(2, MESSAGES[2].parts[0]))
    assert shown.title == "tool result of message 2"
    assert shown.text == "line 1\n  line 2 \n\nmore"
    assert shown.data is None
    assert show([FILE], part_address(1, MESSAGES[1].parts[1])).text == 'read {"path":"a"}'
    assert show([FILE], part_address(3, MESSAGES[3].parts[0])).title == "reasoning of message 3"


def test_a_message_and_a_span_open_whole() -> None:
    """Several messages come with a line between that names each."""
    one = show([FILE], span_address([(1, MESSAGES[1])]))
    assert (one.title, one.text) == ("message 1", 'on it\nread {"path":"a"}')
    span = show([FILE], span_address(list(enumerate(MESSAGES))[1:3]))
    assert span.title == "messages 1 to 2"
    assert span.text is not None
    assert "── message 1, assistant ──\non it" in span.text
    assert "── message 2, tool ──\nline 1" in span.text


def test_an_image_opens_as_its_bytes() -> None:
    """Never base64 as text."""
    shown = show([FILE], part_address(0, IMAGE))
    assert (shown.text, shown.data) == (None, PIXEL)
    torn = Media(kind="image", mime="image/png", data="no base64!", slot=0)
    odd = transcript(Message(role="user", parts=(torn,)))
    assert show([odd], part_address(0, torn)).text == "no base64!"


def test_parts_that_no_reader_numbered_are_numbered_in_their_order() -> None:
    """The same numbers that the compaction gave them."""
    bare = transcript(Message(role="user", parts=(Text(text="a"), Text(text="b"))))
    assert show([bare], part_address(0, Text(text="b", slot=1))).text == "b"


def test_the_first_conversation_that_holds_it_gives_it() -> None:
    """A file may hold many conversations."""
    address = part_address(2, MESSAGES[2].parts[0])
    assert show([transcript(user("other")), FILE], address).title == "tool result of message 2"


@pytest.mark.parametrize(
    "address",
    [
        part_address(9, MESSAGES[0].parts[0]),
        part_address(1, MESSAGES[0].parts[0]),
        part_address(0, Text(text="look", slot=7)),
        part_address(0, Text(text="changed", slot=0)),
        span_address([(0, user("changed"))]),
        span_address([(0, MESSAGES[0]), (9, MESSAGES[1])]),
        "nonsense",
    ],
)
def test_an_address_of_something_else_is_refused(address: str) -> None:
    """TRACE: a wrong history is refused rather than shown."""
    with pytest.raises(UnknownAddress) as caught:
        show([FILE], address)
    assert caught.value.address == address
    with pytest.raises(UnknownAddress):
        show([], address)


def test_beyond_the_end_there_is_nothing() -> None:
    """What is said of a place that no message has is true of it."""
    with pytest.raises(UnknownAddress, match="this history holds nothing there"):
        show([FILE], f"m{len(FILE.messages)}@00000000")
    with pytest.raises(UnknownAddress, match="this history holds something else there"):
        show([FILE], "m0@00000000")


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("m1", "message 1"),
        ("(m1", "message 1"),
        ("m1-2", "messages 1 to 2"),
        ("m1-m2", "messages 1 to 2"),
        ("m2.0", "tool result of message 2"),
    ],
)
def test_a_ledgers_short_address_opens_what_stands_there(address: str, title: str) -> None:
    """Law TRACE: whoever reads a ledger types what it prints."""
    assert show([FILE], address).title == title


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("m4", "nothing there, but m0 to m3"),
        ("m2-m9", "nothing there, but m0 to m3"),
        ("m2.9", "nothing there; m2 opens that message whole"),
    ],
)
def test_a_short_address_of_no_place_says_which_there_are(address: str, why: str) -> None:
    with pytest.raises(UnknownAddress, match=why):
        show([FILE], address)
    with pytest.raises(UnknownAddress, match="nothing there, but one message, m0"):
        show([transcript(user("go"))], "m4")
    with pytest.raises(UnknownAddress, match="no message yet"):
        show([transcript()], "m4")


def test_a_short_address_means_one_place_or_none_is_opened() -> None:
    """A file that was compacted counts on from what its folds stand for, unless it keeps it; several count alike."""
    fold = user(block("fold", "m0-9@0a1b2c3d", body="- go (m1 user)"))
    for folded in ("m0", "m1", "m9", "m8-10"):
        with pytest.raises(UnknownAddress, match="folded away in an earlier compaction; open it in the file"):
            show([transcript(fold, user("go on"))], folded)
    assert show([transcript(fold, user("go on"))], "m10").text == "go on"
    with pytest.raises(UnknownAddress, match="nothing there, but m0 to m10"):
        show([transcript(fold, user("go on"))], "m11")
    kept = Transcript(format="foldline", wire="anthropic", messages=(fold, user("go on")), history=MESSAGES)
    assert show([kept], "m1").text == show([FILE], "m1").text
    with pytest.raises(UnknownAddress, match="each of 2 conversations has such a place"):
        show([FILE, FILE], "m1")


def test_two_results_that_a_repair_joined_open_as_they_were_joined() -> None:
    """TRACE: a compaction shortens what the repaired history holds, in the place of the first result."""
    both = transcript(user("go"), assistant(call("a")), result("a", "one"), result("a", "two"), user("on"))
    joined = ToolResult(call_id="a", content=(Text(text="one"), Text(text="two")), slot=0)
    shown = show([both], part_address(2, joined))
    assert (shown.title, shown.text) == ("tool result of message 2", "one\ntwo")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Text(text="a"), "a"),
        (Reasoning(text="a"), "a"),
        (ToolCall(id="x", name="read", arguments="{}"), "read {}"),
        (ToolResult(call_id="x", content=(Text(text="a"), Media(kind="image", url="u"))), "a\nu"),
        (ToolResult(call_id="x"), ""),
        (Media(kind="image", ref="file_1"), "file_1"),
        (Media(kind="image"), ""),
        (Opaque(type="x", raw=b'{"a":1}'), '{"a":1}'),
        (Opaque(type="x", raw=b"\xff"), "\ufffd"),
    ],
)
def test_every_kind_of_part_has_a_text(part: Text, text: str) -> None:
    """What is not text is shown by what is sent of it."""
    assert text_of(part) == text


def told(**arguments: object) -> str:
    return told_of(ToolCall(id="x", name="write", arguments=json.dumps(arguments)))


def test_a_call_is_told_by_its_values_and_long_ones_line_by_line() -> None:
    """Who reads a session reads a script as it is written, and not as JSON; nothing is left out."""
    assert told(path="a.py", mode=7, force=True, tags=["x", 1], at=None) == (
        'write path=a.py mode=7 force=true tags=["x",1] at=null'
    )
    assert told(path="a.py", content="def f():\n    return 1\n") == (
        "write path=a.py\n  content:\n    def f():\n        return 1\n    "
    )
    assert told(note="x" * 81) == "write\n  note:\n    " + "x" * 81
    edits = [{"old": "a\nb", "new": "c"}, {"old": "d", "new": ""}]
    assert (
        told(edits=edits) == 'write edits.0.new=c edits.1={"old":"d","new":""}\n  edits.0.old:\n    a\n    b'
    )
    deep: object = "x\ny"
    for _ in range(20):
        deep = {"k": deep}
    assert '{"k":' in told(deep=deep)
    assert told() == "write"


@pytest.mark.parametrize("arguments", ["", "not json", "[1]", '"x"', "{", '{"a":"\\ud83d"}'])
def test_arguments_that_are_no_object_are_told_as_they_came(arguments: str) -> None:
    broken = ToolCall(id="x", name="read", arguments=arguments)
    assert told_of(broken) == text_of(broken)


def test_what_stands_at_an_address_is_given_to_the_character_and_told_to_a_reader() -> None:
    """Law TRACE: a pipe gets the text, a terminal shows what is told."""
    written = call("write", path="a", content="1\n2")
    shown = show([transcript(assistant("on it", written), user("on"))], "m0-1")
    assert shown.text is not None
    assert '{"path":"a","content":"1\\n2"}' in shown.text
    assert "write path=a\n  content:\n    1\n    2\n\n── message 1" in shown.told
