"""Families of secrets: what a key, a token or a password looks like, as data.

One row a family: the words by which it is found, and a bounded expression that is tried at those places alone. So a
body is searched at the speed of `bytes.find`, and no input makes it slow. `foldline.log.secrets` runs the table; what
an assigned value must look like is `foldline.log.secret_shapes`'s; cookies, options, markup and other languages stand
in `foldline.log.secret_places`.

Sources of the shapes: the providers' own pages on key formats and secret scanning (GitHub's list of supported
patterns, GitLab's of token prefixes, AWS's of unique identifiers, Slack's, Stripe's and Google's on their keys).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from foldline.log.secret_shapes import is_basic, is_chosen, is_mixed, is_password, is_secret, is_token

TOKEN_BYTES_MAX: Final = 4_096
"""Longest token that is taken as one; what follows is a hit of its own or stays."""
RUN_BYTES_MIN: Final = 20
"""Shortest member of `TOKENS`, bytes."""
KEY_BYTES_MAX: Final = 16_384
"""Longest private key between its two lines."""

_LEFT: Final = rb"(?:(?<![A-Za-z0-9\\])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m))"
"""Where a token may begin: not inside a word, but right after an escaped control character, a percent escape or a
terminal colour. Never on the letter of an escape: a redaction there would break the JSON."""
QUOTE: Final = rb"(?:\\{0,7}[\"'`])?"
"""A quote, at any depth of JSON inside JSON."""
_GAP: Final = rb"[ \t]{0,4}"
_VALUE: Final = rb"[A-Za-z0-9!#%&*+./:?@^_~-]"
"""A character of an assigned value; `=` stands at its end alone."""
_TYPED: Final = rb":%b[A-Za-z&][A-Za-z0-9_.<>\[\]|?&*' ]{0,48}+=%b(?=\\{0,7}[\"'`])" % (_GAP, _GAP)
"""`: string = ` before a quote; the name of a type is no value."""
_ABOUT: Final = rb"(?:[ \t](?:for|of|to|f\xc3\xbcr|de|para)(?:[ \t][A-Za-z0-9_.@-]{1,32}){1,4})?"
_SAID: Final = (
    rb"%b[ \t]{1,4}(?:is|was|ist|est|es)(?:[ \t]now)?:?[ \t]{1,4}" % _ABOUT
    + b"|"
    + rb"%b(?:\xe6\x98\xaf|\xe4\xb8\xba|\xe7\x82\xba|\xe3\x81\xaf|\xec\x9d\x80|\xeb\x8a\x94)(?:\xef\xbc\x9a|:)?%b"
    % (_GAP, _GAP)
)
"""A sentence: `The password for the test database is …`, 密码是 …; Chinese, Japanese and Korean words for it, in UTF-8."""
_EQUALS: Final = rb"%b%b(?:[:=]=?|=>|:=|\xef\xbc\x9a)%b" % (QUOTE, _GAP, _GAP)
"""`=`, `: `, `=>` and the wide colon."""


class Family(Struct, frozen=True, kw_only=True):
    """One family."""

    name: str
    anchors: tuple[bytes, ...]
    """Bytes that each member holds; of `WORDS` in lower case, of `TOKENS` as they are."""
    pattern: re.Pattern[bytes]
    """Matched where an anchor stands; its group `s` is the secret, else all of it."""
    before: int = 0
    """Bytes before the anchor that belong to the secret; the pattern looks behind for them."""
    around: int = 24
    """Bytes before a match that `accept` may judge by."""
    inner: re.Pattern[bytes] | None = None
    """Where the pattern matches a list: finds each member in its group `s`, and is judged by its own groups."""
    accept: Callable[[Mapping[str, bytes]], bool] = is_mixed
    """Says from the pattern's groups, and the bytes `before` and `after`, whether it is one."""


def _rx(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(_LEFT + pattern)


def _prefixed(name: str, *prefixes: bytes, then: bytes) -> Family:
    """A family of tokens that are a prefix and a run of characters."""
    words = b"|".join(re.escape(prefix) for prefix in prefixes)
    return Family(name=name, anchors=prefixes, pattern=_rx(b"(?:%b)%b" % (words, then)))


def assigned(name: str, anchor: bytes, *, words: bytes) -> Family:
    """A family of values that stand behind a word: `word = value`, `"word": "value"`, `--word value`, `The word is
    value`. `words`: an expression that matches where the anchor stands."""
    tail = rb"(?P<tail>[A-Za-z0-9_.-]{0,24}+)"
    sign = rb"(?P<sign>%b|%b|(?P<said>%b)|[ \t]{1,4})" % (_TYPED, _EQUALS, _SAID)
    value = rb"(?P<quote>\\{0,7}[\"'`])?(?P<s>%b{6,%d}+={0,2})(?!\xe2\x9f\xa6)" % (_VALUE, TOKEN_BYTES_MAX)
    pattern = rb"(?<!\xe2\x9f\xa6)(?<!u27e6)(?P<word>(?i:%b))%b%b%b" % (words, tail, sign, value)
    return Family(name=name, anchors=(anchor,), pattern=re.compile(pattern), accept=is_secret)


def quoted(name: str, anchor: bytes, *, words: bytes) -> Family:
    """A family of quoted values with signs in them, behind a word: `"password": "…"`."""
    sign = rb"(?P<sign>%b|%b|%b)" % (_TYPED, _EQUALS, _SAID)
    value = rb"(?P<quote>\\{0,7}[\"'`])(?P<s>[A-Za-z0-9!#$%&*?@^+=_~.,:;-]{8,64}+)(?=\\{0,7}[\"'`])"
    pattern = rb"(?P<word>(?i:%b))(?P<tail>[A-Za-z0-9_.-]{0,24}+)%b%b" % (words, sign, value)
    return Family(name=name, anchors=(anchor,), pattern=re.compile(pattern), accept=is_chosen)


_WORD: Final = rb"[A-Za-z0-9_-]"
_SHORT, _LONG = b"{20,%d}" % TOKEN_BYTES_MAX, b"{32,%d}" % TOKEN_BYTES_MAX

TOKENS: Final[tuple[Family, ...]] = (
    # model providers
    _prefixed("anthropic", b"sk-ant-", then=_WORD + _SHORT),
    _prefixed("openrouter", b"sk-or-v1-", then=rb"[0-9a-f]{40,128}"),
    _prefixed("openai", b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-None-", then=_WORD + _SHORT),
    Family(  # OpenAI's older keys, and those of all who took over its prefix
        name="openai",
        anchors=(b"sk-",),
        pattern=_rx(rb"(?P<s>sk-[A-Za-z0-9_-]{20,%d})" % TOKEN_BYTES_MAX),
        accept=is_token,
    ),
    _prefixed("google", b"AIza", then=rb"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _prefixed("google", b"GOCSPX-", then=rb"[A-Za-z0-9_-]{20,64}"),
    _prefixed("google", b"ya29.", then=_WORD + _SHORT),
    _prefixed("hugging-face", b"hf_", b"api_org_", then=rb"[A-Za-z0-9]{30,128}"),
    _prefixed("groq", b"gsk_", then=rb"[A-Za-z0-9]{40,128}"),
    _prefixed("xai", b"xai-", then=rb"[A-Za-z0-9]{60,128}"),
    _prefixed("perplexity", b"pplx-", then=rb"[A-Za-z0-9]{40,128}"),
    _prefixed("replicate", b"r8_", then=rb"[A-Za-z0-9]{37,64}"),
    _prefixed("nvidia", b"nvapi-", then=rb"[A-Za-z0-9_-]{40,128}"),
    _prefixed("cerebras", b"csk-", then=rb"[a-z0-9]{40,64}"),
    _prefixed("tavily", b"tvly-", then=rb"[A-Za-z0-9-]{28,128}"),
    # clouds
    _prefixed("aws", b"AKIA", b"ASIA", b"ABIA", b"ACCA", then=rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Family(
        name="azure",
        anchors=(b"Q~",),
        pattern=re.compile(rb"(?<=[A-Za-z0-9_.~-]{3}[0-9])Q~[A-Za-z0-9_.~-]{31,34}"),
        before=4,
    ),
    _prefixed("digitalocean", b"dop_v1_", b"doo_v1_", b"dor_v1_", then=rb"[0-9a-f]{64}"),
    Family(name="databricks", anchors=(b"dapi",), pattern=_rx(rb"dapi[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])")),
    _prefixed("vault", b"hvs.", b"hvb.", b"hvr.", then=rb"[A-Za-z0-9_-]{24,300}"),
    Family(
        name="terraform",
        anchors=(b".atlasv1.",),
        pattern=re.compile(rb"(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_=-]{60,80}"),
        before=14,
    ),
    _prefixed("cloudflare", b"v1.0-", then=rb"[0-9a-f]{24}-[0-9a-f]{146}"),
    _prefixed("grafana", b"glc_", b"glsa_", then=rb"[A-Za-z0-9+/_=]{32,400}"),
    _prefixed("new-relic", b"NRAK-", then=rb"[A-Z0-9]{27}"),
    _prefixed("sentry", b"sntrys_", b"sntryu_", then=rb"[A-Za-z0-9+/_=]{60,400}"),
    _prefixed("doppler", b"dp.pt.", b"dp.st.", b"dp.ct.", then=rb"[A-Za-z0-9._-]{40,90}"),
    _prefixed("planetscale", b"pscale_tkn_", b"pscale_pw_", b"pscale_oauth_", then=_WORD + _LONG),
    _prefixed("supabase", b"sbp_", b"sb_secret_", then=rb"[A-Za-z0-9_-]{30,64}"),
    # code, packages, containers
    _prefixed("github", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", then=rb"[A-Za-z0-9]{36,255}"),
    _prefixed("github", b"github_pat_", then=rb"[A-Za-z0-9_]{60,255}"),
    _prefixed(
        "gitlab",
        *(b"glpat-", b"gldt-", b"glrt-", b"glcbt-", b"glptt-", b"glft-", b"glsoat-", b"glimt-", b"gloas-"),
        *(b"glagent-",),
        then=rb"[A-Za-z0-9_-]{20,128}(?:\.[A-Za-z0-9_-]{2,32}){0,3}",
    ),
    _prefixed("npm", b"npm_", then=rb"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _prefixed("pypi", b"pypi-AgE", then=_WORD + _LONG),
    _prefixed("rubygems", b"rubygems_", then=rb"[0-9a-f]{48}"),
    _prefixed("docker", b"dckr_pat_", b"dckr_oat_", then=rb"[A-Za-z0-9_-]{24,64}"),
    _prefixed("atlassian", b"ATATT3", b"ATCTT3", then=rb"[A-Za-z0-9_=-]{100,400}"),
    _prefixed("linear", b"lin_api_", b"lin_oauth_", then=rb"[A-Za-z0-9]{40,64}"),
    _prefixed("postman", b"PMAK-", then=rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    # messages, mail, money
    _prefixed("slack", *(b"xox%c-" % c for c in b"abeoprs"), b"xapp-", then=rb"[A-Za-z0-9-]{20,255}"),
    Family(
        name="telegram",
        anchors=(b":AA",),
        pattern=re.compile(rb"(?<=\d{8}):AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    ),
    _prefixed(
        "stripe",
        b"sk_live_",
        b"sk_test_",
        b"rk_live_",
        b"rk_test_",
        b"whsec_",
        then=rb"[A-Za-z0-9+/]{16,255}",
    ),
    Family(name="twilio", anchors=(b"SK",), pattern=_rx(rb"SK[0-9a-f]{32}(?![0-9A-Za-z])")),
    _prefixed("sendgrid", b"SG.", then=rb"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _prefixed("mailgun", b"key-", then=rb"[0-9a-f]{32}(?![0-9A-Za-z])"),
    Family(
        name="mailchimp",
        anchors=(b"-us",),
        pattern=re.compile(rb"(?<=[0-9a-f]{32})-us[0-9]{1,2}(?![0-9A-Za-z])"),
        before=32,
    ),
    _prefixed("shopify", b"shpat_", b"shpca_", b"shppa_", b"shpss_", then=rb"[0-9A-Fa-f]{32}"),
    _prefixed("square", b"sq0atp-", b"sq0csp-", then=rb"[A-Za-z0-9_-]{22,43}"),
    _prefixed("notion", b"ntn_", then=rb"[A-Za-z0-9]{40,64}"),
    _prefixed("figma", b"figd_", then=rb"[A-Za-z0-9_-]{40,64}"),
    _prefixed("age", b"AGE-SECRET-KEY-1", then=rb"[A-Z0-9]{58}"),
    Family(
        name="jwt",
        anchors=(b"eyJ",),
        pattern=_rx(
            rb"eyJ[A-Za-z0-9_-]{8,512}+\.eyJ[A-Za-z0-9_-]{8,%d}+\.[A-Za-z0-9_-]{16,1024}" % TOKEN_BYTES_MAX
        ),
    ),
)
"""Families that say what they are by how they begin: one run of at least `RUN_BYTES_MIN` characters."""

OWN_KEY: Final = (
    rb"(?:(?<=api)|(?<=auth)|(?<=access)|(?<=account)|(?<=private)|(?<=signing)|(?<=encryption)|(?<=master)"
    rb"|(?<=api[_-])|(?<=auth[_-])|(?<=access[_-])|(?<=account[_-])|(?<=private[_-])|(?<=signing[_-])"
    rb"|(?<=encryption[_-])|(?<=master[_-])|(?<=api )|(?<=access ))key"
)
"""A key that opens something."""
WORDS: Final[tuple[Family, ...]] = (
    Family(
        name="azure",
        anchors=(b"accountkey=", b"sharedaccesskey="),
        pattern=re.compile(rb"(?i:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,90}={0,2})"),
    ),
    Family(
        name="azure",
        anchors=(b"sig=",),
        pattern=re.compile(rb"sig=(?P<s>[A-Za-z0-9%+/_-]{40,90}(?:%3[Dd]|=){1,2})"),
    ),
    Family(
        name="slack",
        anchors=(b"hooks.slack.com/",),
        pattern=re.compile(
            rb"hooks\.slack\.com/(?P<s>(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,120})"
        ),
    ),
    Family(
        name="discord",
        anchors=(b"/api/webhooks/",),
        pattern=re.compile(rb"/api/webhooks/\d{17,20}/(?P<s>[A-Za-z0-9_-]{60,80})"),
    ),
    Family(
        name="private-key",
        anchors=(b"-----begin ",),
        pattern=re.compile(
            rb"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            rb"(?:(?:\\{1,7}[nr]|\s){1,4}(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\\\r\n]{1,200}){0,4}"
            rb"(?>(?:[A-Za-z0-9+/=]|\s|\\{1,7}[nrt/]){40,%d})"
            rb"(?:-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?" % KEY_BYTES_MAX
        ),
    ),
    Family(
        name="url-password",
        anchors=(b"://",),
        pattern=re.compile(
            rb"://(?P<user>[A-Za-z0-9_.%%+~-]{0,64}+):(?P<s>[^\s\"'`\\<>{}@/$\xe2]{3,200}+)@(?=[A-Za-z0-9\[])"
            % ()
        ),
        accept=is_password,
    ),
    Family(
        name="authorization",
        anchors=(b"bearer",),
        pattern=re.compile(rb"(?i:bearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/-]{16,%d}+={0,2})" % TOKEN_BYTES_MAX),
        accept=is_token,
    ),
    Family(
        name="authorization",
        anchors=(b"basic",),
        pattern=re.compile(rb"(?i:basic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/_-]{8,1024}+={0,2})"),
        accept=is_basic,
    ),
    Family(
        name="authorization",
        anchors=(b"authorization",),
        pattern=re.compile(
            rb"(?P<word>(?i:authorization))(?P<tail>)(?P<sign>%b%b[:=]%b%b)(?P<quote>)(?:(?i:token|key|apikey|digest)[ \t=]{1,4})?"
            rb"(?P<s>%b{16,%d}+={0,2})(?!\xe2\x9f\xa6)" % (QUOTE, _GAP, _GAP, QUOTE, _VALUE, TOKEN_BYTES_MAX)
        ),
        accept=is_secret,
    ),
    assigned("password", b"pass", words=rb"pass(?:w(?:or)?[dt]|phrase|code|e(?![A-Za-z]))"),
    assigned("password", b"pwd", words=rb"pwd"),
    quoted("password", b"pass", words=rb"pass(?:w(?:or)?[dt]|phrase|code|e(?![A-Za-z]))"),
    quoted("password", b"pwd", words=rb"pwd"),
    assigned("assigned", b"secret", words=rb"secret"),
    assigned("assigned", b"token", words=rb"token"),
    assigned("assigned", b"credential", words=rb"credential"),
    assigned("assigned", b"key", words=OWN_KEY),
)
"""Families that a word near them gives away. The anchors are searched in lower case."""
