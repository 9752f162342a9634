"""Answers of the proxy's own, in the words of the provider that the client believes to speak to.

An SDK raises its typed error from them, with the sentence in it. Each says that it is foldline that speaks, and what to do.
"""

from __future__ import annotations

import json
from typing import Any, Final

from foldline.proxy.routes import Provider

ANTHROPIC_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    504: "timeout_error",
}
GEMINI_KINDS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    504: "DEADLINE_EXCEEDED",
}


def error_body(provider: Provider, status: int, *, why: str) -> bytes:
    """The body of an error."""
    message = f"foldline proxy: {why}"
    told: dict[str, Any]
    if provider == "anthropic":
        kind = ANTHROPIC_KINDS.get(status, "invalid_request_error" if status < 500 else "api_error")
        told = {"type": "error", "error": {"type": kind, "message": message}}
    elif provider == "gemini":
        kind = GEMINI_KINDS.get(status, "FAILED_PRECONDITION" if status < 500 else "UNAVAILABLE")
        told = {"error": {"code": status, "message": message, "status": kind}}
    else:
        kind = "invalid_request_error" if status < 500 else "server_error"
        told = {"error": {"message": message, "type": kind, "param": None, "code": "foldline_proxy"}}
    return json.dumps(told).encode()


def error_event(format: str, body: bytes) -> bytes:
    """The body of an error as an event of a stream, on one line."""
    data = b" ".join(body.split(b"\n"))
    name = b"event: error\n" if format in ("anthropic", "openai-responses") else b""
    return b"%bdata: %b\n\n" % (name, data)
