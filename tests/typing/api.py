"""The public API as a type checker sees it; `make types` checks this file, nothing runs it.

What must be refused is marked with the error it must give: under mypy's `warn_unused_ignores` a call that were
accepted would fail the check.
"""

from typing import Any, assert_type

import foldline
from foldline.core.ports import Pass
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip

messages: list[dict[str, Any]] = []

out = foldline.compact(messages, to=20_000)
assert_type(out, foldline.Compaction)
assert_type(out.messages, list[Any])
assert_type(out.report.to_dict(), dict[str, Any])

foldline.compact(
    messages, to=0.25, format="anthropic", system="…", tools=[], model="m", policy="balanced", pins=[0, "x"]
)
foldline.compact(messages, 20_000, "anthropic")  # type: ignore[call-arg]
foldline.compact(messages, to="20k")  # type: ignore[arg-type]
foldline.compact(messages, to=20_000, pins="all")
foldline.compact(messages, too=20_000)  # type: ignore[call-arg]
out.messages = []  # type: ignore[misc]

passes: list[Pass] = [Collapse(), FoldOldest(), Microcompact(), Snip()]


async def in_an_event_loop() -> None:
    """The async twin has the same arguments and the same result."""
    assert_type(await foldline.acompact(messages, to=20_000), foldline.Compaction)
