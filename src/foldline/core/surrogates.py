"""Half surrogate pairs: what a cut by UTF-16 units leaves in a text, and how it is mended.

Real logs of JavaScript programs hold them, as characters and as escapes inside JSON text; no provider accepts them.
Owns what "mended" means, so that `foldline.core.repair`, which mends, and `foldline.core.address`, whose digests must
not change by it, agree. Knows nothing of messages.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""An escaped backslash or a whole pair, which stay (group 1), or half a pair, which does not."""


def is_torn(text: str) -> bool:
    """True when the text holds half a pair."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def whole(text: str) -> str:
    """The text with U+FFFD for every half; two halves in a row become the character they are."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_json(json_text: str) -> str:
    """JSON text without half pairs, spelt out or as escapes; the same object when there are none."""
    text = whole(json_text) if is_torn(json_text) else json_text
    if "\\ud" not in text and "\\uD" not in text:
        return text
    mended = _ESCAPE.sub(lambda match: match.group() if match.group(1) else "\\ufffd", text)
    return text if mended == text else mended
