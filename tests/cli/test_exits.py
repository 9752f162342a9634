"""Every error has the exit code that scripts are promised, and a sentence that says what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from foldline.cli import exits
from foldline.core import errors
from foldline.stores.whole import kept_in

EXPECTED = [
    (errors.InvalidTranscript("a.jsonl", 3, "cut off; restore it"), 1),
    (errors.UnknownFormat(None, ("pi",), why="nothing recognises a.bin"), 1),
    (errors.UnknownFormat("word", ("pi",), why="no format is called 'word'"), 2),
    (errors.UnknownPolicy("x", ("balanced",)), 2),
    (errors.UnknownAddress("m1@00000000", "not in this file"), 1),
    (errors.InvalidOption("to", 0, why="at least 1"), 2),
    (errors.LawViolation("PAIR", "3"), 70),
    (errors.TargetUnreachable(200, 1, "the last user message is larger"), 3),
    (errors.ContextExhausted("nothing may be reduced"), 4),
    (errors.CompactionBlocked("a hook said no"), 4),
    (errors.CheckpointFailed("s", "disk full"), 1),
    (errors.SessionBusy("s"), 4),
    (errors.InvalidRequest("too long, and nothing may be reduced"), 4),
    (errors.ProviderFailed("openai", None, why="no server"), 1),
    (errors.ProviderFailed("openai", 401, why="no key"), 1),
    (errors.ProviderFailed("openai", 529, why="busy"), 4),
    (errors.UnknownSession("s"), 1),
    (errors.SessionExists("s"), 1),
    (errors.SessionFailed("s", "disk full"), 1),
    (errors.SessionCorrupt(10, "checksum"), 1),
    (OSError(errno.ENOSPC, "No space left on device"), 1),
    (OSError(errno.EBADF, "Bad file descriptor"), 70),
    (KeyError("slot"), 70),
    (RecursionError("too deep"), 70),
    (MemoryError(), 70),
]


@pytest.mark.parametrize(("error", "code"), EXPECTED, ids=lambda value: type(value).__name__)
def test_an_error_has_its_promised_code(error: Exception, code: int) -> None:
    """Interface, "Command line": 1 input, 2 usage, 3 target, 4 busy or refused, 70 our fault."""
    assert exits.code_of(error) == code


def test_a_home_on_a_full_disk_is_no_wrong_usage() -> None:
    """cli.md: 1 where output cannot be written."""
    with pytest.raises(errors.InvalidOption) as refused, kept_in("home/limits"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert exits.code_of(refused.value) == 1


def test_every_error_of_the_tree_is_listed_above() -> None:
    """A new error gets its code on purpose and not by falling through."""
    tree = set(errors.FoldlineError.__subclasses__()) | set(errors.SessionFailed.__subclasses__())
    assert tree == {type(error) for error, _ in EXPECTED if isinstance(error, errors.FoldlineError)}


def test_a_fault_of_ours_is_one_line_that_asks_for_a_report() -> None:
    """No traceback; the person learns that the input is not to blame."""
    said = exits.sentence_of(KeyError("slot"))
    assert "KeyError: 'slot'" in said
    assert "report" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "model: name one"),
        ("m 1", "model m 1: name one"),
        (3, "model 3: name one"),
        ("", "model '': name one"),
    ],
)
def test_an_option_is_told_as_it_was_written(value: object, said: str) -> None:
    """Nobody wrote `model=None` on the command line."""
    error = errors.InvalidOption("model", value, why="name one")
    assert exits.sentence_of(error) == said
    assert exits.sentence_of(error, {"model": "--model"}) == f"--{said}"


def test_a_file_where_a_session_is_wanted_gets_the_commands_for_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`foldline recall session.jsonl words` told what letters a name may have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.jsonl").touch()
    (tmp_path / "a.jsonl").touch()
    refused = errors.InvalidOption("name", "a b.jsonl", why="a session's name has …")
    assert exits.sentence_of(refused) == (
        "a b.jsonl is a file, no session; `foldline show 'a b.jsonl'` looks into it, "
        "`foldline import 'a b.jsonl'` makes a session of it"
    )
    assert "`foldline import a.jsonl`" in exits.sentence_of(errors.UnknownSession("a.jsonl"))
    assert "no session is called" in exits.sentence_of(errors.UnknownSession("b.jsonl"))


def test_an_error_without_words_is_named() -> None:
    """`MemoryError()` has an empty text."""
    assert "MemoryError." in exits.sentence_of(MemoryError())


def test_a_full_disk_says_what_to_do() -> None:
    """The machine's fault, not ours: no report is asked for."""
    said = exits.sentence_of(OSError(errno.ENOSPC, "No space left on device", "out.json"))
    assert said.startswith("out.json: No space left on device")
    assert "report" not in said


def test_several_reports_give_the_gravest_code() -> None:
    """A file with many conversations: one that misses its target must not be hidden by those that met it."""
    assert exits.code_of_outcomes([]) == 0
    assert exits.code_of_outcomes(["compacted", "unchanged"]) == 0
    assert exits.code_of_outcomes(["compacted", "unreachable", "compacted"]) == 3
    assert exits.code_of_outcomes(["failed", "unreachable"]) == 70
    assert exits.code_of_outcomes(["refused", "unreachable"]) == 4


def test_a_report_of_a_refusal_is_told_from_a_fault() -> None:
    """OBS-3: what kept too little for its policy is refused, which is no fault of ours."""
    assert exits.outcome_of({"outcome": "failed", "below_floor": [{"kind": "paths"}]}) == "refused"
    assert exits.outcome_of({"outcome": "failed", "below_floor": []}) == "failed"
    assert exits.outcome_of({"outcome": "compacted", "valid": False}) == "failed"
    assert exits.outcome_of({"outcome": "unchanged"}) == "unchanged"


def test_a_document_holds_no_number_that_json_has_not() -> None:
    """`NaN` is refused by every strict reader."""
    for value in (float("nan"), float("inf")):
        error = errors.InvalidOption("forced", value, why="give a number")
        fields = exits.document_of(error, code=exits.USAGE, sentence=str(error))["fields"]
        assert fields["value"] == str(value)


def test_an_error_as_a_document_carries_its_fields() -> None:
    """A script reads the place, not the sentence."""
    error = errors.InvalidTranscript("a.jsonl", 12, "cut off")
    document = exits.document_of(error, code=1, sentence=str(error))
    assert document["fields"] == {"path": "a.jsonl", "line": 12, "why": "cut off"}
    assert (document["schema"], document["error"], document["exit_code"]) == (
        "foldline.error/1",
        "InvalidTranscript",
        1,
    )


def test_a_result_that_is_not_valid_is_the_fault_of_what_came_in_or_ours() -> None:
    """scripts.md: 1 for bad input, 70 for a fault of foldline alone."""
    report = {"outcome": "unchanged", "valid": False, "unmended": [], "violations": [{"law": "ROLE"}]}
    assert exits.code_of_outcomes([exits.outcome_of(report)]) == exits.OUR_FAULT
    report["unmended"] = [{"law": "ROLE", "at": "message 1", "why": "a result behind"}]
    assert exits.code_of_outcomes([exits.outcome_of(report)]) == exits.BAD_INPUT
    report["violations"] = [{"law": "PROVIDER"}]
    assert exits.code_of_outcomes([exits.outcome_of(report)]) == exits.DONE
