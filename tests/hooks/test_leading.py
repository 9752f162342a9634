"""Where the words of a project's command lead: whatever they may run beneath the project is watched, or said not to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.hooks.approval import shown
from foldline.hooks.command import Command
from foldline.hooks.leading import FILES_MAX, UNWATCHED, led

FILES = ("b.sh", "b.py", "__main__.py", "__init__.py", "Makefile", "b.js")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a folder of hooks."""
    (tmp_path / "hooks").mkdir()
    for name in FILES:
        (tmp_path / "hooks" / name).write_text("print(1)\n")
    return tmp_path.resolve()


def leads(root: Path, *argv: str) -> tuple[tuple[str, ...], str]:
    told = led(argv, str(root), program="")
    return told.files, told.unwatched


@pytest.mark.parametrize(
    ("argv", "run"),
    [
        (("python3", "hooks"), "__main__.py"),
        (("python3", "-m", "hooks.b"), "b.py"),
        (("python3", "-m", "hooks.b"), "__init__.py"),
        (("python3", "-Ihooks/b.py"), "b.py"),
        (("sh", "hooks/b.sh"), "b.sh"),
        (("sh", "-c", "sh hooks/b.sh"), "b.sh"),
        (("sh", "-c", ". ./hooks/b.sh"), "b.sh"),
        (("sh", "-c", "cd hooks && ./b.sh"), "b.sh"),
        (("bash", "-e", "./hooks/b.sh"), "b.sh"),
        (("bash", "--rcfile=hooks/b.sh"), "b.sh"),
        (("bash", "-xhooks/b.sh"), "b.sh"),
        (("env", "-S", "sh hooks/b.sh"), "b.sh"),
        (("make", "-C", "hooks"), "Makefile"),
        (("make", "-Chooks"), "Makefile"),
        (("node", "--require", "./hooks/b"), "b.js"),
    ],
    ids=" ".join,
)
def test_a_hook_whose_words_lead_to_a_file_is_another_when_the_file_changes(
    root: Path, argv: tuple[str, ...], run: str
) -> None:
    """S9: the approval is for what runs, not for how it is spelt."""

    def digest() -> str:
        command = Command(argv=argv)
        return shown(
            command, event="PreCompact", trigger=None, project=str(root), path="/usr/bin:/bin"
        ).digest

    before = digest()
    (root / "hooks" / run).write_text("print('rm -rf')\n")
    assert digest() != before


@pytest.mark.parametrize(
    "argv",
    [
        ("python3", "hooks"),
        ("python3", "-m", "hooks.b"),
        ("sh", "-c", "x=ho; . ./${x}oks/b.sh"),
        ("make",),
        ("npm", "test"),
        ("env", "-S", "sh hooks/b.sh"),
        ("/usr/bin/env", "sh", "hooks/b.sh"),
        ("node", "--require", "./hooks/b"),
        ("perl", "-e", "do './x'"),
    ],
    ids=" ".join,
)
def test_words_that_may_lead_to_more_are_said_to(root: Path, argv: tuple[str, ...]) -> None:
    """S9: a text, a module, a folder, a build tool and a launcher run what nobody can see in the words."""
    assert leads(root, *argv)[1].startswith(UNWATCHED)


def test_a_plain_script_leads_to_itself_alone(root: Path) -> None:
    """Nothing else is shown, and nothing is said where nothing speaks for it."""
    assert leads(root, "sh", "hooks/b.sh", "--fast", "a word") == (("hooks/b.sh",), "")
    assert leads(root, "./hooks/b.sh") == ((), "")
    assert leads(root, "sh", "", "a\0b", "x" * 5_000) == ((), "")


def test_the_shells_dot_is_not_the_projects_folder(root: Path) -> None:
    """`. ./hooks/b.sh` reads one file; a word that is the dot alone names the folder, all of it."""
    (root / "README").write_text("read me")
    assert leads(root, "sh", "-c", ". ./hooks/b.sh")[0] == ("./hooks/b.sh",)
    assert "./README" in leads(root, "python3", ".")[0]


def test_a_build_tool_has_its_own_file_watched(root: Path) -> None:
    """S9: `make` reads it without a word."""
    (root / "Makefile").write_text("all:\n")
    assert leads(root, "make", "all")[0] == ("Makefile",)


def test_what_is_outside_the_project_is_watched_as_a_whole_word_alone(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A piece of a word that names a file of the system is none of the project's."""
    other = tmp_path_factory.mktemp("other") / "run.sh"
    other.write_text("x")
    assert leads(root, "sh", str(other))[0] == (str(other),)
    assert leads(root, "sh", "-c", f"sh {other}")[0] == ()


def test_a_folder_with_too_many_files_is_said_not_to_be_watched(root: Path) -> None:
    """Bounded, and never in silence: one that grows over the bound is another hook too."""
    for number in range(FILES_MAX):
        (root / "hooks" / f"{number}.txt").write_text("")
    files, unwatched = leads(root, "python3", "hooks")
    assert files == ()
    assert f"hooks holds more than {FILES_MAX}" in unwatched


def test_what_a_run_writes_itself_is_passed_over(root: Path) -> None:
    """Else a hook would need its approval again after each run."""
    (root / "hooks" / "__pycache__").mkdir()
    (root / "hooks" / "__pycache__" / "b.pyc").write_text("")
    assert not any("__pycache__" in file for file in leads(root, "python3", "hooks")[0])
