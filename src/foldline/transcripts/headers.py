"""Typed headers of JSON Lines records: the keys a reader decides by, without reading the rest of the line.

Owns one decoder a struct type, and the detour for lines with lone surrogate escapes, which msgspec refuses and which
real logs hold. Knows no format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from foldline.wire import slices, strict

StructT = TypeVar("StructT", bound=Struct)


def header_of(kind: type[StructT]) -> Callable[[bytes], StructT | str]:
    """A function from a line to its header of type `kind`, or to the reason why it has none.

    Keys `kind` does not name are passed over; fields of type `Raw` keep the bytes of their value, which hold on to
    the line. Fields whose name in JSON begins with a space are the reader's own and no line can set them.
    """
    decode = msgspec.json.Decoder(kind).decode
    hints = kind.__annotations__
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    raw = {name for name, field in names.items() if "Raw" in str(hints.get(field, ""))}
    plain = [name for name in names if name not in raw and not name.startswith(" ")]

    def header(line: bytes) -> StructT | str:
        try:
            return decode(line)
        except msgspec.ValidationError as error:
            return f"an unexpected record: {error}"
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return second_reading(line)

    def second_reading(line: bytes) -> StructT | str:
        try:
            strict.loads(line)
            fields = slices.fields(line)
            value = msgspec.convert(
                {key: strict.parse(bytes(fields[key])) for key in plain if key in fields}, kind
            )
        except ValueError as error:  # BadJson and msgspec's errors are such
            return str(error)
        for key in raw & fields.keys():
            setattr(value, names[key], Raw(bytes(fields[key])))
        return value

    return header
