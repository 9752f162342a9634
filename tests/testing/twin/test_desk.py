"""What the dialects of one twin share: the script, the settings, ids, and headers without keys."""

from __future__ import annotations

import pytest

from foldline.testing.twin import Fault
from foldline.testing.twin.desk import Desk, Options, ScriptedFault, Settings, endless, shown_headers
from foldline.testing.twin.overflow import Sizes
from foldline.testing.twin.refused import Refused
from foldline.testing.twin.script import Received, Script, Step


def desk(*replies: Step | Script, **settings: int | bool) -> Desk:
    """A desk at which one request stands."""
    found = Desk(replies, settings=Settings(**settings), summaries=("first", None))  # type: ignore[arg-type]
    found.received.append(Received(dialect="anthropic", path="/", headers={}, body=b"{}"))
    return found


def test_a_script_is_said_in_order_and_then_answers_with_an_error() -> None:
    """A script that is too short must fail the test that wrote it, not repeat itself."""
    at = desk("one", Fault(status=429), lambda received: received.dialect)
    assert at.step(0).text == "one"
    with pytest.raises(ScriptedFault) as limited:
        at.step(0)
    assert limited.value.fault.status == 429
    assert at.step(0).text == "anthropic"
    with pytest.raises(ScriptedFault, match="no step left"):
        at.step(0)


def test_an_endless_script_begins_anew() -> None:
    steps = endless("a", "b")
    assert [next(steps) for _ in range(3)] == ["a", "b", "a"]


def test_a_summary_may_be_scripted_or_fail() -> None:
    at = desk()
    assert [at.summary("default") for _ in range(3)] == ["first", None, "default"]


def test_the_window_is_the_models_own_unless_given() -> None:
    assert desk().window("gpt-5") == 272_000
    assert desk(window=500).window("gpt-5") == 500
    assert desk().window("a model nobody knows") == 128_000


def test_an_input_that_is_too_long_is_refused_or_cut_without_a_word() -> None:
    """Ollama: ollama/ollama#3839, the usage alone tells."""
    sizes = Sizes(input=1_001, limit=1_000)
    with pytest.raises(Refused, match="1001 tokens > 1000 maximum"):
        desk().fit(sizes, provider="anthropic")
    assert desk(truncates=True).fit(sizes, provider="anthropic") == 500
    assert desk(truncates=True).fit(Sizes(input=9, limit=10), provider="openai") == 9


def test_no_two_ids_are_alike() -> None:
    at = desk()
    assert at.id("msg_") != at.id("msg_")


def test_headers_are_kept_without_what_carries_a_key() -> None:
    """A recorded request may be printed by a test."""
    given = [
        ("X-Api-Key", "sk"),
        ("Authorization", "Bearer sk"),
        ("Anthropic-Beta", "b"),
        ("x-goog-api-key", "k"),
    ]
    assert shown_headers(given) == {"anthropic-beta": "b"}


def test_every_setting_is_a_keyword_of_a_twin() -> None:
    assert set(Options.__annotations__) == set(Settings.__struct_fields__)
