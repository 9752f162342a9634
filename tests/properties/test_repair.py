"""Repair of any history, for every target: the laws hold, nothing a person said is lost, and twice is once.

Histories come from `foldline.testing.strategies`; what is demanded of them from the rules of the four wire formats and
of plain messages. Examples of single repairs stand in `tests/core/test_repair.py`.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foldline.core.growing import Growing
from foldline.core.laws import check
from foldline.core.message import Message, Reasoning, Text, ToolCall, ToolResult, speaks_for_user
from foldline.core.needs import Needs
from foldline.core.pairing import Placed, Repair
from foldline.core.repair import repair
from foldline.testing.strategies import blank_texts, broken_sessions, sessions, torn_texts
from foldline.wire.formats import CODECS, PLAIN, codec

RULES = {**{name: codec(name).rules for name in CODECS}, "plain": PLAIN}
NEEDS = {
    f"{name}, {'open' if is_open else 'over'}": replace(rules.needs, tail_stays_open=is_open)
    for name, rules in RULES.items()
    for is_open in (True, False)
}

IDS = st.sampled_from(("a", "b", "a_2"))
"""Few ids, so that they come again; `a_2` is what a second `a` would be called."""
KINDS = st.integers(0, 5).map(lambda n: "custom" if n == 0 else "")
TEXTS = st.builds(
    lambda text: Text(text=text), st.sampled_from(("ok", "pending", "no")) | blank_texts | torn_texts
)
RESULTS = st.builds(
    lambda id, content, interim, is_server, kind: ToolResult(
        call_id=id, content=tuple(content), interim=interim, server=is_server, kind=kind
    ),
    IDS,
    st.lists(TEXTS, max_size=2),
    st.booleans(),
    st.integers(0, 9).map(lambda n: n == 0),
    KINDS,
)
CALLS = st.builds(
    lambda id, name, is_server, kind: ToolCall(id=id, name=name, arguments="{}", server=is_server, kind=kind),
    IDS,
    st.sampled_from(("bash", "ask_user")),
    st.integers(0, 9).map(lambda n: n == 0),
    KINDS,
)
REASONING = st.sampled_from(
    (Reasoning(text="why"), Reasoning(text="so", signature="c2ln", provider="anthropic"))
)
HEAPS = st.lists(
    st.one_of(
        st.builds(lambda p: Message(role="system", parts=(p,)), TEXTS),
        st.builds(lambda p: Message(role="user", parts=tuple(p)), st.lists(TEXTS | RESULTS, max_size=3)),
        st.builds(lambda p: Message(role="tool", parts=tuple(p)), st.lists(RESULTS, max_size=2)),
        st.builds(
            lambda p: Message(role="assistant", parts=tuple(p)),
            st.lists(TEXTS | CALLS | REASONING, max_size=4),
        ),
    ),
    max_size=7,
)
"""Messages in any order whatever: what no recorded session shows, a hostile file may."""
FEWER = settings(max_examples=settings().max_examples // 2)
"""Each example is repaired for every target: half as many cost as much as the others."""
ANYTHING = broken_sessions() | HEAPS


def whole(text: str) -> str:
    """A text as it can be sent: half a surrogate pair is U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def said(messages: list[Message]) -> list[str]:
    """Every visible text of every user message, in order."""
    return [
        whole(part.text)
        for message in messages
        if message.role == "user" and message.synthetic is None
        for part in message.parts
        if isinstance(part, Text) and part.text.strip()
    ]


@FEWER
@given(messages=ANYTHING)
def test_a_repaired_history_breaks_no_law_of_its_target(messages: list[Message]) -> None:
    """Laws PAIR, ROLE and TRACE, whatever arrives; neighbours of one role are joined later, when a view is encoded."""
    for name, needs in NEEDS.items():
        assert check(repair(messages, needs).placed, replace(needs, alternates=False)) == (), name


@FEWER
@given(messages=ANYTHING)
def test_a_repaired_history_needs_no_second_repair(messages: list[Message]) -> None:
    """Law SAME: a repaired history is sound, so that repairing it again changes nothing and reports nothing new."""
    for name, needs in NEEDS.items():
        once = [placed.message for placed in repair(messages, needs).placed]
        again = repair(once, needs)
        assert again.repairs == (), name
        assert all(a.message is b for a, b in zip(again.placed, once, strict=True)), name


@FEWER
@given(messages=ANYTHING)
def test_a_repair_loses_no_word_of_a_user(messages: list[Message]) -> None:
    """The second goal of the design: every byte said can be read again; user text is never taken out."""
    for name, needs in NEEDS.items():
        mended = [placed.message for placed in repair(messages, needs).placed]
        assert said(mended) == said(messages), name
        assert sum(map(speaks_for_user, mended)) == sum(map(speaks_for_user, messages)), name


@FEWER
@given(messages=sessions(open_tail=False))
def test_a_sound_history_comes_back_as_the_same_objects(messages: list[Message]) -> None:
    """Law LOSSLESS begins here: what needs no repair is not even copied. A session has system messages anywhere, which
    Anthropic does not take."""
    for name, needs in NEEDS.items():
        sound = [m for m in messages if m.role != "system"] if needs.system_between else messages
        repaired = repair(sound, needs)
        assert repaired.repairs == (), name
        assert [placed.seq for placed in repaired.placed] == list(range(len(sound))), name
        assert all(p.message is message for p, message in zip(repaired.placed, sound, strict=True)), name


@FEWER
@given(messages=ANYTHING)
def test_ordinals_never_run_backwards(messages: list[Message]) -> None:
    """Addresses name ordinals of what came in: only a result that moves to its round, and what a repair puts in for a
    call, stand out of order."""
    repaired = repair(messages, Needs())
    moved = {done.seq for done in repaired.repairs if done.kind == "moved-result"}
    seqs = [p.seq for p in repaired.placed if p.seq not in moved and p.message.synthetic != "repair"]
    assert seqs == sorted(set(seqs))


class Pieces:
    """A history that is repaired as it grows, put together again."""

    def __init__(self, needs: Needs) -> None:
        self.growing, self.alone = Growing(needs), 0
        self.placed: list[Placed] = []
        self.repairs: list[Repair] = []

    def repaired(self, messages: list[Message]) -> tuple[tuple[Placed, ...], tuple[Repair, ...]] | None:
        """`None` where the whole has to be repaired."""
        grown = self.growing.grown(messages[self.growing.count :], whole=lambda: messages)
        if grown.is_anew:
            self.placed, self.repairs = [], []
        if grown.taken is not None:
            self.placed += grown.taken.placed
            self.repairs += grown.taken.repairs
        if grown.rest is None:
            return None
        self.alone += self.growing.count > 0
        return (*self.placed, *grown.rest.placed), (*self.repairs, *grown.rest.repairs)


@FEWER
@given(messages=ANYTHING, step=st.integers(1, 4))
def test_a_history_repaired_as_it_grows_is_the_one_repaired_whole(messages: list[Message], step: int) -> None:
    """Laws PAIR and ROLE, SAME: whatever arrives and however it is cut, and every message that nothing was done to is the object
    that came."""
    for name, needs in NEEDS.items():
        pieces = Pieces(needs)
        for end in range(step, len(messages) + step, step):
            found = pieces.repaired(messages[:end])
            if found is None:
                continue
            expected = repair(messages[:end], needs)
            assert found == (expected.placed, expected.repairs), (name, end)
            ours, theirs = (
                [id(p.message) for p in placed if p.message in messages]
                for placed in (found[0], expected.placed)
            )
            assert ours == theirs, (name, end)
