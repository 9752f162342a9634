"""Edits, and the one function that applies them: what each edit makes of a view, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from foldline.core.address import block, part_address, span_address
from foldline.core.edit import Drop, Edit, Fold, Frame, Mark, Replace, apply, edited
from foldline.core.errors import LawViolation
from foldline.core.message import NEW, Message, Part, Text, ToolResult
from foldline.core.view import Span, View, view_of
from foldline.testing.builders import assistant, call, frame_for, result, user, view_from
from foldline.testing.counting import CharacterCounter

COUNTER = CharacterCounter()
SESSION = (
    user("first"),
    assistant("on it", call("a")),
    result("a", "long " * 100),
    assistant("half way"),
    user("second"),
    assistant("done"),
    user("last"),
)


def fold(*spans: tuple[int, int], says: str = "what went") -> Fold:
    """A fold as a pass would make it."""
    address = f"m{spans[0][0]}-{spans[-1][1]}@00000000"
    message = Message(
        role="user", parts=(Text(text=block("fold", address, body=says)),), synthetic="fold", edited=True
    )
    return Fold(spans=tuple(Span(start=a, end=b) for a, b in spans), message=message, address=address)


def shortened(seq: int, part: ToolResult, text: str) -> Replace:
    new = replace(part, content=(Text(text=text),), edited=True)
    return Replace(seq=seq, slot=part.slot, part=new, address=part_address(seq, part))


def the_result(view: View, seq: int) -> ToolResult:
    found = next(p for i in view if i.seq == seq for p in i.message.parts if isinstance(p, ToolResult))
    return found


def test_no_edits_give_the_very_view() -> None:
    """Nothing to do costs nothing."""
    view = view_from(SESSION)
    assert apply(view, (), frame=frame_for(view)) is view


def test_a_replacement_changes_one_part_and_its_weight_alone() -> None:
    """Bytes are kept by part: siblings and neighbours are the same objects."""
    view = view_from(SESSION)
    after = apply(view, [shortened(2, the_result(view, 2), "short")], frame=frame_for(view))
    assert the_result(after, 2).content == (Text(text="short"),)
    assert after.items()[2].message.edited
    assert [a is b for a, b in zip(view, after, strict=True)] == [True, True, False, True, True, True, True]
    assert after.tokens == sum(COUNTER.message(i.message) for i in after) < view.tokens
    assert (len(after), after.next_seq) == (len(view), view.next_seq)


def test_a_new_part_is_weighed_once_by_each_counter() -> None:
    """TOK-1: what an earlier compaction made and weighed costs no count when it is made again; another counter counts it anew."""

    class Twice(CharacterCounter):
        name = "characters/2"

        def text(self, text: str) -> int:
            return 2 * super().text(text)

        def weights_of(self, messages: Sequence[Message]) -> list[tuple[tuple[int, ...], int]]:
            counted.extend(messages)
            return super().weights_of(messages)

    counted: list[Message] = []
    view = view_from(SESSION)
    edit = shortened(2, the_result(view, 2), "short")
    frame = frame_for(view)
    single = apply(view, [edit], frame=frame).tokens
    other = replace(frame, counter=Twice())
    assert apply(view, [edit], frame=other).tokens == apply(view, [edit], frame=other).tokens > single
    assert len(counted) == 1
    assert apply(view, [edit], frame=frame).tokens == single


def test_the_parts_beside_a_replaced_one_are_the_same_objects() -> None:
    """Clearing one part must not re-encode its sibling."""
    view = view_from(SESSION)
    words = Replace(seq=1, slot=0, part=Text(text="on", slot=0, edited=True), address="m1.0@00000000")
    after = apply(view, [words], frame=frame_for(view)).items()[1]
    assert after.message.parts[0] is words.part
    assert after.message.parts[1] is SESSION[1].parts[1]
    assert after.weights[1] == view.items()[1].weights[1]


def test_a_fold_stands_where_the_first_of_its_messages_stood() -> None:
    """Picture of the design: [0][1][2][3][4] → [0][F 1–2][3][4]."""
    view = view_from(SESSION)
    after = apply(view, [fold((1, 4))], frame=frame_for(view))
    assert [i.seq for i in after] == [0, 1, 4, 5, 6]
    assert after.items()[1].covers == (Span(start=1, end=4),)
    assert after.items()[1].message.synthetic == "fold"
    assert after.tokens == sum(COUNTER.message(i.message) for i in after)


def test_what_lies_between_the_spans_of_a_fold_stays() -> None:
    """A fold may go around what is pinned."""
    view = view_from(SESSION)
    after = apply(view, [fold((0, 1), (3, 4))], frame=frame_for(view))
    assert [i.seq for i in after] == [0, 1, 2, 4, 5, 6]
    assert after.items()[0].covers == (Span(start=0, end=1), Span(start=3, end=4))


def test_a_later_fold_takes_over_what_an_earlier_one_covered() -> None:
    """TRACE: a summary is never summarised blindly; the new one stands for all that went."""
    view = view_from(SESSION)
    once = apply(view, [fold((1, 4))], frame=frame_for(view))
    twice = apply(once, [fold((0, 6))], frame=frame_for(once))
    assert [i.seq for i in twice] == [0, 6]
    assert twice.items()[0].covers == (Span(start=0, end=6),)


def test_a_dropped_message_leaves_nothing_behind() -> None:
    """Dropping is for what holds nothing; its ordinal is not used again."""
    view = view_from(SESSION)
    after = apply(view, [Drop(span=Span(start=5, end=6))], frame=frame_for(view))
    assert [i.seq for i in after] == [0, 1, 2, 3, 4, 6]
    assert after.next_seq == 7


def test_all_edits_of_a_plan_land_at_once() -> None:
    """ONCE: each speaks of the view before, whatever the others do."""
    view = view_from(SESSION)
    edits: list[Edit] = [
        fold((3, 6)),
        shortened(2, the_result(view, 2), "short"),
        Drop(span=Span(start=0, end=1)),
    ]
    after = apply(view, edits, frame=frame_for(view))
    assert [i.seq for i in after] == [1, 2, 3, 6]
    assert [i.seq for i in apply(view, edits[::-1], frame=frame_for(view))] == [1, 2, 3, 6]


def test_the_view_before_is_what_it_was() -> None:
    """OBS-2: a pass never mutates its input; edits come out, and `apply` derives the result."""
    view = view_from(SESSION)
    items, tokens = view.items(), view.tokens
    apply(view, [fold((1, 4))], frame=frame_for(view))
    with pytest.raises(LawViolation):
        apply(view, [fold((1, 2))], frame=frame_for(view))
    assert view.items() == items
    assert all(a is b for a, b in zip(view.items(), items, strict=True))
    assert view.tokens == tokens


@pytest.mark.parametrize(
    ("edit", "law"),
    [
        (fold((1, 2)), "ROUND"),
        (Drop(span=Span(start=2, end=3)), "ROUND"),
        (fold((0, 7)), "TAIL"),
        (fold((3, 4)), "PIN"),
        (Replace(seq=2, slot=0, part=Text(text="no", slot=0), address="m2.0@00000000"), "CUT"),
    ],
)
def test_an_edit_that_breaks_a_law_is_refused_by_its_name(edit: Edit, law: str) -> None:
    """Laws are checked before a view comes out; the error says which and where."""
    view = view_from(SESSION)
    with pytest.raises(LawViolation) as caught:
        apply(view, [edit], frame=frame_for(view, pins=[3]))
    assert caught.value.law == law
    assert caught.value.where.startswith("message ")


def test_an_edit_may_not_leave_a_history_that_cannot_be_sent() -> None:
    """Law TRACE: a fold without the address it stands for is refused."""
    view = view_from(SESSION)
    bare = Message(role="user", parts=(Text(text="they talked"),), synthetic="fold")
    with pytest.raises(LawViolation) as caught:
        apply(
            view,
            [Fold(spans=(Span(start=1, end=4),), message=bare, address="m1-3@00000000")],
            frame=frame_for(view),
        )
    assert caught.value.law == "TRACE"


def test_ordinals_that_no_message_has_are_passed_over() -> None:
    """Edits in a log speak of messages that a later edit took out."""
    items = view_from(SESSION).items()
    part: Part = Text(text="x")
    edits: list[Edit] = [
        Drop(span=Span(start=90, end=95)),
        Replace(seq=91, slot=0, part=part, address="m91.0@00000000"),
    ]
    assert edited(items, edits, counter=COUNTER) == items


def test_addresses_point_at_what_came_in_whatever_was_made_of_it() -> None:
    """TRACE: a part that an earlier pass shortened is addressed by its original, and so is a span."""
    view = view_from(SESSION)
    frame = frame_for(view, originals=SESSION)
    now = apply(view, [shortened(2, the_result(view, 2), "short")], frame=frame)
    assert frame.part_address(2, the_result(now, 2)) == part_address(2, SESSION[2].parts[0])
    wanted = span_address(list(enumerate(SESSION[1:4], 1)))
    assert frame.span_address(now.items()[1:4]) == wanted
    folded = apply(now, [fold((1, 4))], frame=frame)
    assert frame.span_address(folded.items()[1:2]) == wanted


def test_without_originals_the_view_itself_is_addressed() -> None:
    """A pass can be tried on a view alone."""
    view = view_from(SESSION)
    frame = Frame(counter=COUNTER)
    assert frame.part_address(2, the_result(view, 2)) == part_address(2, SESSION[2].parts[0])
    assert frame.span_address(view.items()[1:4]) == span_address(list(enumerate(SESSION[1:4], 1)))
    assert frame.part_address(2, Text(text="new", slot=5)) == part_address(2, Text(text="new", slot=5))
    made = frame_for(view, originals=SESSION).part_address(2, Text(text="new", slot=5))
    assert made == part_address(2, Text(text="new", slot=5))


def test_the_original_of_a_result_is_what_came_in_under_the_pairing_it_has_now() -> None:
    """A pass that cuts again cuts the original; a result that a repair made is its own."""
    view = view_from(SESSION)
    frame = frame_for(view, originals=SESSION)
    now = replace(the_result(view, 2), call_id="a_2", content=(Text(text="short"),), edited=True)
    found = frame.original_of(2, now)
    assert (found.call_id, found.edited) == ("a_2", True)
    assert found.content == the_result(view, 2).content
    made = ToolResult(call_id="z", slot=-1)
    assert frame.original_of(2, made) is made
    assert frame.original_of(99, made) is made


def test_parts_that_repairs_put_in_are_named_by_no_edit() -> None:
    """Law CUT: the stand-ins of one round share their message's ordinal and have no slot; an edit of the message leaves
    them the same objects, and one that says no slot changes nothing."""
    said, asked, first, second, last = view_from(
        [user("go"), assistant("k " * 90, call("a"), call("b")), result("a", ""), result("b", ""), user("on")]
    ).items()
    made = [
        replace(item, seq=1, message=replace(item.message, parts=(replace(part, slot=NEW),)))
        for item in (first, second)
        for part in item.message.parts
    ]
    view = view_of((said, asked, *made, last))
    words = Replace(seq=1, slot=0, part=Text(text="k", slot=0, edited=True), address="m1.0@00000000")
    after = apply(view, [words], frame=frame_for(view)).items()
    assert after[1].message.parts[0] is words.part
    assert [after[n] is made[n - 2] for n in (2, 3)] == [True, True]
    nowhere = replace(words, slot=NEW)
    assert edited(view.items(), [nowhere], counter=COUNTER) == view.items()


def test_a_history_that_keeps_the_addresses_of_its_spans_is_asked_for_them() -> None:
    """TRACE: a session knows them by the digests in its log; the range asked for is the whole from first to last."""
    view = view_from(SESSION)
    frame = Frame(counter=COUNTER, address_of=lambda start, end: f"kept {start}-{end}")
    assert frame.span_address(view.items()[1:4]) == "kept 1-4"
    folded = apply(view, [fold((1, 4))], frame=frame_for(view)).items()
    assert frame.span_address(folded[1:3]) == "kept 1-5"


def test_a_mark_goes_behind_the_part_it_names_and_leaves_the_others_of_that_ordinal_alone() -> None:
    """Law CUT: what a repair put in shares the ordinal of a message and has no slot; it stays the same object."""
    [said] = view_from([user("The port is 8080.")]).items()
    made = replace(said, message=replace(said.message, parts=(Text(text="put in", slot=NEW),)))
    behind = Text(text="[superseded by m2@00000000]", slot=NEW)
    mark = Mark(seq=0, slot=0, part=behind, address="m2@00000000")
    first, second = edited((said, made), [mark], counter=COUNTER)
    assert first.message.parts == (*said.message.parts, behind)
    assert first.tokens == said.tokens + COUNTER.text(behind.text)
    assert second is made
    assert edited((said,), [replace(mark, slot=7)], counter=COUNTER)[0] is said
