"""What a command says is read word by word as its shell does."""

from __future__ import annotations

import pytest

from foldline.ledger.shell_words import heredocs, words_of
from tests.linear import slowness


@pytest.mark.parametrize(
    ("command", "said", "targets"),
    [
        ("mv 'a b' \"c d\" e\\ f", ["mv", "a b", "c d", "e f"], []),
        ("make > out 2>&1 all", ["make", "all"], [(">", "out")]),
        ("echo x >> b", ["echo", "x"], [(">>", "b")]),
        ("make 2> err < in", ["make"], []),
        ("rm c # not d", ["rm", "c"], []),
        ("A=1 B=2", [], []),
    ],
)
def test_words_are_told_from_where_output_goes(
    command: str, said: list[str], targets: list[tuple[str, str]]
) -> None:
    """CMP-8: what a line changes is read from these."""
    words = words_of(command, {})
    assert (words.said, words.targets) == (said, targets)


def test_a_variable_of_the_line_is_known_behind_it() -> None:
    """CMP-8: `D=/r; rm $D/a` removes `/r/a`; one that is set for a single command does not hold there."""
    names: dict[str, str] = {}
    words_of("D=/r", names)
    assert words_of('rm "$D/a" $E/b', names).said == ["rm", "/r/a", "$E/b"]


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("mv a b 2>/dev/null", True),
        ("mv a b 2>>log", True),
        ("mv a b &> log", True),
        ("mv a b >& log", True),
        ("mv a b >/dev/null 2>&1", True),
        ("mv a b 2>&1", False),
        ("mv a b 2>&1 >/dev/null", False),
        ("mv a b > log", False),
    ],
)
def test_a_command_may_hide_what_it_says_of_a_failure(command: str, *, hides: bool) -> None:
    """CMP-8: what nobody can see is no sign that all went well."""
    assert words_of(command, {}).hides_errors is hides


def test_a_heredoc_brings_the_text_up_to_its_end() -> None:
    """CMP-8: what a line writes into a file."""
    assert list(heredocs("cat > a <<'E'\nx\ny\nE\nls\ncat <<F\nz")) == [("cat > a ", "x\ny"), ("cat ", "z")]


@pytest.mark.parametrize("piece", ["'", '"', "\\", "2>&1 ", "> a ", "A=1 "])
def test_a_long_command_takes_linear_time(piece: str) -> None:
    """Whatever stands in it."""
    assert slowness(lambda text: words_of(text, {}), piece, size=20_000, scans_max=200) == ""
