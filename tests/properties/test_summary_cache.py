"""A summary on a fork, against a server that keeps the provider's prompt cache: what it costs, by the server's own accounting."""

from __future__ import annotations

from typing import Any

import pytest

import foldline
from foldline.testing.twin import Twin
from foldline.wire.completion import CompletionRequest
from tests.properties.test_summaries import HONEST
from tests.testing.twin.client import GPT, send

TOOLS = [
    {
        "type": "function",
        "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}},
    }
]


def work(rounds: int) -> list[dict[str, Any]]:
    """Files read one after the other, as OpenAI chat has it; automatic caching, no marks."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the login bug. Never touch vendor/."}]
    for n in range(rounds):
        function = {"name": "read_file", "arguments": f'{{"path": "src/mod{n}.py"}}'}
        call = {"id": f"c{n}", "type": "function", "function": function}
        text = "\n".join(f"line {k} of module {n} sets value_{n}_{k} = {n * k + 7}" for k in range(25))
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": text},
        ]
        if n % 10 == 9:
            messages += [
                {"role": "assistant", "content": f"File {n} is done."},
                {"role": "user", "content": f"Go on with part {n}."},
            ]
    return messages


@pytest.mark.parametrize("policy", ["reserve", "balanced"])
def test_nine_tenths_of_a_fork_are_read_from_the_cache(policy: str) -> None:
    """Requirement CMP-2: the request for the summary extends the last one, so that the server finds it in its cache; what is
    sent afterwards begins anew at one place (law ONCE), and the report says what the summary cost."""
    messages = work(40)
    with Twin(replies=["done", HONEST, "done"]) as twin:

        def posted(body: list[Any]) -> dict[str, Any]:
            back = send(twin, "/v1/chat/completions", {"model": GPT, "messages": body, "tools": TOOLS})
            assert back.status == 200, back.body
            answer: dict[str, Any] = back.body
            return answer

        def completer(request: CompletionRequest) -> dict[str, Any]:
            assert request.tools == TOOLS
            return posted(request.wire())

        posted(messages)
        out = foldline.compact(messages, to=0.4, policy=policy, tools=TOOLS, completer=completer)
        posted(out.messages)
        live, fork, after = twin.requests
    assert (fork.extends, after.extends) == (0, None)
    assert fork.tokens_cached >= 0.9 * fork.tokens
    assert after.tokens < live.tokens
    usage = out.report.summary.usage
    assert usage is not None
    assert usage.tokens_cache_read == fork.tokens_cached
