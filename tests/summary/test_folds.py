"""What stands in the place of messages that a model summed up: its words, and beside them the host's own record."""

from __future__ import annotations

from foldline.core.rounds import outline_of
from foldline.ledger.entries import Entry
from foldline.ledger.render import read
from foldline.summary.folds import head_of, ledger_of, merged, rules_of, sections_in
from foldline.testing.builders import view_from
from tests.summary.talking import RULE, frame_of, work

TEXT = """Before all headings.
## Objective and constraints
- fix the login
**Decisions and rationale**
- constant time, because equality leaks
7. Exact next action:
run the tests
Some other heading
more of it"""


def test_a_model_s_text_is_read_by_the_headings_however_it_marks_them() -> None:
    """Requirement CMP-8: seven fixed headings; what stands before them or under others is kept where it stands."""
    before, found = sections_in(TEXT)
    assert before == ["Before all headings."]
    assert found["objective"] == ["- fix the login"]
    assert found["decisions"] == ["- constant time, because equality leaks"]
    assert found["next"] == ["run the tests", "Some other heading", "more of it"]


def test_prose_and_record_share_headings_and_stay_apart() -> None:
    """The record first under each heading, the model's lines indented, exact records last; facts below all."""
    record = "## Objective and constraints\n- never touch vendor/ (m3 user)\n## Facts\npaths: src/a.py\n(2 older entries not listed)"
    exact = Entry(section="next", key="run `x`", text="run `x`", seq=9, origin="assistant")
    text = merged(record, TEXT, records=(exact,))
    assert text.split("\n") == [
        " Before all headings.",
        "## Objective and constraints",
        "- never touch vendor/ (m3 user)",
        " - fix the login",
        "## Decisions and rationale",
        " - constant time, because equality leaks",
        "## Exact next action",
        " run the tests",
        " Some other heading",
        " more of it",
        "- run `x` (m9 assistant)",
        "## Facts",
        "paths: src/a.py",
        "(2 older entries not listed)",
    ]
    entries, facts = read(text)
    assert [entry.text for entry in entries] == ["never touch vendor/", "run `x`"]
    assert [fact.text for fact in facts] == ["src/a.py"]
    assert merged("", "") == ""


def test_what_users_ruled_stands_word_for_word_beside_whatever_a_model_wrote() -> None:
    """Requirement CMP-30 and the trust rules: rules do not depend on a model."""
    messages = work(12)
    view = view_from(messages)
    frame, structure = frame_of(view, messages), outline_of(view)
    gone = view.items()[:-3]
    assert RULE in rules_of(structure, gone, frame=frame)
    assert rules_of(structure, gone[1:], frame=frame) == ""
    ledger = ledger_of(structure, gone, frame=frame, budget=400)
    assert RULE in ledger
    assert frame.counter.text(ledger) <= 400
    assert "indented lines" in head_of(gone).lower()


def test_what_the_model_s_words_show_takes_no_room_in_the_record() -> None:
    """Facts the model dropped are put back; those that it kept are not said twice."""
    messages = work(12)
    view = view_from(messages)
    frame, structure = frame_of(view, messages), outline_of(view)
    gone = view.items()[:-3]
    told = ledger_of(structure, gone, frame=frame, budget=2_000, prose="It is set: value_9_11 = 106.")
    facts = told.partition("## Facts")[2]
    assert "value_9_10=" in facts
    assert "value_9_11=" not in facts
