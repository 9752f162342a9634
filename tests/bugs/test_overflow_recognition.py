"""Fault reports of kind `overflow-recognition`: what a provider says, and what a session does about it."""

from __future__ import annotations

from typing import Any

import pytest

import foldline
from foldline.core.errors import FoldlineError
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import opened, worked
from tests.session.modelling import due, kinds
from tests.session.test_conversation import narrow

SUMMARY = "The files were read."
BEDROCK = "ValidationException: Input is too long for requested model."
OLLAMA = '{"error": "the input length exceeds the context length"}'
COHERE = "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt"
VLLM = (
    "This model's maximum context length is 202752 tokens. However, you requested 65536 output tokens and your prompt contains at "
    "least 137217 input tokens, for a total of at least 202753 tokens. Please reduce the length of the input prompt or the number "
    "of requested output tokens. (parameter=input_tokens, value=137217)"
)
GROQ = (
    "Request too large for model `m` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 12000, "
    "Requested 14137, please reduce your message size and try again."
)
OPENAI = (
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output "
    "tokens must be reduced in order to run successfully."
)


@pytest.mark.parametrize("says", [BEDROCK, OLLAMA, COHERE], ids=["bedrock", "ollama", "cohere"])
def test_an_overflow_in_any_providers_words_is_one(says: str) -> None:
    """openclaw/openclaw#58839: the phrases of two providers were known, and the same request was sent three times."""
    told = foldline.classify_error(status=400, body=says)
    assert (told.is_overflow, told.recovery) == (True, "compact")


@pytest.mark.parametrize("says", [BEDROCK, OLLAMA, COHERE], ids=["bedrock", "ollama", "cohere"])
def test_a_refused_request_is_never_sent_again_as_it_was(says: str) -> None:
    """openclaw/openclaw#58839: one compaction, one request that is smaller, and no second try."""
    session = narrow(opened(policy="balanced"), 20_000)
    session.user("read it all")
    worked(session, 12, size=2_000)
    first = session.prepare()
    assert first.report.outcome == "unchanged"
    error: dict[str, Any] = {"error": {"message": says}}
    again = session.recover(error, status=400)
    assert len(again.data) < len(first.data)
    assert violations(again.body, format="anthropic") == []
    with pytest.raises(FoldlineError):
        session.recover(error, status=400)


def test_a_gateways_models_are_understood_in_whichever_vendors_words() -> None:
    """strands-agents/harness-sdk#3969: patterns were tied to the gateway; the numbers are read too. Less output helps first, since the
    input alone fits."""
    told = foldline.classify_error("bedrock", 400, VLLM)
    assert (told.is_overflow, told.tokens_limit, told.tokens_used) == (True, 202_752, 137_217)
    assert told.recovery == "lower_max_tokens_then_compact"


@pytest.mark.parametrize(
    ("status", "says", "limit", "used"),
    [(413, GROQ, 12_000, 14_137), (429, OPENAI, 30_000, 45_000)],
    ids=["groq", "openai"],
)
def test_a_request_larger_than_a_minutes_tokens_has_to_shrink(
    status: int, says: str, limit: int, used: int
) -> None:
    """openclaw/openclaw#130096: waiting can never help; the words of a rate limit hid that."""
    body = {"error": {"message": says, "type": "tokens", "code": "rate_limit_exceeded"}}
    told = foldline.classify_error(status=status, body=body)
    assert (told.is_overflow, told.recovery) == (True, "compact")
    assert (told.tokens_limit, told.tokens_used) == (limit, used)


@pytest.mark.parametrize("minute", ["minute", "min"])
def test_a_minute_that_others_have_used_up_is_waited_for(minute: str) -> None:
    """anomalyco/opencode#39620, openclaw/openclaw#130096: the other side; nothing is compacted for a throttle."""
    says = f"Rate limit reached on tokens per {minute} (TPM): Limit 30000, Used 25000, Requested 9000. Please try again in 8s."
    told = foldline.classify_error(status=429, body={"error": {"message": says}})
    assert (told.is_overflow, told.recovery) == (False, "wait")
    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(SUMMARY))
    session.prepare()
    before = kinds(session).count("compaction")
    with pytest.raises(FoldlineError):
        session.recover({"error": {"message": says}}, status=429)
    assert kinds(session).count("compaction") == before
