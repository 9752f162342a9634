"""Faults are named, and quote nothing."""

from __future__ import annotations

from foldline.core.errors import InvalidOption, SessionBusy
from foldline.core.foreign import Raised, tried
from foldline.proxy.faults import why_of

KEY = "sk-ant-api03-of-these-tests"


def raised(error: Exception) -> Raised:
    def fail() -> None:
        raise error

    found = tried(fail)
    assert isinstance(found, Raised)
    return found


def test_an_exception_is_named_by_its_kind_and_place_and_never_by_its_words() -> None:
    """Test S3, threat 7: what it stumbled over may be a key."""
    for error in (KeyError(KEY), ValueError(f"{KEY} is odd"), InvalidOption("key", KEY, why="give another")):
        why = why_of(raised(error))
        assert KEY not in why
        assert why.startswith(f"{type(error).__name__} at proxy/test_faults.py:")


def test_what_is_wrong_with_a_session_is_said_with_the_next_step() -> None:
    """Names and paths alone are in it."""
    busy = SessionBusy("proxy-0123456789ab")
    assert str(busy) in why_of(raised(busy))


def test_an_exception_that_was_never_raised_is_named_too() -> None:
    """It has no place."""
    assert why_of(Raised(KeyError(KEY))) == "KeyError"
