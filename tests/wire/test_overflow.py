"""What a provider's refusal means: every recorded wording, and its look-alikes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foldline
from foldline.wire.overflow import ORDER, classify_error

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "provider_errors.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['provider']}")
def test_each_recorded_error_is_what_it_is(case: dict[str, Any]) -> None:
    """Fault reports of kind overflow-recognition; each case names its source."""
    found = foldline.classify_error(case["provider"], case["status"], case["body"])
    assert (found.is_overflow, found.recovery) == (case["is_overflow"], case["recovery"])
    if case["is_overflow"]:
        assert (found.tokens_used, found.tokens_limit) == (case.get("tokens_used"), case.get("tokens_limit"))


@pytest.mark.parametrize("case", CASES[:12], ids=lambda case: str(case["id"]))
def test_a_body_may_come_as_dict_text_or_bytes_and_wrapped_by_a_gateway(case: dict[str, Any]) -> None:
    """interface.md: `body` is dict, text or bytes."""
    known = classify_error(case["provider"], case["status"], case["body"])
    text = case["body"] if isinstance(case["body"], str) else json.dumps(case["body"])
    status = case["status"] if case["status"] >= 300 else 400
    for body in (text, text.encode(), {"error": {"message": text}}, f"Error code: 400 - {text}"):
        assert classify_error("gateway", status, body) == known


def test_recovery_names_compaction_exactly_for_what_compaction_helps() -> None:
    """interface.md: it names compaction exactly when compaction is the remedy or the next step of it."""
    for case in CASES:
        found = classify_error(case["provider"], case["status"], case["body"])
        assert ("compact" in found.recovery) is found.is_overflow, case["id"]


def test_an_answer_that_quotes_a_refusal_is_no_refusal() -> None:
    """A tool's output or a model's words about an error must not begin a recovery."""
    quoted = {
        "role": "assistant",
        "content": "prompt is too long: 210000 tokens > 200000 maximum",
        "message": "prompt is too long",
    }
    assert classify_error("any", 200, quoted).recovery == "none"
    assert classify_error("any", 500, "prompt is too long").recovery == "wait"


@pytest.mark.parametrize(
    ("status", "recovery"),
    [(429, "wait"), (413, "reduce_bytes"), (503, "wait"), (400, "none"), (None, "none")],
)
def test_an_error_without_words_goes_by_its_status(status: int | None, recovery: str) -> None:
    """413 is about bytes unless it says tokens; a guess is never an overflow."""
    assert classify_error("any", status, None).recovery == recovery
    assert classify_error("any", status, {}).is_overflow is False


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["error", "message", "code", "x"]), inner)
        ),
    ),
    status=st.none() | st.integers(0, 999) | st.text(max_size=4) | st.floats() | st.lists(st.integers()),
)
def test_nothing_that_may_come_makes_it_raise(body: Any, status: Any) -> None:
    """It runs inside an error handler."""
    assert classify_error("any", status, body).recovery


def test_the_order_is_throttle_output_structure_bytes_overflow() -> None:
    """The wordings share their words; the first kind that fits decides."""
    both = "Rate limit reached: tokens per minute. This model's maximum context length is 10 tokens."
    assert classify_error("any", 429, both).recovery == "wait"
    assert [rule.is_overflow for rule in ORDER].index(True) < len(ORDER)


@pytest.mark.parametrize(
    ("text", "number"), [("400", 400), ("503", 503), (" 413 ", 413), ("429", 429), ("", None)]
)
def test_a_status_may_come_as_text(text: str, number: int | None) -> None:
    """Gateways and logs give it as text; it means the same."""
    for body in (None, "prompt is too long: 210000 tokens > 200000 maximum", "Overloaded"):
        assert classify_error("any", text, body) == classify_error("any", number, body)


def test_a_request_within_the_rate_limit_has_to_wait_and_no_more() -> None:
    """Requested ≤ Limit: waiting helps; Requested > Limit: only a smaller request does (continuedev/continue#10218)."""
    words = "Rate limit on tokens per minute (TPM): Limit 12000, Requested {}, please try again."
    assert classify_error("groq", 429, words.format(900)).recovery == "wait"
    assert classify_error("groq", 413, words.format(14137)).recovery == "compact"


def test_where_no_output_is_left_to_give_up_the_input_has_to_shrink() -> None:
    """One token of output is the least a request can ask for."""
    words = (
        "This model's maximum context length is 8192 tokens. However, you requested 8193 tokens "
        "(8192 in the messages, {} in the completion)."
    )
    assert classify_error("openai", 400, words.format(1)).recovery == "compact"
    assert classify_error("openai", 400, words.format(500)).recovery == "lower_max_tokens_then_compact"


def test_errors_in_errors_are_read_to_a_depth_and_broken_json_as_text() -> None:
    """Gateways wrap; a body may be cut off."""
    words = "prompt is too long: 210000 tokens > 200000 maximum"
    body: dict[str, Any] = {"error": {"message": words}}
    assert classify_error("gateway", 400, body).is_overflow
    for _ in range(20):
        body = {"error": body}
    assert not classify_error("gateway", 400, body).is_overflow
    assert classify_error("gateway", 400, '{"error": {"message": "' + words).is_overflow


def test_numbers_that_words_leave_out_are_read_beside_them_through_a_gateways_wrapping() -> None:
    """anomalyco/opencode#50187: llama.cpp before it wrote both numbers; a number that is none is not taken."""
    bare = {
        "message": "the request exceeds the available context size",
        "n_prompt_tokens": 13_392,
        "n_ctx": 8_192,
    }
    for body in ({"error": bare}, {"body": {"error": bare}}, {"error": json.dumps({"error": bare})}):
        found = classify_error("llama.cpp", 400, body)
        assert (found.is_overflow, found.tokens_used, found.tokens_limit) == (True, 13_392, 8_192)
    for wrong in (True, 0, -1, "8192", None):
        found = classify_error("llama.cpp", 400, {"error": {**bare, "n_ctx": wrong}})
        assert (found.is_overflow, found.tokens_limit) == (True, None)
