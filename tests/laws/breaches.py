"""For each law a history or a change that breaks it and no other, beside a sound one that differs in nothing else.

Data for `test_laws.py`. A law without a row here could approve anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import block, mark
from foldline.core.laws import Change
from foldline.core.message import Message, Meta, Part, Text, ToolCall, ToolResult
from foldline.core.needs import Needs
from foldline.core.rounds import open_seqs, outline
from foldline.core.view import Item, Span, item_of
from foldline.testing.builders import assistant, call, image, result, system, thinking, user
from foldline.testing.counting import CharacterCounter

STRICT = Needs(blank_text=False, first=frozenset({"user"}), alternates=True, results_role="user")
OVER = Needs(tail_stays_open=False)


class History(Struct, frozen=True, kw_only=True):
    """A history that breaks one law, and its sound neighbour."""

    law: str
    why: str
    sound: tuple[Message, ...]
    broken: tuple[Message, ...]
    needs: Needs = Needs()


class Edited(Struct, frozen=True, kw_only=True):
    """A change that breaks one law, and its sound neighbour, both from the same view."""

    law: str
    why: str
    before: tuple[Item, ...]
    sound: tuple[Item, ...]
    broken: tuple[Item, ...]
    pins: frozenset[int] = frozenset()

    def change(self, after: tuple[Item, ...]) -> Change:
        """The change as `apply` would hand it to the laws."""
        structure = outline(self.before)
        return Change(
            before=self.before,
            after=after,
            pins=self.pins,
            open_round=open_seqs(structure),
            units=structure.units,
        )


def by_user(*parts: Part) -> Message:
    """A user message of any parts, as some wires carry results."""
    return Message(role="user", parts=parts)


def synthetic(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),), synthetic="fold")


ANSWER = ToolResult(call_id="a", content=(Text(text="1"),))
FOLDED = synthetic(block("fold", "m0-1@00000000", body="two messages"))

HISTORIES = (
    History(
        law="PAIR",
        why="a result has no call",
        sound=(user("go"), assistant(call("a")), result("a")),
        broken=(user("go"), assistant("a"), result("a")),
    ),
    History(
        law="PAIR",
        why="a call of a closed round has no result",
        sound=(user("go"), assistant(call("a"), call("b")), result("b"), result("a"), user("on")),
        broken=(user("go"), assistant(call("a"), call("b")), result("b"), user("on")),
    ),
    History(
        law="PAIR",
        why="the next round begins before a call is answered",
        sound=(user("go"), assistant(call("a")), result("a"), assistant(call("b")), result("b")),
        broken=(user("go"), assistant(call("a"), call("b")), result("a"), assistant("on")),
    ),
    History(
        law="PAIR",
        why="the answer comes a round too late",
        sound=(user("go"), assistant(call("a")), assistant(call("b")), result("b"), result("a")),
        broken=(user("go"), assistant(call("a"), call("b")), result("b"), result("b")),
    ),
    History(
        law="PAIR",
        why="an id stands for two calls of a round",
        sound=(user("go"), assistant(call("a"), call("b")), result("a"), result("b")),
        broken=(user("go"), assistant(call("a"), call("b", id="a")), result("a")),
    ),
    History(
        law="PAIR",
        why="the words that follow close the round",
        sound=(user("go"), assistant(call("a"), call("b")), by_user(ANSWER)),
        broken=(user("go"), assistant(call("a"), call("b")), by_user(ANSWER, Text(text="on"))),
    ),
    History(
        law="PAIR",
        why="nothing can follow any more",
        sound=(user("go"), assistant(call("a")), result("a")),
        broken=(user("go"), assistant(call("a"))),
        needs=OVER,
    ),
    History(
        law="ROLE",
        why="the assistant opens",
        sound=(system("s"), user("go"), assistant("ok")),
        broken=(system("s"), assistant("ok"), user("go")),
        needs=STRICT,
    ),
    History(
        law="ROLE",
        why="two of one role in a row",
        sound=(user("go"), assistant("ok"), user("on")),
        broken=(user("go"), assistant("ok"), assistant("on")),
        needs=STRICT,
    ),
    History(
        law="ROLE",
        why="a text that nobody can see",
        sound=(user("go", "."),),
        broken=(user("go", " "),),
        needs=STRICT,
    ),
    History(
        law="ROLE",
        why="a message without content",
        sound=(user("go"), assistant("."), user("on")),
        broken=(user("go"), assistant(""), user("on")),
    ),
    History(
        law="ROLE",
        why="a failed result without content",
        sound=(user("go"), assistant(call("a")), by_user(ToolResult(call_id="a"))),
        broken=(user("go"), assistant(call("a")), by_user(ToolResult(call_id="a", is_error=True))),
        needs=Needs(empty_failure=False),
    ),
    History(
        law="ROLE",
        why="a message without parts",
        sound=(user("go"), assistant(thinking("so"))),
        broken=(user("go"), assistant()),
    ),
    History(
        law="ROLE",
        why="reasoning that ends a message",
        sound=(user("go"), assistant(thinking("so"), Text(text="ok"))),
        broken=(user("go"), assistant(Text(text="ok"), thinking("so")), assistant("on")),
        needs=Needs(reasoning_may_end=False),
    ),
    History(
        law="ROLE",
        why="reasoning that ends a run of items",
        sound=(user("go"), assistant(thinking("so")), assistant("ok"), user("on")),
        broken=(user("go"), assistant("ok"), assistant(thinking("so")), user("on")),
        needs=Needs(reasoning_may_end=False, items=True),
    ),
    History(
        law="ROLE",
        why="a result behind other content",
        sound=(user("go"), assistant(call("a")), by_user(ANSWER, Text(text="here"))),
        broken=(user("go"), assistant(call("a")), by_user(Text(text="here"), ANSWER)),
        needs=STRICT,
    ),
    History(
        law="TRACE",
        why="a fold without an address",
        sound=(FOLDED, assistant("ok")),
        broken=(synthetic("two messages"), assistant("ok")),
    ),
    History(
        law="TRACE",
        why="a fold whose block is not closed",
        sound=(FOLDED,),
        broken=(synthetic(FOLDED.text.replace("</foldline-fold>", "")),),
    ),
)


COUNTER = CharacterCounter()


def items(*messages: Message) -> tuple[Item, ...]:
    """A view's items, weighed."""
    return tuple(item_at(seq, message) for seq, message in enumerate(messages))


def item_at(seq: int, message: Message, *, covers: Iterable[int] = ()) -> Item:
    weights, overhead = COUNTER.weights(message)
    spans = tuple(Span(start=n, end=n + 1) for n in covers)
    return item_of(seq, message, weights=weights, overhead=overhead, covers=spans)


def with_mark(message: Message, text: str) -> Message:
    """The message with one more text, as a mark is added."""
    return replace(message, parts=(*message.parts, Text(text=text)), edited=True)


def with_part(item: Item, part: Part) -> Item:
    """The item with `part` in the place of the part in its slot."""
    parts = tuple(part if old.slot == part.slot else old for old in item.message.parts)
    return item_at(item.seq, replace(item.message, parts=parts, edited=True))


VIEW = items(
    user("first", image()),  # 0
    assistant("on it", call("a"), call("b")),  # 1
    result("a", "one"),  # 2
    result("b", "two"),  # 3
    assistant("half way"),  # 4
    user("last"),  # 5
    assistant("still", call("c"), call("d")),  # 6, open: c has no result yet
    result("d", "of d"),  # 7
)
ROUND_FOLDED = item_at(1, FOLDED, covers=(1, 2, 3))
SHORT = with_part(VIEW[2], ToolResult(call_id="a", content=(Text(text="1"),), slot=0, edited=True))
MIXED = items(
    user("first"), assistant(call("a")), by_user(replace(ANSWER, slot=0), Text(text="last", slot=1))
)
HOSTS = items(
    user("first"),
    assistant("ok"),
    Message(role="user", parts=(Text(text="reminder", slot=0),), meta=Meta(injected=True)),
)
TWIN = user("again")
TWINS = (item_at(0, TWIN), item_at(1, assistant("ok")), item_at(2, TWIN))

CHANGES = (
    Edited(
        law="ROUND",
        why="a call leaves without its results",
        before=VIEW,
        sound=(VIEW[0], ROUND_FOLDED, *VIEW[4:]),
        broken=(VIEW[0], item_at(1, FOLDED, covers=(1,)), *VIEW[2:]),
    ),
    Edited(
        law="ROUND",
        why="one result of two leaves",
        before=VIEW,
        sound=(VIEW[0], *VIEW[4:]),
        broken=(*VIEW[:3], *VIEW[4:]),
    ),
    Edited(
        law="CUT",
        why="a result becomes a text",
        before=VIEW,
        sound=(*VIEW[:2], SHORT, *VIEW[3:]),
        broken=(*VIEW[:2], with_part(VIEW[2], Text(text="1", slot=0)), *VIEW[3:]),
    ),
    Edited(
        law="CUT",
        why="a result answers another call",
        before=VIEW,
        sound=(*VIEW[:2], SHORT, *VIEW[3:]),
        broken=(*VIEW[:2], with_part(VIEW[2], ToolResult(call_id="b", slot=0)), *VIEW[3:]),
    ),
    Edited(
        law="CUT",
        why="a call gets another id",
        before=VIEW,
        sound=(
            VIEW[0],
            with_part(VIEW[1], ToolCall(id="a", name="a", arguments='{"n":1}', slot=1)),
            *VIEW[2:],
        ),
        broken=(VIEW[0], with_part(VIEW[1], ToolCall(id="z", name="a", arguments="{}", slot=1)), *VIEW[2:]),
    ),
    Edited(
        law="CUT",
        why="a part comes from nowhere",
        before=VIEW,
        sound=(*VIEW[:4], with_part(VIEW[4], Text(text="half", slot=0)), *VIEW[5:]),
        broken=(*VIEW[:4], item_at(4, assistant("half way", "there")), *VIEW[5:]),
    ),
    Edited(
        law="CUT",
        why="words that are no mark are added to a user's",
        before=VIEW,
        sound=(item_at(0, with_mark(VIEW[0].message, mark("m9@0123abcd"))), *VIEW[1:]),
        broken=(item_at(0, with_mark(VIEW[0].message, "and push to main")), *VIEW[1:]),
    ),
    Edited(
        law="CUT",
        why="a mark is added to the agent's words",
        before=VIEW,
        sound=VIEW,
        broken=(*VIEW[:4], item_at(4, with_mark(VIEW[4].message, mark("m9@0123abcd"))), *VIEW[5:]),
    ),
    Edited(
        law="TAIL",
        why="the last words of a person are shortened",
        before=VIEW,
        sound=(with_part(VIEW[0], Text(text="1st", slot=0)), *VIEW[1:]),
        broken=(*VIEW[:5], with_part(VIEW[5], Text(text="l", slot=0)), *VIEW[6:]),
    ),
    Edited(
        law="TAIL",
        why="the last words of a person are folded",
        before=VIEW,
        sound=(item_at(0, FOLDED, covers=(0,)), *VIEW[1:]),
        broken=(*VIEW[:5], item_at(5, FOLDED, covers=(5,)), *VIEW[6:]),
    ),
    Edited(
        law="TAIL",
        why="the last words of a person stand twice",
        before=VIEW,
        sound=VIEW,
        broken=(*VIEW[:6], item_at(5, VIEW[5].message), *VIEW[6:]),
    ),
    Edited(
        law="TAIL",
        why="the words beside a result are shortened",
        before=MIXED,
        sound=(*MIXED[:2], with_part(MIXED[2], ToolResult(call_id="a", slot=0, edited=True))),
        broken=(*MIXED[:2], with_part(MIXED[2], Text(text="l", slot=1))),
    ),
    Edited(
        law="TAIL",
        why="a person's words before a host's are the last",
        before=HOSTS,
        sound=HOSTS[:2],
        broken=HOSTS[1:],
    ),
    Edited(
        law="TAIL",
        why="the last of two equal messages is the one that stays",
        before=TWINS,
        sound=TWINS[1:],
        broken=TWINS[:2],
    ),
    Edited(
        law="TAIL",
        why="words of the open round are shortened",
        before=VIEW,
        sound=(*VIEW[:7], with_part(VIEW[7], ToolResult(call_id="d", slot=0))),
        broken=(*VIEW[:6], with_part(VIEW[6], Text(text="s", slot=0)), VIEW[7]),
    ),
    Edited(
        law="TAIL",
        why="the open round is taken out",
        before=VIEW,
        sound=(*VIEW[:4], *VIEW[5:]),
        broken=VIEW[:6],
    ),
    Edited(
        law="PIN",
        why="a pinned message is folded",
        before=VIEW,
        sound=(VIEW[0], ROUND_FOLDED, *VIEW[4:]),
        broken=(*VIEW[:4], item_at(4, FOLDED, covers=(4,)), *VIEW[5:]),
        pins=frozenset({4}),
    ),
    Edited(
        law="PIN",
        why="a pinned result is shortened",
        before=VIEW,
        sound=(*VIEW[:3], with_part(VIEW[3], ToolResult(call_id="b", slot=0)), *VIEW[4:]),
        broken=(*VIEW[:2], SHORT, *VIEW[3:]),
        pins=frozenset({2}),
    ),
    Edited(
        law="PIN",
        why="a pinned message stays only where its twin stands",
        before=TWINS,
        sound=TWINS,
        broken=TWINS[1:],
        pins=frozenset({0}),
    ),
    Edited(
        law="PREFIX",
        why="two messages change places",
        before=VIEW,
        sound=(*VIEW[:4], *VIEW[5:]),
        broken=(*VIEW[1:4], VIEW[4], VIEW[0], *VIEW[5:]),
    ),
)
