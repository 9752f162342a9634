"""A history compacted in one step, and in several, each going on from the result of the one before: the same ledger.

What an agent did is drawn act by act, with long output between; the loop of `docs/guides/agent-loop.md` plays it. Knows the
public function, its twin for files, a session that began with a result, and how the messages of a list are counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline import InvalidOption, compact, files
from foldline.core.address import block, read_block
from foldline.core.errors import UnknownAddress
from foldline.engine.policy import Tier
from foldline.ledger.entries import Entry
from foldline.ledger.numbering import MEANWHILE
from foldline.ledger.render import line_of, read
from foldline.lookup import show
from foldline.passes.fold_oldest import FoldOldest
from foldline.presets import policy_of
from foldline.session.library import import_transcript
from foldline.stores.memory import MemoryStore
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript
from foldline.wire.body import read_body
from tests.session.making import opened

Wire: TypeAlias = list[dict[str, Any]]
FORMAT, COUNTER, TARGET, LIMIT = "anthropic", "length/4", 3_000, 5_000
FOLDS = replace(policy_of("balanced"), tiers=(Tier(name="fold", reduce=FoldOldest(clamp_edge=False)),))
"""Where old results can be cleared, nothing is folded: here it is, whenever a history is too long."""
LATER = re.compile(r"(; (?:done|changed) at )m\d+$")
"""Of what was done more than once since, which time is named is no other state."""
LONG = "lorem ipsum dolor sit amet " * 60
LAST_ROUNDS = 12
"""So many rounds of output alone end a history that all that was done has left its view."""


class Act(NamedTuple):
    """What an agent did, and what came of it."""

    name: str
    arguments: dict[str, str]
    answer: str
    is_error: bool = False


LOOK = Act("Bash", {"command": "cat data.txt"}, LONG)
EDITED = Act(
    "Edit", {"file_path": "/r/a.py", "old_string": "x=1", "new_string": "x=2"}, "/r/a.py has been updated"
)
UNMADE = Act(
    "Edit",
    {"file_path": "/r/a.py", "old_string": "y", "new_string": "z"},
    "String to replace not found",
    True,
)
RESET = Act("Bash", {"command": "git reset --hard"}, "HEAD is now at abc1234 Start")
STASHED = Act("Bash", {"command": "git stash"}, "Saved working directory and index state WIP on main: abc")
POPPED = Act("Bash", {"command": "git stash pop"}, "Dropped refs/stash@{0} (abc)")
RESTORED = Act("Bash", {"command": "cd /r && git checkout ."}, "Updated 1 path from the index")
FAILED = Act("Bash", {"command": "npm test"}, "1 failed", True)
PASSED = Act("Bash", {"command": "npm test"}, "all 5 tests passed")
BOUNCED = Act("send_email", {"to": "a@b"}, "Error: smtp down", True)
SENT = Act("send_email", {"to": "a@b"}, "sent")
REFUSED = Act("task_done", {}, "ERROR! Your patch is empty.", True)
TAKEN = Act("task_done", {}, "ok")
OTHER = EDITED._replace(
    arguments={**EDITED.arguments, "file_path": "/r/b.py"}, answer="/r/b.py has been updated"
)
ACTS = (
    EDITED,
    UNMADE,
    OTHER,
    RESET,
    STASHED,
    POPPED,
    RESTORED,
    FAILED,
    PASSED,
    BOUNCED,
    SENT,
    REFUSED,
    TAKEN,
)


def played(acts: Sequence[Act], *, asks: bool = False, first: int = 0) -> list[Wire]:
    """The rounds of a history: each act, and output that takes room; where the user `asks`, words between. Calls are numbered from
    `first` on."""
    number = count(first)
    rounds: list[Wire] = [[{"role": "user", "content": "Set up the project."}]]
    for act in [*[one for each in acts for one in (each, LOOK)], *[LOOK] * LAST_ROUNDS]:
        id = f"toolu_{next(number):04}"
        call = {"type": "tool_use", "id": id, "name": act.name, "input": act.arguments}
        result = {"type": "tool_result", "tool_use_id": id, "content": act.answer, "is_error": act.is_error}
        rounds.append([{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}])
        if asks and act.name != "Bash":
            said = {"role": "user", "content": f"Go on with part {id[-4:]} of the work."}
            rounds.append([{"role": "assistant", "content": "This part is done."}, said])
    return [*rounds, [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]]


def listed(rounds: Sequence[Wire]) -> Wire:
    """The messages of rounds."""
    return [message for one in rounds for message in one]


def entries(messages: Sequence[Any]) -> list[Entry]:
    """What the ledgers in view say."""
    contents = [message["content"] for message in messages]
    texts = [content for content in contents if isinstance(content, str)]
    texts += [part.get("text", "") for content in contents if isinstance(content, list) for part in content]
    ledgers = [found[2] for text in texts if (found := read_block(text)) is not None]
    return [entry for text in ledgers for entry in read(text)[0]]


def told(messages: Wire) -> dict[tuple[str, str], tuple[str, int]]:
    """The same, and of which message, by section and key."""
    found = entries(messages)
    return {(entry.section, entry.key): (LATER.sub(r"\1", entry.text), entry.seq) for entry in found}


def transcript(messages: Wire) -> Transcript:
    """A file of such a list."""
    decoded = read_body({"messages": messages}, format=FORMAT).messages
    return Transcript(format=FORMAT, wire=FORMAT, messages=decoded)


def numbers(messages: Wire) -> list[int]:
    """What each message is counted as."""
    return [number.ordinal for number in transcript(messages).numbers]


def folded(messages: Wire) -> Wire:
    """The history at its target."""
    return compact(messages, to=TARGET, format=FORMAT, counter=COUNTER, policy=FOLDS).messages


def fitted(messages: Wire) -> Wire:
    """What the loop sends, and goes on from."""
    return folded(messages) if len(json.dumps(messages)) > 4 * LIMIT else messages


@settings(max_examples=max(10, settings().max_examples // 8))
@given(
    acts=st.lists(st.sampled_from(ACTS), min_size=2, max_size=9),
    step=st.integers(min_value=3, max_value=12),
    asks=st.booleans(),
)
def test_in_several_steps_the_ledger_says_what_it_says_in_one(acts: list[Act], step: int, asks: bool) -> None:
    """CMP-16, law TRACE: what was made, failed, reset or put away is told the same, as far as both have room for it, under the same
    numbers, which are unique and grow with the list in every generation."""
    rounds = played(acts, asks=asks)
    whole = listed(rounds)
    view: Wire = []
    for at in range(0, len(rounds), step):
        view = fitted([*view, *listed(rounds[at : at + step])])
        assert all(one < other for one, other in pairwise(numbers(view)))
    view, once = folded(view), folded(whole)
    assert numbers(view)[-1] == numbers(once)[-1] == len(whole) - 1
    said, expected = told(view), told(once)
    common = said.keys() & expected.keys()
    assert common
    assert {key: said[key] for key in common} == {key: expected[key] for key in common}


def generations(rule: str) -> list[Wire]:
    """Five views of a history, each made of the one before and what came since; in it a user gives a rule again and again."""
    said = f"{rule} {'Note that there is more to say of it. ' * 40}"
    rounds: list[Wire] = []
    for number, one in enumerate(played([LOOK] * 2)):
        asked = {"role": "user", "content": f"Part {number}. {said}"}
        rounds += [one, [{"role": "assistant", "content": "Right."}, asked]]
    views: list[Wire] = [[]]
    for at in range(0, len(rounds), 6):
        views.append(folded([*views[-1], *listed(rounds[at : at + 6])]))
    return views[1:6]


def test_a_number_in_a_users_rule_counts_nothing() -> None:
    """Law TRACE: a rule spoke of message 999,990; from the third generation on numbers went beyond it, and from the next on those that a
    ledger named meant new messages."""
    rule = "Never touch the log. The log (m999990) must show why it failed at m999990."
    views, plain = generations(rule), generations(rule.replace("m999990", "n999990"))
    assert len(views) == 5
    assert any("(m999990)" in line for line in said(views[-1]))
    assert list(map(numbers, views)) == list(map(numbers, plain))
    assert max(numbers(views[-1])) < 200


CASES = pytest.mark.parametrize(
    ("first", "then", "line"),
    [
        (EDITED, RESET, "/r/a.py edited, +1 −1; before git reset --hard at {then} ({first} assistant)"),
        (EDITED, STASHED, "/r/a.py edited, +1 −1; put away by git stash at {then} ({first} assistant)"),
        (
            EDITED,
            RESTORED,
            "/r/a.py edited, +1 −1; before git restored its folder at {then} ({first} assistant)",
        ),
        (
            UNMADE,
            EDITED,
            "edit of `/r/a.py` → failed: String to replace not found; changed at {then} ({first} tool)",
        ),
        (BOUNCED, SENT, "`send_email to=a@b` → failed: Error: smtp down; done at {then} ({first} tool)"),
        (REFUSED, TAKEN, "`task_done` → failed: ERROR! Your patch is empty.; done at {then} ({first} tool)"),
    ],
)


def gone_on(first: Act, then: Act) -> tuple[Wire, int]:
    """The result of a compaction and what came behind it, and how many messages came before that."""
    before = listed(played([LOOK, first]))
    return [
        *folded(before),
        {"role": "assistant", "content": "Right."},
        *listed(played([then], first=50)),
    ], len(before)


def said(messages: Sequence[Any]) -> list[str]:
    """The lines of the ledgers in view."""
    return [line_of(entry).removeprefix("- ") for entry in entries(messages)]


@CASES
def test_what_came_after_a_compaction_is_later_than_what_it_told(first: Act, then: Act, line: str) -> None:
    """CMP-16: the documented loop, and a file that was compacted and gone on with."""
    messages, before = gone_on(first, then)
    wanted = line.format(first="m5", then=f"m{before + 2}")
    assert wanted in said(folded(messages))
    options = files.CompactOptions(to=TARGET, counter=COUNTER)
    done = files.compact(detect.read(json.dumps({"messages": messages}).encode()), options)
    assert wanted in said(json.loads(done.data)["messages"])


@CASES
def test_a_session_that_began_with_a_compacted_list_tells_its_lines_by_the_message_that_holds_them(
    first: Act, then: Act, line: str
) -> None:
    """CMP-16: its log counts the fold as one message, which opens what the lines came from."""
    messages, _ = gone_on(first, then)
    at = next(place for place, one in enumerate(messages) if one["content"] == "Right.") + 2
    store = MemoryStore()
    import_transcript(store, transcript(messages), name="s", redact=lambda body: body)
    with opened(store, "s", policy=FOLDS) as session:
        session.compact(to=TARGET)
        assert line.format(first="m1", then=f"m{at}") in said(session.prepare().messages)


def test_a_compacted_list_opens_what_its_ledger_names_as_far_as_it_holds_it() -> None:
    """Law TRACE: in the file that it was made from; what an earlier compaction folded is said to be elsewhere."""
    messages, before = gone_on(EDITED, SENT)
    file = [transcript(messages)]
    assert show(file, f"m{before + 2}").text == 'send_email {"to":"a@b"}'
    assert show(file, f"m{before + 2}-{before + 3}").title == f"messages {before + 2} to {before + 3}"
    for address in ("m1", "m2", "m1-9", f"m1-{before + 2}"):
        with pytest.raises(UnknownAddress, match="folded away in an earlier compaction; open it in the file"):
            show(file, address)
    again = compact(messages, to=TARGET, format=FORMAT, counter=COUNTER, policy=FOLDS)
    [address] = again.report.covers.addresses
    assert show(file, address).title.startswith("messages ")
    assert again.report.covers.messages > before
    with pytest.raises(UnknownAddress, match="holds the summary of an earlier compaction there"):
        show([transcript(again.messages)], address)


def test_a_whole_number_pins_the_message_at_its_place_in_the_list() -> None:
    """What a caller has in hand is the list, whatever its messages are counted as."""
    messages, _ = gone_on(EDITED, SENT)
    place = next(at for at, one in enumerate(messages) if one["content"] == "Right.")
    kept = compact(messages, to=TARGET, format=FORMAT, counter=COUNTER, policy=FOLDS, pins=[place])
    assert any(one is messages[place] for one in kept.messages)
    for beyond in (len(messages), -1):
        with pytest.raises(InvalidOption, match="no message has this ordinal"):
            compact(messages, to=TARGET, format=FORMAT, counter=COUNTER, policy=FOLDS, pins=[beyond])


def test_what_stood_side_by_side_in_a_compacted_list_stays_apart() -> None:
    """Law LOSSLESS: neighbours as they came are no neighbours that an edit made, however far apart their numbers are."""
    head = f"30 earlier messages, 10 tokens, folded; the address opens the originals.\n{MEANWHILE} m12 m27"
    fold = block("fold", "m1-32@0a1b2c3d", body=head)
    said = [{"role": "user", "content": words} for words in ("Go.", fold, "Mind the docs.", "And the tests.")]
    messages = [*said, {"role": "assistant", "content": "Right."}, {"role": "user", "content": "Go on."}]
    assert numbers(messages) == [0, 1, 12, 27, 33, 34]
    out = compact(messages, to=10**6, format=FORMAT, counter=COUNTER).messages
    assert all(now is was for now, was in zip(out, messages, strict=True))


def test_a_log_that_is_made_of_a_compacted_file_counts_by_places() -> None:
    """What a compaction writes into a log names its own ordinals."""
    messages, _ = gone_on(EDITED, SENT)
    options = files.CompactOptions(to=TARGET, counter=COUNTER, as_format="foldline")
    [log] = detect.read(files.compact([transcript(messages)], options).data)
    assert len(log.history) == len(messages)
    [fold] = [one.text for one in log.messages if one.text.startswith("<foldline-fold ")]
    found = read_block(fold)
    assert found is not None
    assert show([log], found[1]).title.startswith("messages ")
