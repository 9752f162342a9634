"""Hooks are asked in their order, as commands and as callables, with and without an event loop."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from foldline.core.errors import CompactionBlocked
from foldline.hooks import Command, Hook, Hooks, Occasion
from foldline.hooks.approval import Approved, shown
from foldline.hooks.hooks import HookAdded, HookVerdict

AUTO = Occasion(session_id="s1", trigger="auto", cwd="/")
ENVIRON = {"PATH": os.environ["PATH"], "TOKEN": "tok-123456"}

Asked = Callable[[Hooks], HookVerdict]


def asked(hooks: Hooks) -> HookVerdict:
    """PreCompact, asked."""
    return hooks.pre_compact(AUTO, instructions="mine")


def aasked(hooks: Hooks) -> HookVerdict:
    """The same beside an event loop."""
    return asyncio.run(hooks.apre_compact(AUTO, instructions="mine"))


both = pytest.mark.parametrize("ask", [asked, aasked])


def sh(script: str, **more: Any) -> Hook:
    """A hook of a script, before a compaction."""
    return Hook(event="PreCompact", does=Command(argv=("/bin/sh", "-c", script), **more), origin="user")


def calls(answer: Any) -> Hook:
    """A hook that answers this, or raises it."""

    def hook(told: dict[str, Any]) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Hook(event="PreCompact", does=hook)


@both
def test_what_hooks_say_is_merged_behind_the_persons_own_instructions(ask: Asked) -> None:
    """HOK-1: in their order, commands and callables alike."""
    hooks = Hooks(hooks=(sh("echo first"), calls("second"), calls(None), sh("true")), environ=ENVIRON)
    assert ask(hooks) == HookVerdict(instructions="mine\n\nfirst\n\nsecond")


@both
def test_no_hooks_leave_the_instructions_as_they_are(ask: Asked) -> None:
    """HOK-1."""
    assert ask(Hooks()) == HookVerdict(instructions="mine")


@both
def test_the_first_block_ends_it(ask: Asked) -> None:
    """CMP-17: nothing was changed, and the caller is told by which hook and why."""
    after: list[int] = []
    late = Hook(event="PreCompact", does=lambda _: after.append(1))
    for block in (sh("""echo '{"decision": "block", "reason": "red"}'"""), calls(CompactionBlocked("red"))):
        verdict = ask(Hooks(hooks=(block, late), environ=ENVIRON))
        assert verdict.blocked is not None
        assert verdict.blocked.endswith(": red")
    assert after == []


def test_where_the_policy_lets_no_hook_block_a_block_is_shown() -> None:
    """HOK-2: in `reserve` hooks never block."""
    hooks = Hooks(hooks=(calls({"decision": "block", "reason": "red"}),))
    verdict = hooks.pre_compact(AUTO, may_block=False)
    assert verdict.blocked is None
    assert "red (shown alone" in verdict.notes[0]


@both
def test_exit_code_2_is_shown_and_the_next_hook_is_asked(ask: Asked) -> None:
    """HOK-2."""
    verdict = ask(Hooks(hooks=(sh("echo no >&2; exit 2"), calls("go on")), environ=ENVIRON))
    assert verdict == HookVerdict(
        instructions="mine\n\ngo on", notes=("hook echo no >&2; exit 2: exit code 2: no",)
    )


@both
@pytest.mark.parametrize("fault", [ValueError("x" * 10_000), KeyError(), CompactionBlocked()])
def test_what_a_callable_raises_is_a_note(ask: Asked, fault: Exception) -> None:
    """A host's fault does not fail a compaction; only a block does."""
    verdict = ask(Hooks(hooks=(calls(fault), calls("go on"))))
    if isinstance(fault, CompactionBlocked):
        assert verdict.blocked == "hook hook: no reason given"
    else:
        assert verdict.instructions == "mine\n\ngo on"
        assert type(fault).__name__ in verdict.notes[0]
        assert len(verdict.notes[0]) < 500


class Unreadable(Mapping[str, object]):
    """An object that cannot be read."""

    def __getitem__(self, key: str) -> object:
        raise RuntimeError("no")

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1


def test_an_object_that_cannot_be_read_is_a_note() -> None:
    """Whatever a callable answers."""
    assert "RuntimeError" in Hooks(hooks=(calls(Unreadable()),)).pre_compact(AUTO).notes[0]


def test_an_asynchronous_callable_is_awaited_where_there_is_a_loop() -> None:
    """And said to be one where there is none; nothing is left unawaited."""

    async def later(told: dict[str, Any]) -> str:
        return told["trigger"]  # type: ignore[no-any-return]

    async def fails(told: dict[str, Any]) -> str:
        raise ValueError("late")

    def gives(told: dict[str, Any]) -> Awaitable[str]:
        return later(told)

    hooks = Hooks(hooks=tuple(Hook(event="PreCompact", does=does) for does in (later, gives, fails)))
    verdict = asyncio.run(hooks.apre_compact(AUTO))
    assert verdict.instructions == "auto\n\nauto"
    assert verdict.notes == ("hook fails: ValueError: late",)
    assert ["is asynchronous" in note for note in hooks.pre_compact(AUTO).notes] == [True] * 3


def test_a_callable_that_waits_does_not_hold_the_loop() -> None:
    """A plain function is called in a thread."""
    import threading

    opened = threading.Event()
    waits = Hook(event="PreCompact", does=lambda _: "went on" if opened.wait(10) else "held")

    async def both_at_once() -> HookVerdict:
        task = asyncio.create_task(Hooks(hooks=(waits,)).apre_compact(AUTO))
        asyncio.get_running_loop().call_soon(opened.set)
        return await task

    assert asyncio.run(both_at_once()).instructions == "went on"


@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_each_compaction_asks_the_hooks_of_its_trigger_once(trigger: Any) -> None:
    """HOK-4: for automatic and manual alike (anthropics/claude-code#50467)."""
    seen: list[tuple[str, str]] = []

    def note(name: str) -> Callable[[dict[str, Any]], None]:
        return lambda told: seen.append((name, told["trigger"]))

    hooks = Hooks(
        hooks=(
            Hook(event="PreCompact", does=note("both")),
            Hook(event="PreCompact", does=note("by-hand"), trigger="manual"),
            Hook(event="PreCompact", does=note("by-itself"), trigger="auto"),
        )
    )
    hooks.pre_compact(Occasion(session_id="s", trigger=trigger))
    assert seen == [("both", trigger), ("by-itself" if trigger == "auto" else "by-hand", trigger)]


def test_what_goes_on_behind_a_compaction_is_told_to_its_own_hooks() -> None:
    """HOK-3, HOK-4: SessionStart adds text, PostCompact is told the summary and adds nothing."""
    seen: list[str] = []

    def note(told: dict[str, Any]) -> str:
        seen.append(told["hook_event_name"] + ":" + told.get("compact_summary", told.get("source", "")))
        return "branch: main"

    hooks = Hooks(hooks=tuple(Hook(event=event, does=note) for event in ("PostCompact", "SessionStart")))
    assert hooks.pre_compact(AUTO) == HookVerdict()
    assert hooks.session_start(AUTO) == HookAdded(added="branch: main")
    assert hooks.post_compact(AUTO, summary="so far") == HookAdded()
    assert asyncio.run(hooks.asession_start(AUTO)) == HookAdded(added="branch: main")
    assert asyncio.run(hooks.apost_compact(AUTO, summary="so far")) == HookAdded()
    assert seen == ["SessionStart:compact", "PostCompact:so far"] * 2


def test_a_callable_cannot_change_what_the_next_is_told() -> None:
    """Each gets an object of its own."""

    def spoils(told: dict[str, Any]) -> None:
        told.clear()

    hooks = Hooks(
        hooks=(
            Hook(event="PreCompact", does=spoils),
            Hook(event="PreCompact", does=lambda told: told["trigger"]),
        )
    )
    assert hooks.pre_compact(AUTO).instructions == "auto"


def test_more_hooks_than_are_asked_are_said() -> None:
    """Every loop has a named bound."""
    verdict = Hooks(hooks=(calls("x"),) * 18).pre_compact(AUTO)
    assert verdict.instructions.count("x") == 16
    assert verdict.notes == ("2 hooks of PreCompact over 16 are not asked",)


@both
def test_a_command_reads_json_whatever_stands_in_it(ask: Asked) -> None:
    """HOK-1, S9: half surrogates and quotes in a session's id are data."""
    script = "import json, sys; print(json.load(sys.stdin)['session_id'].encode('ascii', 'backslashreplace').decode())"
    hook = Hook(event="PreCompact", does=Command(argv=(sys.executable, "-S", "-c", script)), origin="user")
    occasion = Occasion(session_id="a\ud800\"'$(x)\n", trigger="auto")
    verdict = Hooks(hooks=(hook,), environ=ENVIRON).pre_compact(occasion)
    assert verdict.instructions == "a\\ufffd\"'$(x)"
    assert ask(Hooks(hooks=(hook,), environ=ENVIRON)).instructions == "mine\n\ns1"


@both
def test_secrets_of_its_environment_and_known_kinds_do_not_come_out(ask: Asked) -> None:
    """Neither into the instructions nor into what is shown."""
    script = 'echo "use $TOKEN and AKIA"; echo "$TOKEN AKIA" >&2; exit $1'
    for code, where in (("0", "instructions"), ("1", "notes")):
        command = Command(argv=("/bin/sh", "-c", script, "hook", code), env=("TOKEN",))
        hooks = Hooks(
            hooks=(Hook(event="PreCompact", does=command, origin="user"),),
            environ=ENVIRON,
            redact=lambda text: text.replace("AKIA", "⟦secret⟧"),
        )
        said = str(getattr(ask(hooks), where))
        assert "⟦env:TOKEN⟧" in said
        assert "⟦secret⟧" in said
        assert not {"tok-123456", "AKIA"} & set(said.split())


@both
def test_a_projects_command_runs_only_as_it_was_approved(ask: Asked, tmp_path: Path) -> None:
    """S9: a changed hook needs new approval; it is looked at again the moment before it is started. In the folder that it was
    approved for, wherever the session works."""
    script = tmp_path / "hook.sh"
    script.write_text("pwd\n")
    command = Command(argv=("/bin/sh", "hook.sh"))
    path = ENVIRON["PATH"]
    seen = shown(command, event="PreCompact", trigger=None, project=str(tmp_path), path=path)
    agreed = Approved(digest=seen.digest, project=seen.project, path=path)
    hook = Hook(event="PreCompact", does=command, origin="project", approved=agreed)
    hooks = Hooks(hooks=(hook,), environ=ENVIRON)
    assert ask(hooks).instructions == f"mine\n\n{tmp_path.resolve()}"
    script.write_text("echo evil\n")
    assert ask(hooks).instructions == "mine"
    assert "no longer what was approved" in ask(hooks).notes[0]
    script.unlink()
    assert "no longer what was approved" in ask(hooks).notes[0]


def test_a_projects_command_without_an_approval_never_runs(tmp_path: Path) -> None:
    """S9."""
    command = Command(argv=("touch", str(tmp_path / "PWNED")))
    hook = Hook(event="PreCompact", does=command, origin="project")
    assert "not approved" in Hooks(hooks=(hook,), environ=ENVIRON).pre_compact(AUTO).notes[0]
    assert list(tmp_path.iterdir()) == []
