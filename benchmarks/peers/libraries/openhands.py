"""OpenHands: the `LLMSummarizingCondenser` of openhands-sdk, on a view of its events.

With a token limit, of which it keeps half, and the first event: its default is two, and of those the system prompt,
which stands apart here, is one. Needs Python 3.12.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.peers.peer import OUT_OF_REACH, SUMMARY, Chat, Limits, Turn, Unit, arguments_of, chat_call

KEEP_FIRST = 1
EVENTS_MAX = 10**6
"""Its other trigger counts events; out of the way."""
MODEL = "gpt-4"


class Condenser:
    """`LLMSummarizingCondenser(llm=…, max_tokens=…)`."""

    unit: Unit = "tokens"

    def __init__(self) -> None:
        from openhands.sdk.llm import LLM
        from openhands.sdk.tool.schema import Action, Observation
        from pydantic import SecretStr

        class BenchAction(Action):
            arguments: dict[str, Any]

        class BenchObservation(Observation):
            pass

        self.sent: list[Any] = []
        self._action, self._observation = BenchAction, BenchObservation
        self._events: dict[str, Any] = {}
        self._llm = LLM(
            model=MODEL, api_key=SecretStr("none"), usage_id="bench", max_input_tokens=OUT_OF_REACH
        )
        LLM.generate = self._answer
        self._idle = self._condenser(OUT_OF_REACH)

    def _answer(self, messages: Any, **_: Any) -> Any:
        from openhands.sdk.llm import TextContent

        self.sent.append(messages)
        return SimpleNamespace(message=SimpleNamespace(content=[TextContent(text=SUMMARY)]), id="r")

    def _condenser(self, tokens_max: int) -> Any:
        from openhands.sdk.context.condenser import LLMSummarizingCondenser

        return LLMSummarizingCondenser(
            llm=self._llm, max_size=EVENTS_MAX, max_tokens=tokens_max, keep_first=KEEP_FIRST
        )

    def _events_of(self, turn: Turn) -> list[Any]:
        from openhands.sdk.event import MessageEvent, ObservationEvent
        from openhands.sdk.llm import Message, TextContent

        if turn.role == "tool":
            called = self._events[turn.call_id]
            shown = self._observation.from_text(turn.text)
            return [
                ObservationEvent(
                    observation=shown, action_id=called, tool_name=turn.name, tool_call_id=turn.call_id
                )
            ]
        if turn.calls:
            return self._actions(turn)
        role, source = ("user", "user") if turn.role == "user" else ("assistant", "agent")
        message = Message(role=role, content=[TextContent(text=turn.text)])
        return [MessageEvent(source=source, llm_message=message)]

    def _actions(self, turn: Turn) -> list[Any]:
        from openhands.sdk.event import ActionEvent
        from openhands.sdk.llm import MessageToolCall, TextContent

        found = []
        for index, call in enumerate(turn.calls):
            event = ActionEvent(
                thought=[TextContent(text=turn.text)] if index == 0 and turn.text else [],
                action=self._action(arguments=arguments_of(call)),
                tool_name=call.name,
                tool_call_id=call.id,
                tool_call=MessageToolCall(
                    id=call.id, name=call.name, arguments=call.arguments, origin="completion"
                ),
                llm_response_id=f"r{turn.calls[0].id}",
            )
            self._events[call.id] = event.id
            found.append(event)
        return found

    def open(self, turns: Sequence[Turn]) -> Any:
        from openhands.sdk.context.view import View

        return View.from_events([event for turn in turns for event in self._events_of(turn)])

    def add(self, history: Any, turn: Turn) -> None:
        for event in self._events_of(turn):
            history.append_event(event)

    def check(self, history: Any) -> None:
        self._idle.condense(history, agent_llm=self._llm)

    def compact(self, history: Any, limits: Limits) -> Any:
        from openhands.sdk.event.condenser import Condensation

        made = self._condenser(max(2, 2 * limits.keep)).condense(history, agent_llm=self._llm)
        return (history, made) if isinstance(made, Condensation) else None

    def read(self, made: Any) -> list[Chat]:
        from openhands.sdk.event.base import LLMConvertibleEvent

        history, condensation = made
        events = condensation.apply(list(history.events))
        found: list[Chat] = []
        for message in LLMConvertibleEvent.events_to_messages(events):
            text = "\n".join(piece.text for piece in message.content if hasattr(piece, "text"))
            chat: Chat = {"role": message.role, "content": text}
            if message.role == "tool":
                chat["tool_call_id"] = message.tool_call_id
            if message.tool_calls:
                chat["tool_calls"] = [chat_call(c.id, c.name, c.arguments) for c in message.tool_calls]
                chat["content"] = text or None
            found.append(chat)
        return found

    def asked(self) -> list[str]:
        return [
            "\n".join(piece.text for message in messages for piece in message.content)
            for messages in self.sent
        ]
