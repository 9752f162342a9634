"""Which part may stand in which message, and where in it, by what a provider demands.

Counterparts: `foldline.core.repair`, which mends what stands wrong, and `foldline.provider_rules`, which tells it.
"""

from __future__ import annotations

from typing import Final

from foldline.core.message import Message, Opaque, Part, Reasoning, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.pairing import RepairKind

_UNFIT: Final[dict[type[Part], tuple[RepairKind, str]]] = {
    ToolCall: ("no-arguments", "a call whose arguments have no shape that is taken"),
    ToolResult: ("no-output", "a result whose content has no shape that is taken"),
}
_UNFIT_ELSE: Final[tuple[RepairKind, str]] = ("refused-shape", "a part or key in a shape that is refused")


def out_of_shape(message: Message) -> tuple[tuple[RepairKind, str], ...]:
    """What the wire had in another shape than is taken, so that the codec read it as edited."""
    if message.edited:
        return ()
    return tuple(dict.fromkeys(_UNFIT.get(type(part), _UNFIT_ELSE) for part in message.parts if part.edited))


def why_not(part: Part, message: Message, *, needs: Needs) -> str:
    """Why a part may not stand in its message; empty where it may."""
    if message.role == "assistant":
        is_unsigned = isinstance(part, Reasoning) and needs.reasoning_signed and not part.signature
        return "reasoning without a signature" if is_unsigned else ""
    is_calling = isinstance(part, ToolCall) or (isinstance(part, ToolResult) and part.server)
    if is_calling or (isinstance(part, Reasoning) and needs.reasoning_first):
        return f"a part that only the model may write, in a message of role {message.role}"
    return ""


def late_reasoning(message: Message, *, is_last: bool) -> str:
    """Why reasoning of an assistant's message may not stand where it does; empty where it may. `is_last`: nothing of the assistant's
    comes behind it. A provider's own compaction stands before all else; reasoning at the end goes by a rule of its own."""
    said = [part for part in message.parts if not is_compaction(part)]
    while said and isinstance(said[-1], Reasoning):
        said.pop()
    reasons = [isinstance(part, Reasoning) for part in said]
    if not any(reasons):
        return ""
    calls = [n for n, part in enumerate(said) if isinstance(part, ToolCall) and not part.server]
    if calls and any(reasons[calls[0] :]):
        return "reasoning behind a call"
    return "reasoning behind other content of the last answer" if is_last and not reasons[0] else ""


def is_compaction(part: Part) -> bool:
    """True for a provider's own compaction."""
    return isinstance(part, Opaque) and part.type == "compaction"
