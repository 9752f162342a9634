"""A client without a library of its own: one request, and what came back, for tests of the twin's bytes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from foldline.testing.twin import Twin

KEY = {"x-api-key": "sk-test", "authorization": "Bearer sk-test", "x-goog-api-key": "sk-test"}
CLAUDE, GPT, GEMINI = "claude-sonnet-5", "gpt-4o", "gemini-2.5-pro"


class Back(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.data)

    @property
    def message(self) -> str:
        """What an error says, in any dialect."""
        return str(self.body["error"]["message"])

    @property
    def events(self) -> list[Any]:
        """The data of a stream's events; `[DONE]` as text."""
        lines = [line[6:] for line in self.data.decode().splitlines() if line.startswith("data: ")]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]


def send(
    twin: Twin, path: str, body: Any, headers: Mapping[str, str] | None = None, *, method: str = "POST"
) -> Back:
    """One request, with every provider's key and version."""
    connection = http.client.HTTPConnection(urlsplit(twin.url).netloc, timeout=120)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, data, {"anthropic-version": "2023-06-01", **KEY, **(headers or {})})
        answer = connection.getresponse()
        return Back(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def ask(twin: Twin, messages: Any, *, beta: str = "", **more: Any) -> Back:
    """One request to the Messages dialect; a text is a user's."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    body = {"model": CLAUDE, "max_tokens": 1_000, "messages": said, **more}
    return send(twin, "/v1/messages", body, {"anthropic-beta": beta} if beta else {})


def chat(twin: Twin, messages: Any, **more: Any) -> Back:
    """One request to the Chat Completions dialect; a text is a user's."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return send(twin, "/v1/chat/completions", {"model": GPT, "messages": said, **more})


def respond(twin: Twin, given: Any, *, path: str = "/v1/responses", **more: Any) -> Back:
    """One request to the Responses dialect."""
    return send(twin, path, {"model": GPT, "input": given, **more})


def generate(
    twin: Twin, contents: Any, *, model: str = GEMINI, method: str = "generateContent", **more: Any
) -> Back:
    """One request to the Gemini dialect; a text is a user's."""
    said = [{"role": "user", "parts": [{"text": contents}]}] if isinstance(contents, str) else contents
    return send(twin, f"/v1beta/models/{model}:{method}", {"contents": said, **more})
