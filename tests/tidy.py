"""The house rules that no off-the-shelf linter holds, as pure checks over parsed source.

Each check takes modules and gives complaints, one line each, with the place and what to do; `test_tidy.py` runs
them over this repo, and over samples that break them. What ruff, mypy and import-linter hold is not here: see
`pyproject.toml`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

PARAGRAPH_MIN = 90  # characters; a shorter module docstring says no more than its name
MODULE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 5
POSITIONAL_MAX = 2

TABLES = frozenset[str]()
"""Modules that are generated tables, free of the size limit; by name, each with its generating script."""

OUTERMOST_DOOR = "foldline.cli.main"
FOREIGN_CALLS = frozenset({"foldline.core.foreign"})
"""Where any exception may be caught: at the outermost door, where it becomes exit code 70, and where a caller's own function
is called for an answer: what it raises, whatever it is, is a failure with a name."""

FIXED_NAMES = frozenset(
    {
        "foldline.wire.overflow.classify_error",
        # Named, with their parameters, by the public interface.
        "foldline.api.compact",
        "foldline.api.acompact",
        "foldline.session.opening.open",
        "foldline.clients.wrap.wrap",
        "foldline.core.errors.InvalidTranscript.__init__",
        "foldline.core.errors.LawViolation.__init__",
        "foldline.core.errors.TargetUnreachable.__init__",
        # A port's method: three values, the same in every pass.
        "foldline.core.ports.Pass.plan",
    }
)
"""Functions free of the rule on parameters."""

BANNED_WORDS = frozenset({"manager", "service", "handler", "helper", "helpers", "util", "utils", "impl"})

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """One source file, parsed."""

    name: str
    """Dotted: `foldline.core.view`; a package goes by its own name."""
    text: str
    tree: ast.Module
    is_package: bool = False


Check: TypeAlias = Callable[[Module], Iterator[str]]


def parse(name: str, text: str, *, is_package: bool = False) -> Module:
    """A module from its text."""
    return Module(name, text, ast.parse(text), is_package)


def modules_in(folder: Path) -> tuple[Module, ...]:
    """Every module below `folder`, which holds the top package; in order of name."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found.append(parse(name, path.read_text(encoding="utf-8"), is_package=is_package))
    return tuple(found)


def opening_paragraph(module: Module) -> Iterator[str]:
    """A module opens with a paragraph: what it owns, what it knows nothing about, where its counterpart is."""
    prose = " ".join((ast.get_docstring(module.tree) or "").split())
    if len(prose) < PARAGRAPH_MIN:
        yield f"{module.name}: the opening paragraph is missing or says too little ({len(prose)} characters)"


def narrow_excepts(module: Module) -> Iterator[str]:
    """Only the outermost door, and what calls a caller's function, may catch everything."""
    if module.name == OUTERMOST_DOOR or module.name in FOREIGN_CALLS:
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            types = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(t is None or ast.unparse(t) in {"Exception", "BaseException"} for t in types):
                yield f"{module.name}:{node.lineno}: name the errors that are expected here"


def names_of(module: Module) -> Iterator[tuple[str, int]]:
    """Every name the module gives to something, with its line."""
    yield module.name.rsplit(".", 1)[-1], 1
    for node in ast.walk(module.tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case (
                ast.arg(arg=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
            ):
                yield name, node.lineno
            case ast.alias(asname=str(name)):
                yield name, node.lineno
            case _:
                pass


def vocabulary(module: Module) -> Iterator[str]:
    """Names say what a thing is: no Manager, Service, Handler, Helper, Util, Base…, …Impl, and no bare `context`."""
    for name, line in names_of(module):
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
        if words & BANNED_WORDS or re.match(r"_?Base[A-Z]", name):
            yield f"{module.name}:{line}: {name!r} says nothing of what it is; use a word of the vocabulary"
        is_command_module = line == 1 and module.name.startswith("foldline.cli.")
        if name == "context" and not is_command_module:
            yield f"{module.name}:{line}: bare 'context' is the window, a variable and a run object at once"


def functions_of(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Function, bool]]:
    """Every function with its dotted name, and whether it is a method."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{prefix}.{name}", node, isinstance(tree, ast.ClassDef)
                yield from functions_of(node, f"{prefix}.{name}")
            case ast.ClassDef(name=name):
                yield from functions_of(node, f"{prefix}.{name}")
            case _:
                yield from functions_of(node, prefix)


def is_command(node: Function) -> bool:
    """True for a function whose parameters are a command line's options."""
    return any(ast.unparse(d).split("(")[0].endswith((".command", ".group")) for d in node.decorator_list)


def parameters(module: Module) -> Iterator[str]:
    """Keyword-only past the first two arguments, no boolean positional, at most five parameters."""
    for name, node, is_method in functions_of(module.tree, module.name):
        own_name = name.rsplit(".", 1)[-1]
        is_protocol = own_name.startswith("__") and own_name.endswith("__") and own_name != "__init__"
        if name in FIXED_NAMES or is_port_method(name) or is_protocol or is_command(node):
            continue
        place = f"{name} (line {node.lineno})"
        decorators = {ast.unparse(d) for d in node.decorator_list}
        positional = [*node.args.posonlyargs, *node.args.args]
        if is_method and "staticmethod" not in decorators:
            positional = positional[1:]
        if len(positional) > POSITIONAL_MAX:
            yield f"{place}: make what follows the first {POSITIONAL_MAX} arguments keyword-only"
        if len(positional) + len(node.args.kwonlyargs) > PARAMETERS_MAX:
            yield f"{place}: more than {PARAMETERS_MAX} parameters; make an options value"
        defaults = dict(zip(reversed(positional), reversed(node.args.defaults), strict=False))
        for argument in positional:
            default = defaults.get(argument)
            is_flag = isinstance(default, ast.Constant) and isinstance(default.value, bool)
            if is_flag or (
                argument.annotation is not None and "bool" in ast.unparse(argument.annotation).split(" | ")
            ):
                yield f"{place}: {argument.arg!r} is a boolean; make it keyword-only"


def is_port_method(name: str) -> bool:
    """True for an implementation of a method whose parameters a port fixes."""
    return name.startswith("foldline.passes.") and name.endswith(".plan")


def sizes(module: Module) -> Iterator[str]:
    """A module has at most 500 lines (tables by name), a function at most 70."""
    lines = module.text.count("\n")
    if lines > MODULE_LINES_MAX and module.name not in TABLES:
        yield f"{module.name}: {lines} lines, more than {MODULE_LINES_MAX}; it owns more than one thing"
    for name, node, _ in functions_of(module.tree, module.name):
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > FUNCTION_LINES_MAX:
            yield f"{name}: {length} lines, more than {FUNCTION_LINES_MAX}"


def comments_of(module: Module) -> Iterator[tuple[int, str]]:
    """Every comment with its line."""
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def linked_todos(module: Module) -> Iterator[str]:
    """What is left to do has a link to where it is kept track of."""
    for number, text in comments_of(module):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text) and not re.search(
            r"https?://|[\w-]+/[\w-]+#\d+", text
        ):
            yield f"{module.name}:{number}: link the issue this waits for, or do it"


def unmuted(module: Module) -> Iterator[str]:
    """Size and complexity limits are met, not switched off."""
    for number, text in comments_of(module):
        if re.search(r"#\s*noqa(?!:)|#\s*noqa:.*\b(C901|PLR09\d\d|BLE001|S110)\b", text):
            yield f"{module.name}:{number}: a limit is switched off here; meet it"


EACH_MODULE: tuple[Check, ...] = (
    opening_paragraph,
    narrow_excepts,
    vocabulary,
    parameters,
    sizes,
    linked_todos,
    unmuted,
)


def words_of(module: Module) -> set[str]:
    """Every string of a module that could be a name."""
    constants = (node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value.isidentifier()}


def imports_of(module: Module) -> set[str]:
    """Dotted names the module may load: by import, or by a string that names a module (lazy tables)."""
    package = module.name if module.is_package else module.name.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                found.update(alias.name for alias in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                parent = ".".join(package.split(".")[: len(package.split(".")) - level + 1]) if level else ""
                origin = ".".join(part for part in (parent, source or "") if part)
                found.add(origin)
                found.update(f"{origin}.{alias.name}" for alias in names)
            case ast.JoinedStr(values=[ast.Constant(value=str(prefix)), _]) if prefix.startswith("foldline."):
                found.update(prefix + word for word in words_of(module))
            case ast.Constant(value=str(text)) if re.fullmatch(r"foldline(\.\w+)+(:\w+)?", text):
                found.add(text.split(":")[0])
    return found


def unused(modules: tuple[Module, ...], *, doors: frozenset[str]) -> Iterator[str]:
    """No file that nobody imports. `doors` are started from outside; a package stands while it holds a module."""
    wanted = {name for module in modules for name in imports_of(module)} | doors
    for module in modules:
        if not module.is_package and module.name not in wanted:
            yield f"{module.name}: nothing imports it; use it or delete it"


def mirror_of(module: Module) -> Path:
    """Where the tests of a module stand."""
    *folders, stem = module.name.split(".")[1:]
    return Path(*folders, f"test_{stem.strip('_')}.py")


def mirrored(modules: tuple[Module, ...], *, tests: Path) -> Iterator[str]:
    """Every source module has its test file, at the mirrored place."""
    for module in modules:
        if not module.is_package and not (tests / mirror_of(module)).is_file():
            yield f"{module.name}: no tests/{mirror_of(module)}"


def test_habits(module: Module) -> Iterator[str]:
    """Tests are functions, wait for nothing and fake no values."""
    for node in ast.walk(module.tree):
        match node:
            case ast.ClassDef(name=name) if name.startswith("Test"):
                yield f"{module.name}:{node.lineno}: {name}: tests are functions"
            case ast.Call(func=func) if ast.unparse(func) in {"time.sleep", "sleep", "asyncio.sleep"}:
                yield f"{module.name}:{node.lineno}: a test waits for an event, not for time"
    if any(name.startswith("unittest.mock") for name in imports_of(module)):
        yield f"{module.name}: use real values, a scripted completer or a fake port in place of mocks"


test_habits.__test__ = False  # type: ignore[attr-defined]  # a check, though its name begins like a test


def pass_names(modules: tuple[Module, ...]) -> Iterator[str]:
    """The names of all passes: the default of `name` in a class of `foldline.passes` that has `plan`."""
    for module in modules:
        if not module.name.startswith("foldline.passes."):
            continue
        for node in module.tree.body:
            if not isinstance(node, ast.ClassDef):
                continue
            plans = any(isinstance(item, ast.FunctionDef) and item.name == "plan" for item in node.body)
            for item in node.body:
                match item:
                    case ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=str(value))) if (
                        plans
                    ):
                        yield value


def shown(names: tuple[str, ...], *, golden: Path, table: Path) -> Iterator[str]:
    """Every pass has a golden case, `tests/golden/<pass>…/`, and a row in the table of passes."""
    rows = table.read_text(encoding="utf-8") if table.is_file() else ""
    for name in names:
        if not any(case.is_dir() for case in golden.glob(f"{name}*")):
            yield f"pass {name}: no golden case tests/golden/{name}…/"
        if not re.search(rf"^\| \[{re.escape(name)}\]\(#[\w-]+\) \|", rows, re.MULTILINE):
            yield f"pass {name}: no row in {table.name}"
