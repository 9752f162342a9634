"""Lists of Responses that do not hold all of their own history pass as they came."""

from __future__ import annotations

from typing import Any

import pytest

from foldline.clients.references import kept_elsewhere
from foldline.proxy.desk import Desk, Passed
from foldline.wire import strict
from tests.clients.lists import conversations
from tests.clients.test_calls import read

OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "the result"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"}


@pytest.mark.parametrize(
    ("items", "kind"),
    [
        ([{"type": "item_reference", "id": "fc_1"}, OUTPUT], "item_reference"),
        ([{"type": None, "id": "fc_1"}, OUTPUT], "item_reference"),
        ([{"id": "fc_1"}, OUTPUT], "item_reference"),
        ([{"type": "item_reference", "id": "rs_1"}, CALL, OUTPUT], "item_reference"),
        ([OUTPUT], "function_call_output"),
        ([{**CALL, "call_id": "call_2"}, OUTPUT], "function_call_output"),
        ([{**OUTPUT, "type": "custom_tool_call_output"}], "custom_tool_call_output"),
        ([{**OUTPUT, "type": "computer_call_output", "output": {}}], "computer_call_output"),
        ([{"type": "local_shell_call_output", "id": "call_1", "output": ""}], "local_shell_call_output"),
        (
            [{"type": "mcp_approval_response", "approval_request_id": "m1", "approve": True}],
            "mcp_approval_response",
        ),
    ],
)
def test_an_item_that_stands_by_reference_and_a_result_without_its_call_are_kept_by_the_provider(
    items: list[dict[str, Any]], kind: str
) -> None:
    """MIC-3, law PAIR: a call that is not in the list may be where only the provider can read it, and its result, often the newest
    that the caller has to say, is never dropped for that."""
    body = {"input": [{"role": "user", "content": "go on"}, *items]}
    call = read(body, "openai-responses")
    why = f"the provider keeps the history ({kind})"
    assert call.why_passed() == why
    assert read(strict.dump(body), "openai-responses").why_passed() == why
    known = conversations()
    assert known.told(call) == why
    assert known.passed == {why: 1}
    desk = Desk(lambda name, call: conversations())
    assert desk.outgoing(call) == Passed(why=why)
    assert desk.counted(call) is None


@pytest.mark.parametrize(
    "items",
    [
        [CALL, OUTPUT],
        [
            {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {}},
            {"type": "local_shell_call_output", "id": "call_1", "output": ""},
        ],
        [
            {"type": "mcp_approval_request", "id": "m1", "name": "n", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "m1", "approve": True},
        ],
        [
            {"type": "tool_search_call", "id": "ts_1", "call_id": None, "execution": "server"},
            {"type": "tool_search_output", "id": "to_1", "call_id": None, "tools": []},
        ],
        [{"role": "user", "content": '{"type": "item_reference", "id": "fc_1"}'}],
        [{"role": "assistant", "id": "msg_1", "content": "an answer without its type"}],
        [{"type": ["odd"], "id": "x"}, 5, "text"],
    ],
)
def test_a_list_that_holds_its_calls_is_ours(items: list[Any]) -> None:
    """And what a text says decides nothing."""
    assert kept_elsewhere([strict.dump(item) for item in items]) == ""
