"""Usage that contradicts the request it is of: a history that a server cut in silence, or one larger than the window.

    sent      10k   20k   30k   40k   50k            counted here, growing
    reported  10k   20k   30k   30k   30k            the server drops the head by itself, and says nothing

Such a count is told and is no anchor; it teaches no limit, since nobody named one (a guess would be kept for ever:
NousResearch/hermes-agent#2600). Pure numbers; whoever records a response brings them. Counterpart: `foldline.wire.usage`, which
reads what a provider said.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["truncated", "over window"]

SHRUNK: Final = 0.75
"""A request that extends another and is reported with less than this of it was cut: thinking of earlier turns, which a
provider may leave out, does not come to so much."""
STUCK_TOKENS_MIN: Final = 256
"""New tokens after which the very same count again is no accident."""
COUNTED_TIMES: Final = 3
"""Without a count before it, a request of texts alone is taken for cut where we count so many times what is reported: no
counter errs so much on text. What a picture or a document costs is a guess too often."""
SLACK_TOKENS: Final = 1_000
"""And so much more, so that short requests with a chat template of their own say nothing."""


class Mismatch(Struct, frozen=True, kw_only=True, gc=False):
    """What a usage says against its request."""

    kind: Kind
    tokens_sent: int
    """As the request was projected here."""
    tokens_reported: int
    tokens_window: int

    def note(self) -> str:
        """For a person, with what helps."""
        if self.kind == "over window":
            return (
                f"the provider counted {self.tokens_reported:,} tokens of input, and the window is planned as "
                f"{self.tokens_window:,}: its server takes more, or it drops some of it in silence; state the model's window in "
                "foldline.toml. Its count is not used"
            )
        return (
            f"a request of about {self.tokens_sent:,} tokens was counted as {self.tokens_reported:,} by the provider: its server "
            "drops the beginning of the history in silence. Raise its context length (Ollama: num_ctx), or state the model's "
            "window in foldline.toml; its count is not used"
        )

    def to_json(self) -> dict[str, Any]:
        """For the log."""
        return {"kind": self.kind, "tokens_sent": self.tokens_sent, "tokens_reported": self.tokens_reported}


class Outgoing(Struct, frozen=True, kw_only=True, gc=False):
    """A request as it went out."""

    tokens: int
    """As it was projected."""
    grown: int
    """Of these what was counted here, since the last usage."""
    before: int | None = None
    """The input that the provider counted for the request which this one extends; `None` where there is none."""
    is_text: bool = True
    """Whether it is of texts alone."""


def mismatch_of(reported: int, sent: Outgoing, *, window: int) -> Mismatch | None:
    """What is wrong with `reported` tokens of input; `None` where nothing is."""

    def found(kind: Kind) -> Mismatch:
        return Mismatch(kind=kind, tokens_sent=sent.tokens, tokens_reported=reported, tokens_window=window)

    if reported > window:
        return found("over window")
    if sent.before is None:
        is_cut = sent.is_text and sent.tokens > COUNTED_TIMES * reported + SLACK_TOKENS
    else:
        is_stuck = reported == sent.before and sent.grown >= STUCK_TOKENS_MIN
        is_cut = is_stuck or reported < SHRUNK * sent.before
    return found("truncated") if is_cut else None
