"""foldline keeps a long-running LLM agent inside its context window.

    out = foldline.compact(messages, to=20_000)
    out.messages, out.report

    with foldline.open("fix-login", model="claude-sonnet-4-5") as session:
        session.user("Find why login fails")
        request = session.prepare()

    client = foldline.wrap(anthropic.Anthropic(), session="fix-login")

Importing does nothing: names are loaded when they are first used. Errors are drawn as a tree in
`foldline.core.errors`; everything not named here may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.api import Compaction, acompact, compact
    from foldline.clients.wrap import wrap
    from foldline.core.completion import Reply
    from foldline.core.errors import (
        CheckpointFailed,
        CompactionBlocked,
        ContextExhausted,
        FoldlineError,
        ForgetUnfinished,
        InvalidOption,
        InvalidRequest,
        InvalidTranscript,
        LawViolation,
        ProviderFailed,
        SessionBusy,
        SessionCorrupt,
        SessionExists,
        SessionFailed,
        TargetUnreachable,
        UnknownAddress,
        UnknownFormat,
        UnknownModel,
        UnknownPolicy,
        UnknownSession,
    )
    from foldline.engine.metrics import Metrics
    from foldline.providers.completer import completer
    from foldline.recall.tool import recall_tool
    from foldline.session.opening import open
    from foldline.session.session import Session
    from foldline.wire.completion import CompletionRequest, Delta
    from foldline.wire.overflow import classify_error

__version__ = "0.1.0"

_WHERE = {
    **dict.fromkeys(("Compaction", "acompact", "compact"), "foldline.api"),
    **dict.fromkeys(("CompletionRequest", "Delta"), "foldline.wire.completion"),
    "Metrics": "foldline.engine.metrics",
    "Reply": "foldline.core.completion",
    "classify_error": "foldline.wire.overflow",
    "completer": "foldline.providers.completer",
    "recall_tool": "foldline.recall.tool",
    "Session": "foldline.session.session",
    "open": "foldline.session.opening",
    "wrap": "foldline.clients.wrap",
}
"""Where a name is; the others are errors."""

__all__ = [
    "CheckpointFailed",
    "Compaction",
    "CompactionBlocked",
    "CompletionRequest",
    "ContextExhausted",
    "Delta",
    "FoldlineError",
    "ForgetUnfinished",
    "InvalidOption",
    "InvalidRequest",
    "InvalidTranscript",
    "LawViolation",
    "Metrics",
    "ProviderFailed",
    "Reply",
    "Session",
    "SessionBusy",
    "SessionCorrupt",
    "SessionExists",
    "SessionFailed",
    "TargetUnreachable",
    "UnknownAddress",
    "UnknownFormat",
    "UnknownModel",
    "UnknownPolicy",
    "UnknownSession",
    "__version__",
    "acompact",
    "classify_error",
    "compact",
    "completer",
    "open",
    "recall_tool",
    "wrap",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'foldline' has no attribute {name!r}")
    return getattr(import_module(_WHERE.get(name, "foldline.core.errors")), name)


def __dir__() -> list[str]:
    return list(__all__)
