"""Whether a history may be sent: the laws, and what a provider demands beyond them: ids and names it accepts, and where reasoning may
stand; and, of a whole body, what the judges say.

No edit can break a demand, so that `apply` asks for the laws alone; a report and `foldline check` call valid what breaks neither.
Where a file or a list of messages is judged whole, the judges are asked as well (`refusals`): they share no code with the laws, so that
each can only find more than the other. Counterpart: `foldline.core.laws`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from foldline.core.laws import Violation, check
from foldline.core.mending import torn
from foldline.core.message import Message, ToolCall, calls_of
from foldline.core.needs import Needs
from foldline.core.pairing import Placed
from foldline.core.part_places import late_reasoning, out_of_shape, why_not
from foldline.wire import strict
from foldline.wire.body import KEYS, body_value
from foldline.wire.codec import Request

PROVIDER: Final = "PROVIDER"
"""Stands for a law where a judge alone found something: a server that speaks the provider's wire may take it."""
_PLACE: Final = re.compile(
    r"(?:messages|contents|input)\.(\d+)(?:\.(?:content|parts|tool_calls)\.(\d+))?\.?(.*)"
)


def broken_laws(messages: Sequence[Message], needs: Needs, *, is_whole: bool = True) -> tuple[Violation, ...]:
    """The laws that a history breaks as it would be sent, and what its provider demands beyond them. `is_whole`: it ends here."""
    standing = [Placed(seq=seq, message=message) for seq, message in enumerate(messages)]
    why = "half a surrogate pair, which is no valid text"
    halves = tuple(Violation(law="ROLE", at=f"message {seq}", why=why) for seq in torn(messages))
    demands = tuple(broken_demands(messages, needs, is_whole=is_whole))
    return check(standing, replace(needs, alternates=False)) + halves + demands


def refusals(request: Request, needs: Needs) -> tuple[Violation, ...]:
    """What the format's own provider would refuse in a body that holds no more than this request, as the judges have it."""
    from foldline.testing.judges import anthropic, gemini, openai_chat, openai_responses
    from foldline.testing.judges.rule import findings

    rules = {
        "anthropic": anthropic.RULES,
        "openai-chat": openai_chat.RULES,
        "openai-responses": openai_responses.RULES,
        "gemini": gemini.RULES,
    }[request.format]
    keys, body = KEYS[request.format], body_value(request)
    said = {key: told for key, told in body.items() if key != keys.messages}
    sent = {**strict.as_read(said), keys.messages: [strict.as_read(one) for one in body[keys.messages]]}
    found = findings(rules, sent, open_tail=needs.tail_stays_open)
    leading = int(request.system is not None and keys.system_is_message)
    return tuple(
        Violation(law=PROVIDER, **_placed(one.place, one.why, leading=leading))
        for one in found
        if needs.reasoning_signed or one.rule != "signed"
    )


def same_words(broken: tuple[Violation, ...], given: tuple[Violation, ...]) -> tuple[Violation, ...]:
    """Of what an input breaks, what its result breaks too: no repair mends it, and it is no fault of ours."""
    whys = {one.why for one in broken}
    return tuple(one for one in given if one.why in whys)


def _placed(place: str, why: str, *, leading: int) -> dict[str, str]:
    """Where a judge found something, in the words of the laws."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return {"at": place, "why": why}
    seq, slot, key = found.groups()
    at = f"message {int(seq) - leading}" + (f", part {slot}" if slot else "")
    return {"at": at, "why": f"{key}: {why}" if key else why}


def broken_demands(
    messages: Sequence[Message], needs: Needs, *, is_whole: bool = True
) -> Iterator[Violation]:
    """Every demand that a history breaks. `is_whole`: it ends here, so that its last assistant message is the last there is."""
    last = max((seq for seq, message in enumerate(messages) if message.role == "assistant"), default=-1)
    for seq, message in enumerate(messages):
        for why in _whys(message, needs, is_last=is_whole and seq == last):
            yield Violation(law="ROLE", at=f"message {seq}", why=why)


def _whys(message: Message, needs: Needs, *, is_last: bool) -> Iterator[str]:
    yield from (why for _, why in out_of_shape(message))
    yield from dict.fromkeys(why for part in message.parts if (why := why_not(part, message, needs=needs)))
    if message.role != "assistant":
        return
    for call in calls_of(message):
        yield from _calls(call, needs)
    if needs.reasoning_first and (why := late_reasoning(message, is_last=is_last)):
        yield why


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
