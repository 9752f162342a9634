"""What the entries of a log come to: the values that `foldline.log.replay` makes and a session lives on.

Frozen, and cheap to go on from: a view shares its tail with the one before. Knows nothing of how entries are spelt, of
files or of policies.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field

from foldline.core.message import Message, Usage
from foldline.core.view import View

Expose: TypeAlias = Literal["io", "full", "hidden"]
"""What the outside sees of a node: its input and output, every message of it, or nothing."""
EXPOSES: tuple[str, ...] = get_args(Expose)
Status: TypeAlias = Literal["completed", "error", "interrupted"]
STATUSES: tuple[str, ...] = get_args(Status)
ROOT = ""
"""The scope of the session itself; a running node's scope is its id."""


class Anchor(Struct, frozen=True, kw_only=True, gc=False):
    """The last usage that a projection may start from (requirements TOK-3, TOK-5)."""

    ordinal: int
    """The response that it came with."""
    usage: Usage
    tokens_fixed: int | None = None
    """System prompt and tools of that request as they were counted here; `None` when nobody counted them."""


class Unsaid(Struct, frozen=True, kw_only=True, gc=False):
    """The last response, where no usage that counts came with it (requirement TOK-5)."""

    ordinal: int
    tokens_fixed: int | None = None
    """As an anchor's."""
    may_come: bool = True
    """False where its request was another than the log shows, or what it counted has changed since: a usage that comes later
    is no anchor then."""


class Node(Struct, frozen=True, kw_only=True):
    """A sub-agent that runs: whose messages stand in the same log and in a view of their own (requirement FUN-1)."""

    id: str
    name: str
    expose: Expose
    parent: str
    """Scope it was started in."""
    call_id: str | None
    """The call that it answers, where one does; then call and result are what the outside sees of `io`."""
    seq: int
    """Its `node` entry."""
    start: int
    """Ordinal of the first message after that entry."""


class Scope(Struct, frozen=True, kw_only=True):
    """One view of the log: the session's own, or a running node's."""

    view: View = View()
    anchor: Anchor | None = None
    unsaid: Unsaid | None = None
    """A response after the anchor's; `None` where there is none."""


class Applied(Struct, frozen=True, kw_only=True, gc=False):
    """A compaction or edit that counts."""

    seq: int
    offset: int
    scope: str = ROOT
    is_edit: bool = False
    """True for an `edit` entry: what a policy does before a request of any size, and no compaction to undo."""


class Handoff(Struct, frozen=True, kw_only=True, gc=False):
    """The reminder of an epoch: sent with each request, never shown (requirement HND-3)."""

    seq: int
    """Its entry; -1 for `SUPPRESSED`."""
    offset: int
    after: int
    """Ordinal of the message that it stands behind."""
    text: str


SUPPRESSED = Handoff(seq=-1, offset=-1, after=-1, text="")
"""Of an epoch that was given two, or one that cannot be read: it has none, and gets none."""


class State(Struct, frozen=True, kw_only=True):
    """Where a session stands after an entry."""

    seq: int = -1
    """The last entry."""
    ordinals: int = 0
    """Messages in the log so far, whoever sees them: the next one's ordinal."""
    scopes: dict[str, Scope] = field(default_factory=lambda: {ROOT: Scope()})
    """The session's view, and that of each node that runs."""
    nodes: dict[str, Node] = {}
    """Nodes that run, by id."""
    system: Message | None = None
    system_at: int | None = None
    """Byte of the entry that said so."""
    tools: bytes | None = None
    tools_at: int | None = None
    model: str | None = None
    """The model last named; `None`: the one the first line names."""
    applied: tuple[Applied, ...] = ()
    """What shapes the views, oldest first; what was undone is not among it, nor what `earlier_at` names."""
    earlier_at: int | None = None
    """Byte of the full checkpoint that says what shaped the views before that (`foldline.log.applied`)."""
    open_begin: int | None = None
    """The `begin` entry whose compaction has neither come to an end nor been given up."""
    calls: int = 0
    """Tool calls so far, whatever has left the view."""
    compacted: bool = False
    """True from a compaction until the next response (requirement CMP-18)."""
    failures: dict[str, int] = {}
    """By workspace: how often in a row a model's summary came to nothing (requirement CMP-14)."""
    stalled: int = 0
    """Compactions in a row, made of the session's own accord, that were no progress (`foldline.engine.progress`)."""
    answered_ms: int | None = None
    """When the last response came, where the log says it."""
    revision: bytes = b""
    """A digest of every entry that a view depends on: the history's revision (requirements TOK-5, TOK-7)."""
    full_at: int | None = None
    """Byte of the last full checkpoint."""
    since: int = 0
    """Entries since the last checkpoint."""
    epoch: int = -1
    """The last compaction of the session's own view that counts, by its `seq`; -1: there is none (requirement HND-4)."""
    handoff: Handoff | None = None
    """The hand-off record of this epoch; `SUPPRESSED` when it may have none (requirement HND-2)."""

    @property
    def root(self) -> Scope:
        """The session's own view and anchor."""
        return self.scopes[ROOT]


Places: TypeAlias = dict[int, tuple[int, int]]
"""By ordinal of a message: the byte of its entry, and the length of its line. True for ever, whatever is rolled back."""
