"""SWE-agent trajectories (format `swe-agent`).

Owns the `.traj` document: `history` is the prompt list; `trajectory` repeats it in another form, and is read for what the
last action of an older file came to alone, which no prompt showed any more.
Newer files pair calls and results by `tool_call_ids`; older ones have no calls at all, and an observation answers
the action before it by position. Those become calls and results too, so that old output can be told from what a
person said:

    history   assistant {thought, action}   user {observation}      assistant …
    read      assistant text + call         tool result             …

Shapes: SWE-agent `trajectories/`, versions 0.7 to 1.1; read only.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from foldline.core.message import Message, Meta, Part, Reasoning, Role, Text, ToolCall, ToolResult
from foldline.transcripts import document
from foldline.transcripts.neutral import arguments_text, content_parts, mapping, mappings, neutral, string
from foldline.transcripts.source import Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire.strict import dump_text

_COMMANDS: Final = frozenset(
    "open goto scroll_up scroll_down create edit insert append search_dir search_file find_file submit "
    "str_replace_editor exit_cost exit_context exit_forfeit skip".split()
)
"""SWE-agent's own commands; any other action is a shell command and named `bash`, as newer files do."""


class _SweAgent:
    name = "swe-agent"

    def recognise(self, head: bytes) -> int:
        """100 for the keys of a trajectory file."""
        found = keys(head, depth=2)
        step = "trajectory.action" in found and "trajectory.observation" in found
        if step or ("history.role" in found and ("history.agent" in found or "trajectory" in found)):
            return 100
        return 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one conversation of the file."""
        root = document.fields(document.open_document(source))
        reading = _Reading()
        for _, entry in document.objects(source, root.get("history"), at="history"):
            reading.add(entry)
        if not reading.messages:
            return ()
        if reading.waiting is not None and (steps := document.items(root.get("trajectory"))):
            at = f"trajectory[{len(steps) - 1}]"
            reading.finish(mapping(document.read(source, steps[-1], at=at)))
        config = document.fields(root.get("replay_config"))
        agent = document.read(
            source, document.fields(config.get("agent")).get("model"), at="replay_config.agent.model"
        )
        return (
            Transcript(
                format=self.name,
                wire="openai-chat",
                messages=tuple(reading.messages),
                model=_model(agent),
                skipped=tuple(sorted(reading.skipped.items())),
                notes=_notes(source, config),
            ),
        )


READER: Final = _SweAgent()


class _Reading:
    """The history so far: what an observation without ids answers, and whose history it is."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.skipped: Counter[str] = Counter()
        self.agent: str | None = None
        self.waiting: ToolCall | None = None
        self.action: str | None = None

    def add(self, entry: dict[str, Any]) -> None:
        """Read one entry of `history`. Entries of another agent than the first are its own conversation."""
        agent = string(entry.get("agent"))
        self.agent = self.agent or agent
        if agent != self.agent:
            self.skipped[f"agent {agent}"] += 1
            return
        match entry.get("role"):
            case "assistant":
                self._assistant(entry)
            case "tool":
                self._results(entry)
            case "user":
                self._user(entry)
            case "system":
                self._plain(entry, "system")
            case other:
                self.skipped[str(other)] += 1

    def finish(self, step: dict[str, Any]) -> None:
        """What the last action came to, from the trajectory's last step, where that is the same one."""
        if self.action is not None and step.get("action") == self.action and "observation" in step:
            self._user({"content": step["observation"]})

    def _assistant(self, entry: dict[str, Any]) -> None:
        calls = mappings(entry.get("tool_calls"))
        parts: list[Part] = [*_thinking(entry)]
        self.waiting = None
        if calls:
            parts += [*content_parts(entry.get("content")), *(_call(call) for call in calls)]
        else:
            self.waiting, self.action = _action(entry, len(self.messages)), string(entry.get("action"))
            parts += _said(entry, self.waiting)
        self.messages.append(neutral("assistant", parts))

    def _results(self, entry: dict[str, Any]) -> None:
        """One observation; further ids of the same entry were answered by it too and get an empty result."""
        told = entry.get("tool_call_ids")
        ids = [
            str(known) for known in (told if isinstance(told, list) else [entry.get("tool_call_id")]) if known
        ]
        for index, known in enumerate(ids or [self.waiting.id if self.waiting else ""]):
            content = content_parts(entry.get("content")) if index == 0 else ()
            self.messages.append(neutral("tool", (ToolResult(call_id=known, content=content),)))
        self.waiting = None

    def _user(self, entry: dict[str, Any]) -> None:
        if self.waiting is None or entry.get("is_demo"):
            self._plain(entry, "user")
            return
        result = ToolResult(
            call_id=self.waiting.id,
            content=content_parts(entry.get("content")),
            name=self.waiting.name,
            wire_id=False,
        )
        self.waiting = None
        self.messages.append(neutral("tool", (result,)))

    def _plain(self, entry: dict[str, Any], role: Role) -> None:
        # the first user text that is no demonstration is the task; later ones are the host's (format errors, hints)
        task = role == "user" and not entry.get("is_demo") and not any(_is_task(m) for m in self.messages)
        meta = Meta(injected=True) if role == "user" and not task else None
        self.messages.append(neutral(role, content_parts(entry.get("content")), meta=meta))


def _is_task(message: Message) -> bool:
    return message.role == "user" and message.meta is None


def _thinking(entry: dict[str, Any]) -> list[Reasoning]:
    return [
        Reasoning(
            text=string(block.get("thinking")) or "",
            signature=string(block.get("signature")) or string(block.get("data")),
            redacted=block.get("type") == "redacted_thinking",
            provider="anthropic",
        )
        for block in mappings(entry.get("thinking_blocks"))
    ]


def _call(call: dict[str, Any]) -> ToolCall:
    function = mapping(call.get("function"))
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(function.get("name") or "unknown"),
        arguments=arguments_text(function.get("arguments")),
    )


def _action(entry: dict[str, Any], index: int) -> ToolCall | None:
    """The action of an older file as a call; its id is made of the message's place."""
    action = string(entry.get("action"))
    if action is None or not action.strip():
        return None
    word = action.split(None, 1)[0]
    name = word if word in _COMMANDS else "bash"
    return ToolCall(id=f"action_{index}", name=name, arguments=dump_text({"command": action}), wire_id=False)


def _said(entry: dict[str, Any], call: ToolCall | None) -> list[Part]:
    """The text and the call of an older assistant entry.

    The content repeats thought and action; where it says nothing else, the thought alone is the text.
    """
    content, thought = entry.get("content"), string(entry.get("thought"))
    if call is None:
        return [*content_parts(content)]
    if (
        isinstance(content, str)
        and thought is not None
        and _repeats(content, thought=thought, action=str(entry["action"]))
    ):
        return [Text(text=thought), call]
    return [*content_parts(content), call]


def _repeats(content: str, *, thought: str, action: str) -> bool:
    """True when nothing but fences and blanks is left of the content without thought and action."""
    rest = content.replace(thought, "", 1).replace(action.strip(), "", 1)
    return not rest.replace("`", "").strip()


def _model(told: Any) -> str | None:
    name = string(told.get("name")) if isinstance(told, dict) else None
    return None if name in ("replay", "human", "instant_empty_submit") else name


def _notes(source: Source, config: dict[str, Any]) -> tuple[str, ...]:
    agent = document.fields(config.get("agent"))
    told = document.read(
        source, agent.get("history_processors", agent.get("history_processor")), at="replay_config.agent"
    )
    processors = told if isinstance(told, list) else [told]
    for processor in processors:
        if isinstance(processor, dict) and processor.get("type") == "last_n_observations":
            return (
                f"the agent showed its model only the last {processor.get('n')} observations in full; "
                "here they are all whole",
            )
    return ()
