"""Every error foldline raises, and two warnings.

    FoldlineError
    ├── InvalidTranscript     the input is not what it should be: path, line, why
    ├── UnknownFormat         no reader recognises the input, or no writer has that name
    ├── UnknownPolicy         no policy of that name
    ├── UnknownAddress        an address that the given history does not hold
    ├── InvalidOption         an argument outside its bounds
    ├── LawViolation          an edit would break a law: law, where
    ├── TargetUnreachable     the smallest valid history is larger than the target; `.result` holds it
    ├── ContextExhausted      nothing is left that may be reduced
    ├── CompactionBlocked     a hook or a caller said no
    ├── InvalidRequest        a provider refused the request for its size, and nothing can save the turn
    ├── ProviderFailed        a model's provider refused, failed, or could not be reached: status, body
    ├── UnknownSession        no session of that name
    ├── SessionExists         there is one of that name already
    ├── SessionBusy           another process writes this session
    ├── SessionFailed         the log could not be written or read; the session must be opened anew
    │   └── CheckpointFailed  … while a compaction was made durable; memory is unchanged
    └── SessionCorrupt        the log is damaged: offset, why

    UnknownModel (a UserWarning): the model is not in the table and a default serves
    ForgetUnfinished (a UserWarning): what was to be forgotten may still stand in a log

Errors carry fields, not only text; every message ends with what to do next.
"""

from __future__ import annotations

from typing import Any

WORDS_MAX = 600
"""Characters of a reason. What a file says of itself is quoted in it and may be of any length; the middle gives way,
since the next step stands at the end."""

KEYS_MAX = 5

CLOSED = "it was closed"
"""Why a session that its caller closed gives nothing and takes nothing."""


def _bounded(why: str) -> str:
    return why if len(why) <= WORDS_MAX else f"{why[: WORDS_MAX // 2]} … {why[-WORDS_MAX // 2 :]}"


def _shown(value: object) -> str:
    """A caller's value in an error; of one that cannot be written, nested too deep or too long a number, its type."""
    try:
        return _bounded(repr(value))
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"


CONVERSATION = frozenset({"messages", "system", "tools", "response"})
"""Options that hold what was said: an error ends in logs, so it names their kind and quotes nothing."""


def _kind_of(value: object) -> str:
    """What a caller gave where a conversation was wanted, without a word of it."""
    keys = sorted(key for key in value if isinstance(key, str))[:KEYS_MAX] if isinstance(value, dict) else []
    return f"<{type(value).__name__}{' with ' if keys else ''}{', '.join(keys)}>"


class FoldlineError(Exception):
    """Base of all errors a caller may want to catch. Its words can be written anywhere: half a surrogate pair of what a
    caller gave is a question mark in them."""

    def __init__(self, words: str = "") -> None:
        super().__init__(words.encode(errors="replace").decode())


class InvalidTranscript(FoldlineError):
    """The input cannot be read: which file, which line (from 1; `None` when it is not line-based) and why."""

    def __init__(self, path: str, line: int | None, why: str) -> None:
        self.path, self.line, self.why = path, line, (why := _bounded(why))
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {why}")


class UnknownFormat(FoldlineError):
    """No codec or reader of that name, or none that recognises the content."""

    def __init__(self, name: str | None, known: tuple[str, ...], *, why: str) -> None:
        self.name, self.known, self.why = name, known, (why := _bounded(why))
        super().__init__(f"{why}; known formats: {', '.join(known)}")


class UnknownPolicy(FoldlineError):
    """No policy of that name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name, self.known = name, known
        super().__init__(f"no policy is called {name!r}; there are: {', '.join(known)}")


class UnknownAddress(FoldlineError):
    """The history does not hold what the address names."""

    def __init__(self, address: str, why: str) -> None:
        self.address, self.why = address, why
        super().__init__(f"{address}: {why}")


class InvalidOption(FoldlineError, ValueError):
    """An argument outside its bounds."""

    def __init__(self, option: str, value: object, *, why: str) -> None:
        self.option, self.value, self.why = option, value, why
        shown = _kind_of(value) if option in CONVERSATION else _shown(value)
        super().__init__(f"{option}={shown}: {why}")

    def as_typed(self, option: str) -> str:
        """The same for whoever gave it on a command line, where it is called `option`, and not in Python."""
        if self.option in CONVERSATION:
            return str(self)
        if self.value is None:
            return f"{option}: {self.why}"
        given = _bounded(self.value) if isinstance(self.value, str) else _shown(self.value)
        return f"{option} {given}: {self.why}" if given else f"{option} '': {self.why}"


class LawViolation(FoldlineError):
    """An edit would break a law. A pass that causes it has a fault; the view is unchanged."""

    def __init__(self, law: str, where: str, why: str = "") -> None:
        self.law, self.where, self.why = law, where, why
        super().__init__(f"law {law} at {where}{': ' if why else ''}{why}")


class TargetUnreachable(FoldlineError):
    """The smallest valid history is larger than the target. `tokens_min`: of what `result` holds; where that also says what was
    done, `why` names the smaller target that is reached. `reduced`: false when nothing could be reduced at all."""

    def __init__(
        self, tokens_min: int, tokens_target: int, why: str, result: Any = None, *, reduced: bool = True
    ) -> None:
        self.tokens_min, self.tokens_target, self.why, self.result = tokens_min, tokens_target, why, result
        what = "the history comes to" if reduced else "the history stays at"
        super().__init__(f"{what} {tokens_min:,} tokens, the target is {tokens_target:,}: {why}")


class ContextExhausted(FoldlineError):
    """Another compaction is needed and none may run."""


class CompactionBlocked(FoldlineError):
    """A hook or the caller refused the compaction; nothing changed."""


class ProviderFailed(FoldlineError):
    """A model's provider refused a request, failed at it, or could not be reached. `status` and `body` are what
    `classify_error` takes; there is no key in any of it."""

    def __init__(
        self, provider: str, status: int | None, *, why: str, body: Any = None, then: str = "try again"
    ) -> None:
        self.provider, self.status, self.body, self.why = provider, status, body, (why := _bounded(why))
        what = "could not be asked" if status is None else f"refused the request ({status})"
        if status is not None and status >= 500:
            what = f"failed ({status})"
        super().__init__(f"{provider} {what}: {why}; {then}")


class InvalidRequest(FoldlineError):
    """A provider refused the request (`invalid_request`) and it cannot be sent again: why, and what it said of sizes."""

    def __init__(
        self, why: str, *, tokens_used: int | None = None, tokens_limit: int | None = None, said: str = ""
    ) -> None:
        self.why, self.tokens_used, self.tokens_limit, self.said = why, tokens_used, tokens_limit, said
        numbers = ""
        if tokens_used is not None and tokens_limit is not None:
            numbers = f" ({tokens_used:,} tokens, the limit is {tokens_limit:,})"
        super().__init__(f"the conversation is too long for the model{numbers}: {why}")


class UnknownSession(FoldlineError):
    """No session of that name."""

    def __init__(self, name: str, near: tuple[str, ...] = ()) -> None:
        self.name, self.near = name, near
        hint = f"did you mean {near[0]!r}?" if near else "`foldline sessions` lists them"
        super().__init__(f"no session is called {name!r}; {hint}")


class SessionExists(FoldlineError):
    """There is a session of that name already."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is a session called {name!r} already; open it, or take another name")


class SessionBusy(FoldlineError):
    """Another process writes this session, or a file that is made from all of them (`beside`). `holder`: what is known of it,
    for a person."""

    def __init__(self, name: str, holder: str = "another process", *, beside: bool = False) -> None:
        self.name, self.holder = name, holder
        what = f"the file {name}" if beside else f"session {name!r}"
        then = "" if beside else ", or fork the session"
        super().__init__(f"{holder} is writing {what}; wait until it has closed it{then}")


class SessionFailed(FoldlineError):
    """The log could not be written or read. Nothing that was acknowledged is lost; nothing more is taken in this process, since
    a second try may seem to succeed where the first one lost data. `begun`: false where the session was to be made, and is
    not there."""

    def __init__(self, name: str, why: str, *, begun: bool = True) -> None:
        self.name, self.why, self.begun = name, (why := _bounded(why)), begun
        if not begun:
            super().__init__(f"session {name!r} was not made ({why}); mend the cause and try again")
            return
        then = "open it again" if why == CLOSED else "mend the cause and open it again"
        super().__init__(f"session {name!r} can no longer be used ({why}); {then}")


class CheckpointFailed(SessionFailed):
    """A compaction could not be made durable; memory is as it was."""


class SessionCorrupt(FoldlineError):
    """The log is damaged in the middle."""

    def __init__(self, offset: int, why: str, *, name: str | None = None) -> None:
        self.offset, self.why, self.name = offset, (why := _bounded(why)), name
        if name is None:
            super().__init__(f"damaged at byte {offset:,}: {why}")
            return
        then = f"`foldline verify {name}` says more, its --salvage FILE keeps what is sound"
        super().__init__(f"session {name!r} is damaged at byte {offset:,}: {why}; {then}")


UNREADABLE = (SessionCorrupt, SessionFailed, UnknownFormat)
"""What reading a log may raise for the log's own sake: damage, a disk that refuses, a later version. A walk over all
sessions names that one and goes on."""


class UnknownModel(UserWarning):
    """The model is not in the table; a stated default serves."""


class ForgetUnfinished(UserWarning):
    """A forget was interrupted, or found a session open: the rest is to be done."""
