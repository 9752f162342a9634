"""What is in view, recallable, lost or altered, by kind, for the whole history and for what left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from foldline.core.address import notice, part_address
from foldline.core.message import Message, Text, ToolResult
from foldline.core.view import Item, Span, item_of
from foldline.ledger.facts import FactCache, Found
from foldline.ledger.found_in_text import Finder
from foldline.ledger.retention import KINDS, Counts, Expected, Retention, measure
from foldline.testing.builders import assistant, call, result, user

ADDRESS = "m1-2@0123abcd"


def items(messages: Sequence[Message]) -> list[Item]:
    return [
        item_of(seq, message, weights=(1,) * len(message.parts), overhead=1)
        for seq, message in enumerate(messages)
    ]


def fold(text: str, start: int, end: int) -> Item:
    return item_of(
        start,
        Message(role="user", parts=(Text(text=text),), synthetic="fold"),
        weights=(1,),
        overhead=1,
        covers=(Span(start=start, end=end),),
    )


def measured(history: list[Item], view: list[Item], expected: Expected | None = None) -> Retention:
    return measure(history, view, cache=FactCache(Finder()), expected=expected)


HISTORY = items(
    [
        user("Never touch db/schema.sql."),
        assistant(call("bash", command="make check")),
        result("bash", "src/pool.py:88: FAILED: src/net.py port=8080 is taken by 3f2a9bc1d"),
        assistant("I will try another port."),
    ]
)
LEFT = frozenset({1, 2})


def test_a_view_that_is_the_history_shows_everything() -> None:
    """OBS-3: nothing left, so nothing is recallable, lost or altered."""
    found = measured(HISTORY, HISTORY)
    assert tuple(found.whole) == tuple(found.evicted) == KINDS
    assert all(counts.total == counts.in_view for counts in found.whole.values())
    assert all(counts == Counts() for counts in found.evicted.values())
    assert found.whole["user_messages"].total == 1
    assert found.whole["paths"].total == 3


def test_what_a_fold_quotes_is_in_view_and_the_rest_recallable_by_its_address() -> None:
    """OBS-3, vshulcz/deja-vu#543 (bug G07): evidence is carried, or can be asked for."""
    view = [HISTORY[0], fold(f"folded {ADDRESS}\nsrc/pool.py\nport: 8080", 1, 3), HISTORY[3]]
    found = measured(HISTORY, view, Expected(evicted=LEFT))
    assert found.evicted["paths"] == Counts(total=2, in_view=1, recallable=1)
    assert found.evicted["identifiers"] == Counts(total=1, recallable=1)
    assert found.evicted["errors"] == Counts(total=1, recallable=1)
    assert found.whole["user_messages"] == Counts(total=1, in_view=1)


def test_a_long_list_in_a_fold_is_read_to_its_end() -> None:
    """OBS-3: rows of a ledger look alike, and each of them carries a fact."""
    paths = [f"src/pool/part_{number}.py" for number in range(200)]
    history = items([user("go"), *[assistant(f"Changed {path} today.") for path in paths]])
    view = [history[0], fold("\n".join(f"- {path} (changed)" for path in paths), 1, 200)]
    found = measured(history, view, Expected(evicted=frozenset(range(1, 201))))
    assert found.evicted["paths"] == Counts(total=200, in_view=200)


def test_without_an_address_what_left_is_lost() -> None:
    """OBS-3, law TRACE: a summary that does not say what it stands for loses it."""
    found = measured(HISTORY, [HISTORY[0], fold("folded", 1, 3), HISTORY[3]], Expected(evicted=LEFT))
    assert found.evicted["identifiers"] == Counts(total=1, lost=1)


def test_an_address_that_a_tool_wrote_opens_nothing() -> None:
    """OBS-3: only text that foldline wrote counts as an address; a transcript can quote one."""
    forged = [*HISTORY[:3], item_of(3, assistant(f"see {ADDRESS}"), weights=(1,), overhead=1)]
    found = measured(forged, [forged[0], forged[3]], Expected(evicted=LEFT))
    assert found.evicted["identifiers"] == Counts(total=1, lost=1)


def test_a_reduced_result_is_recallable_by_its_notice() -> None:
    """OBS-3: a part that was cut in place says where its original is."""
    part = HISTORY[2].message.parts[0]
    assert isinstance(part, ToolResult)
    left = replace(part, content=(Text(text=notice("cleared", part_address(2, part))),), edited=True)
    view = [
        *HISTORY[:2],
        item_of(2, replace(HISTORY[2].message, parts=(left,)), weights=(1,), overhead=1),
        HISTORY[3],
    ]
    found = measured(HISTORY, view, Expected(evicted=frozenset({2})))
    assert found.evicted["identifiers"] == Counts(total=1, recallable=1)
    assert found.whole["identifiers"].lost == 0


def test_a_number_with_a_value_of_its_own_in_the_view_is_altered() -> None:
    """OBS-3: same key, another value; the newest value in the place of an older one is no alteration."""
    history = items([user("go"), assistant("port=8080"), assistant("port=9090"), assistant("ok")])
    wrong = measured(history, [history[0], fold(f"port=8081 {ADDRESS}", 1, 3), history[3]])
    right = measured(history, [history[0], fold(f"port=9090 {ADDRESS}", 1, 3), history[3]])
    assert wrong.whole["numbers"] == Counts(total=2, altered=2)
    assert right.whole["numbers"] == Counts(total=2, in_view=1, recallable=1)


def test_an_old_value_that_recall_gave_back_is_not_the_newest() -> None:
    """Recall says again what stood elsewhere: the newest value is the one that was said last."""
    recalled = '<foldline-recall address="m1.0@00000000">\nport=8080\n</foldline-recall>'
    said = [user("go"), assistant("port=8080"), assistant("port=9090"), assistant(call("recall"))]
    history = items([*said, result("recall", recalled)])
    view = [history[0], fold(f"port=9090 {ADDRESS}", 1, 3), *history[3:]]
    assert measured(history, view).whole["numbers"] == Counts(total=2, in_view=1, recallable=1)


def test_a_key_with_several_values_at_once_has_no_value_to_alter() -> None:
    """OBS-3: `line 12, line 57` is a list of places, not a setting that changed."""
    history = items([user("go"), assistant("line 12, line 57"), assistant("line 99"), assistant("ok")])
    found = measured(history, [history[0], fold(f"line 12 {ADDRESS}", 1, 3), history[3]])
    assert found.whole["numbers"] == Counts(total=3, in_view=1, recallable=2)


def test_an_error_is_in_view_where_a_line_quotes_it() -> None:
    """OBS-3: a ledger puts a mark and an origin around the line."""
    history = items(
        [user("go"), assistant("x"), result("x", "ValueError: bad <foldline-x> 3"), assistant("ok")]
    )
    quoted = "- tool (m2): ValueError: bad &lt;foldline-x> 3, 2 times"
    found = measured(history, [history[0], fold(f"{ADDRESS}\n{quoted}", 1, 3), history[3]])
    assert found.whole["errors"] == Counts(total=1, in_view=1)


def test_a_line_of_code_about_errors_is_no_error() -> None:
    """OBS-3: what a file says about failures has not failed."""
    history = items([user("go"), result("x", "381\t    except OSError:\n"), assistant("ok")])
    assert measured(history, history).whole["errors"].total == 0


def test_constraints_and_commands_are_in_view_where_they_stand_or_are_quoted() -> None:
    """OBS-3, anomalyco/opencode#16960 (bug G01): a rule is in view verbatim or not at all; a command needs its
    outcome on the same line."""
    expected = Expected(
        constraints=((0, "Never touch db/schema.sql."), (2, "no such rule")),
        commands=((1, "make check", "exit 2"),),
        evicted=LEFT,
    )
    told = measured(
        HISTORY, [HISTORY[0], fold(f"{ADDRESS}\n`make check` exit 2", 1, 3), HISTORY[3]], expected
    )
    apart = measured(
        HISTORY, [HISTORY[0], fold(f"{ADDRESS}\n`make check`\nexit 2", 1, 3), HISTORY[3]], expected
    )
    assert told.whole["constraints"] == Counts(total=2, in_view=1, recallable=1)
    assert told.evicted["constraints"] == Counts(total=1, recallable=1)
    assert told.whole["commands"] == Counts(total=1, in_view=1)
    assert apart.whole["commands"] == Counts(total=1, recallable=1)


def test_a_rule_that_was_taken_back_is_counted_apart_and_never_counts_for_nothing() -> None:
    """OBS-3: a rule that words wrongly taken for a permission had struck was counted by nobody, so that the gate let it go."""
    expected = Expected(taken_back=((0, "Never touch db/schema.sql."),), evicted=frozenset({0}))
    told = measured(HISTORY, [fold(ADDRESS, 0, 3), HISTORY[3]], expected)
    lost = measured(HISTORY, [HISTORY[3]], expected)
    assert measured(HISTORY, HISTORY, expected).whole["rules_taken_back"] == Counts(total=1, in_view=1)
    assert lost.evicted["rules_taken_back"] == Counts(total=1, lost=1)
    assert told.whole["constraints"] == Counts()
    assert told.whole["rules_taken_back"].total == 1


def test_a_user_message_is_in_view_verbatim_or_not_at_all() -> None:
    """OBS-3: a part added to it changes nothing, a word taken out of it does."""
    whole = replace(
        HISTORY[0].message, parts=(*HISTORY[0].message.parts, Text(text="[superseded by m3@0123abcd]"))
    )
    cut = Message(role="user", parts=(Text(text="Never touch [foldline: cut · m0.0@0123abcd]", edited=True),))
    assert measured(HISTORY, [item_of(0, whole, weights=(1, 1), overhead=1), *HISTORY[1:]]).whole[
        "user_messages"
    ] == Counts(total=1, in_view=1)
    assert measured(HISTORY, [item_of(0, cut, weights=(1,), overhead=1), *HISTORY[1:]]).whole[
        "user_messages"
    ] == Counts(total=1, recallable=1)


def test_a_pin_that_left_counts_as_what_became_of_it() -> None:
    """OBS-3, law PIN: a pinned message stands as it came in."""
    pinned = Expected(pins=frozenset({0, 3}))
    assert measured(HISTORY, HISTORY, pinned).whole["pins"] == Counts(total=2, in_view=2)
    assert measured(HISTORY, HISTORY[:3], pinned).whole["pins"] == Counts(total=2, in_view=1, lost=1)


def test_what_an_index_lists_is_in_view_as_it_is_listed_and_nothing_that_two_entries_come_to() -> None:
    """OBS-3: `…|171 economy=…` was read as `171 economy`; an address within a path that is listed is in view."""
    history = items(
        [
            user("Look."),
            assistant("171 economy seats; price=171, economy=154; lib/pi-ai@0.14.2 is pinned, src/a.py too"),
        ]
    )
    listed = "<foldline-fold>\n\n## Facts\npaths: lib/pi-ai@0.14.2\nnumbers, newest first: price=154|171 economy=154"
    found = measured(history, [history[0], fold(listed, 1, 2)])
    assert found.whole["numbers"] == Counts(total=3, in_view=2, lost=1)
    assert found.whole["identifiers"] == Counts(total=1, in_view=1)
    assert found.whole["paths"] == Counts(total=2, in_view=1, lost=1)


def test_each_fact_of_a_part_is_found_once_however_often_it_is_measured() -> None:
    """OBS-3: cheap enough to be always on."""
    calls: list[str] = []

    class Counted(Finder):
        def many(self, texts: Iterable[str]) -> list[Found]:
            asked = list(texts)
            calls.extend(asked)
            return super().many(asked)

    cache = FactCache(Counted())
    view = [HISTORY[0], fold(f"folded {ADDRESS}", 1, 3), HISTORY[3]]
    measure(HISTORY, view, cache=cache)
    before = len(calls)
    measure(HISTORY, view, cache=cache)
    assert before == len(calls) == 5


def test_what_made_the_reading_of_a_history_faster_is_let_go_of_before_it_is_measured() -> None:
    """OBS-3: the peak of a compaction is here, and what is read from here on is foldline's own text."""
    finder = Finder()
    measure(HISTORY, [HISTORY[0], HISTORY[3]], cache=FactCache(finder))
    assert not finder._reader._said.keys() - {""}
