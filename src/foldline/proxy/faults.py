"""What is said of something that went wrong in here: enough to mend it, and nothing of what was said in the conversation.

An exception's words may quote what it stumbled over, a key among it, and they end in a line on a terminal, in a file of logs and in
a label of a metric. So a foreign one is named by its kind and its place; of our own, those that speak of a session and its file keep
their words. Pure.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import Final

from foldline.core.errors import (
    ContextExhausted,
    SessionBusy,
    SessionCorrupt,
    SessionExists,
    SessionFailed,
    UnknownPolicy,
)
from foldline.core.foreign import Raised

SPOKEN: Final = (
    ContextExhausted,
    SessionBusy,
    SessionCorrupt,
    SessionExists,
    SessionFailed,
    UnknownPolicy,
)
"""Their words are names, paths and numbers, and the next step."""


def why_of(raised: Raised) -> str:
    """A sentence for whoever runs the proxy."""
    error = raised.error
    if isinstance(error, SPOKEN):
        return raised.why
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return type(error).__name__
    place = "/".join(PurePath(frames[-1].filename).parts[-2:])
    return f"{type(error).__name__} at {place}:{frames[-1].lineno}"
