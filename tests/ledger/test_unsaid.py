"""What a taking-back had taken back stands again once that is taken back itself."""

from __future__ import annotations

import pytest

import foldline
from foldline.ledger.supersession import supersessions
from tests.linear import slowness

RULE = "Never push to main."
LIFTED = "You may push to main now."


def fallen(*texts: str) -> list[str]:
    """The messages of which something no longer stands."""
    return [texts[ordinal] for ordinal in sorted(supersessions([*enumerate(texts)]))]


@pytest.mark.parametrize(
    "unsaid",
    [
        "I take that back.",
        "Wait, no. Not yet.",
        "Sorry, wrong chat. Ignore that.",
        "Hmm no, forget what I just said about pushing.",
        "Actually no.",
        "Actually don't.",
        "The rule about main stands again.",
        "Ok, pushed? Good. From now on the old rule applies again.",
        "The restriction on main is back in force.",
        "On second thought, not today.",
        "My mistake, that was meant for another repo.",
    ],
)
def test_a_rule_whose_lifting_is_taken_back_stands_again(unsaid: str) -> None:
    """CMP-18: every rule that stands is in view. Where it is not clear what is taken back both stand."""
    assert fallen(RULE, LIFTED) == [RULE]
    assert RULE not in fallen(RULE, LIFTED, unsaid)
    assert RULE not in fallen(RULE, LIFTED, "Thanks.", unsaid)


@pytest.mark.parametrize(
    "unsaid", ["我收回刚才的话。", "发错了,忽略上一条。", "先别。", "之前的限制重新生效。"]
)
def test_the_same_in_chinese(unsaid: str) -> None:
    """CMP-18."""
    rule, lifted = "不要推送到 main。", "现在可以推送到 main 了。"
    assert fallen(rule, lifted) == [rule]
    assert rule not in fallen(rule, lifted, unsaid)


@pytest.mark.parametrize(
    ("first", "second", "unsaid"),
    [
        ("Use port 8080.", "Use port 9090.", "Sorry, ignore that."),
        ("The budget is 500 EUR.", "The budget is 800 EUR.", "No wait, I misread. Forget that."),
        ("端口改成8080。", "端口改成9090。", "发错了,忽略上一条。"),
    ],
)
def test_a_value_whose_update_is_taken_back_stands_again(first: str, second: str, unsaid: str) -> None:
    """BUD-8: a value is in view; the newest that stands."""
    assert fallen(first, second) == [first]
    assert first not in fallen(first, second, unsaid)


@pytest.mark.parametrize("corrected", ["No wait, the port is 9191.", "Wait, no. The port is 9191 now."])
def test_who_corrects_a_value_brings_no_older_one_back(corrected: str) -> None:
    """BUD-8: the newest form alone."""
    assert fallen("The port is 8080.", "The port is 9090.", corrected) == [
        "The port is 8080.",
        "The port is 9090.",
    ]


@pytest.mark.parametrize(
    "neutral",
    [
        "Thanks, next task.",
        "Now fix the login.",
        "The rate limit is 5 a second.",
        "I see. " + "And more. " * 40 + "Not yet.",
        "The font size limit still looks off in the dialog.",
        "The rate limits apply to the API, add a retry.",
        "Does the instruction in README still apply?",
        "The rule about the font size still holds.",
    ],
)
def test_what_takes_nothing_back_leaves_what_was_lifted_lifted(neutral: str) -> None:
    """CMP-18: a rule that was lifted is none that stands."""
    assert fallen(RULE, LIFTED, neutral) == [RULE]


@pytest.mark.parametrize(
    "next",
    [
        "Now check the other repo.",
        "Ignore this warning, it is known.",
        "The build is not yet green.",
        "Drop the old table, then run the tests.",
        "支持 csv、json 等等。",
        "这个颜色不对劲吗?",
        "Never mind the lint warnings, go on.",
        "No, wait for the server first.",
        "Undo my last commit.",
        "Ignore the previous errors in the log.",
        "Forget the last column of the table.",
        "Not yet done? Show me the log.",
        "I was wrong about the log, it is fine.",
        "My bad, I pasted the wrong log above. Here it is: ok",
        "I misread the log, all is green.",
        "Actually, don't use the cache for this.",
        "Was that a mistake? Should I scratch that?",
    ],
)
def test_who_says_something_else_brings_no_older_value_back(next: str) -> None:
    """BUD-8: the newest form alone."""
    assert "Use port 8080." in fallen("Use port 8080.", "Use port 9090.", next)


def test_what_was_said_long_before_is_not_taken_back() -> None:
    """ "That" is near; a rule may be let stand again however old it is."""
    between = [f"Fix the {thing}." for thing in ("login", "export", "search", "menu")]
    assert RULE in fallen(RULE, LIFTED, *between, "I take that back.")
    assert RULE not in fallen(RULE, LIFTED, *between, "The rule about main stands again.")


def test_the_rule_is_in_the_view_that_is_sent() -> None:
    """CMP-18, over a whole compaction."""
    said = [RULE, LIFTED, "I take that back.", "go on"]
    messages = [
        {"role": role, "content": text}
        for n, user in enumerate(said)
        for role, text in (("user", user), ("assistant", f"OK, {n}. " + "lorem ipsum dolor " * 400))
    ]
    compacted = foldline.compact(
        [*messages, {"role": "user", "content": "and now?"}], to=0.15, format="openai-chat"
    )
    assert RULE in str(compacted.messages)
    retention = compacted.report.to_dict()["retention"]
    assert retention["constraints"]["in_view"] == retention["constraints"]["total"] == 1


def test_a_rule_that_stands_again_brings_no_older_value_back() -> None:
    """BUD-8: a value was updated, not lifted."""
    said = ("Use port 8080.", "Use port 9090.", RULE, LIFTED, "The old rule applies again.")
    assert fallen(*said) == ["Use port 8080."]


def test_a_long_talk_in_which_nothing_is_taken_back_costs_no_more_a_message() -> None:
    """OBS-3."""

    def read(text: str) -> object:
        return supersessions([*enumerate(text.split("|"))])

    assert slowness(read, "ok|", size=12_000, scans_max=1_000) == ""
