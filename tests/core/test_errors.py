"""Errors carry fields, one tree, and words that say what to do next."""

from __future__ import annotations

import inspect

import pytest

from foldline.core import errors


def test_every_error_derives_from_one_and_stands_in_the_tree_at_the_top_of_its_module() -> None:
    """What a caller may catch is drawn where it is defined."""
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    drawn = errors.__doc__ or ""
    assert [c.__name__ for c in classes if c.__name__ not in drawn] == []
    assert [c for c in classes if not issubclass(c, errors.FoldlineError)] == [
        errors.ForgetUnfinished,
        errors.UnknownModel,
    ]
    assert issubclass(errors.UnknownModel, UserWarning)


@pytest.mark.parametrize(
    ("error", "fields", "words"),
    [
        (
            errors.InvalidTranscript("a.jsonl", 3, "no JSON"),
            {"path": "a.jsonl", "line": 3},
            "a.jsonl:3: no JSON",
        ),
        (errors.InvalidTranscript("a.json", None, "no JSON"), {"line": None}, "a.json: no JSON"),
        (errors.UnknownFormat("x", ("a", "b"), why="no x"), {"name": "x"}, "no x; known formats: a, b"),
        (
            errors.UnknownPolicy("x", ("a", "b")),
            {"known": ("a", "b")},
            "no policy is called 'x'; there are: a, b",
        ),
        (errors.UnknownAddress("m1", "nothing there"), {"address": "m1"}, "m1: nothing there"),
        (errors.InvalidOption("to", 0, why="above 0"), {"option": "to", "value": 0}, "to=0: above 0"),
        (errors.LawViolation("PAIR", "message 3", "alone"), {"law": "PAIR"}, "law PAIR at message 3: alone"),
        (errors.LawViolation("PAIR", "message 3"), {"where": "message 3"}, "law PAIR at message 3"),
        (
            errors.TargetUnreachable(2_000, 1_000, "pinned", "the result"),
            {"tokens_min": 2_000, "tokens_target": 1_000, "result": "the result"},
            "the history comes to 2,000 tokens, the target is 1,000: pinned",
        ),
        (
            errors.TargetUnreachable(2_000, 1_000, "pinned", reduced=False),
            {"result": None},
            "the history stays at 2,000 tokens, the target is 1,000: pinned",
        ),
        (
            errors.ProviderFailed("acme", None, why="no route"),
            {"status": None, "body": None},
            "acme could not be asked: no route; try again",
        ),
        (
            errors.ProviderFailed("acme", 401, why="no such key", body={"e": 1}, then="give another key"),
            {"provider": "acme", "status": 401, "why": "no such key", "body": {"e": 1}},
            "acme refused the request (401): no such key; give another key",
        ),
        (
            errors.ProviderFailed("acme", 500, why="overloaded"),
            {"status": 500},
            "acme failed (500): overloaded; try again",
        ),
        (
            errors.InvalidRequest("pinned", tokens_used=2_100, tokens_limit=2_000, said="too long"),
            {"why": "pinned", "tokens_used": 2_100, "tokens_limit": 2_000, "said": "too long"},
            "the conversation is too long for the model (2,100 tokens, the limit is 2,000): pinned",
        ),
        (
            errors.InvalidRequest("pinned", tokens_used=2_100),
            {"tokens_limit": None},
            "the conversation is too long for the model: pinned",
        ),
        (
            errors.UnknownSession("x"),
            {"name": "x", "near": ()},
            "no session is called 'x'; `foldline sessions` lists them",
        ),
        (
            errors.UnknownSession("fix", ("fax", "fox")),
            {"near": ("fax", "fox")},
            "no session is called 'fix'; did you mean 'fax'?",
        ),
        (
            errors.SessionExists("x"),
            {"name": "x"},
            "there is a session called 'x' already; open it, or take another name",
        ),
        (
            errors.SessionBusy("x"),
            {"name": "x", "holder": "another process"},
            "another process is writing session 'x'; wait until it has closed it, or fork the session",
        ),
        (
            errors.SessionBusy("index", "process 7", beside=True),
            {"holder": "process 7"},
            "process 7 is writing the file index; wait until it has closed it",
        ),
        (
            errors.SessionFailed("x", "disk full"),
            {"name": "x", "why": "disk full"},
            "session 'x' can no longer be used (disk full); mend the cause and open it again",
        ),
        (
            errors.SessionFailed("x", errors.CLOSED),
            {"why": "it was closed"},
            "session 'x' can no longer be used (it was closed); open it again",
        ),
        (errors.SessionCorrupt(4_096, "torn"), {"offset": 4_096}, "damaged at byte 4,096: torn"),
        (
            errors.SessionCorrupt(4_096, "torn", name="x"),
            {"name": "x"},
            "session 'x' is damaged at byte 4,096: torn; `foldline verify x` says more, "
            "its --salvage FILE keeps what is sound",
        ),
    ],
)
def test_an_error_says_what_where_and_why(
    error: errors.FoldlineError, fields: dict[str, object], words: str
) -> None:
    """Fields for programs, one line for people."""
    assert {name: getattr(error, name) for name in fields} == fields
    assert str(error) == words


def test_what_an_error_says_can_be_written_anywhere() -> None:
    """Half a surrogate pair that a caller gave made a message that no log takes."""
    error = errors.UnknownAddress("m1@\ud800", "this is no address")
    assert "m1@?" in str(error)
    str(error).encode()
    assert error.address == "m1@\ud800"


def test_an_error_about_a_conversation_quotes_nothing_of_it() -> None:
    """S3: an error ends in a log; a body given for its messages stood in it word for word."""
    body = {"model": "m", "messages": [{"role": "user", "content": "my password is hunter2"}]}
    for option in ("messages", "system", "tools"):
        error = errors.InvalidOption(option, body, why="give a list")
        assert str(error) == f"{option}=<dict with messages, model>: give a list"
        assert (
            str(errors.InvalidOption(option, "hunter2", why="give a list")) == f"{option}=<str>: give a list"
        )
    assert error.value is body


def test_an_option_out_of_bounds_is_a_value_error_too() -> None:
    """Callers who know Python's own tree need not know ours."""
    assert isinstance(errors.InvalidOption("to", 0, why="above 0"), ValueError)


def test_a_value_that_cannot_be_written_is_told_by_its_type() -> None:
    """S12: the error of a bad option is never another error, nor longer than a person reads."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert str(errors.InvalidOption("to", deep, why="no number")) == "to=a list: no number"
    assert str(errors.InvalidOption("to", 10**5_000, why="too large")) == "to=a int: too large"
    assert len(str(errors.InvalidOption("to", "x" * 9_000, why="no number"))) < errors.WORDS_MAX + 30


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("pin", "billing", "pin billing: nothing holds it"),
        ("to", 0, "to 0: nothing holds it"),
        ("model", None, "model: nothing holds it"),
        ("pin", "", "pin '': nothing holds it"),
        ("messages", [1], "messages=<list>: nothing holds it"),
    ],
)
def test_a_wrong_option_is_told_on_a_command_line_as_it_was_typed(
    option: str, value: object, sentence: str
) -> None:
    """Python's spelling is for Python; what was given as a conversation is never quoted."""
    assert errors.InvalidOption(option, value, why="nothing holds it").as_typed(option) == sentence
