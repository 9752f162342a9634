"""Whether a call changed something, what it was about and what it came to is told from its name, arguments and answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline.core.message import Text, ToolResult
from foldline.ledger.actions import (
    ANSWER_CHARS,
    answer_of,
    bearing_of,
    call_line,
    gist_of_call,
    is_action,
    is_same_task,
)


def answered(text: str, *, is_error: bool = False) -> ToolResult:
    """A result."""
    return ToolResult(call_id="a", content=(Text(text=text),), is_error=is_error)


@pytest.mark.parametrize(
    ("name", "bearing"),
    [
        ("cancel_reservation", "acts"),
        ("sendEmail", "acts"),
        ("mcp__github__create_issue", "acts"),
        ("github.merge_pull_request", "acts"),
        ("flight_book", "acts"),
        ("SUBMIT", "acts"),
        ("get_order", "reads"),
        ("searchBookings", "reads"),
        ("order_status", "reads"),
        ("weather_lookup", "reads"),
        ("update_status", "acts"),
        ("calculate", "reads"),
        ("think", "reads"),
        ("查询订单", "reads"),
        ("取消订单", "unknown"),
        ("Task", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_tool_acts_by_the_verb_of_its_name(name: str, bearing: str) -> None:
    """CMP-8: only a call's name and answer are there to tell by."""
    assert bearing_of(name) == bearing


def test_a_tool_whose_name_says_nothing_acts_unless_it_answers_as_readers_do() -> None:
    """CMP-8: a read too many costs a line; an action that is not told is made again."""
    assert is_action("Task", None)
    assert is_action("Task", answered("done"))
    assert not is_action("weather", answered("[1, 2]"))
    assert not is_action("weather", answered("x " * 2_000))
    assert is_action("send_mail", answered("x " * 2_000))


@pytest.mark.parametrize(
    "arguments",
    [
        {"sql": "DELETE FROM users WHERE id=3"},
        {"query": "-- clean up\n update users set name = 'x'"},
        {"statement": "INSERT INTO t VALUES (1)"},
        {"q": "WITH old AS (SELECT id FROM t WHERE (a = 1))\nDELETE FROM t"},
        {"sql": "BEGIN; TRUNCATE t; COMMIT"},
        {"sql": "create index i on t(a)"},
        {"url": "https://x.io/users", "method": "post"},
        {"query": "mutation { close(id: 3) { id } }"},
        {"query": "mutation Close($id: ID!) { close(id: $id) { id } }"},
        {"sql": "CREATE OR REPLACE VIEW v AS SELECT 1"},
        {"sql": "grant select on t to bob"},
    ],
)
def test_a_tool_that_reads_by_its_name_acts_where_it_is_told_to(arguments: dict[str, Any]) -> None:
    """CMP-8: a query tool runs whatever statement it is given."""
    assert is_action("mcp__db__query", answered("1 row affected"), given=arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"sql": "SELECT * FROM users -- DELETE FROM users"},
        {"query": "how to update a set in python"},
        {"q": "WITH a AS (SELECT 1) SELECT * FROM a"},
        {"url": "https://x.io", "method": "GET"},
        {"query": "query { user(id: 3) { id } }"},
        {"text": "POST"},
        {"query": "create react app"},
        {"query": "drop table fails"},
        {"query": "grant proposal"},
        {"query": "mutation testing"},
        {"limit": 3},
        {},
    ],
)
def test_a_tool_that_reads_by_its_name_reads_whatever_else_it_is_given(arguments: dict[str, Any]) -> None:
    """CMP-8: what is looked for is no order."""
    assert not is_action("mcp__db__query", answered("1 row"), given=arguments)


@pytest.mark.parametrize(
    ("arguments", "line", "gist"),
    [
        ({"id": "A1", "cabin": "economy"}, "book A1 cabin=economy", ""),
        ({"flights": [{"number": "H1"}, {"number": "H2"}]}, "book H1,H2", ""),
        ({"to": "`x`", "body": "y" * 90}, "book to='x'", ""),
        ({"summary": "The user wants `it` " + "z " * 60}, "book", "The user wants 'it'"),
        ({"password": "p", "urgent": True, "none": None}, "book urgent=true", ""),
        ({}, "book", ""),
    ],
)
def test_a_call_is_told_by_the_values_that_tell_it_from_others(
    arguments: dict[str, Any], line: str, gist: str
) -> None:
    """CMP-8: what names a thing stands without its field; long texts tell no call apart, and secrets are left out."""
    assert call_line("book", arguments) == line
    assert gist_of_call(arguments).startswith(gist)
    assert bool(gist_of_call(arguments)) == bool(gist)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Transfer successful", "ok: Transfer successful"),
        ('{"ok": true, "ticket_id": "T-9"}', "ok: ticket_id=T-9"),
        ('{"ticket_id": "T-9", "title": "x"}', "answered: ticket_id=T-9"),
        ('{"title": "x", "user_id": "u"}', 'answered: {"title": "x", "user_id": "u"}'),
        ("Error: total price is 305, but paid 255", "failed: Error: total price is 305, but paid 255"),
        ('{"success": false, "message": "no room"}', 'failed: {"success": false, "message": "no room"}'),
        ("Queued for review", "not made: Queued for review"),
        ("部署失败", "answered: 部署失败"),
        ("", "answered"),
    ],
)
def test_an_action_came_to_what_its_answer_says(text: str, outcome: str) -> None:
    """CMP-8: done, not done, or not said: then in its own words."""
    assert answer_of(answered(text), {"title": "x"}) == outcome
    assert answer_of(answered(text, is_error=True), {}).startswith("failed: ")


@pytest.mark.parametrize(
    "text",
    [
        '{"dry_run": true, "status": "ok"}',
        '{"status": "ok", "dryRun": true}',
        '{"status": "ok", "result": {"dry-run": true}}',
        '{"status": "ok", "simulated": true}',
    ],
)
def test_an_action_that_was_only_tried_out_was_not_done(text: str) -> None:
    """CMP-8: a dry run that went well stood as done."""
    assert answer_of(answered(text), {}) == "not made: dry run: status=ok"
    assert answer_of(answered(text.replace("true", "false")), {}) == "ok: status=ok"


def test_an_action_without_an_answer_has_no_result() -> None:
    """CMP-8: nothing is told of a call that nobody answered but that it was made."""
    assert answer_of(None, {}) == "no result"
    assert len(answer_of(answered("word " * 500), {})) <= ANSWER_CHARS + len("answered: ")
    assert answer_of(answered(json.dumps({"a": "x" * 50_000})), {}).startswith("answered: {")


def test_a_later_call_is_for_the_same_task_where_it_has_all_values_of_the_earlier() -> None:
    """CMP-8: one word more or less in a short value is another thing; in a sentence it is not."""
    assert is_same_task({"env": "prod"}, {"env": "prod", "size": 3})
    assert not is_same_task({"env": "prod"}, {"env": "prod eu"})
    assert is_same_task({"d": "Analyze project structure"}, {"d": "Analyze current project structure"})
    assert not is_same_task({"d": "Analyze project structure"}, {"d": "Analyze project tests"})
