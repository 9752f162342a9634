"""Which usage a projection may start from: what each entry makes of it (requirements TOK-3, TOK-5, TOK-9).

    answer, usage           the anchor
    answer, no usage        none yet: it may come later, in an entry of its own, as long as nothing has changed since
    answer to another       none ever: its request was not what the log shows
    answer, wrong usage     the one before: its server dropped a part of what was sent
    compaction, model …     none, and none that comes later for an answer before it

Counterparts: `foldline.log.replay`, which steps through a log, and `foldline.session.projecting`, which projects from what is
found here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from foldline.core.edit import Edit
from foldline.core.message import Message, Usage
from foldline.log.edits import first_named
from foldline.log.state import Anchor, Scope, Unsaid
from foldline.wire import strict


def after_message(scope: Scope, message: Message, *, ordinal: int, told_of: Mapping[str, bytes]) -> Scope:
    """After a message of this very scope, whose entry says `told_of`."""
    if message.role != "assistant" or message.synthetic or "mismatch" in told_of:
        return scope
    told: Any = strict.loads(told_of["request"]) if "request" in told_of else None
    fixed = told.get("tokens_fixed") if isinstance(told, dict) else None
    usage = None if message.meta is None else message.meta.usage
    if usage is None or told is False:
        return replace(scope, unsaid=Unsaid(ordinal=ordinal, tokens_fixed=fixed, may_come=told is not False))
    return replace(scope, anchor=Anchor(ordinal=ordinal, usage=usage, tokens_fixed=fixed), unsaid=None)


def after_usage(scope: Scope, ordinal: int, *, usage: Usage) -> Scope:
    """After a usage that came later than its answer. That of an answer before the last one, or before a compaction, an edit or
    another model, says nothing of what is sent next."""
    anchor, unsaid = scope.anchor, scope.unsaid
    if unsaid is not None and unsaid.ordinal == ordinal and unsaid.may_come:
        now = Anchor(ordinal=ordinal, usage=usage, tokens_fixed=unsaid.tokens_fixed)
        return replace(scope, anchor=now, unsaid=None)
    if anchor is not None and anchor.ordinal == ordinal:
        return replace(scope, anchor=replace(anchor, usage=usage))
    return scope


def after_edits(scope: Scope, made: Sequence[Edit]) -> Scope:
    """After edits without a compaction around them: what counted a message that they touch counts no more."""
    first = first_named(made)
    anchor, unsaid = scope.anchor, scope.unsaid
    if anchor is not None and first <= anchor.ordinal:
        anchor = None
    if unsaid is not None and first <= unsaid.ordinal:
        unsaid = replace(unsaid, may_come=False)
    return replace(scope, anchor=anchor, unsaid=unsaid)


def dropped(scope: Scope) -> Scope:
    """After what leaves no anchor at all, and lets none that is still to come be one."""
    return replace(scope, anchor=None, unsaid=None)
