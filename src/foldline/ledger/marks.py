"""Marks: what a line of the ledger says of what came later, each up to the number of the message that it names.

    - a.py edited, +1 −1; before git reset --hard at m31 (m20 assistant)
                        └─ a mark                 number  └─ where the line comes from

`carrying`, `compose`, `refusals` and `withdrawals` write them; here they are read in one place, whoever wrote them: numbers out of
them (`numbers_in`), and others into them (`told_by`). Knows neither entries nor what marks are put behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

FAILED = "; failed at m"
"""Behind what a command came to: an earlier run of it had failed, …"""
NOT_SEEN_TO_PASS, SHOWS_NONE = ", not seen to pass since", "; later runs show no failure"
"""… and no later one is known to have gone well; the second is how earlier ledgers may say so."""
PASSED = "; passed at m"
"""Behind a failure: a line went well that ran the same command among others (`npm test && git commit`)."""
MOVED_ON = "; moved on at m"
"""Behind a failure: where later commands run is another folder, branch or environment."""
DONE, CALLED_AGAIN = "; done at m", "; called again at m"
"""Behind what an action that failed came to: what a later one for the same task did."""
CHANGED = "; changed at m"
"""Behind an edit that was not made: the file was changed later."""
BEFORE_RESET = "; before git reset --hard at m"
PUT_AWAY = "; put away by git stash at m"
BEFORE_RESTORED = "; before git restored its folder at m"
"""Behind a change to a file: it was made before what threw the working tree away, or put it away."""
MAYBE_UNDONE = "; before what may have undone it at m"
"""Behind a change to a file, or a commit: it is older than a command that may have taken it back."""
TAKEN_BACK = "; taken back at m"
"""Behind a decision that no longer holds."""
REFUSED_AT = "refused at m"
"""What an action came to that a user refused afterwards."""

_ALL = (
    FAILED,
    PASSED,
    MOVED_ON,
    DONE,
    CALLED_AGAIN,
    CHANGED,
    BEFORE_RESET,
    PUT_AWAY,
    BEFORE_RESTORED,
    MAYBE_UNDONE,
    TAKEN_BACK,
    f"→ {REFUSED_AT}",
)
_MARK = re.compile(rf"({'|'.join(map(re.escape, _ALL))})(\d{{1,9}})\b")
_BETWEEN = re.compile(r"^m?(\d{1,9})-m?(\d{1,9})(?: of m\d{1,9})?(?=: \d{1,9} files edited, by sed: )")
"""What a line opens with that tells of several messages, as `between` writes it, or `told_by`."""


def between(first: int, last: int) -> str:
    """What a line opens with that tells of several messages."""
    return f"m{first}-m{last}"


def numbers_in(text: str) -> Iterator[int]:
    """The messages that the marks in a line name."""
    return (int(mark[2]) for mark in _MARK.finditer(text))


def told_by(text: str, seq: int) -> str:
    """A line with the number of the message that holds it in the place of those of another history."""
    return _BETWEEN.sub(rf"\1-\2 of m{seq}", _MARK.sub(rf"\g<1>{seq}", text), count=1)
