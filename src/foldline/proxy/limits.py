"""Sizes and times of the proxy, each with its name and its reason: no body, wait or list in it is without an end.

Values alone; they are used where they are named.
"""

from __future__ import annotations

from typing import Final

BODY_BYTES_MAX: Final = {"anthropic": 32 * 2**20, "openai": 64 * 2**20, "gemini": 128 * 2**20}
"""A conversation larger than this is answered with 413, by whose dialect it is in: Anthropic's own limit; what the others take in
pictures and files (50 MB, 100 MB), with the rest of a request. Uploads that are only passed through have no limit."""
HEAD_LINE_BYTES_MAX: Final = 16 * 2**10
"""Of the first line of a request, and of one header."""
HEAD_S: Final = 10.0
"""A connection on which no whole head came for so long is closed; so is one that rests between two requests."""
BODY_S: Final = 120.0
"""Within which the body of a conversation is read whole."""
CONNECT_S: Final = 30.0
"""To reach the upstream. What it takes to answer is the client's to wait for."""
STALE_S: Final = 2.0
"""A connection that had rested and breaks off so soon was closed before the request came: it is sent on a new one. Later the upstream may
have begun with it, and it is the client's to send again."""
HOLD_S: Final = 10.0
"""A stream that has said nothing yet is held back so long, since a refusal may come in place of an answer."""
HELD_BYTES_MAX: Final = 256 * 2**10
"""And so many bytes of it."""
KEEP_ALIVE_S: Final = 10.0
"""A client that waits for a stream hears of it as often: well within what agents wait for a first byte."""
REFUSAL_BYTES_MAX: Final = 2**20
"""Of a refusal so much is read before it is passed on."""
CHUNK_BYTES: Final = 64 * 2**10
"""Read at once from either side; behind a slow reader nothing more is read."""
STOP_S: Final = 5.0
"""Requests on their way get so long when the proxy is stopped."""
ROOTS_MAX: Final = 1_024
"""Conversations known at a time; the one that rested longest is forgotten first, and found again by its session."""
SESSIONS_MAX: Final = 64
"""Sessions that are open while nothing of theirs is on its way."""
ROOT_MESSAGES_MAX: Final = 8
"""A conversation is known by what is said up to the first answer, at most so many messages."""
AT_ONCE_BYTES_MAX: Final = 32 * 2**10
"""A conversation no longer than this is looked at without a thread, where nothing has to be waited for."""
BODIES_MAX: Final = 64
"""Bodies that are remembered, to read of the next one of a conversation what is new alone."""
BODIES_BYTES_MAX: Final = 32 * 2**20
"""And their bytes in all."""
BODY_BYTES_MIN: Final = 32 * 2**10
"""One shorter than this is read whole as fast."""
THREADS: Final = 64
"""For what waits for a disk or a model's summary."""
