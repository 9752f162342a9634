"""From a reduced view to what is sent: neighbours joined, the whole request weighed and judged.

The last step before a codec writes. A wire that wants roles to alternate gets neighbours as one message where an edit
or a repair made them neighbours; two messages that came in side by side stay as they came. A fold is joined only for
plain text that may go to any provider: Anthropic and Gemini put neighbours of one role together themselves. Counterpart:
`foldline.reduce`, which makes the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from foldline.core.message import Message, Role, calls_of, holds_results, is_fold
from foldline.core.ports import TokenCounter
from foldline.core.repair import apart, may_not_join
from foldline.core.system_place import system_in_place
from foldline.core.view import Item
from foldline.wire.codec import Codec, Request, Rules
from foldline.wire.formats import PLAIN


def fixed_tokens(request: Request, counter: TokenCounter) -> int:
    """Tokens of system prompt and tool schemas."""
    system = counter.message(request.system) if request.system is not None else 0
    tools = counter.tools(request.tools.decode()) if request.tools else 0
    return system + tools


def joined(
    items: Iterable[Item], codec: Codec, *, rules: Rules, follows: Mapping[int, int] | None = None
) -> list[Message]:
    """The messages to send, in the codec's own format, by the rules of whoever will get them. `follows`: by ordinal, the
    one that came next in this conversation; `None`: the next number, as in a history that is one conversation."""
    runs: list[list[Message]] = []
    before: Item | None = None
    for item in system_in_place(items) if rules.needs.system_between else items:
        if rules.calls_open and calls_of(item.message):
            _close_up(runs, item.message.role)
        if (
            rules.needs.alternates
            and before is not None
            and _are_one(before, item, rules=rules, follows=follows)
        ):
            if rules.needs.reasoning_first and may_not_join(before.message, item.message):
                runs += [apart()], [item.message]
            else:
                runs[-1].append(item.message)
        else:
            runs.append([item.message])
        before = item
    return [_one(run, codec) for run in runs]


def _close_up(runs: list[list[Message]], role: Role) -> None:
    """Make the messages of one role at the end one run: a call stands in the turn that follows a user's, whole."""
    while len(runs) > 1 and runs[-1][-1].role == role == runs[-2][-1].role:
        runs[-2:] = [runs[-2] + runs[-1]]


def _one(run: Sequence[Message], codec: Codec) -> Message:
    """One message of several. Each half is joined first: one by one would read and write what is joined already anew
    with each that follows."""
    if len(run) == 1:
        return run[0]
    middle = len(run) // 2
    return codec.join(_one(run[:middle], codec), _one(run[middle:], codec))


def _are_one(first: Item, second: Item, *, rules: Rules, follows: Mapping[int, int] | None) -> bool:
    if first.message.role != second.message.role:
        return False
    if first.message.role == "system":
        return rules.needs.system_between
    if holds_results(first.message) and holds_results(second.message):
        return True  # results of one round that came apart: Gemini counts them by message
    if rules.calls_open and calls_of(second.message):
        return True
    if is_fold(first.message) or is_fold(second.message):
        return rules is PLAIN  # a fold stays a message of its own, so that the next one can take its place
    if "reminder" in (first.message.synthetic, second.message.synthetic):
        return False  # a reminder comes and goes without touching its neighbours' bytes
    following = first.seq + 1 if follows is None else follows.get(first.seq)
    came_so = second.seq == following and not (first.message.synthetic or second.message.synthetic)
    return not came_so
