"""Messages that no wire format holds: built from the dicts of session files, each part with its slot.

Owns the spellings of content that session formats share (a string, or a list of text, image and file parts in
OpenAI's, Anthropic's and LangChain's words), so that each reader states only what is its own. Knows nothing of
files or roles' names. Its counterpart is `foldline.wire.convert`, which turns such messages into a wire format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from foldline.core.message import (
    Media,
    Message,
    Meta,
    Opaque,
    Part,
    Role,
    Text,
    ToolResult,
    Usage,
    is_injected,
)
from foldline.wire.strict import dump, dump_text

Content: TypeAlias = Text | Media | Opaque
MediaKind: TypeAlias = Literal["image", "document", "audio", "video", "file"]

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*?;base64,", re.ASCII)
_KINDS: Final[dict[str, MediaKind]] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "document": "document",
    "file": "file",
    "input_file": "file",
}


def neutral(role: Role, parts: Iterable[Part], *, meta: Meta | None = None) -> Message:
    """A message of no wire format; parts (and the parts inside results) get their index as slot."""
    return Message(
        role=role, parts=tuple([_slotted(part, index) for index, part in enumerate(parts)]), meta=meta
    )


def _slotted(part: Part, slot: int) -> Part:
    if isinstance(part, ToolResult):
        inner = tuple([replace(item, slot=index) for index, item in enumerate(part.content)])
        return replace(part, slot=slot, content=inner)
    return replace(part, slot=slot)


def text_parts(text: str | None) -> tuple[Text, ...]:
    """One text part, or none for a missing or empty text."""
    return (Text(text=text),) if text else ()


def content_parts(content: Any) -> tuple[Content, ...]:
    """Parts of a `content` value: missing, a string, one part or a list of parts; unknown ones stay `Opaque`."""
    match content:
        case None | "":
            return ()
        case str():
            return (Text(text=content),)
        case list():
            return tuple(content_part(item) for item in content)
        case _:
            return (content_part(content),)


def content_part(item: Any) -> Content:
    """One part of a content list."""
    if isinstance(item, str):
        return Text(text=item)
    if not isinstance(item, dict):
        return Opaque(type=type(item).__name__, raw=dump(item))
    kind = str(item.get("type", "text"))
    if isinstance(item.get("text"), str) and kind in ("text", "input_text", "output_text"):
        return Text(text=item["text"])
    media = _media(_KINDS[kind], item) if kind in _KINDS else None
    return media if media is not None else Opaque(type=kind, raw=dump(item))


def _media(kind: MediaKind, item: Mapping[str, Any]) -> Media | None:
    """The medium a part holds; `None` when none of the known spellings fits."""
    inner = next(
        (item[key] for key in ("source", "image_url", "video_url", "input_audio", "file") if key in item),
        item,
    )
    if isinstance(inner, str):
        return media_of_url(kind, inner)
    if not isinstance(inner, Mapping):
        return None
    mime = _string(inner, "media_type", "mime_type") or _mime_of_format(kind, inner.get("format"))
    name = _string(inner, "filename", "name") or _string(item, "filename", "name", "title")
    detail = _string(inner, "detail")
    if data := _string(inner, "base64", "data", "file_data"):
        media = (
            media_of_url(kind, data) if data.startswith("data:") else Media(kind=kind, mime=mime, data=data)
        )
    elif url := _string(inner, "url", "file_url", "path"):
        media = media_of_url(kind, url)
    elif ref := _string(inner, "file_id", "id"):
        media = Media(kind=kind, ref=ref)
    else:
        return None
    return replace(media, mime=media.mime or mime, detail=detail, name=name)


def media_of_url(kind: MediaKind, url: str) -> Media:
    """A medium given by its address; a base64 `data:` address becomes the data itself."""
    match = _DATA_URL.match(url)
    if match is None:
        return Media(kind=kind, url=url)
    return Media(kind=kind, mime=match.group(1), data=url[match.end() :])


def _mime_of_format(kind: MediaKind, name: Any) -> str | None:
    return f"{kind}/{name}" if kind == "audio" and isinstance(name, str) else None


def _string(value: Mapping[str, Any], *keys: str) -> str | None:
    """The first of `keys` that holds a text."""
    return next((value[key] for key in keys if isinstance(value.get(key), str) and value[key]), None)


def is_prompt(message: Message) -> bool:
    """True for a user's message that neither a client nor a tool put there."""
    return message.role == "user" and message.synthetic is None and not is_injected(message)


def usage_of(message: Message) -> Usage | None:
    """What the provider counted, where it came with the message."""
    return message.meta.usage if message.meta else None


def arguments_text(value: Any) -> str:
    """A call's arguments as JSON text: a string as the model wrote it, anything else compact."""
    if isinstance(value, str):
        return value
    return dump_text({} if value is None else value)


def mapping(value: Any) -> dict[str, Any]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects in `value` when it is a list, else none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """`value` when it is a non-empty text."""
    return value if isinstance(value, str) and value else None


def count(value: Any) -> int:
    """`value` as a number of tokens; 0 for anything that is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def unix_time(value: Any) -> float | None:
    """Seconds since 1970 of an ISO 8601 text (without a zone: UTC) or of a number; `None` for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
