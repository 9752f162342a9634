"""Made-up secrets, one maker a family, assembled at run time so that no scanner takes this file for a leak.

Each maker takes a source of randomness and gives the secret as it stands in a text, and the part of it that must go.
Nothing here is a real key. Used by the tests of what is redacted, of `scan` and of `forget`.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

ALNUM: Final = string.ascii_letters + string.digits
WORD: Final = ALNUM + "_-"
HEX: Final = "0123456789abcdef"


def run(random: Random, size: int, alphabet: str = ALNUM) -> str:
    """Characters in no order."""
    return "".join(random.choice(alphabet) for _ in range(size))


def made(random: Random) -> str:
    """A value in no order, and with digits in it wherever the letters fall."""
    return run(random, 8) + "7x" + run(random, 6) + "4Q9z"


def _plain(text: str) -> tuple[str, str]:
    return text, text


def _behind(before: str, secret: str, after: str = "") -> tuple[str, str]:
    return before + secret + after, secret


def _pem(r: Random, kind: str) -> tuple[str, str]:
    lines = "\n".join(run(r, 64, ALNUM + "+/") for _ in range(6))
    return _plain(f"-----BEGIN {kind}" + f"PRIVATE KEY-----\n{lines}\n-----END {kind}" + "PRIVATE KEY-----")


def _jwt(r: Random) -> tuple[str, str]:
    return _plain("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + run(r, 60, WORD) + "." + run(r, 43, WORD))


FAMILIES: Final[Mapping[str, Callable[[Random], tuple[str, str]]]] = {
    "anthropic": lambda r: _plain("sk-" + "ant-api03-" + run(r, 93, WORD) + "AA"),
    "openai": lambda r: _plain("sk-" + "proj-" + run(r, 74, WORD) + "T3Blb" + "kFJ" + run(r, 74, WORD)),
    "openai, older": lambda r: _plain("sk-" + run(r, 48)),
    "openrouter": lambda r: _plain("sk-" + "or-v1-" + run(r, 64, HEX)),
    "openai, hexadecimal": lambda r: _plain("sk-" + run(r, 32, HEX)),
    "google": lambda r: _plain("AI" + "za" + run(r, 35, WORD)),
    "google, client": lambda r: _plain("GOC" + "SPX-" + run(r, 28, WORD)),
    "google, access": lambda r: _plain("ya" + "29." + run(r, 120, WORD)),
    "hugging-face": lambda r: _plain("h" + "f_" + run(r, 34)),
    "groq": lambda r: _plain("gs" + "k_" + run(r, 52)),
    "xai": lambda r: _plain("xa" + "i-" + run(r, 80)),
    "perplexity": lambda r: _plain("pp" + "lx-" + run(r, 48)),
    "replicate": lambda r: _plain("r" + "8_" + run(r, 37)),
    "nvidia": lambda r: _plain("nv" + "api-" + run(r, 64, WORD)),
    "cerebras": lambda r: _plain("cs" + "k-" + run(r, 48, string.ascii_lowercase + string.digits).lower()),
    "tavily": lambda r: _plain("tv" + "ly-" + run(r, 32)),
    "aws": lambda r: _plain("AK" + "IA" + run(r, 16, string.ascii_uppercase + "234567").upper()),
    "assigned, aws": lambda r: _behind("aws_secret_access_key = ", run(r, 40, ALNUM + "+/")),
    "azure": lambda r: _plain(run(r, 2) + "a8" + "Q~" + run(r, 34, WORD)),
    "azure, storage": lambda r: _behind("Account" + "Key=", run(r, 86, ALNUM + "+/") + "=="),
    "azure, url": lambda r: _behind("https://h.test/c?sv=2022&sig=", run(r, 43, ALNUM) + "%3D"),
    "digitalocean": lambda r: _plain("do" + "p_v1_" + run(r, 64, HEX)),
    "databricks": lambda r: _plain("da" + "pi" + run(r, 32, HEX)),
    "vault": lambda r: _plain("hv" + "s." + run(r, 90, WORD)),
    "terraform": lambda r: _plain(run(r, 14) + ".atlas" + "v1." + run(r, 67)),
    "cloudflare": lambda r: _plain("v1" + ".0-" + run(r, 24, HEX) + "-" + run(r, 146, HEX)),
    "grafana": lambda r: _plain("gl" + "sa_" + run(r, 32) + "_" + run(r, 8, HEX)),
    "new-relic": lambda r: _plain("NR" + "AK-" + run(r, 27, string.ascii_uppercase + string.digits).upper()),
    "sentry": lambda r: _plain("snt" + "rys_" + run(r, 120, ALNUM)),
    "doppler": lambda r: _plain("dp" + ".pt." + run(r, 43)),
    "planetscale": lambda r: _plain("pscale" + "_tkn_" + run(r, 43, WORD)),
    "supabase": lambda r: _plain("sb" + "p_" + run(r, 40, HEX)),
    "github": lambda r: _plain("gh" + "p_" + run(r, 36)),
    "github, fine": lambda r: _plain("github" + "_pat_" + run(r, 22) + "_" + run(r, 59)),
    "gitlab": lambda r: _plain("gl" + "pat-" + run(r, 20, WORD)),
    "npm": lambda r: _plain("np" + "m_" + run(r, 36)),
    "pypi": lambda r: _plain("py" + "pi-AgE" + run(r, 150, WORD)),
    "rubygems": lambda r: _plain("ruby" + "gems_" + run(r, 48, HEX)),
    "docker": lambda r: _plain("dckr" + "_pat_" + run(r, 27, WORD)),
    "atlassian": lambda r: _plain("ATA" + "TT3" + run(r, 180, WORD)),
    "linear": lambda r: _plain("lin" + "_api_" + run(r, 40)),
    "postman": lambda r: _plain("PM" + "AK-" + run(r, 24, HEX) + "-" + run(r, 34, HEX)),
    "slack": lambda r: _plain("xo" + "xb-" + "1" * 3 + run(r, 9, "0123456789") + "-" + run(r, 24)),
    "slack, hook": lambda r: _behind(
        "https://hooks.slack.com/", "services/T" + run(r, 8) + "/B" + run(r, 30)
    ),
    "discord": lambda r: _behind("https://discord.com/api/webhooks/123456789012345678/", run(r, 68, WORD)),
    "telegram": lambda r: _behind("1234567890", ":A" + "A" + run(r, 33, WORD)),
    "stripe": lambda r: _plain("sk" + "_live_" + run(r, 24)),
    "twilio": lambda r: _plain("S" + "K" + run(r, 32, HEX)),
    "sendgrid": lambda r: _plain("S" + "G." + run(r, 22, WORD) + "." + run(r, 43, WORD)),
    "mailgun": lambda r: _plain("ke" + "y-" + run(r, 32, HEX)),
    "mailchimp": lambda r: _plain(run(r, 32, HEX) + "-us" + "21"),
    "shopify": lambda r: _plain("shp" + "at_" + run(r, 32, HEX)),
    "square": lambda r: _plain("sq0" + "atp-" + run(r, 22, WORD)),
    "notion": lambda r: _plain("nt" + "n_" + run(r, 46)),
    "figma": lambda r: _plain("fi" + "gd_" + run(r, 40, WORD)),
    "age": lambda r: _plain(
        "AGE-" + "SECRET-KEY-1" + run(r, 58, string.ascii_uppercase + "0123456789").upper()
    ),
    "jwt": _jwt,
    "private-key": lambda r: _pem(r, "RSA "),
    "private-key, plain": lambda r: _pem(r, ""),
    "private-key, ssh": lambda r: _pem(r, "OPENSSH "),
    "url-password": lambda r: _behind("postgres://app:", run(r, 16), "@db.internal:5432/x"),
    "url-password, no name": lambda r: _behind("redis://:", run(r, 16), "@cache/0"),
    "authorization, bearer": lambda r: _behind("Authorization: Bearer ", run(r, 40)),
    "authorization, basic": lambda r: _behind(
        "Authorization: Basic ", base64.b64encode(f"app:{run(r, 16)}".encode()).decode()
    ),
    "authorization, bare": lambda r: _behind("authorization: ", run(r, 40, HEX)),
    "password": lambda r: _behind("password=", run(r, 14)),
    "password, option": lambda r: _behind("mysql --password ", run(r, 14)),
    "assigned, key": lambda r: _behind("x-api-key: ", run(r, 32, HEX)),
    "assigned, token": lambda r: _behind("ACCESS_TOKEN=", run(r, 40)),
    "assigned, secret": lambda r: _behind("client_secret: ", run(r, 30, ALNUM)),
    "assigned, typed": lambda r: (lambda v: (f"const apiKey: string = '{v}'", v))(run(r, 30) + "7"),
    "password, said": lambda r: _behind("The password for the test database is ", made(r)),
    "password, german": lambda r: _behind("Passwort: ", made(r)),
    "password, french": lambda r: _behind("mot de passe : ", made(r)),
    "password, chinese": lambda r: _behind("密码：", made(r)),
    "password, chinese sentence": lambda r: _behind("密码是 ", made(r)),
    "password, russian": lambda r: _behind("пароль: ", made(r)),
    "assigned, chinese": lambda r: _behind("密钥为 ", made(r)),
    "tag": lambda r: _behind("<password>", made(r), "</password>"),
    "tag, key": lambda r: _behind("<apiKey>", made(r), "</apiKey>"),
    "netrc": lambda r: _behind("machine api.test login bob password ", run(r, 16)),
    "cookie": lambda r: _behind("Cookie: theme=dark; session=", made(r), "; lang=en"),
    "cookie, set": lambda r: _behind("Set-Cookie: sid=", made(r), "; Path=/"),
    "option": lambda r: _behind("curl -u bob:", run(r, 12), " https://api.test"),
    "option, long": lambda r: _behind("curl -X POST --user bob:", run(r, 12), " https://api.test"),
    "option, several": lambda r: _behind("curl -sSu bob:", run(r, 12), " https://api.test"),
}
"""What a test calls it, its family before the comma → the text and the secret in it."""


def _in_json(text: str) -> str:
    return json.dumps({"wire": {"role": "user", "content": f"first\n{text}\nlast"}})


def _in_arguments(text: str) -> str:
    inner = json.dumps({"cmd": f"echo '{text}'\n", "more": [json.dumps({"deep": text})]})
    return json.dumps({"part": "call", "arguments": inner}, ensure_ascii=False)


def _in_escapes(text: str) -> str:
    """As a writer that escapes for HTML, and slashes: every third character is an escape."""
    spelt = "".join(
        f"\\u{ord(char):04x}"
        if place % 3 == 1 and char.isalnum()
        else json.dumps(char)[1:-1].replace("/", "\\/")
        for place, char in enumerate(text)
    )
    return f'{{"format":"neutral","text":"say {spelt} \\u003cend\\u003e"}}'


WRAPPINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "plain": lambda text: f"say {text} now",
    "json": _in_json,
    "json in json in json": _in_arguments,
    "escapes": _in_escapes,
    "wire_text": lambda text: json.dumps({"wire_text": '{"content":' + json.dumps(f"\ud83d {text}") + "}"}),
    "env": lambda text: json.dumps({"text": f"$ env\nexport X={text}\n\x1b[32m{text}\x1b[0m"}),
}
"""Places a secret stands in."""
