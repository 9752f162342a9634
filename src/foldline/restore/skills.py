"""A skill as the model saw it: rendered from its file the same way, or what was recorded, made whole.

    Base directory for this skill: /home/me/skills/review
    …the text, its placeholders resolved, without its front matter

Requirement RST-8: never a raw placeholder, never front matter. The file is read through the one opener, below the skill's own
folder. Reads of YAML only what skills write in their head: a key, and a text that may go over several lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from foldline.restore.asked import text_of
from foldline.restore.sources import Skill
from foldline.stores.beneath import Beneath, Held

FIRST_LINE: Final = "Base directory for this skill: "
FILE_BYTES_MAX: Final = 256 * 1024
_PLACEHOLDER: Final = re.compile(
    r"\$\{[A-Z][A-Z0-9_]{0,40}(?:SKILL_DIR|SKILL_ROOT|PLUGIN_ROOT)\}|\$\{SKILL_(?:DIR|ROOT)\}"
)
_FRONT: Final = re.compile(
    r"\s{0,8}---[ \t]{0,8}\r?\n(?P<head>.{0,16384}?)(?:^|\n)---[ \t]{0,8}(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_KEY: Final = re.compile(r"(?P<key>[A-Za-z][\w-]{0,60}):[ \t]{0,8}(?P<value>[^\n]*)")
_FOLDED: Final = re.compile(r"[>|][+-]?\d?[+-]?\s*")


class Unusable(Exception):
    """Why a skill cannot be restored."""


def rendered(skill: Skill) -> tuple[str, str]:
    """(description, text) of a skill. Raises `Unusable`."""
    folder = text_of(skill.folder)
    if not os.path.isabs(folder) or "\n" in folder:
        raise Unusable("its folder is no absolute path")
    told = text_of(skill.text)
    text = told if told.strip() else _read(skill, folder)
    if text.startswith(FIRST_LINE):
        text = text.partition("\n")[2]
    head: dict[str, str] = {}
    front = _FRONT.match(text)
    if front is not None:
        head, text = _keys(front["head"]), text[front.end() :]
    resolved = _resolved(text.strip(), folder, values=skill.values)
    description = text_of(skill.description) or head.get("description", "")
    return _resolved(description, folder, values={}), f"{FIRST_LINE}{folder}\n\n{resolved}".rstrip()


def _read(skill: Skill, folder: str) -> str:
    try:
        with Beneath(folder) as below:
            held = below.read(text_of(skill.file), bytes_max=FILE_BYTES_MAX, size_max=FILE_BYTES_MAX)
    except OSError as error:
        raise Unusable(f"its folder cannot be opened ({error.strerror})") from error
    if not isinstance(held, Held):
        raise Unusable(f"its file was not read: {held.why}")
    return held.data.decode("utf-8-sig", "replace")


def _resolved(text: str, folder: str, *, values: object) -> str:
    text = _PLACEHOLDER.sub(lambda _: folder, text)
    if not isinstance(values, Mapping):
        return text
    for name, value in values.items():
        if text_of(name):
            text = text.replace(name, text_of(value))
    return text


def _keys(head: str) -> dict[str, str]:
    """The keys of front matter with their values, each on one line."""
    found: dict[str, str] = {}
    key = ""
    for line in head.splitlines():
        match = _KEY.match(line)
        if match is not None:
            key, value = match["key"], match["value"].strip()
            found[key] = "" if _FOLDED.fullmatch(value) else value.strip("\"'")
        elif key and line[:1] in (" ", "\t"):
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found
