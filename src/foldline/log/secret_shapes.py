"""What tells a secret from code, a name or a placeholder, where no prefix says it.

Pure judgements on the groups of a match in `foldline.log.secret_families`. They lean towards silence where a value is
made of words: a transcript is full of `token = read_token(path)`, and a redaction there is a loss.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from math import log2
from typing import Final

_PLACEHOLDER: Final = re.compile(
    rb"example|change_?me|placeholder|your[-_.]?|x{4}|\*{3}|\.{3}|redacted|dummy|insert|replace|sample|lorem|\?{3}",
    re.IGNORECASE,
)
_NO_PASSWORDS: Final = frozenset(
    (
        b"password",
        b"passwd",
        b"pass",
        b"pw",
        b"pwd",
        b"secret",
        b"token",
        b"postgres",
        b"root",
        b"admin",
        b"user",
    )
)
"""What stands in a URL where a password would; documentation and local databases."""
_OTHER_KEYS: Final = re.compile(
    rb"(?:hash(?:ed)?|sha\d{0,4}|md5|digest|ids?|names?|ur[il]s?|endpoint|path|file(?:name)?|dir|types?|counts?"
    rb"|limits?|len(?:gth)?|size|field|ref|arn|version|expir\w{0,16}|ttl|at|max|min|usage|label|env|var|prefix|suffix|regex"
    rb"|pattern|class|input|element|prompt|text|format|policy|rules?|status|error|message|kind|index|offset|age"
    rb"|lifetime|validator|reset|manager|provider|store|storage|service|budget|i[sz]\w{0,32}|less)\Z",
    re.IGNORECASE,
)
"""Ends of a key that make it say something about a secret instead of being one: `token_hash`, `passwordFile`."""
_PIECE: Final = rb"(?:[A-Za-z]{2,}+[0-9]{0,3}|[A-Za-z]|[0-9]{1,4})"
_WORDY: Final = re.compile(rb"%b(?>(?:[-_./:@+~#?&!%%*^]++(?:%b|$))*)" % (_PIECE, _PIECE))
"""Words and short numbers with signs between them: a name, a path, a date."""
_HUMPS: Final = re.compile(rb"[A-Z]{0,5}[a-z]*(?:[A-Z]{1,5}[a-z]+)*[A-Z]{0,4}")
"""camelCase: never more than five capitals on end."""
_CLUSTER: Final = re.compile(rb"[bcdfghjklmnpqrstvwxz]{6}", re.IGNORECASE)
"""Six consonants on end: no word has them, of twelve letters in no order every other."""
_NAME: Final = re.compile(rb"_*+(?:[A-Za-z]++(?:[0-9]{1,6}+[A-Za-z]*+)?_*+)++")
"""A name in code: `_X509Supplier`, `TOKEN_HOP1_B64`."""
_JOINTS: Final = re.compile(rb"[-_./:@+~]")
_SPOKEN: Final = re.compile(rb"[A-Za-z]*+[0-9]{0,6}+[A-Za-z]*+")
"""A piece of what stands in sentences: `base64encoded`, `RFC6749`, `2fa`, `2024`."""
_CHOSEN: Final = tuple(map(re.compile, (rb"[A-Z]", rb"[a-z]", rb"[0-9]", rb"[!%&*?^][A-Za-z0-9]")))
"""What people are made to put into a password, all of it."""
_OTHER_TOKENS: Final = re.compile(
    rb"(?:continuation|page|next|previous|cursor|sync|resume|cancell?(?:ation)?|special|mask|pad|stop|start)[_-]?$",
    re.IGNORECASE,
)
"""Before `token`: none that opens anything."""
_OPTION: Final = re.compile(rb"(?:^|[\s\"'])--?[A-Za-z-]{0,20}$")
_OWN_WORDS: Final = re.compile(
    rb"pass|pwd|token|secret|user|admin|name|value|field|key|var|arg|param|test|str", re.IGNORECASE
)
_KEY_WORDS: Final = tuple(
    word.encode()
    for word in ("secret", "token", "credential", "key", "authorization", "密钥", "密鑰", "秘钥", "令牌")
)
"""Words before what a machine chose, not a person."""
_COMMAND: Final = re.compile(rb"(?:\b|(?<=\\[nrt]))(?:curl|wget|https?)[ \t\\]")
"""A command that takes `-u name:password`."""
_BESIDE: Final = re.compile(rb"[;|&]")
"""Between one command and the next."""
_TAG: Final = re.compile(rb"<[A-Za-z0-9_.:-]{0,23}\Z")

BITS_MIN: Final = 2.5
"""Least entropy a byte of a secret, within itself: `aaaabbbb` has 1, eight different characters have 3."""


SECRET_BYTES_MIN: Final = 8
"""Shortest value that is taken for a secret because of the word before it, bytes."""
TYPE_BYTES_MAX: Final = 24
"""Longest name of a type that is written behind a word; more letters without a digit are a secret or words."""
CAPITALS_SHARE_MAX: Final = 0.3
"""Largest share of capitals in a name in code; letters in no order have a half."""


def bits_per_byte(value: bytes) -> float:
    """Shannon entropy of the bytes of a value, 0 to 8."""
    size = len(value)
    return -sum((n := value.count(byte)) / size * log2(n / size) for byte in set(value))


def is_token(groups: Mapping[str, bytes]) -> bool:
    """True for a run of characters behind a prefix that others use too: digits and letters, well mixed."""
    value = groups["s"]
    body = value.removeprefix(b"sk-")
    return not _PLACEHOLDER.search(value) and _is_random(body[:256])


def is_mixed(groups: Mapping[str, bytes]) -> bool:
    """True unless a token is a placeholder behind a real prefix: `ghp_xxxxxxxxxxxx`."""
    return bits_per_byte(groups["s"][:256]) >= BITS_MIN


def is_password(groups: Mapping[str, bytes]) -> bool:
    """True for what stands as a password in a URL and is no well-known stand-in."""
    value = groups["s"].lower()
    return value not in _NO_PASSWORDS and value != groups["user"].lower() and not set(value) <= set(b"*.x-_")


def is_basic(groups: Mapping[str, bytes]) -> bool:
    """True for the base64 of `name:password`."""
    try:
        told = base64.b64decode(groups["s"], validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in told and told.isascii() and told.decode("ascii").isprintable()


def is_secret(groups: Mapping[str, bytes]) -> bool:
    """True for a value behind a word like `password` or `api_key` that is neither code nor words."""
    value = groups["s"][:256].rstrip(b"=,;:.!?")
    if (
        len(value) < SECRET_BYTES_MIN
        or b"://" in value
        or _PLACEHOLDER.search(value)
        or not _is_asked_for(groups)
    ):
        return False
    if not groups["quote"] and _is_code(groups, value):
        return False
    if groups.get("said"):
        return _is_made(value) or _is_hand_made(groups, value)
    return _is_random(value) or _is_hand_made(groups, value)


def is_chosen(groups: Mapping[str, bytes]) -> bool:
    """True for a quoted value of letters, digits and signs, as people are made to choose them; a placeholder
    (`$PASSWORD`, `%s`) is none."""
    value = groups["s"]
    kinds = (rb"[A-Za-z]", rb"[0-9]", rb"[!#$%&*?@^+=~]")
    return (
        _is_asked_for(groups)
        and all(re.search(kind, value) for kind in kinds)
        and not value.startswith((b"$", b"%", b"#"))
    )


def is_tagged(groups: Mapping[str, bytes]) -> bool:
    """True for the text of an element that is called as a secret is: `<password>…</password>`."""
    told = {**groups, "quote": b'"'}
    return bool(_TAG.search(groups["before"])) and (is_secret(told) or is_chosen(told))


def is_session(groups: Mapping[str, bytes]) -> bool:
    """True for the value of a cookie that is in no order: a session, not `theme=dark`."""
    return not _PLACEHOLDER.search(groups["s"]) and _is_random(groups["s"][:256])


def is_option(groups: Mapping[str, bytes]) -> bool:
    """True for the password of `-u name:password`: any one of a command that is known, else one in no order."""
    value = groups["s"]
    if value.startswith(b"$") or _PLACEHOLDER.search(value):
        return False
    if value.isdigit() and groups["user"].isdigit():  # `docker run -u 1000:1001`
        return False
    if groups.get("command") or _COMMAND.search(_BESIDE.split(groups["before"])[-1]):
        return is_password(groups)
    return b"/" not in value and _is_random(value[:256])


def is_login(groups: Mapping[str, bytes]) -> bool:
    """True for a password of `.netrc` that is no stand-in."""
    return not _PLACEHOLDER.search(groups["s"]) and is_password(groups)


def _is_asked_for(groups: Mapping[str, bytes]) -> bool:
    """True when the words before the value say that it is the secret itself, and not something about it."""
    if _OTHER_KEYS.search(groups["tail"]):
        return False
    if groups["word"].lower() == b"token" and _OTHER_TOKENS.search(groups["before"]):
        return False
    if groups["sign"].strip():
        return True
    return not groups["tail"] and bool(_OPTION.search(groups["before"]))  # `--password VALUE`, not prose


def _is_code(groups: Mapping[str, bytes], value: bytes) -> bool:
    """True for a value without quotes that is called or is a name."""
    if groups["after"] in (b"(", b"["):
        return True
    if value.isalpha():
        is_type = b" " in groups["sign"].lstrip() and len(value) <= TYPE_BYTES_MAX
        return is_type or _is_word(value)  # `api_keys: AsyncAPIKeys`
    return b"_" in value and _NAME.fullmatch(value) is not None


def _is_random(value: bytes) -> bool:
    """True for letters and digits in no order that words have; at least `BITS_MIN` a byte."""
    if len(value) < SECRET_BYTES_MIN or bits_per_byte(value) < BITS_MIN:
        return False
    words = re.findall(rb"[A-Za-z]+", value)
    if any(len(word) >= SECRET_BYTES_MIN and not _is_word(word) for word in words):
        return True
    return bool(words and re.search(rb"[0-9]", value)) and not _WORDY.fullmatch(value)


def _is_made(value: bytes) -> bool:
    """True for what nobody writes in a sentence but to tell a secret: no words, names in code, versions and dates."""
    if all(kind.search(value) for kind in _CHOSEN):
        return True
    return _is_random(value) and not all(_SPOKEN.fullmatch(piece) for piece in _JOINTS.split(value))


def _is_word(letters: bytes) -> bool:
    """True for words as people and programs write them: `password`, `newPasswordHash`, `TOKEN`."""
    if letters.islower() or letters.isupper():
        return not _CLUSTER.search(letters)
    capitals = sum(65 <= byte <= 90 for byte in letters)
    return (
        capitals <= len(letters) * CAPITALS_SHARE_MAX
        and _HUMPS.fullmatch(letters) is not None
        and not _CLUSTER.search(letters)
    )


def _is_hand_made(groups: Mapping[str, bytes], value: bytes) -> bool:
    """True for a quoted value like `hunter22` that a person chose: letters, then digits or signs."""
    if not groups["quote"] or _OWN_WORDS.search(value) or groups["word"].lower().startswith(_KEY_WORDS):
        return False
    return bool(re.fullmatch(rb"[A-Za-z]{3,}[0-9!#%&*?@^]{1,6}", value) and re.search(rb"[0-9]", value))
