"""`foldline.compact` on any session, in every wire format, down to any target.

A session is drawn, written in a provider's own dicts, and compacted; what comes out is judged by the laws and by the
independent judges of `tests/judges`. Knows the public function alone.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from foldline import Compaction, TargetUnreachable, compact
from foldline.core.message import Message
from foldline.lookup import show
from foldline.testing.strategies import sessions
from foldline.tokens.choose import counter_for
from foldline.transcripts.transcript import Transcript
from foldline.wire.body import KEYS, body_value, read_body
from foldline.wire.codec import Request
from foldline.wire.convert import convert
from foldline.wire.formats import CODECS
from tests.judges import panel

COUNTER = "length/4"
"""Structure is what these tests are about; a counter without a table keeps them fast."""
TARGETS = st.sampled_from((1, 60, 300, 0.05, 0.2, 0.5, 0.9))
FORMATS = st.sampled_from(CODECS)
FEWER = settings(max_examples=settings().max_examples // 2)
"""Each example is written, compacted and judged: half as many cost as much as the others."""
ENVELOPE = 4
"""Tokens of the markers around one message, as the counter has them."""


class Given(Struct, frozen=True, kw_only=True):
    """What a caller has in hand."""

    format: str
    messages: list[Any]
    system: Any

    def compact(self, to: float) -> Compaction:
        """The smallest history counts as a result, since the error carries it."""
        try:
            return compact(self.messages, to, format=self.format, system=self.system, counter=COUNTER)
        except TargetUnreachable as error:
            result: Compaction = error.result
            return result

    def body(self, messages: list[Any]) -> dict[str, Any]:
        """A request body with other messages."""
        keys = KEYS[self.format]
        fixed = {} if self.system is None else {keys.system[0]: self.system}
        return {**fixed, keys.messages: messages}

    def tokens(self, messages: list[Any]) -> int:
        """A recount of the whole request."""
        counter = counter_for(counter=COUNTER, wire=self.format)
        request = read_body(self.body(messages), format=self.format)
        system = 0 if request.system is None else counter.message(request.system)
        return system + sum(map(counter.message, request.messages))


def wired(messages: list[Message], format: str) -> Given:
    """A neutral session as a caller of one provider holds it."""
    leading = messages[0] if messages[0].role == "system" else None
    rest = messages if leading is None else messages[1:]
    request = convert(Request(format="", messages=tuple(rest), system=leading), format).request
    body = copy.deepcopy(body_value(request))
    keys = KEYS[format]
    return Given(format=format, messages=body[keys.messages], system=body.get(keys.system[0]))


@FEWER
@given(messages=sessions(), format=FORMATS, to=TARGETS)
def test_what_comes_out_is_valid_by_the_laws_and_by_other_eyes(
    messages: list[Message], format: str, to: float
) -> None:
    """Laws PAIR, ROLE, TRACE and END, for every wire format."""
    had = wired(messages, format)
    before = panel.violations(had.body(had.messages), format=format, open_tail=True)
    assume(not before)
    out = had.compact(to)
    assert out.report.valid
    assert out.report.violations == ()
    assert panel.violations(had.body(out.messages), format=format, open_tail=True) == []


@FEWER
@given(messages=sessions(), format=FORMATS, to=TARGETS)
def test_the_target_is_met_or_the_smallest_history_is_given(
    messages: list[Message], format: str, to: float
) -> None:
    """Laws END and GAIN; the report's figures are a recount of what was sent."""
    had = wired(messages, format)
    report = (out := had.compact(to)).report
    assert report.tokens_target is not None
    assert report.tokens_before == had.tokens(had.messages)
    assert report.tokens_after <= report.tokens_before
    recount = had.tokens(out.messages)  # neighbours that travel as one message save an envelope each
    assert recount <= report.tokens_after <= recount + ENVELOPE * report.messages_before
    if had.format == "openai-chat":
        assert report.tokens_after == recount
    assert report.messages_after == len(out.messages)
    match report.outcome:
        case "compacted":
            assert report.tokens_after <= report.tokens_target
            assert report.tokens_after < report.tokens_before
        case "unchanged":
            assert report.tokens_before <= report.tokens_target
        case outcome:
            assert outcome == "unreachable"
            assert report.tokens_after > report.tokens_target


@FEWER
@given(messages=sessions(), format=FORMATS, to=TARGETS)
def test_the_input_is_never_changed_and_what_was_not_edited_is_the_very_object(
    messages: list[Message], format: str, to: float
) -> None:
    """Laws LOSSLESS and PREFIX, OBS-2: a pass never mutates its input; untouched messages keep their order."""
    had = wired(messages, format)
    before = copy.deepcopy(had.messages), copy.deepcopy(had.system)
    out = had.compact(to)
    assert (had.messages, had.system) == before
    place = {id(value): n for n, value in enumerate(had.messages)}
    kept = [place[id(value)] for value in out.messages if id(value) in place]
    assert kept == sorted(kept)
    new = [value for value in out.messages if id(value) not in place]
    assert [value for value in new if value in had.messages] == []
    if out.report.outcome == "unchanged":
        assert new == []


def is_begun_by(old: Any, new: Any) -> bool:
    """True when a message begins with the blocks of another, which a later one was joined to."""
    key = "content" if "content" in old else "parts"
    blocks = [{"type": "text", "text": old[key]}] if isinstance(old.get(key), str) else old.get(key)
    if blocks is None or not isinstance(new.get(key), list) or old["role"] != new["role"]:
        return False
    return len(blocks) < len(new[key]) and new[key][: len(blocks)] == blocks


@FEWER
@given(messages=sessions(), format=FORMATS, to=TARGETS)
def test_the_report_says_how_much_of_the_prefix_is_left(
    messages: list[Message], format: str, to: float
) -> None:
    """Laws PREFIX and ONCE: bytes before the first change are those that came in, and all after it break once."""
    had = wired(messages, format)
    out = had.compact(to)
    pairs = list(zip(had.messages, out.messages, strict=False))
    same = next((n for n, (old, new) in enumerate(pairs) if old is not new), len(pairs))
    if same < len(pairs) and is_begun_by(*pairs[same]):
        same += 1
    cache = out.report.cache
    assert cache.prefix_tokens_kept == had.tokens(had.messages[:same])
    assert cache.prefix_tokens_kept + cache.tokens_reread == out.report.tokens_after


def still(value: Any) -> Any:
    """A report without what a clock said."""
    if isinstance(value, dict):
        return {key: still(item) for key, item in value.items() if key != "seconds"}
    return [still(item) for item in value] if isinstance(value, (list, tuple)) else value


@FEWER
@given(messages=sessions(), format=FORMATS, to=TARGETS)
def test_the_same_input_gives_the_same_output(messages: list[Message], format: str, to: float) -> None:
    """Law SAME."""
    had, twin = wired(messages, format), wired(messages, format)
    one, two = had.compact(to), twin.compact(to)
    assert one.messages == two.messages
    assert still(one.report.to_dict()) == still(two.report.to_dict())


@FEWER
@given(messages=sessions(), format=FORMATS, start=st.floats(0.3, 0.9))
def test_a_history_compacted_again_and_again_stays_valid_and_openable(
    messages: list[Message], format: str, start: float
) -> None:
    """TRACE, COL-6: what an earlier fold said is carried on, and its address opens on the original."""
    had = wired(messages, format)
    assume(not panel.violations(had.body(had.messages), format=format, open_tail=True))
    original = Transcript(
        format=format, wire=format, messages=read_body(had.body(had.messages), format=format).messages
    )
    now, target = had, start * had.tokens(had.messages)
    for _ in range(10):
        out = now.compact(max(1, int(target)))
        assert out.report.valid
        assert panel.violations(had.body(out.messages), format=format, open_tail=True) == []
        if now is had:
            for address in out.report.covers.addresses:
                assert show([original], address).title
        now, target = Given(format=format, messages=out.messages, system=had.system), target * 0.8
