"""Identifiers in a text: addresses of the web, mail addresses, hashes, UUIDs, tickets, versions, ids of records.

Knows only words and tokens; `found_in_text` splits them. Names of code are `symbols_in_text`.
"""

from __future__ import annotations

import re

IDENTIFIER_CHARS_MAX = 512
"""A longer one is data: a `data:` address, a token of a session."""
HASH_CHARS_MIN = 7
"""What git abbreviates a commit to."""
HASH_CHARS_MAX = 128
ID_CHARS_MIN = 5
"""The shortest id of capitals and digits that is told from a word: a booking code has six, a flight number five."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>`|{}\\\u3000-\u303f\uff00-\uffef]+")
UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
UUID_CHARS = 36
_TICKET = re.compile(r"(?<![A-Za-z0-9-])[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\w-])")
_NOT_TICKETS = ("UTF-", "SHA-", "ISO-", "GPT-", "HTTP-", "BASE-", "AES-", "RSA-", "MD-", "X-", "CPU-", "GPU-")
_NUMBERED = re.compile(r"(?<![\w&#])#(?:\d{1,6}|[A-Z]\d{4,12})(?![\w.])")
_MAIL = re.compile(r"[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
_VERSION = re.compile(
    r"(?<![\w.])(?:[A-Za-z][\w.-]{0,60}[=~<>@]=?)?v?\d{1,5}(?:\.\d{1,6}){2,3}(?:[-+.]?[A-Za-z][\w.+-]{0,30})?(?::\d{2,5})?(?![\w])"
)
_PINNED = re.compile(r"(?<![\w.])[A-Za-z][\w.-]{0,60}(?:\[[\w,-]{1,60}\])?[=~<>!]=v?\d[\w.*]{0,30}")
_PIN = re.compile(r"=(?<=[=~<>!]=)v?\d")
_HEX = "0123456789abcdefABCDEF"
_RUNS = re.compile(r"\d+")
_TRAILING = ".,;:!?*'\"，。；：！？"


def identifiers_in(word: str, classes: str) -> list[str]:
    """The identifiers in one word that are told by their punctuation; `is_id` tells the others. `classes` is the word
    with its letters as `a` and `A` and its digits as `0`: without a pair of those nobody has to look."""
    found: list[str] = []
    if "://" in word:
        found += [trimmed(url) for url in _URL.findall(word)]
    if "@" in word:
        found += _MAIL.findall(word)
    if "-" in word:
        if len(word) >= UUID_CHARS:
            found += UUID.findall(word)
        if "A-0" in classes or "0-0" in classes:
            found += [ticket for ticket in _TICKET.findall(word) if not ticket.startswith(_NOT_TICKETS)]
    if "#0" in classes or "#A" in classes:
        found += _NUMBERED.findall(word)
    if "0.0" in classes:
        found += _VERSION.findall(word)
    if "=0" in classes or "=v0" in word:
        found += _PINNED.findall(word) if _PIN.search(word) is not None else ()
    return [text for text in found if len(text) <= IDENTIFIER_CHARS_MAX] if found else found


def trimmed(url: str) -> str:
    """An address without the punctuation of the sentence around it; a closing bracket stays where it was opened."""
    while url:
        last = url[-1]
        opening = {")": "(", "]": "["}.get(last)
        if last not in _TRAILING and (opening is None or url.count(opening) >= url.count(last)):
            break
        url = url[:-1]
    return url


def is_id(token: str) -> bool:
    """True for a token that names a record or a state of files: a hash, a booking code, `toolu_01A9bcD3`."""
    if len(token) < ID_CHARS_MIN or len(token) > HASH_CHARS_MAX or token.isalpha() or token.isdigit():
        return False
    if not token.removeprefix("0x").strip(_HEX):
        return len(token) >= HASH_CHARS_MIN
    if token.isupper() and token.isalnum():
        return len(token) >= ID_CHARS_MIN + 1 or token[-3:].isdigit()
    if len(token) < 8:
        return False
    digits = _RUNS.findall(token)
    return len(digits) >= 3 or ("_" in token and len(digits) > 0 and len(digits[-1]) >= 4)
