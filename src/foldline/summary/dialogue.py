"""Getting a text out of a model: requests, refused calls, attempts, pieces, until a summary is taken or named a failure.

    attempt 1   fork, or a call of its own         ── tool call ──► refused, at most 3 rounds (requirement CMP-3)
                too long for one request           ── in pieces, then a summary of their notes: all of it is seen
    attempt 2…  after a fault that a remark mends; after an overflow strictly smaller (CMP-11)

A generator of `Ask`s that is sent `Reply`s. What counts as a fault of a text is `taken`'s, what is shown `shown`'s; what the
pass wants of its size comes in as `Brief.judge`. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.address import escape_tags
from foldline.core.completion import Ask, Asked, Failure, FailureName, Purpose, Reply, noted, spent
from foldline.core.edit import Frame
from foldline.core.message import NEW, Message, Part, Text, ToolResult, Usage, speaks_for_user
from foldline.core.ports import Moment
from foldline.core.rounds import outline
from foldline.core.view import Item
from foldline.summary.instructions import (
    OWN_SYSTEM,
    TEXT_ONLY,
    FormName,
    Wish,
    chunk_instruction,
    instruction,
)
from foldline.summary.language import language_of
from foldline.summary.shown import Cuts, Shown, blocks_of, clipped, forked, media_tokens, pieces_within
from foldline.summary.taken import Asked as Judged
from foldline.summary.taken import Fault, extracted, fault_of

ROUNDS_MAX: Final = 3
"""Rounds in which a tool call is refused (requirement CMP-3)."""
ATTEMPTS_MAX: Final = 3
"""Requirement CMP-11."""
CHUNKS_MAX: Final = 16
"""Pieces of a source that is too long for one request; what is older than these is not seen, and the report says so."""
OUTPUT_TOKENS: Final = 8_000
"""Output that is asked for in a call of its own, thinking included."""
FORK_OUTPUT_TOKENS: Final = 20_000
"""Room that a fork leaves for its answer (requirement BUD-2)."""
WINDOW_SHARE: Final = 0.95
"""Share of a window that a request may take with its answer: counts are estimates (requirement TOK-11)."""
INPUT_TOKENS_MIN: Final = 1_000
"""Pieces are never made smaller than this."""
DROPPED_SHARES: Final = (0.25, 0.5)
CHARS_CAPS: Final = (5_000, 2_000)
"""What leaves after one and two overflows: oldest whole units, and what is over so many characters in one message."""
REFUSED: Final = "Refused: no tool is run while the conversation is summed up. Answer in text."
MENDED: Final = frozenset(
    {"cut_off", "tool_call", "wrong_language", "too_large", "repetition", "only_analysis", "copy"}
)
"""Faults after which another attempt is worth its price: a remark says what to do otherwise."""


class Brief(Struct, frozen=True, kw_only=True):
    """What is to be written, of what, and when it will do."""

    form: FormName
    units: Sequence[Sequence[Item]]
    """What is to be summed up, whole units, oldest first."""
    is_fork: bool
    """Whether the conversation's own request is gone on with."""
    tokens_max: int | None = None
    """Most tokens the text should have; told to the model."""
    attempts_max: int = ATTEMPTS_MAX
    retries_errors: bool = False
    """Whether an error of the provider is tried again: where the caller's client does not."""
    shrinks: bool = False
    """After an overflow: leave out (True), or read in smaller pieces (False)."""
    is_lenient: bool = False
    judge: Callable[[str], Fault | None] = lambda text: None
    """What the pass has against a text that is one."""
    purpose: Purpose = "summary"


class Told(Struct, frozen=True, kw_only=True):
    """How it ended."""

    text: str
    """Empty where no text was taken."""
    asked: Asked


Telling = Generator[Ask, Reply, Told]
Answering = Generator[Ask, Reply, Reply]


def told_by(brief: Brief, *, moment: Moment, frame: Frame) -> Telling:
    """The text, or why there is none."""
    talk = _Talk(brief, moment=moment, frame=frame)
    for attempt in range(1, min(brief.attempts_max, ATTEMPTS_MAX) + 1):
        talk.attempt = attempt
        reply = yield from talk.ask()
        fault = talk.fault(reply)
        if fault is None:
            return Told(text=extracted(reply.text), asked=talk.asked(is_written=True))
        talk.failures.append(Failure(name=fault[0], attempt=attempt, why=fault[1]))
        if not talk.goes_on(fault):
            break
    return Told(text="", asked=talk.asked(is_written=False))


class _Talk:
    """One pass's questions, with what has been learnt of how long a request may be."""

    def __init__(self, brief: Brief, *, moment: Moment, frame: Frame) -> None:
        self.brief, self.moment, self.frame = brief, moment, frame
        self.attempt, self.requests, self.seen = 1, 0, 0
        self.failures: list[Failure] = []
        self.usages: list[Usage | None] = []
        self.notes: list[tuple[str, ...]] = []
        self.cuts = Cuts()
        self.overflows = 0
        self.remark = ""
        self.items = [item for unit in brief.units for item in unit]
        self.source_tokens = sum(item.tokens for item in self.items)
        self.language = language_of(
            item.message.text for item in reversed(frame.live) if speaks_for_user(item.message)
        )
        self.window = moment.tokens_window_asked or moment.tokens_window
        self.input_max = self._input_max()
        self.is_fork = brief.is_fork and self._fork_fits()
        self.asked_tokens = 0
        """Of the last request's input, as counted here."""
        self._source: str | None = None

    # ── how long a request may be ────────────────────────────────────────────────────────────────────────────

    def _output_cap(self) -> int:
        cap = min(OUTPUT_TOKENS, self.moment.output_max or OUTPUT_TOKENS)
        return min(cap, self.window // 4) if self.window else cap

    def _input_max(self) -> int | None:
        """Tokens of what may be read in one call of its own; `None` where the window is not known."""
        if not self.window:
            return None
        room = int(self.window * WINDOW_SHARE / self.moment.scale) - self._output_cap()
        around = self.frame.counter.text(self._instruction()) + self.frame.counter.text(OWN_SYSTEM)
        return max(min(INPUT_TOKENS_MIN, self.window // 4), room - around)

    def _fork_fits(self) -> bool:
        window, moment = self.window, self.moment
        if not window:
            return True
        view = sum(item.tokens for item in self.frame.live) + moment.tokens_fixed
        output = min(moment.output_max or FORK_OUTPUT_TOKENS, FORK_OUTPUT_TOKENS, window // 8)
        asked = self.frame.counter.text(self._instruction())
        return view * moment.scale + asked + output <= window

    def _instruction(self) -> str:
        return instruction(self.brief.form, self._wish())

    def _wish(self) -> Wish:
        return Wish(
            language=self.language,
            focus=self.frame.focus,
            tokens_max=self.brief.tokens_max,
            remark=self.remark,
        )

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self) -> Answering:
        """One attempt."""
        if self.is_fork:
            self.seen = self.source_tokens - media_tokens(self.items, self.frame.counter)
            live = forked(self.frame.live, outline(self.frame.live))
            self.asked_tokens = sum(item.tokens for item in live) + self.moment.tokens_fixed
            return (
                yield from self._answered(
                    Ask(messages=(), live=live, is_fork=True, instruction=self._instruction())
                )
            )
        return (yield from self._alone(blocks_of(self.brief.units, self.cuts)))

    def _alone(self, shown: tuple[Shown, ...]) -> Answering:
        """A call of its own; in pieces where one request has no room for it."""
        self.seen = round(sum(one.tokens * one.share for one in shown))
        tokens = sum(self.frame.counter.texts([one.block for one in shown]))
        self.asked_tokens = tokens
        if self.input_max is not None and tokens > self.input_max:
            notes = yield from self._noted(shown)
            if isinstance(notes, Reply):
                return notes
            shown = notes
        return (yield from self._answered(self._own(shown, self._instruction(), purpose=self.brief.purpose)))

    def _noted(self, shown: Sequence[Shown]) -> Generator[Ask, Reply, tuple[Shown, ...] | Reply]:
        """Notes of each piece; the reply that kept any from coming."""
        assert self.input_max is not None, "pieces are of a known size"
        groups = pieces_within(shown, self.input_max, count=self.frame.counter.texts)[-CHUNKS_MAX:]
        notes: list[Shown] = []
        self.seen, failed = 0, Reply()
        for number, group in enumerate(groups, start=1):
            text = chunk_instruction(number, len(groups), wish=self._piece_wish(len(groups)))
            self.asked_tokens = sum(self.frame.counter.texts([one.block for one in group]))
            reply = yield from self._answered(self._own(group, text, purpose="chunk"))
            fault = self._fault_of_piece(reply, group)
            if fault is not None:
                self.failures.append(
                    Failure(name=fault[0], attempt=self.attempt, why=f"piece {number}: {fault[1]}")
                )
                failed = reply
                if fault[0] in ("overflow", "provider_error"):
                    return reply
                continue
            self.seen += round(sum(one.tokens * one.share for one in group))
            note = self._note_of(extracted(reply.text), number, of=len(groups))
            notes.append(replace(note, seq=group[0].seq))
        return tuple(notes) if notes else failed

    def _note_of(self, text: str, number: int, *, of: int) -> Shown:
        """What a model noted of a piece, as data within its share of the room, so that all notes fit into one request."""
        assert self.input_max is not None, "pieces are of a known size"
        room, tokens = self.input_max * 7 // 8 // of, self.frame.counter.text(text)
        if tokens > room:
            text = clipped(text, len(text) * room // tokens)
        return Shown(seq=0, origin=f"notes on piece {number} of {of}", text=escape_tags(text), tokens=0)

    def _piece_wish(self, count: int) -> Wish:
        """Notes of all pieces together have to fit into one request."""
        assert self.input_max is not None, "pieces are of a known size"
        room = min(self._output_cap() // 2, self.input_max * 3 // 4 // count)
        return replace(self._wish(), tokens_max=max(64, room))

    def _own(self, shown: Sequence[Shown], text: str, *, purpose: Purpose) -> Ask:
        data = "\n".join(one.block for one in shown)
        message = Message(role="user", parts=(Text(text=data),), synthetic="notice", edited=True)
        return Ask(
            messages=(message,),
            instruction=text,
            purpose=purpose,
            system=OWN_SYSTEM,
            output_cap=self._output_cap(),
            attempt=self.attempt,
        )

    def _answered(self, ask: Ask) -> Answering:
        """The reply to one question; each tool call in it refused, and the question repeated."""
        ask = replace(ask, attempt=self.attempt)
        reply = yield ask
        self._note(reply)
        for _ in range(ROUNDS_MAX - 1):
            if reply.error or not reply.tool_calls or "<summary>" in reply.text.lower():
                break
            ask = replace(ask, messages=(*_as_sent(ask), *_refusal(reply)), instruction=TEXT_ONLY)
            reply = yield ask
            self._note(reply)
        return reply

    def _note(self, reply: Reply) -> None:
        self.requests += 1
        self.usages.append(reply.usage)
        self.notes.append(reply.notes)

    # ── judging ──────────────────────────────────────────────────────────────────────────────────────────────

    def fault(self, reply: Reply) -> Fault | None:
        """What is wrong with a reply."""
        found = fault_of(reply, self._judged(self._flat_source(), self.source_tokens))
        return found or self.brief.judge(extracted(reply.text))

    def _fault_of_piece(self, reply: Reply, group: Sequence[Shown]) -> Fault | None:
        flat = " ".join(" ".join(one.text.split()) for one in group)
        return fault_of(reply, self._judged(flat, sum(one.tokens for one in group)))

    def _judged(self, source: str, tokens: int) -> Judged:
        return Judged(
            source=source, source_tokens=tokens, language=self.language, is_lenient=self.brief.is_lenient
        )

    def _flat_source(self) -> str:
        if self._source is None:
            texts = (one.text for one in blocks_of(self.brief.units, Cuts()))
            self._source = " ".join(" ".join(text.split()) for text in texts)
        return self._source

    def goes_on(self, fault: Fault) -> bool:
        """Whether another attempt may help; what it does otherwise is settled here."""
        name: FailureName = fault[0]
        if name == "overflow":
            return self._smaller()
        if name in ("provider_error", "unfinished"):
            return self.brief.retries_errors
        self.remark = fault[1] if name in MENDED else ""
        return name in MENDED

    def _smaller(self) -> bool:
        """After an overflow: a call of its own, with less, or in smaller pieces; False where nothing is left to leave out."""
        was_fork, self.is_fork = self.is_fork, False
        if not self.brief.shrinks:
            self.input_max = max(INPUT_TOKENS_MIN, self.asked_tokens // 2)
            return self.asked_tokens > INPUT_TOKENS_MIN
        if was_fork:
            return True
        before = self._size(self.cuts)
        for cuts in self._harder():
            if self._size(cuts) < before:
                self.cuts = cuts
                return True
        return False

    def _harder(self) -> tuple[Cuts, ...]:
        """What to leave out next, in order: files that can be read again, the oldest whole units, what is long in a message."""
        n = min(self.overflows, len(DROPPED_SHARES) - 1)
        self.overflows += 1
        files = Cuts(rereadable=True)
        units = Cuts(rereadable=True, oldest_share=DROPPED_SHARES[n])
        capped = tuple(
            Cuts(rereadable=True, oldest_share=DROPPED_SHARES[-1], chars_max=cap) for cap in CHARS_CAPS
        )
        return (files, units, *capped) if not self.cuts.rereadable else (units, *capped)

    def _size(self, cuts: Cuts) -> int:
        return sum(len(one.block) for one in blocks_of(self.brief.units, cuts))

    def asked(self, *, is_written: bool) -> Asked:
        """All of it, for the report."""
        return Asked(
            form=self.brief.form,
            requests=self.requests,
            attempts=self.attempt,
            tokens_source=self.source_tokens,
            tokens_seen=min(self.seen, self.source_tokens) if is_written else 0,
            failures=tuple(self.failures),
            is_written=is_written,
            notes=noted(self.notes),
            usage=spent(self.usages),
        )


def _as_sent(ask: Ask) -> tuple[Message, ...]:
    """The messages of a question with its instruction, as `CompletionRequest.wire` puts them."""
    said = Text(text=ask.instruction, slot=NEW)
    if not ask.is_fork and len(ask.messages) == 1:
        [data] = ask.messages
        return (replace(data, parts=(*data.parts, said)),)
    return (*ask.messages, Message(role="user", parts=(said,), edited=True))


def _refusal(reply: Reply) -> tuple[Message, ...]:
    """The model's message with its calls, and a refusal of each."""
    parts: tuple[Part, ...] = tuple(part for message in reply.messages for part in message.parts)
    if not parts:
        text = (Text(text=reply.text, slot=NEW),) if reply.text.strip() else ()
        parts = (*text, *reply.tool_calls)
    results = tuple(
        ToolResult(call_id=call.id, name=call.name, content=(Text(text=REFUSED),), is_error=True)
        for call in reply.tool_calls
    )
    return (
        Message(role="assistant", parts=parts),
        *(Message(role="tool", parts=(result,)) for result in results),
    )
