"""Whether a history may be sent: the laws, and what a provider demands beyond them: ids and names it accepts, and where reasoning may
stand.

No edit can break a demand, so that `apply` asks for the laws alone; a report and `foldline check` call valid what breaks neither.
Counterpart: `foldline.core.laws`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from foldline.core.laws import Violation, check
from foldline.core.mending import torn
from foldline.core.message import Message, Opaque, Reasoning, ToolCall, calls_of
from foldline.core.needs import Needs
from foldline.core.pairing import Placed


def broken_laws(messages: Sequence[Message], needs: Needs, *, is_whole: bool = True) -> tuple[Violation, ...]:
    """The laws that a history breaks as it would be sent, and what its provider demands beyond them. `is_whole`: it ends here."""
    standing = [Placed(seq=seq, message=message) for seq, message in enumerate(messages)]
    why = "half a surrogate pair, which is no valid text"
    halves = tuple(Violation(law="ROLE", at=f"message {seq}", why=why) for seq in torn(messages))
    demands = tuple(broken_demands(messages, needs, is_whole=is_whole))
    return check(standing, replace(needs, alternates=False)) + halves + demands


def broken_demands(
    messages: Sequence[Message], needs: Needs, *, is_whole: bool = True
) -> Iterator[Violation]:
    """Every demand that a history breaks. `is_whole`: it ends here, so that its last assistant message is the last there is."""
    for seq, message in enumerate(messages):
        for call in calls_of(message) if message.role == "assistant" else ():
            for why in _calls(call, needs):
                yield Violation(law="ROLE", at=f"message {seq}", why=why)
    if needs.reasoning_first:
        yield from _reasoning(messages, is_whole=is_whole)


def _calls(call: ToolCall, needs: Needs) -> Iterator[str]:
    if not needs.takes_id(call):
        is_long = needs.ids_max is not None and len(call.id) > needs.ids_max
        yield (
            f"a call id of {len(call.id)} characters; {needs.ids_max} are allowed"
            if is_long
            else f"call id {call.id!r} has characters that are refused"
        )
    if not needs.takes_name(call.name):
        yield f"tool name {call.name!r:.80} is refused: it has to match {needs.names_pattern}"


def _reasoning(messages: Sequence[Message], *, is_whole: bool) -> Iterator[Violation]:
    last = None
    for seq, message in enumerate(messages):
        if message.role != "assistant":
            continue
        last = seq
        called = False
        for part in message.parts:
            called = called or (isinstance(part, ToolCall) and not part.server)
            if called and isinstance(part, Reasoning):
                yield Violation(law="ROLE", at=f"message {seq}", why="reasoning behind a call")
                break
    if is_whole and last is not None and not _opens(messages[last]):
        yield Violation(
            law="ROLE", at=f"message {last}", why="reasoning behind other content of the last answer"
        )


def _opens(message: Message) -> bool:
    """True for a message that opens with its reasoning, a provider's own compaction apart, or has none."""
    said = [part for part in message.parts if not (isinstance(part, Opaque) and part.type == "compaction")]
    return not any(isinstance(part, Reasoning) for part in said) or isinstance(said[0], Reasoning)
