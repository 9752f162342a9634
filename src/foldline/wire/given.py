"""System prompt and tool schemas as a caller gives them: refused, by name, where no provider could read them."""

from __future__ import annotations

from msgspec import Raw

from foldline.core.errors import InvalidOption, InvalidTranscript
from foldline.wire import strict
from foldline.wire.body import read_body

_DECLARED = ("functionDeclarations", "function_declarations")


def schemas_of(tools: object) -> Raw | None:
    """The tool schemas as JSON. Raises `InvalidOption`."""
    if tools is None:
        return None
    if not isinstance(tools, (list, tuple)):
        raise InvalidOption("tools", tools, why="give a list of tool schemas, each an object")
    opened = [strict.plain(tool) for tool in tools]
    for tool in opened:
        is_schema = isinstance(tool, dict)
        if not is_schema or not all(isinstance(tool.get(key) or (), (list, tuple)) for key in _DECLARED):
            raise InvalidOption(
                "tools", tool, why="a schema is an object; its functionDeclarations are a list"
            )
    return _writable("tools", opened)


def check_system(system: object, *, format: str) -> None:
    """Refuse a system prompt that the format cannot hold. Raises `InvalidOption`."""
    opened = strict.plain(system)
    if opened is None:
        return
    if not isinstance(opened, (str, list, tuple, dict)):
        raise InvalidOption(
            "system", system, why="give the system prompt as text, or as the format's own value"
        )
    _writable("system", opened)
    try:
        read_body({"messages": [], "system": system}, format=format)
    except InvalidTranscript as error:
        raise InvalidOption("system", system, why=error.why) from error


def _writable(option: str, value: object) -> Raw:
    """The value as JSON, if JSON can say it: no bytes, no NaN, no object of an unknown class."""
    try:
        return Raw(strict.dump_foreign(value))
    except ValueError as error:
        raise InvalidOption(option, value, why=f"{error}; give values of JSON alone") from error
