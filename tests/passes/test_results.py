"""Finding results with their calls, and the placeholder that stands for one."""

from __future__ import annotations

from foldline.core.message import Media, Text, ToolResult
from foldline.core.rounds import outline_of
from foldline.passes.results import cleared, find_results
from foldline.testing.builders import assistant, call, frame_for, image, result, user, view_from


def test_every_result_is_found_with_its_call_in_order() -> None:
    """By round, never by id alone: an id may return in a later round (law PAIR)."""
    messages = [
        assistant(call("ls", "c0")),
        result("c0", "before anyone spoke"),
        user("go"),
        assistant(call("read_file", "c1", path="a"), call("bash", "c2", cmd="ls")),
        result("c1", "A"),
        result("c2", "B"),
        assistant(call("grep", "c1")),
        result("c1", "C"),
    ]
    found = find_results(outline_of(view_from(messages)))
    assert [(f.seq, f.name, f.kind, f.turn) for f in found] == [
        (1, "ls", "file_read", -1),
        (4, "read_file", "file_read", 0),
        (5, "bash", "shell", 0),
        (7, "grep", "grep", 0),
    ]
    assert found[1].round == found[2].round != found[3].round
    assert found[1].arguments == '{"path":"a"}'


def test_what_a_repair_put_in_is_found_but_cannot_be_moved() -> None:
    """It has no original that an address could point at (law TRACE)."""
    [found] = find_results(outline_of(view_from([user("go"), assistant(call("bash")), user("next")])))
    assert not found.movable


def test_results_that_a_provider_made_itself_are_not_looked_at() -> None:
    """A server-side call and its result belong to the provider."""
    served = ToolResult(call_id="s", content=(Text(text="x" * 900),), server=True)
    assert (
        find_results(outline_of(view_from([user("go"), assistant("searching", served), user("next")]))) == ()
    )


def test_a_placeholder_says_what_stood_there_and_where_it_is() -> None:
    """MIC-4: about 20 tokens; MIC-7: made of the result alone, so it is the same every time."""
    view = view_from(
        [user("go"), assistant(call("t")), result("t", "x" * 5000, image(), image()), user("next")]
    )
    [found] = find_results(outline_of(view))
    edit = cleared(found, "cleared", frame=frame_for(view))
    assert isinstance(edit.part, ToolResult)
    [text] = edit.part.content
    assert isinstance(text, Text)
    assert text.text == f"[foldline: 1,454 tokens, 2 media cleared · {edit.address}]"
    assert edit == cleared(found, "cleared", frame=frame_for(view))
    assert not any(isinstance(part, Media) for part in edit.part.content)
