"""What a provider demands beyond the laws: ids it accepts, where system text may stand.

The rows are `foldline.wire`'s rules; this checks a history against them for `foldline check`. Counterpart:
`foldline.core.laws`, which holds for every provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline.core.laws import Violation
from foldline.core.message import Message, Role, ToolCall
from foldline.wire.codec import Rules


def broken_rules(messages: Sequence[Message], rules: Rules) -> list[Violation]:
    """Every rule of one provider that a history breaks."""
    return [*_ids(messages, rules), *_system(messages, rules)]


def _ids(messages: Sequence[Message], rules: Rules) -> Iterator[Violation]:
    pattern = re.compile(rules.ids_pattern) if rules.ids_pattern is not None else None
    for seq, message in enumerate(messages):
        for part in message.parts:
            if not isinstance(part, ToolCall) or not part.wire_id:
                continue
            if rules.ids_max is not None and len(part.id) > rules.ids_max:
                yield Violation(
                    law="ROLE",
                    at=f"message {seq}",
                    why=f"a call id of {len(part.id)} characters; {rules.ids_max} are allowed",
                )
            if pattern is not None and pattern.fullmatch(part.id) is None:
                yield Violation(
                    law="ROLE",
                    at=f"message {seq}",
                    why=f"call id {part.id!r} has characters that are refused",
                )


def _system(messages: Sequence[Message], rules: Rules) -> Iterator[Violation]:
    before: Role = "system"
    for seq, message in enumerate(messages):
        if message.role == "system":
            if rules.system == "leading" and before != "system":
                yield Violation(law="ROLE", at=f"message {seq}", why="system text may only open the history")
        else:
            before = message.role
