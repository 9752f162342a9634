"""Whether a reduction may be due: never denied where a session would find one, and without counting wherever bytes say enough."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.clients.calls import Call
from foldline.clients.chains import ReadList
from foldline.clients.due import FIXED_MAX, SOON_SLACK, TRIED_SHARE, Due
from foldline.presets import policy_of
from foldline.session.following import Following
from foldline.session.opening import open_in
from foldline.session.setup import SessionOptions
from foldline.settings import Planned, in_window, plan_for
from foldline.stores.memory import MemoryStore
from foldline.tokens.counter import Counter
from tests.clients.lists import MODEL, assistant, call, long, user

CHANCE = random.Random(6)
TEXTS = {
    "prose": long("word", 3_000),
    "code": "".join(f"    self._{n}[{n!r}] = f(x={n}, y=[{n}])\n" for n in range(300)),
    "digits": " ".join(str(CHANCE.getrandbits(60)) for _ in range(400)),
    "base64": base64.b64encode(CHANCE.randbytes(6_000)).decode(),
    "Chinese": "导出功能取消了，订单任务也一样。" * 200,
    "Hindi": "सत्र का इतिहास बढ़ता रहता है। " * 200,
    "emoji": "🧵🪢👩‍👩‍👧‍👦" * 200,
}


def due(window: int, *, policy: str = "balanced") -> Due:
    return Due(policy_of(policy, window), lambda read: planned(read.call.model, window))


def planned(model: str | None, window: int) -> Planned:
    return in_window(plan_for(model), window)


def talk(text: str, messages: int = 10) -> list[dict[str, Any]]:
    return [(assistant if n % 2 else user)(f"{n} {text}") for n in range(messages)]


def estimate(asked: Call, window: int) -> int:
    """What a session makes of it."""
    options = SessionOptions(model=asked.model, format=asked.format, window=window)
    session = open_in(MemoryStore(), "s", asked=options)
    Following(session).take(ReadList(asked).messages(0))
    return session.prepare(asked.system, asked.tools).tokens.tokens


def called(monkeypatch: pytest.MonkeyPatch, name: str) -> list[object]:
    """What counters are asked to count from here on, by that method."""
    asked, method = list[object](), getattr(Counter, name)

    def counts(self: Counter, one: object) -> object:
        asked.append(one)
        return method(self, one)

    monkeypatch.setattr(Counter, name, counts)
    return asked


def counted(read: ReadList) -> list[bool]:
    return [bool(look.counter) for look in read.looks]


def test_what_bytes_rule_out_is_not_counted() -> None:
    """Added time on the first body of a conversation; no token is shorter than a byte."""
    read = ReadList(call(talk(TEXTS["prose"])))
    assert due(2_000_000).is_short(read)
    assert not due(2_000_000).may_be(read)
    assert not any(counted(read))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize(
    "model", ["gpt-4o", "claude-sonnet-4-5", "claude-opus-4-8", "deepseek-chat", "glm-4.6"]
)
def test_a_reduction_that_a_session_finds_due_is_never_denied(kind: str, model: str) -> None:
    """CMP-1: the request that is due is never sent before, whatever the script and the tokenizer; soon, nor the one of which the provider
    counts a third more than we do."""
    tools = [{"type": "function", "function": {"name": "f"}}]
    asked = call(talk(TEXTS[kind]), system="Be brief.", tools=tools, model=model)
    tokens = estimate(asked, 4_000_000)
    told = {}
    for share in (20, 60, 100, 124, 125, 126, 140, 160, 166, 250, 400):
        window = tokens * share // 100
        own = planned(model, window)
        line = policy_of("balanced", window).threshold.tokens(own.room())
        read = ReadList(replace(asked, seen=[]))
        told[share] = due(window).may_be(read)
        assert told[share] or min(tokens, read.size) < line, share
        soon = due(window).may_be_soon(ReadList(replace(asked, seen=[])))
        assert soon or min(tokens * 1.25, read.size) < line, share
        assert soon >= told[share], "what may be due now may be due soon"
    assert told[20]
    assert not told[400] or kind == "base64", "far below the line none is begun"


def test_the_longest_are_counted_until_it_is_clear_and_each_of_them_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Added time on a body; the next request counts what is new, where that has to be counted."""
    messages = [user(TEXTS["prose"] * (n % 5 + 1)) for n in range(40)]
    asked = call(messages)
    read = ReadList(asked)
    asks = due(read.size)
    assert not asks.is_short(read)
    assert not asks.may_be(read)
    first = counted(read)
    assert any(first)
    assert not all(first)
    shortest = min(len(wire) for wire, is_counted in zip(read.wires, first, strict=True) if is_counted)
    assert (
        max(len(wire) for wire, is_counted in zip(read.wires, first, strict=True) if not is_counted)
        <= shortest
    )
    weighed = called(monkeypatch, "weights")
    again = Call(
        format=asked.format, model=asked.model, body=asked.body, messages=asked.messages, seen=asked.looks
    )
    assert not asks.may_be(ReadList(again))
    assert not weighed


def test_what_goes_on_beyond_the_line_is_not_counted_to_its_end() -> None:
    """A session is begun then in any case, which counts for itself."""
    read = ReadList(call(talk(TEXTS["prose"], messages=100)))
    assert due(read.tokens(None) // 2).may_be(read)
    assert 0 < sum(counted(read)) < 100 * TRIED_SHARE + 2


def test_the_providers_own_count_goes_before_what_is_counted_here() -> None:
    """CMP-1: a tokenizer that is not known may cut finer."""
    read = ReadList(call(talk(TEXTS["prose"])))
    asks = due(read.size)
    room = asks._room(read, planned(MODEL, read.size))
    assert not asks.may_be(read, reported=room)
    assert asks.may_be(read, reported=room + 1)
    assert not asks.may_be_soon(read, reported=int(room / SOON_SLACK))
    assert asks.may_be_soon(read, reported=int(room / SOON_SLACK) + 1)


def test_in_a_window_that_nobody_knows_bytes_decide() -> None:
    """TOK-10: nothing is known of its tokenizer either."""
    read = ReadList(call(talk(TEXTS["prose"]), model="nobody-knows"))
    asks = Due(
        policy_of("balanced", read.size), lambda read: Planned(window=read.size, is_window_known=False)
    )
    assert asks.may_be(read)
    assert not any(counted(read))


def test_a_picture_weighs_what_its_bytes_do() -> None:
    """TOK-1: what it costs is a guess too often."""
    url = "data:image/png;base64," + TEXTS["base64"] * 3
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    read = ReadList(call([picture, user(TEXTS["prose"] * 3)]))
    due(read.size).may_be(read)
    assert read.looks[0].tokens == len(read.wires[0])
    assert read.looks[1].tokens < len(read.wires[1]) / 2


def test_tools_are_counted_once_and_kept_for_so_many_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's tools are a hundred kilobytes, and come with every request."""
    asks, texts = due(60_000), called(monkeypatch, "text")
    for n in (0, 0, *range(FIXED_MAX + 1), 0):
        tools = [{"type": "function", "function": {"name": f"f{n}", "description": TEXTS["prose"] * 8}}]
        assert not asks.may_be(ReadList(call([user("go")], tools=tools)))
    assert len(texts) == 2 * (FIXED_MAX + 2), "system prompt and tools of each, and the first once more"
    assert len(asks._fixed) <= FIXED_MAX


@pytest.mark.parametrize(("policy", "share"), [("handoff", 69), ("ladder-professional", 59)])
def test_whatever_a_policy_does_below_its_threshold_is_foreseen_too(policy: str, share: int) -> None:
    """HND-1, BUD-4: a note that is due at 70 %, and advice."""
    window = 100_000
    chosen = policy_of(policy, window)
    lines = [line for line in (chosen.threshold, chosen.handoff, chosen.advice) if line is not None]
    asks = Due(chosen, lambda read: planned(MODEL, window))
    room = asks._room(ReadList(call([user("x")])), planned(MODEL, window))
    within = planned(MODEL, window).room()
    assert all(not line.is_reached(room, within) for line in lines)
    assert any(line.is_reached(room + 1, within) for line in lines)


def test_the_output_that_is_asked_for_needs_its_room() -> None:
    """CMP-41: its cap may have to be lowered, which a session does."""
    read = ReadList(call([user(TEXTS["prose"])], max_tokens=99_000))
    assert due(100_000).may_be(read) == (read.size > 1_000)
    assert not due(100_000).may_be(ReadList(call([user(TEXTS["prose"])], max_tokens=10)))


def test_a_message_of_four_thousand_bytes_may_be_shortened_in_any_request_and_a_shorter_one_is_not() -> None:
    """BUD-6: a result over 4,000 characters is cut before every request, whatever its length; one message less long than that costs
    a conversation no session."""
    asks = due(2_000_000, policy="cascade")
    frame = len(ReadList(call([user("")])).wires[0])
    for size, is_due in ((3_000, False), (3_999, False), (4_000, True), (9_000, True)):
        read = ReadList(call([user("go"), user("x" * (size - frame)), assistant("ok")] * 3))
        assert read.longest == size
        assert asks.may_be(read) is is_due, size
        assert not due(2_000_000).may_be(read), "balanced shortens nothing before it has to"
