"""What a text shows beside itself."""

from __future__ import annotations

import pytest

from foldline.ledger.standing_within import PATH_NAMES_MAX, Within, runs_of

SIZES = range(1, PATH_NAMES_MAX + 1)


def test_runs_of_a_path_are_its_last_names() -> None:
    """What can be found in it as words of their own."""
    assert set(runs_of("/a/b.c", sizes=SIZES)) == {"a", "a/", "/a", "/a/", "a/b.c", "b.c"}
    assert set(runs_of("a/b/", sizes=SIZES)) == {"a", "a/", "a/b", "b", "b/"}
    assert set(runs_of("/a/b.c", sizes=[1], folders=False)) == {"a", "b.c"}
    assert len(set(runs_of("/".join("abcdefghijklmnop"), sizes=SIZES))) < 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/repo/src/app.py", {"app.py", "src/app.py", "src", "src/"}),
        ("src/app.py", {"app.py", "src", "src/"}),
        ("src/", {"src"}),
        ("ValueError: run of src/app.py failed", {"run", "src/app.py", "app.py", "src", "src/"}),
        ("src/app.pyc", {"src", "src/"}),
        ("rerun", set()),
    ],
)
def test_of_the_set_those_are_found_that_stand_within(text: str, expected: set[str]) -> None:
    """CMP-8: `app.py` can be found in `/repo/src/app.py`, and not in `app.pyc`."""
    among = Within(["app.py", "src/app.py", "src", "src/", "run", "lib/none.py"])
    assert among.text(text) == expected
    assert among.line(f"- {text} (m5)") >= expected
