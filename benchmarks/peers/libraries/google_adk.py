"""google-adk: the compaction of a session's events past a token threshold.

`EventsCompactionConfig(token_threshold=…, event_retention_size=…)` with the summariser ADK ships. Events stay in the
session; what the model would see is read from them by ADK's own request builder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.peer import (
    NOTHING_DUE,
    SUMMARY,
    Chat,
    Limits,
    Loop,
    Turn,
    Unit,
    arguments_of,
    chat_call,
)

EVENTS_AN_INVOCATION = 20
NAME = "agent"


class EventsCompaction:
    """The token threshold of `App(events_compaction_config=…)`."""

    unit: Unit = "messages"

    def __init__(self) -> None:
        from google.adk.agents import LlmAgent
        from google.adk.models.base_llm import BaseLlm
        from google.adk.models.llm_response import LlmResponse
        from google.genai import types

        sent: list[Any] = []

        class Stub(BaseLlm):
            async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
                sent.append(request.contents)
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=SUMMARY)]))

        self.sent = sent
        self._model = Stub(model="stub")
        self._agent = LlmAgent(name=NAME, model=self._model)
        self._loop = Loop()
        self._clock = 1_000.0
        self._idle = self._config(NOTHING_DUE)

    def _config(self, limits: Limits) -> Any:
        from google.adk.apps.app import EventsCompactionConfig
        from google.adk.apps.llm_event_summarizer import LlmEventSummarizer

        return EventsCompactionConfig(
            token_threshold=limits.due,
            event_retention_size=limits.keep,
            summarizer=LlmEventSummarizer(llm=self._model),
        )

    def _event(self, turn: Turn) -> Any:
        from google.adk.events.event import Event
        from google.genai import types

        self._clock += 1
        parts = [types.Part(text=turn.text)] if turn.text and turn.role != "tool" else []
        for call in turn.calls:
            called = types.FunctionCall(id=call.id, name=call.name, args=arguments_of(call))
            parts.append(types.Part(function_call=called))
        if turn.role == "tool":
            response = {"result": turn.text}
            answered = types.FunctionResponse(id=turn.call_id, name=turn.name, response=response)
            parts = [types.Part(function_response=answered)]
        event = Event(
            invocation_id=f"i{self._clock // EVENTS_AN_INVOCATION:.0f}",
            author="user" if turn.role == "user" else NAME,
            content=types.Content(role="model" if turn.role == "assistant" else "user", parts=parts),
            timestamp=self._clock,
        )
        if turn.usage[0]:
            counts = types.GenerateContentResponseUsageMetadata(prompt_token_count=turn.usage[0])
            event.usage_metadata = counts
        return event

    def open(self, turns: Sequence[Turn]) -> Any:
        from google.adk.sessions import Session

        events = [self._event(turn) for turn in turns]
        return Session(id="s", app_name="a", user_id="u", events=events)

    def add(self, history: Any, turn: Turn) -> None:
        history.events.append(self._event(turn))

    def _run(self, history: Any, config: Any) -> bool:
        from google.adk.apps import compaction

        made: bool = self._loop.run(
            compaction._run_compaction_for_token_threshold_config(
                config=config, session=history, session_service=_Memory(), agent=self._agent
            )
        )
        return made

    def check(self, history: Any) -> None:
        self._run(history, self._idle)

    def compact(self, history: Any, limits: Limits) -> Any:
        return history if self._run(history, self._config(limits)) else None

    def read(self, made: Any) -> list[Chat]:
        from google.adk.flows.llm_flows.context import _contents

        contents = _contents._get_contents(current_branch=None, events=made.events, agent_name=NAME)
        return [chat for content in contents for chat in _chats(content)]

    def asked(self) -> list[str]:
        return [
            "\n".join(part.text or "" for content in contents for part in content.parts)
            for contents in self.sent
        ]


class _Memory:
    """The session service: the one call that a compaction makes."""

    async def append_event(self, session: Any, event: Any) -> Any:
        session.events.append(event)
        return event


def _chats(content: Any) -> list[Chat]:
    texts = [part.text for part in content.parts if part.text]
    calls = [part.function_call for part in content.parts if part.function_call]
    found: list[Chat] = [
        {
            "role": "tool",
            "tool_call_id": part.function_response.id,
            "content": part.function_response.response["result"],
        }
        for part in content.parts
        if part.function_response
    ]
    if texts or calls:
        role = "assistant" if content.role == "model" else "user"
        chat: Chat = {"role": role, "content": "\n".join(texts) or None}
        if calls:
            chat["tool_calls"] = [chat_call(call.id, call.name, call.args) for call in calls]
        found.append(chat)
    return found
