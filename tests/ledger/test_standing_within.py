"""What a text shows beside itself."""

from __future__ import annotations

import pytest

from foldline.ledger.standing_within import PATH_NAMES_MAX, Standing, Within


def test_a_path_shows_the_runs_of_its_names_and_folders_with_a_slash() -> None:
    """What can be found in it as words of their own."""
    runs = ["a", "a/", "/a", "/a/", "a/b.c", "b.c"]
    among = Within([*runs, "b", "b.c/", "/a/b.c", "/a/b.c/", "c", "a/b"])
    assert among.path("/a/b.c") == set(runs)
    assert Within(["a", "a/", "a/b", "b", "b/", "a/b/"]).path("a/b/") == {"a", "a/", "a/b", "b", "b/"}


def test_of_a_long_path_the_last_names_are_looked_at() -> None:
    """Style rule 11: a path of four thousand characters has two million runs."""
    names = "abcdefghijklmnop"
    assert Within(names).path("/".join(names)) == set(names[-PATH_NAMES_MAX:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/repo/src/app.py", {"app.py", "src/app.py", "src", "src/"}),
        ("src/app.py", {"app.py", "src", "src/"}),
        ("src/", {"src"}),
        ("src/app.py/", {"app.py", "src/app.py", "src", "src/"}),
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


TEXTS = (
    *(
        "app.py",
        "src/app.py",
        "/repo/src/app.py",
        "src",
        "src/",
        "run",
        "rerun",
        "src/app.pyc",
        "/repo/src/app.py/",
    ),
    "ValueError: run of src/app.py failed",
)


@pytest.mark.parametrize("first", range(len(TEXTS) + 1))
def test_which_texts_show_one_does_not_depend_on_when_they_were_learned(first: int) -> None:
    """Law SAME: a history that came back longer is told as one that is new."""
    growing = Standing(TEXTS[:first])
    for text in TEXTS[first:]:
        growing.learn([text])
    for text in TEXTS:
        expected = {other for other in TEXTS if text in Within(TEXTS).text(other)}
        assert set(growing.showing(text)) == expected
        assert len(growing.showing(text)) == len(expected)
