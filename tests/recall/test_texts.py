"""Which words of a part can be found, and who said them."""

from __future__ import annotations

import json

import pytest

from foldline.core.address import RECALL_OPENING
from foldline.core.message import Media, Message, Meta, Opaque, Reasoning, Text, ToolCall, ToolResult
from foldline.recall.texts import KINDS, is_asking, media_in, said_in, shown_text, words_in
from foldline.testing.builders import assistant, call, image, result, thinking, user


def test_every_part_says_what_it_is_and_who_said_it() -> None:
    """A result was said by its tool, on wires that carry results in a user's message too."""
    mixed = Message(
        role="user",
        parts=(ToolResult(call_id="c", content=(Text(text="out"),), slot=0), Text(text="go on", slot=1)),
    )
    told = [(said.slot, said.role, said.kind, said.tool) for said in said_in(mixed, {"c": "bash"})]
    assert told == [(0, "tool", "result", "bash"), (1, "user", "text", "")]
    spoken = assistant(thinking("hm"), "well", call("bash", command="ls"))
    assert [(said.role, said.kind, said.tool) for said in said_in(spoken, {})] == [
        ("assistant", "reasoning", ""),
        ("assistant", "text", ""),
        ("assistant", "call", "bash"),
    ]
    [failed] = said_in(result("c", "no such file", is_error=True), {})
    assert failed.kind == "error"
    assert {said.kind for said in said_in(spoken, {})} < set(KINDS)


def test_what_no_user_wrote_was_not_said_by_the_user() -> None:
    """Reminders and our own summaries travel under the user's name."""
    injected = Message(role="user", parts=(Text(text="reminder", slot=0),), meta=Meta(injected=True))
    folded = Message(role="user", parts=(Text(text="summary", slot=0),), synthetic="fold")
    assert [said.role for message in (injected, folded) for said in said_in(message, {})] == [
        "system",
        "system",
    ]


def test_calls_are_found_by_what_their_arguments_mean() -> None:
    """JSON escapes are no part of a word."""
    arguments = json.dumps({"path": "src/a.py", "text": "eins\nzwei 数据"})
    assert "\\u6570" in arguments
    words = words_in(ToolCall(id="c", name="edit", arguments=arguments))
    assert words.startswith("edit ")
    assert "eins\nzwei 数据" in words
    broken = ToolCall(id="c", name="edit", arguments='{"path": "src/\\a')
    assert "src" in words_in(broken)


def test_bytes_and_signatures_have_no_words() -> None:
    """Media are found by name and place, opaque parts without what a provider sealed."""
    assert words_in(image()) == ""
    assert (
        words_in(Media(kind="file", name="plan.pdf", url="https://e.org/plan.pdf"))
        == "plan.pdf https://e.org/plan.pdf"
    )
    assert words_in(Media(kind="image", url="data:image/png;base64,AAAA")) == ""
    sealed = Opaque(
        type="web", raw=b'{"title":"T\\u00e9","encrypted_content":"SECRET","n":[1,{"data":"BYTES"}]}'
    )
    assert "Té" in words_in(sealed)
    assert "SECRET" not in words_in(sealed)
    assert "BYTES" not in words_in(sealed)
    assert words_in(Reasoning(text="why", signature="SIGNED")) == "why"


def test_what_recall_gave_back_is_not_found_again() -> None:
    """Nor is the question: both would be the best hit for the same words ever after."""
    given = result("r", f'{RECALL_OPENING}query="pool">\n1. …\n</foldline-recall>')
    assert [said.text for said in said_in(given, {})] == [""]
    assert words_in(call("recall", query="pool")) == ""
    assert words_in(call("mcp__foldline__recall", query="pool")) == ""


def test_another_tool_of_that_name_is_found() -> None:
    """A dealer's `recall` asks for other things."""
    dealer = call("recall", vehicle="VW", year=2015)
    assert not is_asking(dealer)
    assert "VW" in words_in(dealer)


@pytest.mark.parametrize("part", [Text(text="a\0é"), Reasoning(text="b"), call("bash", command="ls")])
def test_a_part_is_shown_to_the_character(part: Text | Reasoning | ToolCall) -> None:
    shown = shown_text(part)
    assert (part.arguments if isinstance(part, ToolCall) else part.text) in shown


def test_pictures_are_told_of_and_kept() -> None:
    """Text alone can stand in a text; the bytes come beside it."""
    [part] = result("c", "two files", image()).parts
    assert shown_text(part) == "two files\n[image: image/png, 8 characters of data]"
    assert media_in([part, *user(image(2)).parts]) == (image(), replaced_slot(image(2)))


def replaced_slot(media: Media) -> Media:
    """As a message holds it."""
    [part] = user(media).parts
    assert isinstance(part, Media)
    return part
