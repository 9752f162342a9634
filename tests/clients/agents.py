"""Agents as people write them with the official SDKs: a list of their own, all of it sent each time, in every dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

KEY = "any"
MODEL = "model-of-these-tests"
WINDOW = 30_000
SETTINGS = f'[models."{MODEL}"]\nwindow = {WINDOW}\nmax_output = 2000\n'
FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")
RULE = "Fix the login. Never touch auth.py."


def client_of(format: str, url: str, *, is_async: bool = False, gemini: str = "v1") -> Any:
    """A client of the SDK that speaks a format, without retries. `gemini`: the version of Google's API."""
    if format == "gemini":
        genai = pytest.importorskip("google.genai", reason="the SDK google-genai is not installed")
        return genai.Client(api_key=KEY, http_options={"base_url": url, "api_version": gemini})
    package = "anthropic" if format == "anthropic" else "openai"
    module = pytest.importorskip(package, reason=f"the SDK {package} is not installed")
    name = ("Async" if is_async else "") + {"anthropic": "Anthropic", "openai": "OpenAI"}[package]
    base = url if package == "anthropic" else f"{url}/v1"
    return getattr(module, name)(api_key=KEY, base_url=base, max_retries=0)


def said(format: str, text: str) -> Any:
    """A user's message."""
    if format == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


def asked(client: Any, format: str, messages: list[Any], *, stream: bool = False) -> Any:
    """The call that an agent of that dialect makes: its result, or what is awaited for it."""
    match format:
        case "anthropic":
            given = {"model": MODEL, "max_tokens": 200, "system": "be brief", "messages": messages}
            return client.messages.create(**given, stream=True) if stream else client.messages.create(**given)
        case "openai-chat":
            given = {"model": MODEL, "messages": [{"role": "system", "content": "be brief"}, *messages]}
            more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
            return client.chat.completions.create(**given, **more)
        case "openai-responses":
            given = {"model": MODEL, "instructions": "be brief", "input": messages}
            return client.responses.create(**given, **({"stream": True} if stream else {}))
        case _:
            call: Callable[..., Any] = client.models.generate_content
            if stream:
                call = client.models.generate_content_stream
            return call(model=MODEL, contents=messages, config={"system_instruction": "be brief"})


def echoed(format: str, response: Any) -> list[Any]:
    """What an agent appends of a whole answer, as the SDK gave it."""
    match format:
        case "anthropic":
            return [{"role": "assistant", "content": response.content}]
        case "openai-chat":
            return [response.choices[0].message]
        case "openai-responses":
            return list(response.output)
        case _:
            return [response.candidates[0].content]


def spoken(format: str, text: str) -> list[Any]:
    """What an agent appends that put the text together from a stream."""
    if format == "gemini":
        return [{"role": "model", "parts": [{"text": text}]}]
    return [{"role": "assistant", "content": text}]


def text_in(format: str, event: Any) -> str:
    """The text that an event of a stream brings."""
    match format:
        case "anthropic":
            is_text = event.type == "content_block_delta" and event.delta.type == "text_delta"
            return str(event.delta.text) if is_text else ""
        case "openai-chat":
            return str(event.choices[0].delta.content or "") if event.choices else ""
        case "openai-responses":
            return str(event.delta) if event.type == "response.output_text.delta" else ""
        case _:
            return str(event.text or "")


def step(n: int, tokens: int = 2_000) -> str:
    """What the user says at a turn, about so long."""
    return f"step {n} " + " ".join(f"w{n}x{i}" for i in range(tokens // 4))
