"""Numbers with their key, their unit and their newest value."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "numbers"]


def numbers(text: str) -> list[tuple[str, str]]:
    return [(fact.key, fact.value) for fact in extract(text) if fact.kind == "numbers"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("port=8787", [("port", "8787")]),
        ('"latency_ms": 12, "a_b":3.5', [("latency_ms", "12"), ("a_b", "3.5")]),
        ("retry_limit: 3", [("retry_limit", "3")]),
        ("it took 137 ms", [("took", "137·ms")]),
        ("the timeout is 30s", [("timeout", "30·s")]),
        ("raised to 50%", [("raised", "50%")]),
        ("12 passed, 3 failed", [("passed", "12"), ("failed", "3")]),
        ("file.py:88", [("file.py", "88")]),
        ("服务端口 8080", [("服务端口", "8080")]),
        ("超时时间设置为30秒", [("超时时间设置", "30·秒")]),
        ("E=60,N=1280", [("E", "60"), ("N", "1280")]),
        ("Lines 199-263", [("Lines", "199-263")]),
        ("offset: -5", [("offset", "-5")]),
        ("   12\tdef f(x):", []),
        ("date: 2025-11-29, at 10:20:30", []),
        ("version 1.2.3", []),
        ("make check 2>&1", []),
        ("id 3f2a9bc1d", []),
        ("15 passed in 5.1s", [("in", "5.1"), ("passed", "15")]),
        ("3 failed, 12 passed in 4 s", [("in", "4"), ("failed", "3"), ("passed", "12")]),
        ("tests passed in 5.1s", [("passed", "5.1·s")]),
        ("size=10MB\nsize=20GB", [("size", "10·MB"), ("size", "20·GB")]),
        ("memory: 512 MB, max_tokens: 4096 tokens", [("memory", "512·MB"), ("max_tokens", "4096")]),
        ("index f9106..7cca681 100644", []),
        ("index f9106..7cca681=100644", []),
        ("7cca681: 100644", []),
        ("price=$5, fee=5€", [("price", "$5"), ("fee", "5€")]),
        ("less=<5, approx=~5", [("less", "<5"), ("approx", "~5")]),
        ("speed=5 MB/s", [("speed", "5·MB/s")]),
        ("lat=5µs", [("lat", "5·µs")]),
        ("lr=1e-5, size=1.5E+10", [("lr", "1e-5"), ("size", "1.5E+10")]),
        ("lr=1e5, size: 2.5E12, commit=12e4567", [("lr", "1e5"), ("size", "2.5E12")]),
        ("start=12:30, the review is at 9:05", [("start", "12:30"), ("review", "9:05")]),
        ("src/a.py:12:30: error, from 10:20:30", []),
        ("more=>=5, latency <=9", [("more", ">=5"), ("latency", "<=9")]),
        ("mask=0x1F, port=80", [("mask", "0x1F"), ("port", "80")]),
        ("ptr=0x7ffd12345678", []),
        ("temp=−5", [("temp", "-5")]),
        ("port=８０８０", [("port", "8080")]),
        ("超时=30秒", [("超时", "30·秒")]),
        ("延迟 20 毫秒以内", [("延迟", "20·毫秒")]),
        ("内存 8GB，重试 3 次", [("内存", "8·GB"), ("重试", "3")]),
        ("预算 5万", [("预算", "5·万")]),
    ],
)
def test_numbers_come_with_their_key(text: str, expected: list[tuple[str, str]]) -> None:
    """OBS-3, vshulcz/deja-vu#543 (bug G07): 2 % of the numbers were left after a summary. Dates, times, versions,
    hashes and numbers of lines are no numbers."""
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-rw-rw-r-- 1 ubuntu ubuntu 8465 Dec 27 10:00 a.py", []),
        ("drwxr-xr-x 13 root root 4096 Jan  3 2025 src", []),
        ("Step 1 and Panel 3, split into 4 of that 345", []),
        ("Step: 1, row=4", [("Step", "1"), ("row", "4")]),
        ("line 17, port 80", [("line", "17"), ("port", "80")]),
    ],
)
def test_what_numbers_a_list_or_stands_in_a_listing_is_no_value(
    text: str, expected: list[tuple[str, str]]
) -> None:
    """OBS-3: in seven ledgers a fresh reader could make nothing of `Subtask=4|3|2|1 into=3 ubuntu=8465 rw-rw-r=1`."""
    assert numbers(text) == expected


def test_a_unit_is_quoted_with_its_number() -> None:
    """OBS-3: `took 137` says less than `took 137 ms`."""
    assert texts("took 137 ms, then 4 GB of memory was 90 % full")[0] == "took 137 ms"


def test_the_last_fact_of_a_key_is_its_newest_value() -> None:
    """OBS-3: the ledger shows the newest value alone."""
    assert numbers("port=1\nport=2\nport=1\n") == [("port", "2"), ("port", "1")]
