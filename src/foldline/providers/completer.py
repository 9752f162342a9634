"""`foldline.completer`: a client of an official SDK, or its name, as what answers a completion request.

    foldline.completer(anthropic.Anthropic(), model="claude-sonnet-5")
    foldline.completer("openai-chat", base_url="http://localhost:11434/v1", model="qwen3:8b", temperature=0)

What it returns streams; errors are `ProviderFailed`, with status and body and without a key. An async client makes an async
completer. Counterpart: `foldline.wire.completion`, which says what a completer is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from typing import Any, Final

from foldline.core.errors import InvalidOption
from foldline.core.kinds import refuse_no_name
from foldline.providers.bodies import Body, body_for
from foldline.providers.faults import failed, sound
from foldline.providers.hidden import sent, sent_with
from foldline.providers.replies import AsyncStreamedReply, StreamedReply
from foldline.providers.sdks import Sdk, aevents, events, is_async, made, raised_by, sdk_of, secrets_of
from foldline.wire.completion import CompletionRequest

ASKING: Final[ContextVar[bool]] = ContextVar("foldline_asking", default=False)
"""True while a completer's own request goes out: a client that keeps a session lets it pass (requirement CMP-5)."""


@contextmanager
def _asking() -> Iterator[None]:
    """Around each piece that is read: what stands between two of them is the reader's own."""
    token = ASKING.set(True)
    try:
        yield
    finally:
        ASKING.reset(token)


def completer(
    client: Any, *, model: str | None = None, base_url: str | None = None, **parameters: Any
) -> Completer | AsyncCompleter:
    """A completer over a client of `anthropic`, `openai` or `google-genai`, sync or async, or over the name of one:
    `anthropic`, `openai`, `openai-chat`, `gemini`. By name the SDK makes the client and finds the key where it always does.

    `model`: whom to ask; left out, the conversation's own. `base_url`: of a server that speaks the same, with a name only.
    `parameters`: of the provider's own request (`max_tokens`, `thinking`, `temperature`, `extra_headers`, …), sent as they are.
    For a summary at the price of a cached prefix, give the parameters of the conversation's own requests.

    Raises `InvalidOption` for what is no client or an SDK that is not installed, `ProviderFailed` for a key that is not there.
    """
    refuse_no_name(or_none=True, model=model)
    if isinstance(client, str):
        sdk, client = made(client, base_url=base_url)
    elif base_url is not None:
        raise InvalidOption("base_url", base_url, why="the client has its own; give it there")
    else:
        sdk = sdk_of(client)
    kind = AsyncCompleter if is_async(client) else Completer
    return kind(sdk, client, model=model, parameters=parameters)


class _OverSdk:
    """What both kinds have in common."""

    def __init__(self, sdk: Sdk, client: Any, *, model: str | None, parameters: Mapping[str, Any]) -> None:
        self.provider, self.model = sdk.name, model
        """Whom it asks, by name, and the model, where it is fixed."""
        self._sdk, self._client, self._parameters = sdk, client, parameters

    def __repr__(self) -> str:
        return f"<completer {self.provider} {self.model or ''}>".replace(" >", ">")

    def _body(self, request: CompletionRequest) -> Body:
        model = self.model or request.model
        if model is None:
            raise InvalidOption("model", None, why="name the model to ask, here or in the conversation")
        formats = self._sdk.formats
        format = request.format if request.format in formats else formats[0]
        return body_for(request, format=format, model=model, parameters=self._parameters)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What the SDK raises, or an answer that ended in an error, as `ProviderFailed`."""
        try:
            yield
        except raised_by(self._sdk) as error:
            given = sent(self._parameters.get("extra_headers"))
            secrets = (*secrets_of(self._client), *given, *sent_with(error))
            raise failed(error, provider=self.provider, key=self._sdk.key, secrets=secrets) from None


class Completer(_OverSdk):
    """A sync one."""

    def __call__(self, request: CompletionRequest) -> StreamedReply:
        """Ask. Nothing is sent before the reply is read. Raises `InvalidOption` where no model is named; reading raises
        `ProviderFailed`."""
        body = self._body(request)
        return StreamedReply(self._events(body), format=body.format, notes=body.notes)

    def close(self) -> None:
        """Close the client that it asks through, for whoever made this by name. Closing twice is closing once."""
        self._client.close()

    def _events(self, body: Body) -> Generator[dict[str, Any]]:
        with closing(events(self._sdk, self._client, body=body)) as given, self._failing():
            while True:
                with _asking():
                    event = next(given, None)
                if event is None:
                    return
                yield sound(event)


class AsyncCompleter(_OverSdk):
    """An async one."""

    awaits: Final = True
    """What it gives is awaited; whoever waits for it needs an event loop of its own."""

    def __call__(self, request: CompletionRequest) -> AsyncStreamedReply:
        """As `Completer.__call__`."""
        body = self._body(request)
        return AsyncStreamedReply(self._events(body), format=body.format, notes=body.notes)

    async def _events(self, body: Body) -> AsyncGenerator[dict[str, Any]]:
        async with aclosing(aevents(self._sdk, self._client, body=body)) as given:
            with self._failing():
                while True:
                    with _asking():
                        event = await anext(given, None)
                    if event is None:
                        return
                    yield sound(event)
