"""Which path is what: a conversation in one of four formats, a page of the proxy's own, or something to be passed through.

Pure. Paths are known by their ends, since gateways put versions, deployments and accounts before them. Where no upstream was named,
the provider is the one whose path it is; a path that several have, as `/v1/models`, goes by the header in which the key comes.

    POST …/v1/messages                             anthropic           POST …/chat/completions    openai-chat
    POST …/models/M:generateContent, :stream…      gemini              POST …/responses           openai-responses
    POST …/messages/count_tokens, …                a count             POST …/responses/compact   to be compacted by the provider
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote

from msgspec import Struct

from foldline.proxy.guard import PAGES, Head, Refusal

Provider: TypeAlias = Literal["anthropic", "openai", "gemini"]
Kind: TypeAlias = Literal["conversation", "compact", "count", "page", "pass"]

UPSTREAMS: Final[dict[Provider, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
DECODED_MAX: Final = 3
"""Times that a path is decoded, to see what it may mean to a server."""
_SLASHES, _PARAMETERS = re.compile("/{2,}"), re.compile(";[^/]{0,2000}")
_GEMINI: Final = re.compile(r"/models/([^/:]{1,200}):(generateContent|streamGenerateContent|countTokens)$")
_ANTHROPIC_ONLY: Final = re.compile(r"/v1/(?:messages|complete|organizations|skills)(?:/|$)")
_GEMINI_ONLY: Final = re.compile(r"/v1(?:beta|alpha)\d*(?:/|$)|/upload/v1")
_CONVERSES: Final = re.compile(
    r"/(?:v1/messages(?:/count_tokens)?|chat/completions|responses(?:/compact|/input_tokens)?"
    r"|models/[^/]{1,200}:(?:generatecontent|streamgeneratecontent|counttokens))/?$"
)
"""A conversation's path, in small letters."""
_ENDS: Final = {"/chat/completions": "openai-chat", "/responses": "openai-responses"}


class Route(Struct, frozen=True, kw_only=True):
    """What a request is."""

    kind: Kind
    provider: Provider
    """Whose words errors are said in, and whose host it is for where none was named."""
    format: str = ""
    """Of the conversation, or of what is counted."""
    model: str | None = None
    """Where the path names it."""


def route(asked: Head, target: str) -> Route:
    """What a request is. `target`: path and query, as the provider is to see them."""
    path = target.partition("?")[0]
    if path == PAGES or path.startswith(f"{PAGES}/"):
        return Route(kind="page", provider="openai")
    provider = _provider(asked, path)
    if asked.method != "POST":
        return Route(kind="pass", provider=provider)
    if path.endswith("/v1/messages"):
        return Route(kind="conversation", provider="anthropic", format="anthropic")
    if path.endswith("/v1/messages/count_tokens"):
        return Route(kind="count", provider="anthropic", format="anthropic")
    if path.endswith("/responses/compact"):
        return Route(kind="compact", provider="openai", format="openai-responses")
    if path.endswith("/responses/input_tokens"):
        return Route(kind="count", provider="openai", format="openai-responses")
    gemini = _GEMINI.search(path)
    if gemini is not None:
        kind: Kind = "count" if gemini[2] == "countTokens" else "conversation"
        return Route(kind=kind, provider="gemini", format="gemini", model=gemini[1])
    format = next((format for end, format in _ENDS.items() if path.endswith(end)), "")
    return Route(kind="conversation" if format else "pass", provider=provider, format=format)


def respelt(found: Route, asked: Head, *, target: str) -> Refusal | None:
    """The refusal of a conversation whose path is written in another way than its provider names it: a server may know it all the
    same, and it would go there unread. `found`: what it is as it stands."""
    if found.kind != "pass" or asked.method != "POST":
        return None
    path = target.partition("?")[0]
    for _ in range(DECODED_MAX):
        path = unquote(path)
    plain = _PARAMETERS.sub("", re.split("[?#]", path)[0]).strip().lower()
    if not _CONVERSES.search(_SLASHES.sub("/", plain)):
        return None
    return Refusal(
        status=400, why="the path may be read in two ways; write it as the provider's documents do"
    )


def _provider(asked: Head, path: str) -> Provider:
    if _ANTHROPIC_ONLY.search(path) or asked.every("x-api-key") or asked.every("anthropic-version"):
        return "anthropic"
    if _GEMINI_ONLY.search(path) or asked.every("x-goog-api-key"):
        return "gemini"
    return "openai"


def upstream_url(base: str, target: str) -> str:
    """Where a request goes on to: the target behind the base; a version that both have stands once."""
    last, first = base.rstrip("/").rpartition("/")[2], target.split("/", 2)[1].partition("?")[0]
    if last == first and re.fullmatch(r"v\d\w{0,10}", first):
        target = target[len(first) + 1 :]
    return base.rstrip("/") + target
