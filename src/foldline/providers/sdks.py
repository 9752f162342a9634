"""The official SDKs: which one a client belongs to, how one is made by name, how it streams, and what it raises.

Owns what is different between them, so that nothing else here has to know. Each is imported when a client of it is there or
asked for. Requests go out below the SDKs' typed methods, through their documented `post`, so that the body is the one that was
written here, and come back as plain dicts.

    name           client                     speaks
    anthropic      anthropic.Anthropic        anthropic
    openai         openai.OpenAI              openai-responses and openai-chat, as the conversation does
    openai-chat    openai.OpenAI              openai-chat: Ollama, vLLM, llama.cpp, OpenRouter and many more
    gemini         google.genai.Client        gemini
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Generator, Mapping
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.errors import InvalidOption, ProviderFailed
from foldline.core.foreign import installing
from foldline.providers.bodies import Body
from foldline.providers.faults import AnswerFailed
from foldline.providers.hidden import client_headers, sent
from foldline.wire import strict

RETRIES: Final = 0
"""Retries of an SDK in a request of ours: whoever asks counts the attempts (requirement CMP-11)."""
LOCAL_KEY: Final = "none"
"""What is sent as the key to a server of one's own, where the environment has none."""
OPTIONS: Final = ("extra_headers", "extra_query", "timeout")
"""Parameters that are for the SDK and no part of the body."""


class Sdk(Struct, frozen=True, kw_only=True):
    """One of them."""

    name: str
    module: str
    extra: str
    """Of this package: what installs it."""
    client: str
    formats: tuple[str, ...]
    """What it speaks, the one it prefers first."""
    key: str
    """Where it looks for its key, for a person."""
    errors: tuple[str, ...]
    """What it raises, by module and name."""


_HTTP: Final = ("httpx2:HTTPError", "httpx:HTTPError")
_OPENAI: Final = Sdk(
    name="openai",
    module="openai",
    extra="openai",
    client="OpenAI",
    formats=("openai-responses", "openai-chat"),
    key="OPENAI_API_KEY",
    errors=("openai:OpenAIError", *_HTTP),
)
SDKS: Final = {
    "anthropic": Sdk(
        name="anthropic",
        module="anthropic",
        extra="anthropic",
        client="Anthropic",
        formats=("anthropic",),
        key="ANTHROPIC_API_KEY",
        errors=("anthropic:AnthropicError", *_HTTP),
    ),
    "openai": _OPENAI,
    "openai-chat": replace(_OPENAI, name="openai-chat", formats=("openai-chat",)),
    "gemini": Sdk(
        name="gemini",
        module="google.genai",
        extra="gemini",
        client="Client",
        formats=("gemini",),
        key="GEMINI_API_KEY",
        errors=("google.genai.errors:APIError", "google.genai.errors:UnknownApiResponseError", *_HTTP),
    ),
}
"""By the name that is asked for."""
_ELSEWHERE: Final = replace(_OPENAI, formats=("openai-chat", "openai-responses"))
"""OpenAI's SDK at the server of another: all have chat, some have responses, which a conversation in it shows."""
OPENAI_HOSTS: Final = ("openai.com", "openai.azure.com")


def sdk_of(client: object) -> Sdk:
    """The SDK that a client belongs to. Raises `InvalidOption`."""
    for kind in type(client).__mro__:
        package = kind.__module__.split(".")[0]
        if package == "anthropic" and kind.__name__.endswith("APIClient"):
            return SDKS["anthropic"]
        if package == "openai" and kind.__name__.endswith("APIClient"):
            host = getattr(getattr(client, "base_url", None), "host", "")
            return SDKS["openai"] if host.endswith(OPENAI_HOSTS) else _ELSEWHERE
        if kind.__module__ == "google.genai.client" and kind.__name__ in ("Client", "AsyncClient"):
            return SDKS["gemini"]
    raise InvalidOption(
        "client", type(client).__name__, why="give a client of anthropic, openai or google-genai"
    )


def is_async(client: object) -> bool:
    """True for a client whose calls are awaited."""
    names = {kind.__name__ for kind in type(client).__mro__}
    return not names.isdisjoint({"AsyncAPIClient", "AsyncClient"})


def made(name: str, *, base_url: str | None) -> tuple[Sdk, Any]:
    """A client of the SDK of that name, with the key that the SDK finds itself; a server named by `base_url` is asked
    without one where there is none. Raises `InvalidOption` for a name that is none or an SDK that is not installed,
    `ProviderFailed` for a key that is not there."""
    sdk = SDKS.get(name)
    if sdk is None:
        raise InvalidOption("provider", name, why=f"there are: {', '.join(SDKS)}")
    client = _client(sdk, base_url)
    return (sdk_of(client) if name == "openai" else sdk), client


def _client(sdk: Sdk, base_url: str | None) -> Any:
    kind, options = getattr(imported(sdk), sdk.client), _options(sdk, base_url)
    refusals: tuple[type[Exception], ...] = (*raised_by(sdk), ValueError)
    try:
        client = kind(**options)
        if _has_key(client):
            return client
    except refusals:
        pass
    if base_url is not None:
        return kind(**options, api_key=LOCAL_KEY)
    then = f"set {sdk.key}, which its SDK reads"
    raise ProviderFailed(sdk.name, None, why="there is no key", then=then)


def _has_key(client: Any) -> bool:
    """False for a client of `anthropic` that found nothing: it says so only when it is used."""
    names = ("_api_client", "api_key", "auth_token", "credentials")
    return any(getattr(client, name, None) for name in names)


def _options(sdk: Sdk, base_url: str | None) -> dict[str, Any]:
    if base_url is None:
        return {}
    return {"http_options": {"base_url": base_url}} if sdk.name == "gemini" else {"base_url": base_url}


def imported(sdk: Sdk) -> Any:
    """The SDK's module. Raises `InvalidOption` that says how to install it."""
    try:
        return importlib.import_module(sdk.module)
    except ModuleNotFoundError as error:
        why = f"its SDK is not installed: {installing(sdk.extra)}"
        raise InvalidOption("provider", sdk.name, why=why) from error


def raised_by(sdk: Sdk) -> tuple[type[Exception], ...]:
    """What reading an answer may raise: its own errors, those of the HTTP library below, which its streams let through, and
    `AnswerFailed`."""
    found: list[type[Exception]] = [AnswerFailed]
    for place in sdk.errors:
        module, _, name = place.partition(":")
        try:
            found.append(cast("type[Exception]", getattr(importlib.import_module(module), name)))
        except ModuleNotFoundError:  # one of the two HTTP libraries is enough
            continue
    return tuple(found)


def secrets_of(client: object) -> tuple[str, ...]:
    """Keys that a client holds, so that no error shows them."""
    named = [getattr(client, name, None) for name in ("api_key", "auth_token")]
    inner = getattr(client, "_api_client", None)
    named.append(getattr(inner, "api_key", None))
    keys = [key for key in named if isinstance(key, str) and len(key) > len(LOCAL_KEY)]
    headers = getattr(getattr(inner, "_http_options", None), "headers", None)
    found = (*keys, *sent(client_headers(client), getattr(client, "base_url", "")), *sent(headers))
    return tuple(key for key in dict.fromkeys(found) if key != LOCAL_KEY)


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


PATHS: Final = {
    "anthropic": "/v1/messages",
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
}


def events(sdk: Sdk, client: Any, *, body: Body) -> Generator[dict[str, Any]]:
    """The events of a streamed answer, as they come. Closing the iterator closes the connection."""
    if sdk.name == "gemini":
        given = client.models.generate_content_stream(**_gemini(sdk, body))
        yield from (_dict(chunk) for chunk in given)
        return
    with _post(sdk, client, body=body) as stream:
        yield from stream


async def aevents(sdk: Sdk, client: Any, *, body: Body) -> AsyncGenerator[dict[str, Any]]:
    """As `events`, of an async client."""
    if sdk.name == "gemini":
        given = await client.models.generate_content_stream(**_gemini(sdk, body))
        async for chunk in given:
            yield _dict(chunk)
        return
    async with await _post(sdk, client, body=body) as stream:
        async for event in stream:
            yield event


def _post(sdk: Sdk, client: Any, *, body: Body) -> Any:
    """The call that opens a stream of plain dicts: a stream, or what is awaited for one."""
    module = imported(sdk)
    kind = module.AsyncStream if is_async(client) else module.Stream
    value = {key: told for key, told in body.value.items() if key not in (*OPTIONS, "extra_body")}
    value.update(body.value.get("extra_body") or {})
    names = {"extra_headers": "headers", "extra_query": "params", "timeout": "timeout"}
    options = {names[key]: body.value[key] for key in OPTIONS if key in body.value}
    return client.with_options(max_retries=RETRIES).post(
        PATHS[body.format],
        cast_to=object,
        body=value,
        options=options,
        stream=True,
        stream_cls=kind[object],
    )


def _gemini(sdk: Sdk, body: Body) -> dict[str, Any]:
    """Arguments of `generate_content_stream`: the parts of the body as the SDK's own values, read as JSON, in which bytes
    are base64; no tool is run."""
    types = importlib.import_module(f"{sdk.module}.types")
    value: Mapping[str, Any] = body.value
    config = {key: told for key, told in value.items() if key not in _GEMINI_OWN}
    config = {**(config.pop("generationConfig", None) or {}), **config}
    if value.get("systemInstruction") is not None:
        config["system_instruction"] = _read(types.Content, value["systemInstruction"])
    if value.get("tools"):
        config["tools"] = [_read(types.Tool, tool) for tool in value["tools"]]
    config["automatic_function_calling"] = {"disable": True}
    config["http_options"] = {
        "retry_options": {"attempts": RETRIES + 1},
        **(config.get("http_options") or {}),
    }
    contents = [_read(types.Content, content) for content in value["contents"]]
    return {"model": value["model"], "contents": contents, "config": config}


_GEMINI_OWN: Final = ("model", "contents", "systemInstruction", "tools", *OPTIONS)


def _read(kind: Any, value: Any) -> Any:
    return kind.model_validate_json(strict.dump(value))


def _dict(chunk: Any) -> dict[str, Any]:
    told: dict[str, Any] = chunk.model_dump(mode="json", by_alias=True, exclude_none=True)
    return told
