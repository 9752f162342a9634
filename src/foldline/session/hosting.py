"""What the host of a session brings: a model to ask, hooks, and ears for what a compaction does.

    on_state    {"isCompacting": true}            compactionStateChange      one begins; False: it has ended, however it ended
    on_delta    {"delta": "…"}                    compactionContentUpdate    a piece of what the model writes, nothing before it again
    on_block    {"message": {…}}                  compactBlockAdded          the summary, whole, or why there is none

The names in the middle are the members of the stdio protocol, those on the right its notifications (requirement UIX-4). What a
listener raises is its own affair. Only the session that began a compaction hears of it (requirement JRN-18).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from foldline.core.errors import InvalidOption
from foldline.core.foreign import tried

if TYPE_CHECKING:
    from foldline.hooks.hooks import Hooks
    from foldline.restore.restorer import Restorer


class Block(Struct, frozen=True, kw_only=True):
    """What a chat shows where a compaction was made, or came to nothing."""

    text: str
    is_error: bool = False
    message: dict[str, Any] | None = None
    """The summary as the wire has it; `None` for an error."""


class Listener(Struct, frozen=True, kw_only=True):
    """Who is told of compactions while they run."""

    on_state: Callable[[bool], object] = lambda is_compacting: None
    on_delta: Callable[[str], object] = lambda delta: None
    on_block: Callable[[Block], object] = lambda block: None

    def state(self, *, is_compacting: bool) -> None:
        """Tell that a compaction begins or has ended."""
        tried(lambda: self.on_state(is_compacting))

    def delta(self, piece: str) -> None:
        """Tell a piece of what is written."""
        tried(lambda: self.on_delta(piece))

    def block(self, block: Block) -> None:
        """Tell what came of it."""
        tried(lambda: self.on_block(block))


class Host(Struct, frozen=True, kw_only=True):
    """A session's."""

    completer: Any = None
    """A `foldline.wire.completion.Completer` or its async twin; `None`: no model can be asked."""
    hooks: Hooks | None = None
    restore: Restorer | None = None
    """What is put behind each summary; `None`: what the log says, and the files that its calls touched below the workspace."""
    listener: Listener = Listener()
    workspace: str = ""
    """Where the session works, normalised: failures of a model are counted for each apart (requirement CMP-14)."""

    def __post_init__(self) -> None:
        """Raises `InvalidOption` for what is of another kind: it would be met in the middle of a compaction only."""
        wanted = {
            "completer": (self.completer, "__call__", "a completer"),
            "hooks": (self.hooks, "pre_compact", "`Hooks`"),
            "restore": (self.restore, "restored", "a `Restorer`"),
            "listener": (self.listener, "on_state", "a `Listener`"),
        }
        for option, (given, method, what) in wanted.items():
            if given is not None and not callable(getattr(given, method, None)):
                raise InvalidOption(option, given, why=f"give {what}, or leave it out")
