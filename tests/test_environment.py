"""Every environment variable is declared once, and nothing reads another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.environment import VARIABLES

SOURCE = Path(__file__).parents[1] / "src" / "foldline"
DECLARED = frozenset(variable.name for variable in VARIABLES)
READERS = frozenset({"environ", "environb", "getenv", "getenvb"})
"""What `os` has to read variables."""


def named_in_words(tree: ast.AST) -> Iterator[str]:
    """Variables that a module names by a literal: a declared one wherever it stands, any other where it is read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in DECLARED:
            yield str(node.value)
    yield from (value for value in _read_in(tree) if value not in DECLARED)


def _read_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=read, slice=ast.Constant(value=str(name))) if _is_reader(read):
                yield name
            case ast.Call(func=ast.Attribute(value=read), args=[ast.Constant(value=str(name)), *_]) if (
                _is_reader(read)
            ):
                yield name
            case ast.Call(func=read, args=[ast.Constant(value=str(name)), *_]) if _is_reader(read):
                yield name
            case ast.keyword(arg="envvar", value=ast.Constant(value=str(name))):
                yield name
            case _:
                pass


def _is_reader(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in READERS
        case _:
            return False


def reads(tree: ast.AST) -> bool:
    """True for a module that can get at the environment."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in READERS:
                return True
            case ast.ImportFrom(module="os", names=names) if READERS.intersection(one.name for one in names):
                return True
            case _:
                pass
    return False


def modules() -> dict[str, ast.Module]:
    """The source but for the declarations, by path."""
    found = {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
    }
    del found["environment.py"]
    return found


def test_every_variable_has_its_sentence_and_stands_once() -> None:
    """The reference page is made from this table."""
    names = [variable.name for variable in VARIABLES]
    assert len(set(names)) == len(names)
    assert all(variable.sentence.endswith(".") for variable in VARIABLES)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", name) for name in names)


def test_no_other_module_names_a_variable_in_words() -> None:
    """style.md 14: environment variables are declared in one file; whoever reads one takes its name from there."""
    found = {path: [*named_in_words(tree)] for path, tree in modules().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_settings_alone_read_the_environment() -> None:
    """style.md 14: configuration is resolved once; a command's option says by `envvar` which variable it has."""
    assert [path for path, tree in modules().items() if reads(tree)] == ["settings.py"]


@pytest.mark.parametrize(
    "text",
    [
        'os.environ.get("FOLDLINE_HOME")',
        'os.environ["FOLDLINE_HOME"]',
        'os.getenv("FOLDLINE_HOME", "")',
        'NAME = "FOLDLINE_HOME"',
        'os.environ["FOLDLINE_OTHER"]',
        'os.environ.get("FOLDLINE_OTHER")',
        'environ.pop("FOLDLINE_OTHER", None)',
        'getenv("FOLDLINE_OTHER")',
        'click.option("--other", envvar="FOLDLINE_OTHER")',
    ],
)
def test_a_variable_that_is_named_in_words_is_found(text: str) -> None:
    """A check that cannot fail is a defect."""
    assert len([*named_in_words(ast.parse(text))]) == 1


def test_a_declared_name_and_a_sentence_about_a_variable_are_no_words_of_ones_own() -> None:
    """A check that always speaks says nothing."""
    told = 'os.environ.get(FOLDLINE_HOME.name)\n"left out: FOLDLINE_HOME"\nVALUES = {"PATH": "/bin"}'
    assert [*named_in_words(ast.parse(told))] == []


@pytest.mark.parametrize("text", ["from os import environ", "dict(os.environ)", "os.getenv(NAME)"])
def test_a_module_that_reads_the_environment_is_found(text: str) -> None:
    """A check that cannot fail is a defect."""
    assert reads(ast.parse(text))
    assert not reads(ast.parse("from os import path\nos.getcwd()"))
