"""Secrets are found in every wrapping, replaced by a keyed fingerprint, and nothing else is touched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline.log import secrets
from foldline.log.secret_families import TOKENS, WORDS
from foldline.log.secret_places import PLACES
from foldline.log.secrets import Redactor, find
from tests.linear import slowness
from tests.log import secret_samples as samples

REPO = Path(__file__).parents[2]
REDACTOR = Redactor(b"k" * 32)
MARK = re.compile(r"⟦secret:[0-9a-f]{16}⟧")
ROUNDS = 40


def bare(text: str) -> str:
    """A text without anything that escaping could have put between its characters."""
    return re.sub(r"\\+[nr]|\s", "", text)


@pytest.mark.parametrize("wrapping", samples.WRAPPINGS)
@pytest.mark.parametrize("family", samples.FAMILIES)
def test_every_family_is_redacted_in_every_wrapping(family: str, wrapping: str) -> None:
    """S14: all families (85 samples of more than 50), each in six wrappings, forty times."""
    random = Random(f"{family}/{wrapping}")
    for _ in range(ROUNDS):
        text, secret = samples.FAMILIES[family](random)
        wrapped = samples.WRAPPINGS[wrapping](text)
        redacted = REDACTOR.body(wrapped.encode())
        left = redacted.data.decode()
        if wrapping != "plain":
            left = json.dumps(json.loads(left), ensure_ascii=False)  # still JSON, and without escapes
        assert redacted.count >= 1, wrapped
        assert bare(secret) not in bare(left), left
        assert family.split(",")[0] in redacted.families or secret not in text, redacted.families
        assert MARK.search(left)
        assert REDACTOR.body(redacted.data).count == 0, "once is enough"


def test_there_are_at_least_twenty_families() -> None:
    """S14."""
    assert len({family.name for family in (*TOKENS, *WORDS, *PLACES)}) >= 50


def test_one_secret_has_one_fingerprint_in_every_wrapping_and_another_under_another_key() -> None:
    """Equality survives, and nobody without the key can try words against it."""
    text, _ = samples.FAMILIES["private-key"](Random(1))
    marks = {
        mark
        for wrap in samples.WRAPPINGS.values()
        for mark in MARK.findall(json.dumps(REDACTOR.text(wrap(text)), ensure_ascii=False))
    }
    assert len(marks) == 1
    assert Redactor(b"another key, 32 bytes of it ....").text(text) not in marks
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Redactor(b"short")


SIGNATURE = "AKIAIOSFODNN7EXAMPLE" + "abcDEF0123+/" * 20 + "=="


@pytest.mark.parametrize(
    "body",
    [
        {"type": "thinking", "thinking": "t", "signature": "AKIAIOSFODNN7EXAMPLE=="},
        {"type": "thinking", "thinking": "t", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "abcDEF0123+/" * 8 + "/" + SIGNATURE},
        {"type": "reasoning", "encrypted_content": SIGNATURE, "summary": []},
        {"thoughtSignature": SIGNATURE, "functionCall": {"name": "f", "args": {}}},
        {"type": "image", "source": {"media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAUA/" + SIGNATURE}},
        {"image_url": {"url": "data:image/png;base64,iVBO/" + SIGNATURE}},
        {"part": "opaque", "raw": json.dumps({"encrypted_content": "abc/" * 10 + SIGNATURE})},
        {"address": "m12.3@5f0c9a1e", "covers": ["m1-m40@0123456789abcdef"], "crc": "fed20f38"},
        {"commit": "8c5760c8c5760c8c5760c8c5760c8c5760c8c576", "id": "toolu_01A09q90qw90lq917835lq9"},
        {"usage": {"tokens_input": 123456789, "tokens_cache_read": 100000000}, "next_page_token": "CAUQAA8x7f0abc"},
        {"text": "the word ⟦secret:0123456789abcdef⟧ and password=⟦secret:0123456789abcdef⟧ stand"},
        {"text": "token = read_token(path); self.password = password_field; token: str | None = None"},
        {"text": "secret_sha256=0123456789abcdef0123456789abcdef and password_file=/etc/app/pw1.conf"},
        {"text": "postgres://postgres:postgres@localhost/x and sk-learn-is-not-a-token-at-all-really"},
    ],
    ids=lambda body: next(iter(body)),
)  # fmt: skip
def test_what_must_stay_byte_exact_stays(body: dict[str, object]) -> None:
    """Opaque fields are never redacted (gsd-build/gsd-2#4547), nor our own addresses and marks, hashes, code."""
    data = json.dumps(body, ensure_ascii=False).encode()
    assert REDACTOR.body(data).data == data


def test_a_key_beside_a_signature_goes_and_the_signature_stays() -> None:
    """gsd-build/gsd-2#4547: the message of the report, as our log holds it."""
    message = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "t", "signature": "AKIAIOSFODNN7EXAMPLE=="},
            {"type": "text", "text": "my key is AKIAIOSFODNN7EXAMPLE"},
        ],
    }
    told = json.loads(REDACTOR.body(json.dumps({"format": "anthropic", "wire": message}).encode()).data)
    thinking, text = told["wire"]["content"]
    assert thinking == message["content"][0]
    assert MARK.fullmatch(text["text"].removeprefix("my key is "))


def test_false_hits_on_real_sessions_and_code_are_at_most_one_a_megabyte() -> None:
    """S14: over the transcripts and the source in this repo."""
    files = [path for path in (REPO / "tests/data").rglob("*") if path.is_file()]
    files += [*(REPO / "src").rglob("*.py"), *(REPO / "examples").rglob("*.jsonl")]
    data = [path.read_bytes() for path in files]
    hits = [(path.name, hit.family) for path, text in zip(files, data, strict=True) for hit in find(text)]
    assert len(hits) <= sum(map(len, data)) / 1e6, hits


def test_a_secret_that_was_seen_is_known_again_alone_and_cut_in_two() -> None:
    """A clipped copy of a result ends inside it; a tool prints it bare. One fingerprint for all of them."""
    redactor = Redactor(b"k" * 32)
    key, pem = samples.FAMILIES["github"](Random(1))[0], samples.FAMILIES["private-key"](Random(2))[0]
    body = json.dumps({"text": f'{key} password="hunter2x"\n{pem}'}).encode()
    marks = MARK.findall(redactor.body(body).data.decode())
    assert len(set(marks)) == 3
    line = pem.split("\n")[3]
    clipped = json.dumps(
        {"text": f"{key[:20]}\n[… cut …]\n{key[-18:]} and hunter2x\n{line}\n{pem.split(chr(10))[4][:30]}"}
    )
    assert Redactor(b"k" * 32).body(clipped.encode()).count == 0, "nobody who did not see them could tell"
    redacted = redactor.body(clipped.encode())
    assert redacted.families == {"seen": 5}
    left = json.loads(redacted.data)["text"]
    assert MARK.sub("", left) == "\n[… cut …]\n and \n\n"
    assert set(MARK.findall(left)) == set(marks)
    assert redactor.body(redacted.data).data == redacted.data


def test_what_a_redactor_knows_again_is_bounded() -> None:
    """Of very many secrets the last ones; every one is still found where it says what it is."""
    redactor, random = Redactor(b"k" * 32), Random(3)
    for _ in range(600):
        assert redactor.body(samples.FAMILIES["npm"](random)[0].encode()).count == 1
    assert len(redactor._seen) == 48


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────────────────

FILLERS = ("a", "-", "A1", "=", ":", ' "', "\\", "aB3xY9" * 8, ".eyJ", "PRIVATE KEY-----", "=aB3", "://a:b")
OWN = [(anchor.decode(), "") for family in (*TOKENS, *WORDS, *PLACES) for anchor in family.anchors]
NEAR = [(a.decode(), filler) for f in (*WORDS, *PLACES) for a in f.anchors for filler in FILLERS]
NEAR += [(anchor, filler) for anchor in ("sk-", "eyJ", "key-", ".atlasv1.", "Q~") for filler in FILLERS]
SCANS_MAX = 30
"""Plain looks at each character. The slowest takes 12 of them, transcripts 1."""


@pytest.mark.parametrize("size", [100_000, pytest.param(500_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("bait", [OWN, NEAR], ids=["own", "near"])
def test_no_repetition_of_an_anchor_takes_more_than_linear_time(
    bait: list[tuple[str, str]], size: int
) -> None:
    """S13: each family on its own beginning over and over, and on near misses."""
    for anchor, filler in bait:
        piece = anchor + filler
        assert slowness(lambda text: find(text.encode()), piece, size=size, scans_max=SCANS_MAX) == "", piece


PIECES = st.sampled_from(
    [
        '"',
        "\\",
        "\\n",
        "\\u0073",
        "\\/",
        "n",
        "sk-",
        "password=",
        "npm_" + "aB3" * 12,
        "⟦",
        ":",
        "Bearer ",
        "x7Yz" * 6,
        "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEF\n" * 3,
        "postgres://bob:hV7!kq2Lm9@db/x",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12), st.integers(0, 3))
@example(["\n", "npm_" + "aB3" * 12], 0)
@example(["password:\n", "aB3xY9pQ"], 1)
@example(["-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEF\n" * 3, '"'], 1)
@example(["password Hx7pQ9zLw=,", "postgres://bob:hV7!kq2Lm9@db/x"], 0)
def test_what_is_left_of_json_is_json(pieces: list[str], depth: int) -> None:
    """No redaction begins or ends inside an escape; a second one finds nothing."""
    text: object = "".join(pieces)
    for _ in range(depth):
        text = json.dumps({"inner": text})
    for ascii_alone in (False, True):
        data = json.dumps({"text": text}, ensure_ascii=ascii_alone).encode("utf-8", "surrogatepass")
        redacted = REDACTOR.body(data).data
        json.loads(redacted.decode("utf-8", "surrogatepass"))
        assert REDACTOR.body(redacted).data == redacted


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("lines", [1, 3, 40])
def test_a_key_without_its_end_leaves_the_text_it_stands_in_whole(lines: int, depth: int) -> None:
    """`head -4 key.pem` in a result that is JSON itself: the quote that ends it is no part of the key."""
    key = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDc8sQ3pV7xT\n" * lines
    )
    for cut in (key, key.rstrip("\n"), key[:-7]):
        text = json.dumps({"output": cut, "exit": 0})
        for _ in range(depth):
            text = json.dumps({"inner": text})
        left = json.loads(REDACTOR.body(json.dumps({"text": text}).encode()).data)["text"]
        for _ in range(depth):
            left = json.loads(left)["inner"]
        assert json.loads(left)["exit"] == 0
        assert "MIIEvQ" not in left


def test_a_pattern_that_takes_too_much_costs_no_body_its_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is found: what was JSON stays JSON."""
    data = json.dumps({"a": 'one\\"two', "b": ["\u00e9\n", 7]}).encode()
    for start in range(len(data)):
        for end in range(start + 1, len(data) + 1):
            hit = secrets.Hit(start, end, "all", data[start:end])
            monkeypatch.setattr(secrets, "find", lambda _, hit=hit: (hit,))
            monkeypatch.setattr(secrets, "PASSES_MAX", 1)
            left = json.loads(secrets.Redactor(b"k" * 32).body(data).data)
            assert [type(value) for value in left.values()] == [str, list]
            assert list(left.values())[1][1] == 7


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "hV7!kq2#Lm9"}',
        'db_password: "x9$Kp!2vQz"',
        "PASSWORD='x9$Kp!2vQz'",
        '{\\"password\\": \\"hV7!kq2#Lm9\\"}',
        "pwd = `Tr0ub4dor&3x`",
    ],
)
def test_a_quoted_password_with_signs_in_it_is_taken_out(text: str) -> None:
    """S14: signs are what people are made to put into passwords."""
    found = Redactor(b"k" * 32).text(text)
    assert "⟦secret:" in found
    assert not any(word in found for word in ("hV7!", "x9$K", "Tr0ub4"))


@pytest.mark.parametrize(
    "text",
    [
        'password: "${DB_PASSWORD_1}"',
        'password: "$DB_PASSWORD_1!"',
        'password: "%(db_password1)s"',
        'password: "changeme"',
        '"password": "string, 8 to 64 characters"',
        'password_field = "user.password1"',
        'passed: "12 of 14, 3 skipped!"',
    ],
)
def test_what_stands_in_the_place_of_a_password_stays(text: str) -> None:
    """Placeholders, types and prose."""
    assert Redactor(b"k" * 32).text(text) == text
