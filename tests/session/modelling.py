"""Sessions with a model to ask, for tests: a small window, a policy whose last tier asks, and a scripted completer."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.engine.policy import Line, Policy, Tier
from foldline.session.hosting import Block, Host, Listener
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from tests.engine.scripted import Asking, asking_tier
from tests.session.making import answer, opened, worked
from tests.session.test_conversation import narrow

WINDOW = 3_000


class Heard(list[Any]):
    """What a listener was told, in order."""

    def listener(self) -> Listener:
        """One that keeps it."""
        return Listener(
            on_state=lambda is_compacting: self.append(is_compacting),
            on_delta=self.append,
            on_block=self.append,
        )

    @property
    def blocks(self) -> list[Block]:
        """The blocks of it."""
        return [one for one in self if isinstance(one, Block)]


def asks(*more: Tier, start: int = 1, end: int = 13, **values: Any) -> Policy:
    """A policy whose tier asks a model for a fold of messages `start` to `end`, half-open."""
    given: dict[str, Any] = {
        "name": "asks",
        "sentence": "For tests.",
        "source": "none",
        "threshold": Line(percent=80, of="window"),
        "target": Line(percent=50, of="window"),
        "tiers": (asking_tier(Asking(start, end)), *more),
    }
    return Policy(**{**given, **values})


def due(
    store: MemoryStore | None = None, *, completer: Any, policy: Policy | None = None, **host: Any
) -> Session:
    """A session whose next request is over the policy's line."""
    made = Host(completer=completer, **host)
    session = narrow(opened(store, policy=policy or asks(), host=replace(made, completer=None)), WINDOW)
    filled(session)  # without one: a sync call inside an event loop refuses a completer that awaits
    session._known.host = replace(session._known.host, completer=completer)
    return session


def filled(session: Session, *, tokens: int = 2_500) -> Session:
    """Nine rounds and a usage near the window."""
    session.user("read it all, never push to main")
    worked(session, 7)
    session.prepare()
    session.record(answer("so far", ("last", "read"), tokens=tokens))
    session.tool_result("last", "what it says")
    return session


def kinds(session: Session) -> list[str]:
    """Of the log's entries."""
    return [entry.kind for entry in session._keeper.log.entries()]


def body_of(session: Session, kind: str, *, at: int = -1) -> Any:
    """The body of an entry of a kind, the last one where none is named."""
    from foldline.wire import strict

    return strict.loads([e.body for e in session._keeper.log.entries() if e.kind == kind][at])


def blind(session: Session) -> Session:
    """The session as it is where the model's window is not known."""
    setup = session._known.setup
    session._known.setup = replace(setup, planned=replace(setup.planned, is_window_known=False))
    return session
