"""Headers that go on, that stay, and that may be seen."""

from __future__ import annotations

from foldline.proxy.headers import readable, request_headers, response_headers, secrets_in, text_of

GIVEN = [
    ("Host", "127.0.0.1:1"), ("Authorization", "Bearer key"), ("Connection", "keep-alive, X-Mine"), ("X-Mine", "1"),
    ("Content-Length", "3"), ("Transfer-Encoding", "chunked"), ("Accept-Encoding", "gzip, br;q=0.5, zstd"),
    ("Content-Encoding", "gzip"), ("X-Foldline-Token", "t"), ("Proxy-Authorization", "p"), ("Anthropic-Beta", "b"),
]  # fmt: skip


def names(pairs: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in pairs]


def test_what_belongs_to_one_connection_stays_there() -> None:
    """RFC 9110, 7.6.1; and the proxy's own token is none of the provider's business."""
    up = request_headers(GIVEN, is_heard=False, is_written_anew=False)
    assert names(up) == ["Authorization", "Accept-Encoding", "Content-Encoding", "Anthropic-Beta"]
    assert dict(up)["Accept-Encoding"] == "gzip, br;q=0.5, zstd"


def test_an_answer_that_is_heard_comes_in_an_encoding_that_can_be_read() -> None:
    """What is passed on stays as it comes; so it has to come readable."""
    up = request_headers(GIVEN, is_heard=True, is_written_anew=True)
    assert dict(up) == {"Authorization": "Bearer key", "Accept-Encoding": "gzip", "Anthropic-Beta": "b"}
    assert readable("br, zstd") == "identity"
    assert readable("GZIP;q=1.0, deflate") == "GZIP;q=1.0, deflate"


def test_an_answer_keeps_its_length_and_its_spelling() -> None:
    """Its body stays as it came."""
    raw = [(b"Content-Length", b"3"), (b"Set-Cookie", b"a"), (b"Set-Cookie", b"b"), (b"Connection", b"close")]
    assert response_headers(raw) == [("Content-Length", "3"), ("Set-Cookie", "a"), ("Set-Cookie", "b")]
    assert text_of([(b"X", "é".encode()), (b"Y", b"\xe9")]) == [("X", "é"), ("Y", "é")]


def test_keys_are_known_wherever_they_come() -> None:
    """Test S3: an error of the upstream that quotes one is cleaned of it; Gemini takes it in the query too."""
    given = [*GIVEN, ("X-Goog-Api-Key", "g"), ("Cookie", "c")]
    assert secrets_in(given, "/v1beta/models/m:generateContent?alt=sse&key=q") == ("key", "p", "g", "c", "q")
    assert secrets_in([("Accept", "a"), ("Authorization", "")], "/v1/messages") == ()
