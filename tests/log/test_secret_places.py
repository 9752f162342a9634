"""Secrets that a cookie, an option, a tag, a line of `.netrc`, a sentence or a word of another language gives away."""

from __future__ import annotations

import json

import pytest

from foldline.log.secret_places import KEYS, PASSWORDS
from foldline.log.secrets import Redactor, find

VALUE = "x7Yz9Qw2pL"


@pytest.mark.parametrize(
    "text",
    [
        f"<password>{VALUE}</password>",
        "<db:password>x9$Kp!2vQz</db:password>",
        "machine x login bob password hunter2",
        "machine github.com\\n  login bob\\n  password s3cretz",
        f"The password is {VALUE}",
        "The password for the test database is hV7!kq2#Lm9.",
        'the password is "hunter22"',
        "the API key is 550e8400-e29b-41d4-a716-446655440000",
        f"const apiKey: string = '{VALUE}'",
        f'api_key: Optional[str] = "{VALUE}"',
        f'const API_KEY: &\'static str = "{VALUE}";',
        f"密码：{VALUE}",
        f"密码是 {VALUE}",
        f"パスワードは {VALUE}",
        f"Passwort: {VALUE}",
        f"mot de passe : {VALUE}",
        f"Contraseña: {VALUE}",
        f"Set-Cookie: sid={VALUE}; Path=/",
        f'{{"cookie": "session={VALUE}"}}',
        "curl -u bob:pass12 http://x",
        'curl -sSu "bob:pass12" http://x',
        "curl -X POST \\\n  -u bob:pass12 http://x",
        "curl -X POST --user bob:hunter2 https://x",
        f"login -u bob:{VALUE}",
    ],
)
def test_a_secret_is_found_by_the_place_it_stands_in(text: str) -> None:
    """S14: cookies, options, markup, sentences and other languages, and again where JSON spells them in ASCII."""
    assert len(find(text.encode())) == 1
    assert len(find(json.dumps({"text": json.dumps(text)}).encode())) == 1


@pytest.mark.parametrize("word", [*PASSWORDS, *KEYS])
def test_every_word_of_another_language_stands_before_a_secret(word: str) -> None:
    """S14: bare and quoted, and as escapes in a JSON that is ASCII alone."""
    quoted = "x9$Kp!2vQz" if word in PASSWORDS else VALUE
    for text in (f"{word}: {VALUE}", f'{word} = "{quoted}"'):
        for spelt in (text, json.dumps(text)):
            assert find(spelt.encode()), spelt


@pytest.mark.parametrize(
    "text",
    [
        "the password is required_for2fa",
        "The token is base64encoded, the secret is SHA256-hashed",
        "The token is RFC6749-compliant and the password is v1.2.3-rc10",
        "the password was 2024-11-30, then Schwarzschild",
        "The token is read_token(path)",
        "docker run -u 1000:1000 x; docker run -u app:app1 x; curl -s a; docker run -u 1000:1001 x",
        "rsync -u host1:/path/a1b2/c to; git push -u origin:main; sudo -u bob:staff id",
        "curl -u user:password x; curl -u $USER:$PASS x",
        'curl -u "$USER:${PASS}" x',
        "Cookie: theme=dark; lang=en_US",
        'the cookie is session-scoped; document.cookie = name + "=" + value1',
        "cookie=cookies[0]; x=foo1bar2(3)",
        "<password>changeme</password><token>identifier</token>",
        "if token > other_value1 <x",
        "const token: string = readToken('x9y')",
        'password: str = "your-password-here1"',
        "密码是必填的，密码 base64",
        "mots de passe: 12 caractères",
        "machine learning, login and a password field",
    ],
)
def test_prose_and_code_in_such_a_place_stay(text: str) -> None:
    """S14: a redaction there would be a loss; a sentence has to tell a value that nobody would write as a word."""
    assert find(text.encode()) == ()


def test_of_a_list_of_cookies_those_in_no_order_go_and_the_others_stay() -> None:
    """S14: what is left still says which cookies there were."""
    text = f"Cookie: theme=dark; session={VALUE}dd; csrf=aaBB11cc99zZ; lang=en"
    left = Redactor(b"k" * 32).text(text)
    assert left.count("⟦secret:") == 2
    assert left.startswith("Cookie: theme=dark; session=⟦secret:")
    assert left.endswith("; lang=en")
