"""What a provider's own service does to a session: what it is asked for, and what of the history it stands for.

    user … assistant [compaction ✓signed, text] user …        the log: all of it, and the view
                     └────────────────────────────────►       what is sent: from the service's newest compaction on

Asked for where the host of a session says that it passes `request.body` and `request.betas` on (`foldline.open(native=True)`) and
the policy has something for the service to do. Its compaction and ours exclude each other in a session: the service is asked
as long as no compaction of ours counts, and none of ours is made of the session's own accord meanwhile; after a refusal for size, or
by hand, ours is made and the service is asked no more (`docs/decisions/0013-native-compaction.md`). All of it follows from the log.
Counterpart: `foldline.wire.native`, the wire values.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from foldline.core.budget import Room
from foldline.engine.policy import Policy, Tier
from foldline.ledger.tools import CASCADE_KINDS, kind_of
from foldline.log.state import State
from foldline.passes.microcompact import Microcompact
from foldline.session.fitting import Seen
from foldline.session.projecting import Fixed
from foldline.session.request import NOTHING
from foldline.session.setup import Setup
from foldline.wire import native, strict
from foldline.wire.body import tool_names

CLEARS: Final = frozenset(("anthropic",))
"""Formats whose provider clears old results on its side."""
COMPACTS: Final = frozenset(("anthropic", "openai-responses"))
"""Formats whose provider compacts on its side."""


def clears(setup: Setup) -> bool:
    """True where the service clears old results in the place of the policy's own clearing (requirement MIC-3)."""
    return setup.asked.native and setup.format in CLEARS and setup.policy.native.clears is not None


def compacts(setup: Setup, *, epoch: int) -> bool:
    """True where the service compacts, and ours does not. `epoch`: the last compaction of ours that counts, -1 for none."""
    return setup.asked.native and setup.format in COMPACTS and setup.policy.native.compacts and epoch < 0


def served(setup: Setup) -> Policy:
    """The policy without what the service does in its place."""
    if not clears(setup):
        return setup.policy
    return replace(setup.policy, tiers=tuple(tier for tier in setup.policy.tiers if not _is_clearing(tier)))


def _is_clearing(tier: Tier) -> bool:
    return isinstance(tier.reduce, Microcompact) and tier.when == "always"


def asked_of(setup: Setup, seen: Seen, *, fixed: Fixed, state: State, room: Room) -> native.Asked:
    """What a request asks of the service. `seen`: of the view; `state`: of the whole session. A block of its compaction
    in the history needs its name in the header, whatever is asked."""
    line, epoch = setup.policy.threshold.tokens(room), state.epoch
    if setup.format == "openai-responses":
        return native.responses_compacting_at(line) if compacts(setup, epoch=epoch) else NOTHING
    if setup.format != "anthropic":
        return NOTHING
    edits = []
    if clears(setup):
        edits.append(_clearing(setup, fixed).edit(state.calls, shown=seen.calls))
    if compacts(setup, epoch=epoch):
        edits.append(native.compacting_at(line))
    asked = native.managed(edits)
    if seen.has_block and native.THRESHOLD_BETA not in asked.betas:
        asked = replace(asked, betas=(*asked.betas, native.THRESHOLD_BETA))
    return asked


def _clearing(setup: Setup, fixed: Fixed) -> native.Clearing:
    """The policy's clearing; results of other tools than the document's eight stay."""
    told = setup.policy.native.clears
    assert told is not None, "who clears has numbers to clear by"
    names = tool_names(strict.parse(fixed.tools)) if fixed.tools else ()
    return native.Clearing(
        first_calls=told.first_calls,
        every_calls=told.every_calls,
        keep_results=told.keep_results,
        excluded=tuple(name for name in names if kind_of(name) not in CASCADE_KINDS),
        tokens_least=told.tokens_least or None,
    )


def done_json(done: native.Done) -> dict[str, int]:
    """The same for the log."""
    told: dict[str, int] = msgspec.to_builtins(done)
    return {key: count for key, count in told.items() if count}


def heard(done: native.Done) -> tuple[str, ...]:
    """What a response says that the service did, for a person."""
    told = []
    if done.tool_uses_cleared or done.tokens_cleared:
        told.append(
            f"the provider's service cleared {done.tokens_cleared:,} tokens on its side (results of tools: {done.tool_uses_cleared:,}); "
            "the log and later requests keep them"
        )
    if done.compactions:
        told.append(
            "the provider's service compacted the conversation; what stands before its block is no longer sent, and the log "
            "keeps it"
        )
    if done.failed:
        told.append("the provider's service tried to compact the conversation and could not")
    return tuple(told)
