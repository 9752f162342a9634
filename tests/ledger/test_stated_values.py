"""A stated value is a key and a value; two statements of one key with two values are one fact, updated.

Near duplicates have other keys, and a clause with two values states none.
"""

from __future__ import annotations

import pytest

from foldline.ledger.stated_values import stated_values, updates
from foldline.ledger.supersession import supersessions


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The port is 8080.", "the port is 9090 now"),
        ("Delivery is on Tuesday.", "Change: delivery moves to Wednesday"),
        ("端口是 8080", "端口改成 9090"),
        ("超时是 30 秒", "把超时改成 60 秒"),
        ("Use Postgres for the database.", "Actually use MySQL for the database"),
        ("The reviewer is Anna.", "The reviewer is now Ben."),
        ("The budget is $500.", "Actually the budget is $700, not $500."),
        ("The retry limit is 3.", "Change the retry limit from 3 to 5."),
    ],
)
def test_the_same_key_with_another_value_is_an_update(earlier: str, later: str) -> None:
    """Derived lines show the newest value alone (CMP-8)."""
    (old,), (new,) = stated_values(earlier), stated_values(later)
    assert updates(new, old)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The staging port is 8080.", "The production port is 9090."),
        ("Timeout for uploads is 30s.", "Timeout for downloads is 60s now."),
        ("测试环境端口是 8080", "生产环境端口改成 9090"),
        ("The reviewer is Anna.", "The reviewer is on floor 3."),
        ("The port is 8080.", "The port is 8080 now."),
    ],
)
def test_near_duplicates_and_the_same_value_are_no_update(one: str, other: str) -> None:
    """Near-duplicate facts stay distinct."""
    (old,), (new,) = stated_values(one), stated_values(other)
    assert not updates(new, old)


@pytest.mark.parametrize(
    ("limit", "measured"),
    [
        ("Latency must stay under 200 ms.", "Latency is 350 ms now."),
        ("Coverage must be at least 80%.", "Coverage is 74% now."),
        ("Coverage must be 80%.", "Coverage is at 74%."),
        ("The timeout must be 30 seconds for API calls.", "The timeout is now 10 seconds."),
    ],
)
def test_what_was_measured_replaces_no_value(limit: str, measured: str) -> None:
    """A limit that is broken is not a limit that changed."""
    (old,), (new,) = stated_values(limit), stated_values(measured)
    assert not updates(new, old)


@pytest.mark.parametrize(
    ("stated", "other"),
    [
        ("Log level must be `debug`.", "Log level should not be `info`."),
        ("The deadline is Friday.", "The deadline was Thursday but it slipped."),
        ("The port is 8080.", "The port should never be 9090."),
    ],
)
def test_what_is_denied_or_past_states_no_value(stated: str, other: str) -> None:
    """It says what a value is not, or was; the same words about what it is state one."""
    assert len(stated_values(stated)) == 1
    assert stated_values(other) == ()


@pytest.mark.parametrize(
    ("named", "shorter"),
    [
        ("Memory limit is 512 MB.", "Memory is 600 MB now."),
        ("Memory budget is 512 MB.", "Memory is 600 MB now."),
        ("The memory cap is 512 MB.", "The memory is now 600 MB."),
        ("Memory ceiling: 512 MB", "Memory is 600 MB now."),
        ("Upper bound for memory: 512 MB.", "Memory is 600 MB now."),
        ("Coverage threshold is 90%.", "Coverage is 70% now."),
        ("Coverage target: 90%.", "Coverage is now 70%."),
        ("Latency goal is 200 ms.", "The latency is 350 ms now."),
        ("The rate limit is 10 requests per second.", "The rate is 12 requests per second now."),
        ("Die Obergrenze für Speicher ist 512 MB.", "Speicher ist jetzt 600 MB."),
        ("价格上限：100 元。", "价格现在是 120 元。"),
        ("测试环境端口是 8080", "端口改成 9090"),
        ("The staging port is 8080.", "The port is 9090 now."),
        ("The temperature setpoint is 20.", "The temperature is 25 now."),
        ("Backup port is 8080.", "Change the port to 9090."),
    ],
)
def test_a_word_more_in_the_older_name_makes_it_another_thing(named: str, shorter: str) -> None:
    """CMP-30: what users ruled stands; a limit does not fall with what was measured against it, nor one port with another."""
    (old,), (new,) = stated_values(named), stated_values(shorter)
    assert not updates(new, old)


def test_a_limit_is_replaced_by_another_limit() -> None:
    """What asks for the value replaces what asked for it."""
    (old,) = stated_values("The build must finish in 10 min.")
    (new,) = stated_values("The build must finish in 8 min now.")
    assert updates(new, old)


@pytest.mark.parametrize("text", ["Is the port 9090?", "Add 3 tests", "Item 3 is 5 kg", "It works"])
def test_questions_requests_and_doubtful_clauses_state_nothing(text: str) -> None:
    """A wrong guess hides a fact."""
    assert stated_values(text) == ()


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Always answer in English.", "From now on answer in German."),
        ("Answer in English.", "Please always reply to me in French"),
        ("Always answer in English.", "Ab jetzt antworte mir auf Deutsch."),
        ("请用中文回答", "以后用英文回答"),
        ("Réponds toujours en français.", "Now respond in English instead."),
    ],
)
def test_another_language_for_all_answers_replaces_the_one_before(earlier: str, later: str) -> None:
    """In whichever language either is said; an answer "in German" for this once replaces nothing."""
    (old,), (new,) = stated_values(earlier), stated_values(later)
    assert updates(new, old)
    [once] = stated_values("Answer in Spanish.")
    assert not updates(once, old)


@pytest.mark.parametrize(
    "text",
    [
        "Never answer in English.",
        "Don't reply in English.",
        "Answer in German when the customer does.",
        "Always write commit messages in English.",
        "Answer in Markdown.",
        "From now on write the docs in German.",
        "Write the docs in German from now on.",
        "Should you answer in German from now on?",
    ],
)
def test_what_says_less_than_the_language_of_all_answers_states_none(text: str) -> None:
    """Conservative: a rule that is hidden and still stands is worse than two that contradict each other."""
    assert stated_values(text) == ()


@pytest.mark.parametrize(
    "later",
    [
        "With the VPN on, the timeout is 60s.",
        "When the VPN is on, the timeout is 60s.",
        "On mobile, the timeout is 60s.",
        "In CI, the timeout is 60s.",
        "For tests, the timeout is 60s.",
        "Under load, set the timeout to 60s.",
        "Its timeout is 60s.",
        "The worker's timeout is 60s.",
    ],
)
def test_a_value_for_one_case_or_of_another_thing_replaces_none_that_holds_always(later: str) -> None:
    """BUD-8: near-duplicate facts stay distinct."""
    assert supersessions([(0, "The timeout is 30s."), (1, later)]) == {}
    assert supersessions([(0, later), (1, "The timeout is 30s.")]) == {}


@pytest.mark.parametrize("later", ["压测时,超时是60秒。", "在 CI 里,超时是60秒。", "它的超时是60秒。"])
def test_the_same_in_chinese(later: str) -> None:
    """BUD-8."""
    assert supersessions([(0, "超时是30秒。"), (1, later)]) == {}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("In CI, the timeout is 30s.", "In CI, the timeout is 60s."),
        ("The timeout is 30s.", "For now, the timeout is 60s."),
        ("The timeout is 30s.", "From now on, the timeout is 60s."),
        ("The timeout is 30s.", "In fact, the timeout is 60s."),
        ("超时是30秒。", "现在超时是60秒。"),
    ],
)
def test_a_value_for_the_same_case_replaces_the_older_one(first: str, second: str) -> None:
    """BUD-8: an updated value is in view in its newest form alone."""
    assert list(supersessions([(0, first), (1, second)])) == [0]
