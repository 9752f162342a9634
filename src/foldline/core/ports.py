"""The ports: what core and the layers around it ask of the outside, as small protocols.

Implementations live elsewhere (`foldline.tokens`, `foldline.passes`, `foldline.stores`, …); `foldline.testing` holds a
counter for tests, and `check_store`, which every store must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from foldline.core.budget import Room
from foldline.core.entry import Draft, Entry
from foldline.core.message import Message, Part
from foldline.core.view import View

if TYPE_CHECKING:
    from foldline.core.edit import Frame, Plan


Weights: TypeAlias = tuple[tuple[int, ...], int]
"""Tokens of each part of a message in order, and the overhead of its envelope."""


class TokenCounter(Protocol):
    """Counts tokens. Pure: the same value gives the same count for the life of the counter.

    Counts of parts add up to the count of their message; joining texts would give 0 to 2 tokens less, so the
    sum errs on the safe side (`docs/concepts/tokens.md`).
    """

    @property
    def name(self) -> str:
        """As reported: an encoding or a model family (`o200k_base`, `claude-4.7`)."""
        ...

    def text(self, text: str) -> int:
        """Tokens of a text; 0 for the empty string. Lone surrogates count as U+FFFD."""
        ...

    def texts(self, texts: list[str]) -> list[int]:
        """Tokens of each text, in order; one call for many."""
        ...

    def part(self, part: Part) -> int:
        """Tokens of one part, with the JSON around a call and the published rule for media."""
        ...

    def message(self, message: Message) -> int:
        """Tokens of a message: its parts and its role markers (`overhead`)."""
        ...

    def tools(self, schemas: str) -> int:
        """Tokens of the tool schemas, given as JSON text; 0 for an empty string."""
        ...

    def weights(self, message: Message) -> Weights:
        """What a view stores for a message."""
        ...

    def weights_of(self, messages: Sequence[Message]) -> list[Weights]:
        """As `weights`, for many messages in few calls."""
        ...


class Moment(Struct, frozen=True, kw_only=True, gc=False):
    """What a pass may know of the moment it plans for, beside the view. All of it comes in as a value."""

    tokens_excess: int
    """Tokens that must go to meet the target; 0 or less when the view fits."""
    tokens_target: int = 0
    """Target for the messages alone, system prompt and tools already taken off."""
    tokens_history: int = 0
    """Tokens of the messages before any pass of this compaction; 0 when not known."""
    tokens_window: int | None = None
    tokens_fixed: int = 0
    """Tokens of system prompt and tools, which no pass touches."""
    output_cap: int | None = None
    """Most output tokens that the request itself asks for."""
    output_max: int | None = None
    """Most output tokens that the model can write."""
    by_hand: bool = True
    """True when the caller named the target: every tier goes for it. False: each goes for its own line."""
    is_due: bool = True
    """False below the policy's threshold, where only the tiers run that run before every request."""
    idle_s: float | None = None
    """Seconds since the last provider call; `None` when not known (requirement MIC-10)."""
    calls: int | None = None
    """Tool calls in the session so far; `None`: as many as the view shows."""
    scale: float = 1.0
    """How many tokens the provider counts for one of ours: what the lines of a policy are compared with."""
    usage_known: bool = True
    """False when neither an anchor nor a window is known (requirement TOK-10)."""
    has_model: bool = False
    """True where a model can be asked: then tiers that ask one are active."""
    tokens_window_asked: int | None = None
    """Window of the model that is asked, where it is known to be another than the conversation's."""
    at_once: bool = False
    """True for a compaction by hand that names no size: the model's tier runs whatever the size (requirement CMP-15)."""
    beside: int = 0
    """Tokens of the target that the first tier that asks a model, and those behind it, leave free: something is put behind what
    they fold."""
    ahead: bool = False
    """With `at_once`: made before the line is reached, so a policy with several tiers that ask begins with the first."""
    tokens_threshold: int | None = None
    """Where the policy's next compaction would be due, for the messages alone; `None` when no window is known."""

    @property
    def room(self) -> Room:
        """What lines are measured in."""
        return Room(self.tokens_window or 0, output_cap=self.output_cap, output_max=self.output_max)


class Pass(Protocol):
    """Plans one kind of reduction. A frozen value: its fields are its thresholds."""

    @property
    def name(self) -> str:
        """As the report names it."""
        ...

    def plan(self, view: View, moment: Moment, frame: Frame) -> Plan:
        """Edits for this view; an empty plan when there is nothing to do. Never changes the view. Idempotent:
        planning again on the result gives no further edit."""
        ...


class Pages(Protocol):
    """A session's log, read. Sees what was durable or merely written when it was opened, never half a line."""

    @property
    def format(self) -> str:
        """Wire format of the session, as its first line says."""
        ...

    @property
    def about(self) -> bytes:
        """The first line's body: id, model and whatever else is known, a JSON object."""
        ...

    @property
    def torn(self) -> str:
        """What an interrupted append left behind the last entry, for a person; empty when the log ends well."""
        ...

    def entry(self, offset: int) -> Entry:
        """The entry whose line begins at this byte, wherever an archive keeps it. Raises `SessionCorrupt`."""
        ...

    def entries(self, offset: int = 0) -> Iterator[Entry]:
        """Entries from this byte on (0: all of them), oldest first. Raises `SessionCorrupt` at damage, after what is
        sound before it."""
        ...

    def back(self) -> Iterator[Entry]:
        """Entries from the newest to the oldest; costs what is taken of it. Raises `SessionCorrupt`."""
        ...

    def close(self) -> None:
        """Let go of what is held open. Closing twice is closing once."""
        ...


class Journal(Pages, Protocol):
    """A session's log, written. There is one at a time for a session, in all processes."""

    def append(self, drafts: Sequence[Draft], *, sync: bool = True) -> tuple[Entry, ...]:
        """The drafts as entries, one after the other, in one write: all of them or none will be read again. With
        `sync` they are on disk when this returns. Raises `SessionFailed`, and from then on always: what failed is
        never tried again, the session has to be opened anew."""
        ...

    def sync(self) -> None:
        """Put on disk what was appended without. Nothing to do is done at once. Raises as `append`."""
        ...

    @property
    def packed(self) -> int:
        """Byte up to which everything is packed away; 0 where nothing is."""
        ...

    def archive(self) -> str:
        """Pack away everything up to now; every offset stays and everything can still be read. Returns what kept it from
        being done, for a person, empty when it is done: then the log stands as it was. Raises as `append`, and
        `SessionCorrupt` where a line of what would be packed is damaged; nothing is moved then."""
        ...

    def close(self) -> None:
        """Sync, and let others write. Closing twice is closing once."""
        ...


class Store(Protocol):
    """Keeps the logs of sessions, each under a name (`foldline.core.naming`; every method that is given another raises
    `InvalidOption`). Any number may read while one writes."""

    def names(self) -> tuple[str, ...]:
        """The sessions there are, sorted."""
        ...

    def create(self, name: str, *, format: str, about: bytes) -> Journal:
        """A new log, durable when this returns. Raises `SessionExists`, `SessionBusy`."""
        ...

    def write(self, name: str) -> Journal:
        """The log of a session, to be gone on with; a torn end is cut off and said in `torn`. Raises `UnknownSession`,
        `SessionBusy`, `SessionCorrupt`."""
        ...

    def read(self, name: str) -> Pages:
        """The log of a session as it is now. Raises `UnknownSession`."""
        ...

    def rewrite(
        self, name: str, change: Callable[[Entry], bytes | None], *, more: Sequence[Draft] = ()
    ) -> int:
        """Put another body in the place of old ones: `change` gives it, of the very length, or `None` to leave the
        entry; `more` is appended with it. Every offset and number stays; afterwards the old bytes are nowhere, before it the
        new ones; after an interruption the next to write finds one or the other. Returns how many entries were changed.
        Raises as `write`."""
        ...

    def remove(self, name: str) -> None:
        """Take the session away with everything kept for it. Raises `UnknownSession`, `SessionBusy`."""
        ...
