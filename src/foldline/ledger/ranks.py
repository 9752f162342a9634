"""Ranks: how soon a user's words may leave the view, and what commands came to the ledger, where not all can stay.

Knows one text alone; whether it still stands is `words`' affair, how much room there is the pass's and the ledger's.
"""

from __future__ import annotations

import re

from foldline.ledger.command_lines import VERIFIES, reaches_out, verifies
from foldline.ledger.constraints import constraints
from foldline.ledger.cue_words import PLAN
from foldline.ledger.marks import MOVED_ON, NOT_SEEN_TO_PASS, PASSED
from foldline.ledger.outcomes import names_failure
from foldline.ledger.permissions import allows
from foldline.ledger.requests import is_answer, requests
from foldline.ledger.stated_values import stated_values

RULE, WISH, PARTICULAR, TOLD, ASIDE = range(5)
"""How soon a message may leave, the lowest last: it gives a rule or lifts one · asks, plans, decides or states a value · tells
something with a name, a number or a reason · tells something · only asks, answers, or says that it is beside the point."""

FAILED, VERIFIED, REACHED_OUT, RAN = range(4)
"""How soon a command with its outcome may leave, the lowest last: it failed · it verified something, or had failed and is
not seen to pass · it changed what others see · none of it is said, or what it failed at was left behind, or passed since."""

BESIDE = re.compile(
    r"^\W{0,3}(?:(?:oh|and|so|also|ok(?:ay)?)\W{1,3}){0,2}(?:by the way|btw|side ?note|as an aside|unrelated(?:ly)?|off[- ]topic|quick tangent|on a tangent"
    r"|(?:a )?random (?:thought|question|aside)|random\b|just curious|out of curiosity|apropos|übrigens|nebenbei|au fait|por cierto|a propósito|кстати)\b"
    r"|^\W{0,3}(?:顺便(?:说|问|提)?|順便|题外话|題外話|对了|ちなみに|余談|ところで|그런데 말이야|여담)",
    re.IGNORECASE,
)
"""What opens a message that says of itself that it is beside the point."""
PARTICULARS = re.compile(
    r"(?<=[a-z,;:] )(?!I\b)[A-Z]\w+|\d|[`“”«»「」『』《》]|(?:->|→|=>|⇒)|\w[/_.]\w|\b(?:because|since|so that|weil|porque|parce que|потому)\b|因为|因為|由于|所以|から|때문"
)


def rank_of(said: str) -> int:
    """How soon a user's words may leave the view: `RULE` last, `ASIDE` first."""
    if constraints(said) or allows(said):
        return RULE
    if is_answer(said):
        return ASIDE
    beside = BESIDE.match(said) is not None
    kinds = {asked.kind for asked in requests(said)}
    told = PARTICULARS.search(said) is not None
    if stated_values(said) or (not beside and ("task" in kinds or PLAN.search(said))):
        return WISH
    if kinds or (beside and not told):
        return ASIDE
    return PARTICULAR if told else TOLD


def evidence_rank(told: str) -> int:
    """How soon the line of a command with its outcome may leave: `FAILED` last, `RAN` first."""
    command, _, outcome = told.rpartition("` → ")
    if names_failure(outcome):
        return RAN if MOVED_ON in outcome or PASSED in outcome else FAILED
    # what a command was given, and says again, verifies nothing
    says_so = any(word.lower() not in command.lower() for word in VERIFIES.findall(outcome))
    ran = command.removeprefix("`")
    if says_so or verifies(ran) or NOT_SEEN_TO_PASS in outcome:
        return VERIFIED
    return REACHED_OUT if reaches_out(ran) else RAN
