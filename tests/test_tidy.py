"""This repo keeps its house rules, and each rule's check finds what it is meant to find.

The checks stand in `tests/tidy.py`; each is run over the repo, where it must find nothing, and over a sample that
breaks the rule, where it must speak.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import tidy

REPO = Path(__file__).parent.parent
SOURCE = REPO / "src"
MODULES = tidy.modules_in(SOURCE)
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
TESTS = tidy.modules_in(REPO / "tests")
DOORS = frozenset(
    {target.split(":")[0] for target in PROJECT["project"]["scripts"].values()}
    | {module.name for module in MODULES if module.name.endswith(".__main__")}
    | {module.name for module in MODULES if any(tidy.pass_names((module,)))}
    | {name for test in TESTS for name in tidy.imports_of(test) if name.startswith("foldline.testing.")}
)
"""What is started from outside: the program, the passes (users compose them), and of the testing kit what tests use."""

LONG = "x = 1\n" * (tidy.MODULE_LINES_MAX + 1)
LONG_FUNCTION = "def f():\n" + "    x = 1\n" * tidy.FUNCTION_LINES_MAX

BAD = [
    (tidy.opening_paragraph, "x = 1"),
    (tidy.opening_paragraph, '"""Things."""'),
    (tidy.narrow_excepts, "try:\n    x = 1\nexcept Exception:\n    x = 2"),
    (tidy.narrow_excepts, "try:\n    x = 1\nexcept (OSError, BaseException) as e:\n    x = 2"),
    (tidy.narrow_excepts, "try:\n    x = 1\nexcept:\n    x = 2"),
    (tidy.vocabulary, "class SessionManager: ..."),
    (tidy.vocabulary, "def log_helper(): ..."),
    (tidy.vocabulary, "class BaseStore: ..."),
    (tidy.vocabulary, "class StoreImpl: ..."),
    (tidy.vocabulary, "string_utils = 1"),
    (tidy.vocabulary, "def f(context): ..."),
    (tidy.vocabulary, "self.context = 1"),
    (tidy.vocabulary, "import x as context"),
    (tidy.parameters, "def f(a, b, c): ..."),
    (tidy.parameters, "class C:\n    def f(self, a, b, c): ..."),
    (tidy.parameters, "def f(a, *, b, c, d, e, f): ..."),
    (tidy.parameters, "def f(a, b=False): ..."),
    (tidy.parameters, "def f(a: bool): ..."),
    (tidy.parameters, "def f(a: bool | None = None): ..."),
    (tidy.parameters, "def outer():\n    def f(a, b, c): ..."),
    (tidy.sizes, LONG),
    (tidy.sizes, LONG_FUNCTION),
    (tidy.linked_todos, "x = 1  # TODO make it two"),
    (tidy.unmuted, "x = 1  # noqa: C901"),
    (tidy.unmuted, "x = 1  # noqa"),
    (tidy.test_habits, "class TestView: ..."),
    (tidy.test_habits, "import time\ntime.sleep(1)"),
    (tidy.test_habits, "from unittest.mock import Mock"),
]

GOOD = [
    (tidy.opening_paragraph, f'"""{"Owns one thing and says so. " * 4}"""'),
    (tidy.narrow_excepts, "try:\n    x = 1\nexcept (OSError, ValueError):\n    x = 2"),
    (tidy.vocabulary, "class Session:\n    tokens_context: int\n    database = 1"),
    (tidy.parameters, "class C:\n    def f(self, a, b, *, c: bool, d, e): ..."),
    (tidy.parameters, "class C:\n    def __exit__(self, kind, error, trace): ..."),
    (tidy.parameters, "@cli.command()\ndef compact(a, b, c, d, e, f): ..."),
    (tidy.sizes, "x = 1\n" * tidy.MODULE_LINES_MAX),
    (tidy.linked_todos, "x = 1  # TODO wait for python/cpython#1234"),
    (tidy.unmuted, "x = 1  # noqa: E402"),
    (tidy.test_habits, "def test_a_view_is_a_view(): ..."),
]


def report(complaints: Iterable[str]) -> None:
    """Fails with every complaint on a line of its own."""
    if lines := list(complaints):
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.mark.parametrize("check", tidy.EACH_MODULE, ids=lambda check: check.__name__)
def test_every_module_keeps_the_rule(check: tidy.Check) -> None:
    """House rules on modules, names, parameters, sizes and errors (CONTRIBUTING.md)."""
    report([complaint for module in MODULES for complaint in check(module)])


@pytest.mark.parametrize("module", TESTS, ids=lambda module: module.name)
def test_every_test_module_keeps_the_habits_of_tests(module: tidy.Module) -> None:
    """Tests are functions without sleeps or mocks of values, and open with a paragraph too."""
    report([*tidy.test_habits(module), *tidy.linked_todos(module), *tidy.narrow_excepts(module)])


@pytest.mark.parametrize(("check", "sample"), BAD, ids=lambda value: getattr(value, "__name__", None))
def test_each_check_speaks_where_its_rule_is_broken(check: tidy.Check, sample: str) -> None:
    """A check that cannot fail is a defect."""
    assert list(check(tidy.parse("foldline.sample", sample)))


@pytest.mark.parametrize(("check", "sample"), GOOD, ids=lambda value: getattr(value, "__name__", None))
def test_each_check_is_silent_where_its_rule_is_kept(check: tidy.Check, sample: str) -> None:
    """A check that always speaks says nothing."""
    assert list(check(tidy.parse("foldline.sample", sample))) == []


def test_only_the_outermost_door_may_catch_everything() -> None:
    """There an exception becomes exit code 70."""
    text = "try:\n    x = 1\nexcept Exception:\n    x = 2"
    for name in (tidy.OUTERMOST_DOOR, *tidy.FOREIGN_CALLS):
        assert not list(tidy.narrow_excepts(tidy.parse(name, text)))


def test_no_module_is_left_that_nobody_imports() -> None:
    """Replace and delete in the same change."""
    report(tidy.unused(MODULES, doors=DOORS))


def test_the_check_for_unused_modules_sees_each_way_of_importing() -> None:
    """Absolute, relative and by name in a table of lazy imports; what is left is reported."""
    modules = (
        tidy.parse("foldline", "from .a import x", is_package=True),
        tidy.parse("foldline.a", "import foldline.b"),
        tidy.parse("foldline.b", "from foldline import c"),
        tidy.parse("foldline.c", "TABLE = {'d': 'foldline.d:run'}"),
        tidy.parse("foldline.d", "NAMES = ('e',)\nimport_module(f'foldline.{NAMES[0]}')"),
        tidy.parse("foldline.e", ""),
        tidy.parse("foldline.left", ""),
    )
    assert [line.split(":")[0] for line in tidy.unused(modules, doors=frozenset())] == ["foldline.left"]


def test_every_file_that_ships_beside_the_code_is_named_by_the_code() -> None:
    """A data file that no module opens is as dead as a module that no one imports."""
    texts = "\n".join(module.text for module in MODULES)
    data = [
        p
        for p in (SOURCE / "foldline").rglob("*")
        if p.is_file() and p.suffix not in {".py", ".pyc"} and p.name != "py.typed"
    ]
    report([str(p) for p in data if p.name not in texts])


def test_every_source_module_has_its_tests_at_the_mirrored_place() -> None:
    """src/foldline/core/view.py is tested in tests/core/test_view.py; no exceptions."""
    report(tidy.mirrored(MODULES, tests=REPO / "tests"))


def test_the_mirror_check_reports_a_module_without_tests(tmp_path: Path) -> None:
    """The checker is tested with broken input."""
    assert list(tidy.mirrored((tidy.parse("foldline.core.view", ""),), tests=tmp_path))


def test_every_pass_has_a_golden_case_and_a_row_in_the_docs() -> None:
    """A pass is shown by example where people look for it: tests/golden and docs/reference/passes.md."""
    names = tuple(tidy.pass_names(MODULES))
    report(tidy.shown(names, golden=REPO / "tests/golden", table=REPO / "docs/reference/passes.md"))


def test_the_check_of_passes_finds_passes_and_what_they_lack(tmp_path: Path) -> None:
    """The checker is tested with broken input."""
    text = "class Snip:\n    name: str = 'snip'\n    def plan(self, view, moment, frame): ..."
    names = tuple(tidy.pass_names((tidy.parse("foldline.passes.snip", text),)))
    assert names == ("snip",)
    assert len(list(tidy.shown(names, golden=tmp_path, table=tmp_path / "passes.md"))) == 2


def test_limits_of_size_and_complexity_were_not_raised() -> None:
    """Limits go down, never up."""
    lint = PROJECT["tool"]["ruff"]["lint"]
    assert {"C90", "BLE", "S110", "TID251", "T20", "DTZ", "PLR0915", "D100"} <= set(lint["select"])
    assert lint["mccabe"]["max-complexity"] <= 10
    assert lint["pylint"]["max-statements"] <= 40
    assert PROJECT["tool"]["ruff"]["line-length"] <= 110
    assert (tidy.MODULE_LINES_MAX, tidy.FUNCTION_LINES_MAX, tidy.PARAMETERS_MAX) <= (500, 70, 5)


LOADED = "import json, sys\n{}\nprint(json.dumps(sorted(sys.modules)))"
QUIETLY = """
import io, contextlib, sys
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.argv = ["foldline", "--help"]
"""
HELP = QUIETLY + "    from foldline.cli.main import main; main()"
HELP_BY_CLICK = QUIETLY + "    import click, msgspec; click.group()(lambda: None)()"
HELP_MAY_LOAD = frozenset({"__future__"})
"""Modules of the standard library that `foldline --help` may load beside what click and msgspec load for theirs."""


def loaded_by(code: str) -> set[str]:
    """Every module in a fresh interpreter that has run `code`; a measurement of coverage would load its own."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    program = [sys.executable, "-c", LOADED.format(code)]
    run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120, env=alone)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_help_loads_click_msgspec_and_nothing_heavy() -> None:
    """The shell is thin: what a command needs is imported inside it. Measured against click and msgspec alone."""
    extra = loaded_by(HELP) - loaded_by(HELP_BY_CLICK) - HELP_MAY_LOAD
    report(sorted(name for name in extra if name.split(".")[0] != "foldline"))


def test_importing_the_library_loads_no_sdk_tokenizer_or_terminal_package() -> None:
    """Import does nothing: no toktok, rich or click, no event loop, no network, no database."""
    heavy = {
        "toktok",
        "rich",
        "click",
        "asyncio",
        "socket",
        "ssl",
        "sqlite3",
        "http",
        "logging",
        "subprocess",
    }
    assert loaded_by("import foldline") & heavy == set()


FOREIGN = re.compile(
    r"\.\./shared\b"  # a folder that is not part of the repo
    r"|(?<![\w.])/(?:work|root)/"  # a path of one machine
    r"|\bindex-url\b|\bextra-index\b|\bfind-links\b|^registry\s*="  # a package registry of one workplace
    r"|https?://(?:\d+\.\d+\.\d+\.\d+|[\w-]+(?:\.(?:internal|local|lan|corp))+)\b",
    re.MULTILINE,
)
QUOTED = ("tests/data/", "tests/golden/", "examples/session.jsonl", "tests/test_tidy.py")
"""Where real sessions are quoted, which name their own machines; and this file."""


def repo_texts() -> list[tuple[str, str]]:
    """Every file of the repo that git would keep, as text."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:  # an unpacked archive has no git
        skip = {".venv", ".git", "__pycache__", "build", "dist"}
        names = [str(p.relative_to(REPO)) for p in REPO.rglob("*") if p.is_file() and not skip & set(p.parts)]
    else:
        names = listed.stdout.splitlines()
    texts = []
    for name in sorted(names):
        if not name.startswith(QUOTED) and (REPO / name).is_file():
            texts.append((name, (REPO / name).read_text(encoding="utf-8", errors="replace")))
    return texts


def test_the_repo_speaks_of_the_product_alone() -> None:
    """No machine's paths, no workplace's registries."""
    found = [f"{name}: {match.group()}" for name, text in repo_texts() for match in FOREIGN.finditer(text)]
    report(found)


@pytest.mark.parametrize(
    "sample",
    [
        "see ../shared/notes",
        "cd /work/main",
        "--index-url x",
        "https://10.0.0.1/simple",
        "http://pypi.corp.internal/",
    ],
)
def test_the_check_for_foreign_words_finds_them(sample: str) -> None:
    """The checker is tested with broken input."""
    assert FOREIGN.search(sample)
