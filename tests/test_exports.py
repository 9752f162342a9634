"""What `import foldline` offers is what is promised, no more and no less."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import foldline

ERRORS = {
    "CheckpointFailed",
    "CompactionBlocked",
    "ContextExhausted",
    "FoldlineError",
    "InvalidTranscript",
    "LawViolation",
    "SessionBusy",
    "SessionCorrupt",
    "TargetUnreachable",
}
PROMISED = ERRORS | {"UnknownModel", "compact"}
"""Public names that callers may rely on; the interface names them."""


def test_every_promised_name_is_exported() -> None:
    """The library's first block and its errors."""
    assert PROMISED - set(foldline.__all__) == set()


def test_exports_are_sorted_exist_and_say_what_they_are() -> None:
    """`__all__` and reality agree; every public function and class has a docstring."""
    assert list(foldline.__all__) == sorted(foldline.__all__)
    for name in foldline.__all__:
        value = getattr(foldline, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_a_type_checker_finds_each_name_where_it_is_at_run_time() -> None:
    """The names stand twice: for it, and for whoever runs."""
    tree = ast.parse(Path(foldline.__file__).read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    named = [
        (alias.name, import_module(node.module))
        for node in checked.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
    assert sorted([*(name for name, _ in named), "__version__"]) == list(foldline.__all__)
    assert all(getattr(foldline, name) is getattr(module, name) for name, module in named)


def test_nothing_public_is_exported_by_accident() -> None:
    """What `dir` shows is what `__all__` promises; another name is an ordinary AttributeError."""
    assert sorted(dir(foldline)) == list(foldline.__all__)
    assert not hasattr(foldline, "compress")


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_every_error_is_a_foldline_error(name: str) -> None:
    """One `except foldline.FoldlineError` catches them all."""
    assert issubclass(getattr(foldline, name), foldline.FoldlineError)


def test_an_unknown_model_is_a_warning_and_no_error() -> None:
    """A stated default serves."""
    assert issubclass(foldline.UnknownModel, UserWarning)


def test_the_version_is_the_packages_own() -> None:
    """`foldline.__version__`, the metadata and pyproject.toml say the same."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert foldline.__version__ == project["project"]["version"]
    try:
        assert importlib.metadata.version("foldline") == foldline.__version__
    except importlib.metadata.PackageNotFoundError:  # run from the source tree, not installed
        assert Path(foldline.__file__).is_relative_to(Path(__file__).parent.parent / "src")
