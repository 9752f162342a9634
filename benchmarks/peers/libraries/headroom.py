"""headroom: `compress(messages)`, on OpenAI chat dicts, called before every model call.

It makes texts shorter, each by its kind; it has no size to reach and never asks a model for a summary. Its text model
(Kompress) has weights of its own on a hub and is switched off; markers whose originals its store holds are left as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.peer import OUT_OF_REACH, Chat, Limits, Turn, Unit, chat_of

MODEL = "gpt-4"
"""Its tokenizer needs no download here: litellm ships the vocabulary."""


class Compress:
    """`compress(messages, model=…, model_limit=…, kompress_model="disabled")`."""

    unit: Unit = "none"

    def __init__(self) -> None:
        import headroom

        self.sent: list[Any] = []
        self._compress = headroom.compress

    def open(self, turns: Sequence[Turn]) -> Any:
        return [chat_of(turn) for turn in turns]

    def add(self, history: Any, turn: Turn) -> None:
        history.append(chat_of(turn))

    def _call(self, history: Any, tokens_max: int) -> Any:
        return self._compress(history, model=MODEL, model_limit=tokens_max, kompress_model="disabled")

    def check(self, history: Any) -> None:
        self._call(history, OUT_OF_REACH)

    def compact(self, history: Any, limits: Limits) -> Any:
        return self._call(history, limits.due).messages

    def read(self, made: Any) -> list[Chat]:
        return [{key: value for key, value in message.items() if value != []} for message in made]

    def asked(self) -> list[str]:
        return []
