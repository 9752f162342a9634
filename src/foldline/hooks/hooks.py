"""The hooks of a session, and how they are asked: in their order, one after the other.

    PreCompact ─► instructions, or a block        before a model is asked, or anything is reduced
    (the compaction)
    SessionStart ─► text that is put behind it    once it is committed, of a session that is still the same
    PostCompact ─► nothing; it is told

Nothing a hook does fails a compaction but an explicit block, and that only where the policy lets hooks block (requirements
CMP-17, HOK-2): what went wrong is a note for the person. Asking is written once, as a generator; `foldline.engine.driving` drives
it, with an event loop or without. A command's approval is looked at again the moment before it is started.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from foldline.core.errors import CompactionBlocked
from foldline.core.foreign import Raised, atried, tried
from foldline.core.surrogates import whole
from foldline.engine.driving import adrive, drive
from foldline.hooks.answers import Answer, noted, of_command, of_value
from foldline.hooks.approval import Approved, why_not
from foldline.hooks.command import TIMEOUT_S, Command, seen_by, without_values
from foldline.hooks.occasion import Event, Occasion, Payload, Trigger, after, before, started
from foldline.hooks.running import Ran, arun, run
from foldline.threads import off

Called: TypeAlias = Callable[[Payload], "object | Awaitable[object]"]
"""A callable: takes what a command reads on its input, answers as `foldline.hooks.answers` says."""
Origin: TypeAlias = Literal["host", "user", "project"]

HOOKS_MAX: Final = 16
"""Hooks of one event; what is over it is not asked, and said so."""


class Hook(Struct, frozen=True, kw_only=True):
    """One hook."""

    event: Event
    does: Command | Called
    trigger: Trigger | None = None
    """Only at compactions that this started; `None`: at all."""
    origin: Origin = "host"
    """Who wants it: the program around foldline, the user's settings, or a project's."""
    approved: Approved | None = None
    """What the user approved of a project's command; it runs as long as it is that."""

    @property
    def name(self) -> str:
        """How a person reads of it."""
        does = self.does
        return does.name if isinstance(does, Command) else str(getattr(does, "__name__", "callable"))[:80]

    def folder(self, cwd: str) -> str:
        """Where its command runs: a project's in the folder it was approved for, any other where the session works."""
        return self.approved.project if self.approved is not None else cwd


class HookVerdict(Struct, frozen=True, kw_only=True):
    """What PreCompact comes to."""

    instructions: str = ""
    """The person's own, with those of the hooks behind them; for the summary."""
    blocked: str | None = None
    """Why the compaction may not be made; `None`: it may."""
    notes: tuple[str, ...] = ()
    """To be shown to the person."""


class HookAdded(Struct, frozen=True, kw_only=True):
    """What SessionStart or PostCompact comes to."""

    added: str = ""
    """Text for the model, to be put behind the summary; of PostCompact always empty."""
    notes: tuple[str, ...] = ()


Asking: TypeAlias = Generator[Hook, Answer, tuple[Answer, ...]]


class Hooks(Struct, frozen=True, kw_only=True):
    """The hooks of a session, in their order."""

    hooks: tuple[Hook, ...] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: {"PATH": os.defpath})
    """The environment that commands see a few names of (`foldline.hooks.command.SEEN_ALWAYS`)."""
    redact: Callable[[str], str] = lambda text: text
    """Takes known kinds of secrets out of what commands say."""
    notes: tuple[str, ...] = ()
    """What is configured and does not run, and why; to be shown once."""

    def pre_compact(
        self, occasion: Occasion, *, instructions: str = "", may_block: bool = True
    ) -> HookVerdict:
        """Before a compaction. `instructions`: what the person asked the summary to mind. `may_block`: what the policy says
        of hooks; a block that does not count is shown."""
        told = before(occasion, instructions=instructions)
        return _verdict(self._drive(told, occasion), instructions, may_block=may_block)

    def session_start(self, occasion: Occasion) -> HookAdded:
        """When the session goes on behind a compaction that was committed."""
        return _together(self._drive(started(occasion), occasion))

    def post_compact(self, occasion: Occasion, *, summary: str) -> HookAdded:
        """After a compaction that was committed, and nothing else (requirement HOK-3)."""
        return _together(self._drive(after(occasion, summary=summary), occasion))

    async def apre_compact(
        self, occasion: Occasion, *, instructions: str = "", may_block: bool = True
    ) -> HookVerdict:
        """`pre_compact` beside an event loop."""
        told = before(occasion, instructions=instructions)
        return _verdict(await self._adrive(told, occasion), instructions, may_block=may_block)

    async def asession_start(self, occasion: Occasion) -> HookAdded:
        """`session_start` beside an event loop."""
        return _together(await self._adrive(started(occasion), occasion))

    async def apost_compact(self, occasion: Occasion, *, summary: str) -> HookAdded:
        """`post_compact` beside an event loop."""
        return _together(await self._adrive(after(occasion, summary=summary), occasion))

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────

    def _drive(self, told: Payload, occasion: Occasion) -> tuple[Answer, ...]:
        return drive(self._asking(told, occasion), lambda hook: self._ask(hook, told))

    async def _adrive(self, told: Payload, occasion: Occasion) -> tuple[Answer, ...]:
        return await adrive(self._asking(told, occasion), lambda hook: self._aask(hook, told))

    def _asking(self, told: Payload, occasion: Occasion) -> Asking:
        """Yields each hook that is to be asked and is sent its answer. The first block ends it."""
        event: Event = told["hook_event_name"]
        wanted = [
            hook for hook in self.hooks if hook.event == event and hook.trigger in (None, occasion.trigger)
        ]
        answers: list[Answer] = []
        for hook in wanted[:HOOKS_MAX]:
            refused = _refused(hook)
            answer = Answer(notes=(noted(hook.name, refused),)) if refused else (yield hook)
            answers.append(answer)
            if answer.blocked is not None:
                break
        if len(wanted) > HOOKS_MAX:
            answers.append(
                Answer(notes=(f"{len(wanted) - HOOKS_MAX} hooks of {event} over {HOOKS_MAX} are not asked",))
            )
        return tuple(answers)

    def _ask(self, hook: Hook, told: Payload) -> Answer:
        does = hook.does
        if isinstance(does, Command):
            where = hook.folder(told["cwd"])
            ran = run(does, _input(told), cwd=where, environ=seen_by(does, self.environ, cwd=where))
            return self._of_ran(ran, hook)
        given = tried(lambda: does(dict(told)))
        if inspect.isawaitable(given):
            _let_go(given)
            why = "is asynchronous; only the async calls of a session can wait for it"
            return Answer(notes=(noted(hook.name, why),))
        return self._of_given(given, hook)

    async def _aask(self, hook: Hook, told: Payload) -> Answer:
        does = hook.does
        if isinstance(does, Command):
            where = hook.folder(told["cwd"])
            ran = await arun(does, _input(told), cwd=where, environ=seen_by(does, self.environ, cwd=where))
            return self._of_ran(ran, hook)
        if inspect.iscoroutinefunction(does):
            given: object = does(dict(told))
        else:  # it may take its time, and the loop has others to serve
            given = await off(tried, lambda: does(dict(told)))
        if inspect.isawaitable(given):
            given = await atried(asyncio.wait_for(given, TIMEOUT_S))
            if isinstance(given, Raised) and isinstance(given.error, TimeoutError):
                return Answer(notes=(noted(hook.name, f"took longer than {TIMEOUT_S:g} seconds"),))
        return self._of_given(given, hook)

    def _of_ran(self, ran: Ran, hook: Hook) -> Answer:
        command = hook.does
        assert isinstance(command, Command), "only a command is run"

        def clean(text: str) -> str:
            return self.redact(without_values(text, command, environ=self.environ))

        cleaned = replace(ran, stdout=clean(ran.stdout), stderr=clean(ran.stderr))
        return of_command(cleaned, hook.event, name=hook.name, blocks_on_exit_2=command.blocks_on_exit_2)

    def _of_given(self, given: object, hook: Hook) -> Answer:
        if isinstance(given, Raised):
            if isinstance(given.error, CompactionBlocked) and hook.event == "PreCompact":
                return Answer(blocked=noted(hook.name, given.why.partition(": ")[2] or "no reason given"))
            return Answer(notes=(noted(hook.name, self.redact(given.why)),))
        answer = tried(lambda: of_value(given, hook.event, name=hook.name))
        if isinstance(answer, Raised):  # a mapping of its own that cannot be read
            return Answer(notes=(noted(hook.name, self.redact(answer.why)),))
        return answer


def _refused(hook: Hook) -> str:
    """Why a project's command does not run; empty where it may."""
    if hook.origin != "project" or not isinstance(hook.does, Command):
        return ""
    if hook.approved is None:
        return "is a project's and not approved"
    return why_not(hook.approved, hook.does, event=hook.event, trigger=hook.trigger)


def _input(told: Payload) -> bytes:
    """What a command reads: one JSON object and a line break."""
    return msgspec.json.encode(_writable(told)) + b"\n"


def _writable(told: Payload) -> dict[str, Any]:
    return {key: whole(value) if isinstance(value, str) else value for key, value in told.items()}


def _let_go(given: object) -> None:
    """A coroutine that nobody waits for, closed, so that Python does not complain of it."""
    if inspect.iscoroutine(given):
        given.close()


def _verdict(answers: Sequence[Answer], instructions: str, *, may_block: bool) -> HookVerdict:
    told = _together(answers)
    blocked = next((answer.blocked for answer in answers if answer.blocked is not None), None)
    notes = told.notes
    if blocked is not None and not may_block:
        notes, blocked = (*notes, f"{blocked} (shown alone: in this policy no hook can block)"), None
    merged = "\n\n".join(text for text in (instructions, told.added) if text)
    return HookVerdict(instructions=merged, blocked=blocked, notes=notes)


def _together(answers: Sequence[Answer]) -> HookAdded:
    return HookAdded(
        added="\n\n".join(answer.added for answer in answers if answer.added),
        notes=tuple(note for answer in answers for note in answer.notes),
    )
