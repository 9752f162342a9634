"""What goes wrong at a provider, as one error: who, the status, what it said, what to do next; and never a key.

Owns the mapping of the SDKs' exceptions, which all SDKs here spell a little differently. What an error means for the history
is `foldline.wire.overflow`'s to say: `status` and `body` are what it takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from foldline.core.errors import ProviderFailed
from foldline.log.secrets import find
from foldline.providers.hidden import hider
from foldline.wire import strict

WORDS_MAX: Final = 2_000
"""Characters of what a provider said that an error carries."""
HIDDEN: Final = "[secret]"
NEXT: Final = {
    400: "mend the request; what the provider said names the place",
    401: "check the key in the environment variable that the SDK reads ({key})",
    403: "the key is known but may not do this; check its rights, and the model's name",
    404: "check the model's name and --base-url",
    413: "make the history smaller first",
    429: "wait, then try again",
}
LATER: Final = "the provider's own fault: try again later"
UNREACHED: Final = "check the network and the base URL, and that a server listens there"


class AnswerFailed(Exception):
    """An answer that began as one, under a status that says that all is well, and ended in an error."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        super().__init__("the answer ended in an error")


def sound(event: dict[str, Any]) -> dict[str, Any]:
    """The event of a stream, unless it says that the answer failed. Raises `AnswerFailed`."""
    told = event.get("response") if event.get("type") == "response.failed" else event
    error = told.get("error") if isinstance(told, Mapping) else None
    if event.get("type") == "response.failed" or isinstance(error, Mapping) or event.get("type") == "error":
        raise AnswerFailed({"error": error} if error is not None else event)
    return event


def failed(error: BaseException, *, provider: str, key: str, secrets: tuple[str, ...] = ()) -> ProviderFailed:
    """The error to raise for an SDK's exception. `key`: where the SDK looks for its key; `secrets`: values that must not
    be seen, whatever the provider echoes."""
    status = _status(error)
    hidden = hider(secrets)
    body = _clean(_body(error), hidden)
    said = _said(body) or str(_clean(f"{error}", hidden))
    if status is None:
        cause = str(_clean(f"{error.__cause__}", hidden)) if error.__cause__ is not None else ""
        said = f"{said.rstrip('.')}: {cause}" if cause and cause != said else said
    then = _next(status, error).format(key=key)
    return ProviderFailed(provider, status, why=said[:WORDS_MAX], body=body, then=then)


def _status(error: BaseException) -> int | None:
    for name in ("status_code", "code"):
        status = getattr(error, name, None)
        if isinstance(status, int) and not isinstance(status, bool) and status >= 300:
            return status
    return None


def _next(status: int | None, error: BaseException) -> str:
    if status is None:
        return (
            UNREACHED if "onnect" in type(error).__name__ else "try again; if it stays so, name another model"
        )
    return NEXT.get(status, LATER if status >= 500 else NEXT[400])


def _body(error: BaseException) -> Any:
    for name in ("body", "details"):
        body = getattr(error, name, None)
        if isinstance(body, (Mapping, str)) and body:
            return body
    return None


def _said(body: Any) -> str:
    """The sentence in a body, where it stands where providers put it."""
    if isinstance(body, str):
        return body
    while isinstance(body, Mapping):
        message = body.get("message")
        if isinstance(message, str):
            return message
        body = body.get("error")
    return body if isinstance(body, str) else ""


def _clean(value: Any, hidden: re.Pattern[str] | None) -> Any:
    """The value with no secret in it, in keys neither: none of those given, however it is spelt, and none that looks like one."""
    if isinstance(value, Mapping):
        return {_clean(key, hidden): _clean(told, hidden) for key, told in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(told, hidden) for told in value]
    if not isinstance(value, str):
        return value
    return _without_found(hidden.sub(HIDDEN, value) if hidden is not None else value)


def _without_found(text: str) -> str:
    data = strict.dump(text)
    for hit in reversed(find(data)):
        data = data[: hit.start] + HIDDEN.encode() + data[hit.end :]
    cleaned: str = strict.parse(data)
    return cleaned
