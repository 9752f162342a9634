"""A pass-through made of uvicorn and httpx, as gateways are: what `bench_proxy` measures the proxy beside. It looks at nothing.

python -m benchmarks.plain_proxy PORT UPSTREAM
"""

from __future__ import annotations

import sys
from typing import Any

import httpx
import uvicorn


class PassThrough:
    """An ASGI application: method, path, headers and body go on, the answer comes back as it comes."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
            self._client = httpx.AsyncClient(timeout=None, limits=limits)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
        request = self._client.build_request(
            scope["method"], self._upstream + scope["path"], headers=headers, content=body
        )
        response = await self._client.send(request, stream=True)
        given = [
            (name, value) for name, value in response.headers.raw if name.lower() != b"transfer-encoding"
        ]
        await send({"type": "http.response.start", "status": response.status_code, "headers": given})
        async for piece in response.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await response.aclose()
        await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    uvicorn.run(PassThrough(sys.argv[2]), port=int(sys.argv[1]), log_level="error", lifespan="off")
