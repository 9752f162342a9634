"""Values of the wrong kind, given to everything that is public: each is refused in words or does no harm.

Whoever calls a library from untyped code, or hands on what a model or a form gave them, gets the error of an option and
never a `TypeError` from somewhere inside.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foldline
from foldline.core.errors import FoldlineError, InvalidOption
from foldline.session.nodes import RunningNode
from foldline.session.opening import open_in
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.stores.memory import MemoryStore

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
SAID = [{"role": "user", "content": "Look at src/a.py."}, {"role": "assistant", "content": "Done."}] * 3
SOUND: dict[str, Any] = {
    "messages": SAID,
    "content": "Go on.",
    "response": {"role": "assistant", "content": "Done."},
    "call_id": "c1",
    "output": "ok",
    "name": "worker",
    "query": "look",
    "address": "m0@00000000",
    "model": "gpt-4o",
    "format": "openai-chat",
    "call": CALL,
    "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
    "to": 1,
}
"""What is given for the arguments that must be there, while another one is of the wrong kind."""
TAKES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "str | None": (str, NoneType),
    "int": (int,),
    "int | None": (int, NoneType),
    "bool": (bool,),
}
"""By annotation: what is no value of the kind must be refused; of any other the call may make something."""
NEVER_RAISES = "classify_error"
"""Promised of it alone: what a server sent is handed to it as it came, and nothing of it is an option of ours."""


def session() -> Session:
    """A session that has said something, waits for a call's answer, and was compacted."""
    made = open_in(MemoryStore(), "s", asked=SessionOptions(format="openai-chat"))
    for n in range(4):
        made.user(f"step {n}: " + "look at the logs and say what is wrong. " * 40)
        made.record({"role": "assistant", "content": "Done."})
    made.compact(to=0.5)
    made.user("go on")
    made.record({"role": "assistant", "content": None, "tool_calls": [CALL]})
    return made


def node() -> RunningNode:
    """A node that has said something and waits for a call's answer."""
    made = session().node("worker", input="do it")
    made.record({"role": "assistant", "content": None, "tool_calls": [CALL]})
    return made


def library() -> Any:
    """The functions of the package itself."""
    return foldline


def methods(of: type) -> Iterator[str]:
    """The public ones; their async twins are the same calls."""
    for name, made in inspect.getmembers(of, inspect.isfunction):
        if not name.startswith("_") and not inspect.iscoroutinefunction(made):
            yield name


PUBLIC: dict[str, tuple[Callable[[], Any], str]] = {
    **{f"Session.{name}": (session, name) for name in methods(Session)},
    **{f"RunningNode.{name}": (node, name) for name in methods(RunningNode)},
    **{name: (library, name) for name in ("compact", "classify_error", "recall_tool", "open")},
}


def parameters(of: str) -> list[inspect.Parameter]:
    """What a call takes."""
    make, name = PUBLIC[of]
    owner: Any = {session: Session, node: RunningNode}.get(make, foldline)
    given = inspect.signature(getattr(owner, name)).parameters.values()
    return [one for one in given if one.name != "self"]


PLACES = [(of, one.name) for of in PUBLIC for one in parameters(of)]

WRONG: list[Any] = [
    None, 0, -1, 5, 10**30, 1.5, float("nan"), float("inf"), True, "", "x", "\0", "\ud800", "/" * 300, b"x", [], [None],
    [[]], {}, {"x": object()}, {1: 2}, (1, 2), (1, 2, 3), ("a", "b"), set(), object(), len, ValueError("x"), range(3),
    ["x"] * 3, [5], {"role": 5}, {"role": "user", "content": 5},
    int, str, dict, ValueError, list[int], type,
]  # fmt: skip


def given_to(of: str, option: str, *, value: object) -> None:
    """Call with this value and sound ones beside it."""
    make, name = PUBLIC[of]
    needed = {
        one.name: SOUND[one.name]
        for one in parameters(of)
        if one.name != option and one.default is inspect.Parameter.empty
    }
    made = getattr(make(), name)(**{**needed, option: value})
    if isinstance(made, Session):
        made.close()


def outcome(of: str, option: str, *, value: object) -> str:
    """What is wrong with how a call takes a value; empty when nothing is. Any error but ours passes through."""
    [told] = [one for one in parameters(of) if one.name == option]
    takes = TAKES.get(str(told.annotation), (object,))
    is_sound = isinstance(value, takes) and (bool in takes or object in takes or not isinstance(value, bool))
    if of == NEVER_RAISES:
        given_to(of, option, value=value)
        return ""
    try:
        given_to(of, option, value=value)
    except InvalidOption as error:
        named = error.option.partition("[")[0] in (option, option.removesuffix("s"))
        return "" if named or value is told.default else f"{value!r} is told of {error.option}: {error}"
    except FoldlineError:
        return ""
    except ValueError as error:
        if error is not value:
            raise
        return ""  # `recover` raises an error it was given as it is, where it is no refusal
    return "" if is_sound else f"{value!r} is taken"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written elsewhere."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("of", "option"), PLACES, ids=["-".join(place) for place in PLACES])
def test_a_value_of_the_wrong_kind_is_refused_by_the_name_of_its_option(of: str, option: str) -> None:
    """`InvalidOption`: the option, the value, what to give. True is no number, a text no yes."""
    told = [outcome(of, option, value=value) for value in WRONG]
    assert not any(told), "\n".join(filter(None, told))


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from([len, object()]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(place=st.sampled_from([place for place in PLACES if place != ("open", "home")]), value=ANYTHING)
def test_whatever_is_given_no_error_but_ours_comes_back(place: tuple[str, str], value: object) -> None:
    """Any value in any place; a folder is not among them, since one would be made."""
    assert outcome(*place, value=value) == ""
