"""Secrets that a place gives away and no word like `password =`: a cookie, an option, a tag, a line of `.netrc`; and the
words for a password in other languages.

Rows of the same kind as in `foldline.log.secret_families`, searched in the same way and judged by the same
`foldline.log.secret_shapes`. The languages are those that a word for a password is written in most: German, French (its
`mot de passe` is found by `pass`), Spanish, Portuguese, Italian, Dutch, Polish, Russian, Turkish, Chinese, Japanese, Korean.
"""

from __future__ import annotations

import re
from typing import Final

from foldline.log.secret_families import OWN_KEY, QUOTE, Family, assigned, quoted
from foldline.log.secret_shapes import is_login, is_option, is_session, is_tagged

COOKIES_BYTES_MAX: Final = 4_096
"""Longest list of cookies; browsers refuse more in one."""

_SPACE: Final = rb"(?:[ \t\r\n]|\\{1,7}[nrt]){1,8}"
"""White space, a break in JSON too."""
_FIELD: Final = rb"[^\s\"'`\\<>\x80-\xff]{1,128}+"

_NAMED: Final = rb"%b(?P<user>[A-Za-z0-9_.%%@+~-]{1,64}+):(?P<s>[^\s\"'`\\<>{}\x80-\xff]{3,200}+)" % QUOTE
"""`name:password`."""

PASSWORDS: Final = (
    *("kennwort", "contrasena", "contraseña", "senha", "parola", "wachtwoord", "hasło", "şifre"),
    *("пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호"),
)
"""Words for a password; in lower case where that is ASCII's."""
KEYS: Final = ("密钥", "密鑰", "秘钥", "令牌")
"""Words for a key or a token."""
LETTERS: Final = "".join(
    sorted({letter for letter in "".join((*PASSWORDS, *KEYS, "：是为為は은는ü")) if letter > "~"})
)
"""What a JSON that is ASCII alone spells as escapes."""

_PAIR: Final = re.compile(
    rb"(?:(?<=[;\s,])|(?<=[\"'`])|\A)(?P<name>[A-Za-z0-9_.-]{1,64}+)=(?P<s>[A-Za-z0-9!#%&*+./:=?@^_|~-]{8,4096}+)"
    rb"(?![^;\s\"'`\\,])"
)
"""One cookie of a list."""

PLACES: Final[tuple[Family, ...]] = (
    Family(
        name="cookie",
        anchors=(b"cookie",),
        pattern=re.compile(
            rb"(?i:cookies?)%b[ \t]{0,4}[:=,]?[ \t\[]{0,4}%b(?P<s>[A-Za-z0-9_.-]{1,64}=[^\r\n\"'`\\<>]{8,%d}+)"
            % (QUOTE, QUOTE, COOKIES_BYTES_MAX)
        ),
        inner=_PAIR,
        accept=is_session,
    ),
    Family(
        name="option",
        anchors=(b"-u",),
        pattern=re.compile(
            rb"(?:(?<![A-Za-z0-9-])-u[ \t]{0,2}|(?:(?<=[\s\"'`]-)|(?<=--proxy))-user[ \t=]{1,2})%b" % _NAMED
        ),
        around=256,
        accept=is_option,
    ),
    Family(
        name="option",
        anchors=(b"curl -",),
        pattern=re.compile(rb"curl -(?P<command>[A-Za-z]{1,8}u)[ \t]{0,2}%b" % _NAMED),
        accept=is_option,
    ),
    Family(
        name="netrc",
        anchors=(b"machine",),
        pattern=re.compile(
            rb"(?i:machine)%b%b%b(?i:login)%b(?P<user>%b)%b(?i:password)%b(?P<s>[^\s\"'`\\<>\x80-\xff]{3,200}+)"
            % (_SPACE, _FIELD, _SPACE, _SPACE, _FIELD, _SPACE, _SPACE)
        ),
        accept=is_login,
    ),
    *(
        Family(
            name="tag",
            anchors=(anchor,),
            pattern=re.compile(
                rb"(?P<word>(?i:%b))(?P<tail>[A-Za-z0-9_.-]{0,24}+)(?P<sign>>)(?P<s>[^\s<>\"'`\\\x80-\xff]{8,4096}+)(?=<)"
                % words
            ),
            accept=is_tagged,
        )
        for anchor, words in (
            (b"pass", rb"pass(?:w(?:or)?[dt]|phrase|code)"),
            (b"pwd", rb"pwd"),
            (b"secret", rb"secret"),
            (b"token", rb"token"),
            (b"key", OWN_KEY),
        )
    ),
    *(
        make("password", word.encode(), words=word.encode())
        for word in PASSWORDS
        for make in (assigned, quoted)
    ),
    *(assigned("assigned", word.encode(), words=word.encode()) for word in KEYS),
)
"""Families whose anchors are searched in lower case, the ASCII of them."""
