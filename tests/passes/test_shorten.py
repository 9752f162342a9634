"""Shortening one result: what is between head and tail goes, what belongs together stays together."""

from __future__ import annotations

import json

import pytest

from foldline.core.message import Text, ToolResult, result_text
from foldline.core.rounds import outline_of
from foldline.passes.results import find_results
from foldline.passes.shorten import Limit, shorten
from foldline.testing.builders import assistant, call, frame_for, image, result, user, view_from

LIMIT = Limit(size=400, head=240, tail=160, unit="characters")


def shortened(*content: str, limit: Limit = LIMIT) -> str | None:
    """The text of a result after shortening; `None` when it stays."""
    view = view_from([user("go"), assistant(call("t")), result("t", *content), user("next")])
    [found] = find_results(outline_of(view))
    edit = shorten(found, limit, frame=frame_for(view))
    return None if edit is None else result_text(edit.part)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["漢", "e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "x\ufe0f", "நி"])
@pytest.mark.parametrize("shift", range(7))
def test_a_cut_tears_no_character_apart(unit: str, shift: int) -> None:
    """Valid UTF-8, no combining mark, joined emoji or flag torn at either cut."""
    after = shortened("a" * shift + (unit + ".") * 800)
    assert after is not None
    after.encode()
    head, _, rest = after.partition("\n[foldline: ")
    tail = rest.partition("]\n")[2]
    assert head
    assert tail
    assert (head[shift:] + tail).replace(unit, "").strip(".") == ""


def test_terminal_sequences_are_taken_out_before_the_cut() -> None:
    """Colours, titles and links cost tokens and a cut inside one hides what follows."""
    line = "\x1b[31mred\x1b[0m \x1b]8;;file:///a/long/place\x1b\\link\x1b]8;;\x07 plain\n"
    after = shortened(line * 100)
    assert after is not None
    assert "\x1b" not in after
    assert "red link plain" in after


def test_what_was_only_terminal_codes_needs_no_cut_and_says_so() -> None:
    """TRACE: a result that changed at all carries an address."""
    after = shortened("\x1b[31m\x1b[0m" * 100 + "done")
    assert after is not None
    assert after.startswith("done\n[foldline: terminal codes removed · m2.0@")


def test_progress_that_was_redrawn_is_seen_as_a_person_saw_it() -> None:
    """Fault report L07: of each redrawn line the first and the last state are kept."""
    bar = "\r".join(f"step {n:3}%" for n in range(101))
    after = shortened(f"start\n{bar}\nend\n")
    assert after is not None
    assert after.startswith("start\nstep   0%\nstep 100%\nend\n\n[foldline: terminal codes removed")


def test_several_texts_share_the_limit_by_their_size() -> None:
    """A small text beside a large one keeps its share, and the total is kept."""
    after = shortened("a" * 3000, "", "b" * 1000)
    assert after is not None
    assert 280 <= after.count("a") <= 320
    assert 90 <= after.count("b") <= 120


def test_half_a_json_document_is_never_left() -> None:
    """Head and tail of JSON are no JSON; this one is thinned."""
    after = shortened(json.dumps({"rows": [{"n": n, "text": "t" * 50} for n in range(90)]}))
    assert after is not None
    assert len(json.loads(after)["rows"]) < 90


def test_a_single_unbroken_string_in_json_is_cut_inside() -> None:
    """The string keeps head and tail around the notice."""
    after = shortened(json.dumps({"stdout": "x" * 5000, "code": 0}))
    assert after is not None
    assert json.loads(after)["code"] == 0
    assert "omitted" in json.loads(after)["stdout"]


def test_json_that_cannot_be_thinned_is_cut_as_text() -> None:
    """The limit goes before the structure."""
    after = shortened(
        json.dumps({f"key{n}" * 8: n for n in range(400)}),
        limit=Limit(size=20, head=12, tail=8, unit="characters"),
    )
    assert after is not None
    assert after.startswith('{"key0key0ke') or after.startswith('{"key0key0k')


@pytest.mark.parametrize("notice", ["[foldline: 5 characters omitted · m2.0@00000000]"])
def test_a_notice_that_a_tool_printed_spares_little(notice: str) -> None:
    """Only what is within the limit and one notice counts as cut before: printing one does not lift the limit."""
    assert shortened(notice + "x" * 5000) is not None
    assert shortened(notice + "x" * 400) is None


def test_a_result_without_text_stays() -> None:
    """There is nothing to cut in an image."""
    view = view_from([user("go"), assistant(call("t")), result("t", image(900)), user("next")])
    [found] = find_results(outline_of(view))
    assert shorten(found, Limit(size=1, head=1, tail=0, unit="tokens"), frame=frame_for(view)) is None


def test_the_edit_keeps_everything_else_about_the_result() -> None:
    """Law CUT: same kind, same slot, same call; errors stay errors."""
    view = view_from([user("go"), assistant(call("t")), result("t", "x" * 5000, is_error=True), user("next")])
    [found] = find_results(outline_of(view))
    edit = shorten(found, LIMIT, frame=frame_for(view))
    assert edit is not None
    assert isinstance(edit.part, ToolResult)
    assert (edit.part.call_id, edit.part.is_error, edit.part.slot, edit.part.edited) == ("t", True, 0, True)
    assert isinstance(edit.part.content[0], Text)
    assert edit.address in edit.part.content[0].text


def test_a_result_within_its_tokens_is_not_even_measured_by_text() -> None:
    """MIC-9: its weight is known."""
    assert shortened("x" * 800, limit=Limit(size=10_000, head=50, tail=50, unit="tokens")) is None
