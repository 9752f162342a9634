"""The order of a compaction: whatever a summary comes to, at whatever stage, sync and async, the log before is the beginning of
the log after, and memory is what the log says."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from foldline.core.errors import InvalidRequest, TargetUnreachable
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import Said, ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import opened, reopened, worked
from tests.session.modelling import body_of
from tests.session.test_compacting import data_of, texts
from tests.session.test_conversation import narrow
from tests.session.test_reacting import ApiError

WINDOWS = {"reserve": 40_000, "handoff": 14_000}
"""Of a size that the session is over the line of the policy."""
BAD = "zzz "
REPLIES: dict[str, tuple[Any, str | None]] = {
    "fails": (RuntimeError("500 the provider is down"), "provider_error"),
    "times out": (TimeoutError("no answer in 60 s"), "provider_error"),
    "is rate-limited": (RuntimeError("429 rate limit exceeded"), "provider_error"),
    "overflows": (RuntimeError("prompt is too long: 12000 tokens > 10000 maximum"), "overflow"),
    "is empty": ("", "empty"),
    "is oversized": (" ".join(f"{BAD}w{n}" for n in range(9_000)), "too_large"),
    "is refused": (Said(text=BAD, stop_reason="refusal"), "refused"),
    "is cut off": (Said(text=BAD, stop_reason="max_tokens"), "cut_off"),
    "is only analysis": (f"<analysis>{BAD}</analysis>", "only_analysis"),
    "is an acknowledgement": ("Sure, I will do that.", "acknowledgement"),
    "is interrupted": (KeyboardInterrupt(), None),
    "is cancelled": (asyncio.CancelledError(), None),
}
"""What a summary comes to, and the name of it; an abort by the user is no failure (CMP-21)."""
HOW = {"handoff": ("compact", "recover"), "reserve": ("prepare", "compact")}
"""Where the model is asked at once: in a request `handoff` snips first, and `reserve` recovers from nothing."""
REFUSAL = ApiError(
    {
        "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 12000 tokens > 10000 maximum",
        }
    }
)


def full(store: MemoryStore, policy: str, completer: Any) -> Session:
    """A session over the line of its policy."""
    session = narrow(opened(store, policy=policy, host=Host(completer=completer)), 1_000_000)
    session.user("Read it all. Never push to main.")
    worked(session, 11, size=4_000)
    return narrow(session, WINDOWS[policy])


def carried(session: Session, how: str, *, is_async: bool) -> Any:
    """The compaction, begun in one of three ways, with what it raises let through."""
    given: tuple[Any, ...] = (REFUSAL,) if how == "recover" else ()
    if not is_async:
        return getattr(session, how)(*given)

    async def twin() -> Any:
        return await getattr(session, f"a{how}")(*given)

    return asyncio.run(twin())


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("policy", ["handoff", "reserve"])
@pytest.mark.parametrize("what", list(REPLIES))
def test_whatever_a_summary_comes_to_nothing_is_half_done(what: str, policy: str, *, is_async: bool) -> None:
    """D11: twelve cases, in a request and by hand: log before is a prefix of log after, memory is what the log says; without a
    fallback nothing has changed (CMP-35), with one the ledger is made (CMP-29) and nothing of the bad text is in it."""
    reply, name = REPLIES[what]
    for how in HOW[policy]:
        store, completer = MemoryStore(), ScriptedCompleter(reply, is_async=is_async)
        session = full(store, policy, completer)
        before, log, size = texts(session), data_of(store), session._view().view.tokens
        aborts = name is None
        with contextlib.suppress(
            KeyboardInterrupt, asyncio.CancelledError, TargetUnreachable, InvalidRequest
        ):
            carried(session, how, is_async=is_async)
        assert data_of(store).startswith(log), (what, how)
        assert session._known.work is None
        assert session._keeper.state.open_begin is None
        assert completer.requests
        assert session._keeper.state.failures == ({} if aborts else {"": 1}), (what, how)
        if aborts or policy == "reserve":
            assert texts(session) == before, (what, how)
            assert body_of(session, "settle")["outcome"] == ("abandoned" if aborts else "failed")
        else:
            assert session._view().view.tokens < size, (what, how)
            assert BAD not in "".join(texts(session)), (what, how)
            told = body_of(session, "compaction")["report"]["summary"]
            assert name in {one["name"] for one in told["failures"]}, (what, how)
        session._known.host = Host()
        assert violations(session.prepare().body, format="anthropic") == []
        live = texts(session)
        with reopened(session, store, policy=policy) as again:
            assert texts(again) == live
