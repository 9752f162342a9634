"""What the documents show is true: commands run, Python runs, output is as printed, links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from tests.docs.blocks import (
    ELSEWHERE,
    REPO,
    Block,
    blocks_of,
    commands_of,
    make_targets,
    matches,
    run_command,
    sandbox,
)

DOCUMENTS = sorted([*REPO.glob("*.md"), *REPO.glob("docs/**/*.md"), *REPO.glob("examples/*.md")])


def name_of(path: Path) -> str:
    """The document's path in the repo."""
    return str(path.relative_to(REPO))


def run_shell(block: Block, folder: Path, *, environment: dict[str, str]) -> list[str]:
    """What went wrong with the commands of a block."""
    wrong = []
    for command, expected in commands_of(block):
        if command.startswith(ELSEWHERE):
            continue
        run = run_command(command, folder, environment=environment)
        if expected is None and run.returncode:
            wrong.append(f"line {block.line}: {command}\nexit {run.returncode}\n{run.stdout}")
        elif expected is not None and not matches(expected, run.stdout):
            wrong.append(f"line {block.line}: {command}\n--- shown\n{expected.strip()}\n--- is\n{run.stdout}")
    return wrong


def run_python(block: Block, namespace: dict[str, object]) -> None:
    """Run a Python block; what it raises names the block's own lines."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile("\n" * (block.line - 1) + block.text, "document", "exec"), namespace)


def save_file(block: Block, folder: Path) -> None:
    """Write a file that a page shows; its name stands in its first line, behind `#`."""
    name, _, text = block.text.partition("\n")
    (folder / name.removeprefix("# ")).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_commands_and_code_of_a_document_run_as_shown(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader may copy any block and get what the page shows."""
    blocks = [
        b
        for b in blocks_of(document.read_text(encoding="utf-8"))
        if b.language in {"python", "sh", "console", "toml"}
    ]
    environment = sandbox(tmp_path) if blocks else {}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    namespace: dict[str, object] = {"__name__": "document"}
    for block in blocks:
        if block.language == "python":
            run_python(block, namespace)
        elif block.language == "toml":
            save_file(block, tmp_path)
        elif wrong := run_shell(block, tmp_path, environment=environment):
            pytest.fail("\n".join(wrong), pytrace=False)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_make_targets_that_a_document_names_exist(document: Path) -> None:
    """`make x` in prose or code is a target of the Makefile."""
    named = re.findall(r"(?:`|^|\$ )make ([a-z][a-z-]*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) - make_targets() == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    """Every relative link names a file of the repo, and its anchor a heading of that file."""
    wrong = []
    for target, anchor in re.findall(
        r"\]\((?!https?://)([^)#\s]*)(#[^)\s]*)?\)", document.read_text(encoding="utf-8")
    ):
        path = (document.parent / target).resolve() if target else document
        if not path.exists():
            wrong.append(target)
        elif anchor and anchor not in anchors_of(path):
            wrong.append(target + anchor)
    assert wrong == []


def anchors_of(path: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("example", sorted(REPO.glob("examples/*.py")), ids=name_of)
def test_every_example_runs(example: Path, tmp_path: Path) -> None:
    """The programs in examples/ end well, offline and without a key."""
    run = run_command(f"python3 examples/{example.name}", tmp_path, environment=sandbox(tmp_path))
    assert run.returncode == 0, run.stdout
    assert run.stdout.strip()


def test_shown_output_is_compared_and_not_only_run(tmp_path: Path) -> None:
    """The checker is tested with broken input: wrong output, a failing command, a failing block."""
    environment = {"PATH": os.environ["PATH"], "PYTHON_FOR_DOCS": "false"}
    good, bad, fails = blocks_of(
        "```console\n$ echo one; echo two\none\n…\n```\n"
        "```console\n$ echo one\ntwo\n```\n"
        "```sh\necho fine  # said so\nfoldline compact\n```\n"
    )
    assert run_shell(good, tmp_path, environment=environment) == []
    assert len(run_shell(bad, tmp_path, environment=environment)) == 1
    assert len(run_shell(fails, tmp_path, environment=environment)) == 1
    with pytest.raises(ZeroDivisionError):
        run_python(Block(3, "python", "1 / 0"), {})
    assert matches("a … c\n…\nz", "a b c\nd\ne\nz")
    assert not matches("a …", "b c")
