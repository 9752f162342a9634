"""A session compacted by its provider's service, by way of the official SDKs: their types take what it asks, what they give back is
recorded and sent again with every signature in force."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.clients.calls import call_of
from foldline.stores.memory import MemoryStore
from foldline.testing.twin import Twin
from tests.judges import sdk
from tests.session.making import reopened
from tests.session.modelling import kinds
from tests.session.test_conversation import narrow
from tests.session.test_serving import CALLS, MODELS, TOOLS, begun, compacting

if sdk.missing("anthropic"):
    pytest.skip(str(sdk.missing("anthropic")), allow_module_level=True)
if sdk.missing("openai-responses"):
    pytest.skip(str(sdk.missing("openai-responses")), allow_module_level=True)

import anthropic
import openai


def by_anthropic(twin: Twin, request: Any) -> Any:
    """As a host of `open(native=True)` calls it."""
    with anthropic.Anthropic(base_url=twin.url, api_key="sk-test", max_retries=0) as api:
        return api.beta.messages.create(
            model=MODELS["anthropic"], max_tokens=500, betas=list(request.betas), **request.body
        )


def by_openai(twin: Twin, request: Any) -> Any:
    """The same of the Responses API."""
    with openai.OpenAI(base_url=f"{twin.url}/v1", api_key="sk-test", max_retries=0) as api:
        return api.responses.create(model=MODELS["openai-responses"], **request.body)


def why_it_passes(body: dict[str, Any], format: str) -> str:
    """Why a wrapped client or the proxy leaves a request alone."""
    call = call_of(body, format=format)
    assert call is not None
    return call.why_passed()


@pytest.mark.parametrize(
    ("format", "call"),
    [("anthropic", by_anthropic), ("openai-responses", by_openai)],
    ids=["anthropic", "openai"],
)
def test_a_session_is_compacted_by_the_service_and_goes_on_after_a_restart(format: str, call: Any) -> None:
    """Native compaction by policy; the block comes back byte for byte, so that its signature holds."""
    store = MemoryStore()
    with Twin(replies=CALLS, summaries=["What was done: nothing yet."] * 50) as twin:
        session = begun(compacting(), format=format, store=store)
        for half in range(2):
            for number in range(12):
                session.record(call(twin, session.prepare(tools=TOOLS[format])))
                for waiting in session.waiting:
                    session.tool_result(waiting.id, f"line {number} " * 60)
            if half == 0:
                opened = reopened(session, store, policy=compacting(), native=True, counter="o200k_base")
                session = narrow(opened.__enter__(), 4_000)
        assert "compaction" not in kinds(session)
        last = twin.requests[-1].parsed
    history = last["messages" if format == "anthropic" else "input"]
    assert len(history) < len(session.messages)
    assert why_it_passes(last, format) == "the provider reduces the history (context_management)"
    del last["context_management"]
    assert why_it_passes(last, format) == "the provider has reduced the history (compaction)"
