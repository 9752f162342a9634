"""OpenHands LLM logs (format `openhands`): one request to a model and its response.

Owns the log document of the OpenHands SDK: `messages` is what was sent, the response's message is what the next
request will hold, so it closes the conversation. Where the model has no tool calling of its own ("nonfncall"), calls
are XML in the text and schemas stand in the prompt; `raw_messages`, `tools` and `response` then hold a translation that
no model ever saw, and `messages` with `raw_response` are read instead.

Shapes: OpenHands/software-agent-sdk `tests/fixtures/llm_data`; read only.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message, Meta, Usage
from foldline.transcripts import document
from foldline.transcripts.chat import decode_all
from foldline.transcripts.neutral import string, unix_time
from foldline.transcripts.source import Source, keys
from foldline.transcripts.transcript import Transcript
from foldline.wire.usage import read_usage

WIRE: Final = "openai-chat"
_RESULT_PREFIX: Final = "EXECUTION RESULT of ["
"""How a nonfncall log opens the user message that carries a tool's output."""
_OWN_KEYS: Final = frozenset(("context_window", "latency_sec", "kwargs", "raw_messages"))


class _Log(Struct, frozen=True, kw_only=True):
    """What is needed of the document, copied out of it."""

    sent: list[bytes]
    reply: bytes | None
    tools: bytes | None
    response: dict[str, Any]
    """The response without its choices."""
    tokens_window: int | None
    time_s: float | None


class _OpenHands:
    name = "openhands"

    def recognise(self, head: bytes) -> int:
        """100 when keys no request body has are in sight (a long log shows them only at its end)."""
        return 100 if is_log(keys(head)) else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """The one conversation: the request and the reply to it."""
        log = _copy(source)
        if not log.sent:
            return ()
        sent = [_marked(m) for m in decode_all(source, log.sent, wire=WIRE, at="messages")]
        replies = [] if log.reply is None else [log.reply]
        usage = _usage(log.response)
        meta = Meta(
            response_id=string(log.response.get("id")),
            time_s=log.time_s,
            model=string(log.response.get("model")),
            usage=usage,
        )
        got = [replace(m, meta=meta) for m in decode_all(source, replies, wire=WIRE, at="response.choices")]
        known = usage is not None and bool(got)
        return (
            Transcript(
                format=self.name,
                wire=WIRE,
                messages=(*sent, *got),
                tools=log.tools,
                model=meta.model,
                tokens_window=log.tokens_window,
                usage=usage if known else None,
                usage_at=len(sent) if known else None,
            ),
        )


READER: Final = _OpenHands()


def is_log(names: Any) -> bool:
    """True for the top-level keys of an LLM log (`names` supports `in`)."""
    return "messages" in names and sum(name in names for name in _OWN_KEYS) >= 2


def _copy(source: Source) -> _Log:
    """What is needed of the document; the document is let go when this returns."""
    root = document.fields(document.open_document(source))
    members = document.fields(root.get("response"))
    about = {
        name: document.read(source, piece, at=f"response.{name}")
        for name, piece in members.items()
        if name in ("id", "model", "usage")
    }
    answered = document.fields(root.get("raw_response")) or members
    choices = document.items(answered.get("choices"))
    reply = document.fields(choices[0]).get("message") if choices else None
    window = document.read(source, root.get("context_window"), at="context_window")
    tools = root.get("tools")
    return _Log(
        sent=document.copies(root.get("messages")),
        reply=None if reply is None else document.raw_bytes(reply),
        tools=document.raw_bytes(tools) if document.items(tools) and "raw_messages" not in root else None,
        response=about,
        tokens_window=window if isinstance(window, int) else None,
        time_s=unix_time(document.read(source, root.get("timestamp"), at="timestamp")),
    )


def _marked(message: Message) -> Message:
    """A nonfncall log's tool output travels as user text, which no user wrote."""
    if message.role == "user" and message.text.startswith(_RESULT_PREFIX):
        return replace(message, meta=Meta(injected=True))
    return message


def _usage(response: dict[str, Any]) -> Usage | None:
    told = response.get("usage")
    return read_usage(told, format=WIRE) if isinstance(told, dict) else None
