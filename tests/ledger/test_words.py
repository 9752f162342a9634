"""What users said, and what of it stands: in messages, in an earlier ledger's lines, behind an earlier mark."""

from __future__ import annotations

from foldline.core.address import block, mark
from foldline.core.message import Message, Text
from foldline.core.view import Item, item_of
from foldline.ledger.words import BY_MARK, earlier, rule_lines, said_in, words_of
from foldline.testing.builders import assistant, image, user


def items(*messages: Message) -> list[Item]:
    """Messages as they stand in a view."""
    return [
        item_of(n, message, weights=(1,) * len(message.parts), overhead=1)
        for n, message in enumerate(messages)
    ]


def ledger(*lines: str) -> Message:
    """An earlier fold whose ledger holds these lines of users."""
    body = "\n".join(["head", "## Objective and constraints", *[f"- {line} (m0 user)" for line in lines]])
    return Message(
        role="user", parts=(Text(text=block("fold", "m0-3@0123abcd", body=body)),), synthetic="fold"
    )


def test_a_users_own_words_are_told_from_blocks_and_marks_in_the_same_message() -> None:
    """An earlier ledger travels in a user's message where roles must alternate."""
    body = block("fold", "m0-3@0123abcd", body="## Facts\npaths: a.py")
    assert said_in(user(body, "Go on.", mark("m4@0123abcd"))) == "Go on."
    assert said_in(user(image())) == ""


def test_a_rule_that_only_an_earlier_ledger_carries_is_taken_back_as_any_other() -> None:
    """CMP-16: a later message lifts a rule, whether its message is in view or was folded long ago."""
    words = words_of(
        items(
            ledger("Never push to main.", "Never touch db/schema.sql."),
            user("You may now push to main again."),
        )
    )
    numbers = {text: number for text, number in words.lines.items()}
    assert not words.stands(numbers["Never push to main."])
    assert words.stands(numbers["Never touch db/schema.sql."])


def test_of_a_value_that_an_earlier_ledger_quotes_only_the_newest_stands() -> None:
    """`design.md`, the ledger: derived lines show only the newest value."""
    words = words_of(items(ledger('"The port is 8080. The host is db1."'), user("The port is 9090 now.")))
    [number] = words.lines.values()
    assert words.standing(number) == "The host is db1."


def test_a_mark_of_an_earlier_compaction_still_takes_back_what_it_stands_behind() -> None:
    """The message that supersedes may be long gone from the view."""
    whole = user("Let's use Redis.", mark("m9@0123abcd"))
    part = user("The port is 8080. The host is db1.", mark("m9@0123abcd", ["The port is 8080."]))
    words = words_of(items(whole, part, user("Go on.")))
    assert not words.stands(0)
    assert words.standing(1) == "The host is db1."
    assert words.taken_back[1][0] == BY_MARK


def test_a_mark_alone_takes_nothing_back() -> None:
    """Words that look like a mark, with nothing before them, are nobody's retraction."""
    assert words_of(items(user(mark("m9@0123abcd")), user("Go on."))).taken_back == {}


def test_a_message_said_again_word_for_word_stands_where_it_was_said_last() -> None:
    """Two of the same need room once."""
    words = words_of(items(user("Continue."), assistant("Done."), user("Continue.")))
    assert not words.stands(0)
    assert words.stands(2)


def test_a_rule_given_twice_is_one_rule() -> None:
    """OBS-3: retention counts it where it was given last."""
    words = words_of(items(user("Never push. Fix it."), assistant("ok"), user("Again: never push.")))
    assert [seq for seq, _ in words.standing_rules()] == [0, 2]
    words = words_of(items(user("Never push. Fix it."), assistant("ok"), user("Never push. And test it.")))
    assert words.standing_rules() == ((2, "Never push."),)


def test_a_rule_that_was_taken_back_is_told_apart_from_those_that_stand() -> None:
    """OBS-3: retention counts every rule a user ever gave."""
    words = words_of(items(user("Never push. Never amend."), assistant("ok"), user("You may push now.")))
    assert words.standing_rules() == ((0, "Never amend."),)
    assert words.struck_rules() == ((0, "Never push."),)
    again = words_of(
        items(
            user("Never push."),
            assistant("ok"),
            user("You may push now."),
            assistant("ok"),
            user("Never push."),
        )
    )
    assert (again.standing_rules(), again.struck_rules()) == (((4, "Never push."),), ())


def test_a_ledger_joined_into_a_message_of_plain_text_is_an_earlier_ledger() -> None:
    """Where roles must alternate, a fold and what follows it are one message."""
    fold = ledger("Never push.").text
    [[entries, _]] = earlier(items(user(fold, "Go on.")))
    assert [entry.text for entry in entries] == ["Never push."]
    assert earlier(items(user(fold))) == []


def test_what_a_user_allows_leaves_no_sooner_than_the_rule_that_it_lifts() -> None:
    """An earlier notice shows the rule for good, so the line that lifts it is carried on as a rule is."""
    view = items(user("Thanks. You may push to main now."), user("Go on."))
    assert rule_lines(view, words_of(view))[1:] == ["- You may push to main now. (m0 user)"]


def test_a_ledger_that_a_user_pasted_rules_nothing_and_lifts_nothing() -> None:
    """What stands in a block of ours within a person's own text is not what the person says."""
    pasted = block(
        "fold", "m0-3@0123abcd", body="- You may now touch src/db. (m0 user)\n- Never push. (m0 user)"
    )
    view = items(user("Never touch src/db."), user(f"look at this file: {pasted} is it ok?"))
    assert words_of(view).standing_rules() == ((0, "Never touch src/db."),)
    assert len(rule_lines(view, words_of(view))) == 2
