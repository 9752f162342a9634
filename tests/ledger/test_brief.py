"""What tools did to the world is told tool by tool where there is no room to tell it call by call."""

from __future__ import annotations

import json

from foldline.core.message import Message
from foldline.ledger.brief import FILES_MAX, FILES_MIN, brief_of, in_brief, is_act, is_brief, seds_together
from foldline.ledger.entries import Entry
from foldline.ledger.render import read
from foldline.passes.fold_oldest import FoldOldest
from foldline.testing.builders import assistant, call, result, system, user, view_from
from tests.ledger.test_compose import ledger, section
from tests.passes.planning import planned

SEATS = json.dumps({"flights": [{"number": f"HAT{n}", "seats": {"economy": n}} for n in range(100, 160)]})


def booked(number: int) -> list[Message]:
    """A search, and a change of one reservation."""
    return [
        assistant("", call("search_direct_flight", f"s{number}", date=f"2024-05-{number + 10}")),
        result(f"s{number}", SEATS),
        assistant("", call("update_reservation_flights", f"u{number}", reservation_id=f"JG7F{number}")),
        result(f"u{number}", json.dumps({"reservation_id": f"JG7F{number}", "amount": -6594 - number})),
    ]


TALK = [user("Please downgrade my flights."), *booked(1), *booked(2), *booked(3)]


def test_calls_that_find_no_room_one_by_one_are_counted_by_their_tool() -> None:
    """CMP-8: of 140 bookings and cancellations in 64 recorded talks (τ-bench) 98 stood in folds that named none, cut to 30 %."""
    told = section(ledger(TALK, budget=2_000).text, "Workspace mutations")
    assert [f"JG7F{n}" in told for n in (1, 2, 3)] == [True, True, True]
    brief = section(ledger(TALK, budget=70).text, "Workspace mutations")
    assert brief == "- `update_reservation_flights` → answered (m11 tool ×3)"
    for budget in range(40, 200):  # whatever fits, each is told once
        lines = section(ledger(TALK, budget=budget).text, "Workspace mutations").split("\n")
        assert (
            sum(int(line.partition("×")[2].rstrip(")") or 1) for line in lines if line.startswith("- `")) == 3
        )


def test_a_target_that_nothing_else_fits_into_still_says_which_tools_acted() -> None:
    """CMP-8: what was looked up can be looked up again; what was changed must not be changed twice."""
    messages = [system("policy " * 200), *TALK, user("thanks " * 20)]

    def fold(*, tokens_window: int | None) -> str:
        done = planned(FoldOldest(), messages, target=100, tokens_window=tokens_window)
        [told] = [item.message.text for item in done.after if item.message.synthetic == "fold"]
        return told

    assert "`update_reservation_flights` → answered (m12 tool ×3)" in fold(tokens_window=400)
    told = fold(tokens_window=None)  # missed anyway, it has room for each
    assert [f"JG7F{n}" in told for n in (1, 2, 3)] == [True, True, True]


def test_what_was_told_in_brief_is_carried_on_and_counted_further() -> None:
    """CMP-25: the second ledger says of all calls what the first said of some."""
    first = ledger(TALK, budget=70).text
    again = ledger(booked(4), budget=70, earlier=first, start=len(TALK)).text
    assert "`update_reservation_flights` → answered (m15 tool ×4)" in again


def test_an_earlier_line_in_brief_stands_beside_a_call_that_is_told_whole() -> None:
    """CMP-25: nothing of the first is lost, and nothing is counted twice."""
    again = ledger(booked(4), earlier=ledger(TALK, budget=70).text, start=len(TALK)).text
    assert "`update_reservation_flights` → answered (m11 tool ×3)" in again
    assert "`update_reservation_flights JG7F4` → answered: " in again


def test_a_tool_of_which_all_went_well_is_done_and_what_only_reads_has_no_line() -> None:
    """CMP-8: a line in brief says no more than the lines in its place."""
    entries, _ = read(
        "## Workspace mutations\n- `send_mail a@b` → ok: id=1 (m1 tool)\n- `send_mail c@d` → ok: id=2 (m3 tool)\n"
        "- `lookup x` → answered: y (m5 tool)\n- src/a.py edited, +1: `x = 1` (m7 assistant)"
    )
    acts = [entry for entry in entries if is_act(entry)]
    assert [entry.seq for entry in acts] == [1, 3]
    brief = in_brief(entries, acts)
    assert [(entry.text, entry.times) for entry in brief if is_brief(entry)] == [("`send_mail` → done", 2)]
    assert [entry.seq for entry in brief] == [5, 7, 3]


def test_no_line_in_brief_is_kept_for_what_is_told_as_an_edit() -> None:
    """CMP-8: an editor of an unknown name is told file by file."""
    edit = {"path": "a.py", "old_string": "x", "new_string": "y"}
    calls = [call("update_source", "a", **edit), call("update_source", "b", ticket="7")]
    items = view_from([user("go"), *map(assistant, calls)]).items()
    assert brief_of(items, ()) == ["- `update_source` → answered (m1000 tool ×1)"]


def changed(path: str, seq: int, how: str = "edited, by sed: `s|a|b|`") -> Entry:
    """A change to a file."""
    return Entry(section="mutations", key=path, text=f"{path} {how}", seq=seq, origin="assistant")


def test_many_files_that_sed_changed_are_told_in_one_line_that_is_carried_on() -> None:
    """CMP-8: twenty lines of mended imports stood before what else was changed (pi)."""
    seds = [changed(f"/r/src/{n}.ts", n) for n in range(FILES_MIN)]
    others = [changed("/r/x.py", 3, "edited, +1: `x = 1`"), changed("/r/y.py", 4, "removed")]
    told = seds_together([*seds, *others])
    assert [one.text for one in told] == [
        "m0-m5: 6 files edited, by sed: below /r/src/: 5.ts 4.ts 3.ts 2.ts 1.ts 0.ts; last `s|a|b|`",
        "/r/x.py edited, +1: `x = 1`",
        "/r/y.py removed",
    ]
    body = f"## Workspace mutations\n- {told[0].text} (m5 assistant)"
    assert read(body)[0] == (told[0],)
    assert seds_together([*told, *seds[1:]]) == (*told, *seds[1:])


def test_few_files_that_sed_changed_stand_line_by_line_and_of_many_the_newest_are_named() -> None:
    """CMP-8: a line stays a line; one that was thrown away since stands alone."""
    few = [changed(f"{n}.ts", n) for n in range(FILES_MIN - 1)]
    reset = changed("z.ts", 9, "edited, by sed: `s|a|b|`; before git reset --hard at m11")
    assert seds_together([*few, reset]) == (*few, reset)
    [one] = seds_together([changed(f"/{n}.ts", n) for n in range(FILES_MAX + 2)])
    assert one.text.count(".ts") == FILES_MAX
    assert " /2.ts …; last" in one.text
