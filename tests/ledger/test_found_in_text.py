"""What counts as a fact, kind by kind, and that finding facts stays cheap whatever the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ledger.errors_in_text import IN_CODE
from foldline.ledger.errors_in_text import key_of as error_key
from foldline.ledger.facts import Fact, FactKind
from foldline.ledger.found_in_text import Finder, extract

AGENT_TEXT = (
    "$ pytest tests/test_pool.py -x\n"
    "FAILED tests/test_pool.py::test_drain - TimeoutError: pool 'db-7' did not drain in 30s\n"
    "2 failed, 118 passed in 4.21s\n"
    '{"port": 8787, "retry_limit": 3, "url": "https://example.com/a/b?x=1", "sha": "3f2a9bc1d"}\n'
    "见 src/pool/drain.py:88，服务端口 8080，超时时间设置为30秒。错误：连接被拒绝\n"
    "def drain_pool(timeout_s: float) -> None:\n"
    "    raise PoolError(`${pool}`)  # see PROJ-412, C:\\Users\\ann\\pool.log\n"
)


def texts(text: str, kind: FactKind) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == kind]


def numbers(text: str) -> list[tuple[str, str]]:
    return [(fact.key, fact.value) for fact in extract(text) if fact.kind == "numbers"]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see main.ts and pyproject.toml.", ["main.ts", "pyproject.toml"]),
        ("src/foo/bar.py:12: unused", ["src/foo/bar.py"]),
        ("in ~/notes/a.md, ./x/y.sh and ../z.toml", ["~/notes/a.md", "./x/y.sh", "../z.toml"]),
        ("@packages/x/src/i.ts", ["@packages/x/src/i.ts"]),
        (r"open C:\Users\new\x.txt now", [r"C:\Users\new\x.txt"]),
        (r'{"path": "C:\\Users\\new\\x.txt"}', [r"C:\\Users\\new\\x.txt"]),
        ("修改了src/a.py文件，见`文档/设计.md`", ["src/a.py", "文档/设计.md"]),
        (r'{"command": "cat src/a.py\nsrc/b.py"}', ["src/a.py", "src/b.py"]),
        ("diff --git a/src/x.py b/src/x.py", ["b/src/x.py"]),
        ("Makefile and Dockerfile", ["Makefile", "Dockerfile"]),
        ("cd /tmp && ls src/", ["/tmp", "src/"]),
    ],
)
def test_paths_are_found_in_prose_json_diffs_and_chinese(text: str, paths: list[str]) -> None:
    """OBS-3, vshulcz/deja-vu#543 (bug G07): about a tenth of the paths were left after a summary."""
    assert texts(text, "paths") == paths


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "client/server and read/write",
        "2025/11/29",
        "</div> <br/>",
        "1/2",
        "HTTP/1.1",
        "HTML/CSS/JavaScript",
        "console.log(x) and response.json()",
        "Node.js",
        "s/foo/bar/g",
        "https://example.com/a/b.html",
        "iVBORw0KGgoAAAANSUhEUgAA" * 5 + "/" + "AAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 4,
    ],
)
def test_what_only_looks_like_a_path_is_none(text: str) -> None:
    """OBS-3: noise counted as facts hides what was lost."""
    assert texts(text, "paths") == []


def test_a_path_is_one_fact_however_it_is_spelled() -> None:
    """OBS-3: near-duplicates of one path are one fact; different paths stay apart."""
    keys = [
        fact.key
        for fact in extract("a/src/x.py b/src/x.py ./src/x.py src/x.py src/x.pyi")
        if fact.kind == "paths"
    ]
    assert keys == ["src/x.py", "src/x.pyi"]


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("(see https://a.b/c/d_(e)).", ["https://a.b/c/d_(e)"]),
        ("文档在https://a.b/c。", ["https://a.b/c"]),
        (
            "commit 3f2a9bc1d of 2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f",
            ["3f2a9bc1d", "2f0c81e7-3a55-4d0b-9d2f-0a1b2c3d4e5f"],
        ),
        ("PROJ-412 and #98, not UTF-8", ["PROJ-412", "#98"]),
        ("booking NO6JO3 on HAT156 for mia_li_3668", ["NO6JO3", "HAT156", "mia_li_3668"]),
        ("ann.lee@example.org", ["ann.lee@example.org"]),
        ("numpy==1.26.4, python 3.11.7", ["numpy==1.26.4", "3.11.7"]),
        ("1234567 2025 defaced accede", []),
    ],
)
def test_identifiers_are_found_without_the_punctuation_around_them(text: str, identifiers: list[str]) -> None:
    """OBS-3: URLs, hashes, tickets and ids of records; a run of digits alone is none."""
    found = texts(text, "identifiers")
    assert found == identifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("port=8787", [("port", "8787")]),
        ('"latency_ms": 12, "a_b":3.5', [("latency_ms", "12"), ("a_b", "3.5")]),
        ("retry_limit: 3", [("retry_limit", "3")]),
        ("it took 137 ms", [("took", "137")]),
        ("the timeout is 30s", [("timeout", "30")]),
        ("raised to 50%", [("raised", "50")]),
        ("12 passed, 3 failed", [("passed", "12"), ("failed", "3")]),
        ("file.py:88", [("file.py", "88")]),
        ("服务端口 8080", [("服务端口", "8080")]),
        ("超时时间设置为30秒", [("超时时间设置", "30")]),
        ("E=60,N=1280", [("E", "60"), ("N", "1280")]),
        ("Lines 199-263", [("Lines", "199-263")]),
        ("offset: -5", [("offset", "-5")]),
        ("   12\tdef f(x):", []),
        ("date: 2025-11-29, at 10:20:30", []),
        ("version 1.2.3", []),
        ("make check 2>&1", []),
        ("id 3f2a9bc1d", []),
    ],
)
def test_numbers_come_with_their_key(text: str, expected: list[tuple[str, str]]) -> None:
    """OBS-3, vshulcz/deja-vu#543 (bug G07): 2 % of the numbers were left after a summary. Dates, times, versions,
    hashes and numbers of lines are no numbers."""
    assert numbers(text) == expected


def test_a_unit_is_quoted_with_its_number() -> None:
    """OBS-3: `took 137` says less than `took 137 ms`."""
    assert texts("took 137 ms, then 4 GB of memory was 90 % full", "numbers")[0] == "took 137 ms"


def test_the_last_fact_of_a_key_is_its_newest_value() -> None:
    """OBS-3: the ledger shows the newest value alone."""
    assert numbers("port=1\nport=2\nport=1\n") == [("port", "2"), ("port", "1")]


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "ValueError: bad literal 'x'",
        "requests.exceptions.ConnectionError: refused",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "E       assert 1 == 2",
        "src/a.ts(3,4): error TS2345: Argument of type 'x'",
        "error[E0382]: borrow of moved value: `x`",
        "main.c:3:5: fatal error: foo.h: no such file",
        "npm ERR! code ELIFECYCLE",
        "npm error command failed",
        "thread 'main' panicked at src/main.rs:2:5",
        "bash: foo: command not found",
        "cat: x: No such file or directory",
        "Command exited with code 2",
        "exit code: 137",
        "HTTP/1.1 503 Service Unavailable",
        '{"error": "model overloaded", "status": 529}',
        "Segmentation fault (core dumped)",
        "3 failed, 9 passed",
        "CONFLICT (content): Merge conflict in a.py",
        "错误：连接失败",
        "编译失败，缺少头文件",
        "エラー: ファイルがありません",
    ],
)
def test_lines_that_report_a_failure_are_found_whole(line: str) -> None:
    """OBS-3: none of the error lines were left after a real summary."""
    assert [f.text for f in extract(f"before\n{line}\nafter") if f.kind == "errors"] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 12 passed",
        "exit code 0",
        '{"error": null, "ok": true}',
        "no errors found",
        "没有错误",
        "    except OSError:  # nothing",
        "381\t        raise NotImplementedError",
        "if error is None:",
        "Handle errors gracefully.",
        "HTTP/1.1 200 OK",
    ],
)
def test_lines_without_a_failure_are_no_errors(line: str) -> None:
    """OBS-3: a line that denies a failure, or a line of a program, reports none."""
    assert [f for f in extract(line) if f.kind == "errors" and not f.key.startswith(IN_CODE)] == []


def test_failures_that_differ_in_numbers_times_and_directories_are_one_kind() -> None:
    """OBS-3: the newest of each kind is kept, so a kind must outlive the run."""
    first = "2025-01-02T10:00:01Z /tmp/a/x.py:12: Error: took 30 ms at 0x7f3a"
    again = "2025-01-03T11:30:44Z /var/b/x.py:99: Error: took 31 ms at 0x11bc"
    assert error_key(first) == error_key(again)
    assert error_key("Error: no port") != error_key("Error: no host")


def test_a_failure_in_a_very_long_line_is_quoted_around_its_word() -> None:
    """OBS-3: minified output is one line."""
    (text,) = texts("x" * 5_000 + " FAILED: disk full " + "y" * 5_000, "errors")
    assert "FAILED: disk full" in text
    assert len(text) <= 240


def test_code_gives_the_names_it_defines_and_uses() -> None:
    """OBS-3: names of functions and classes are asked for again."""
    code = "def extract(a):\nclass Bar:\n    return fooBar(x_y_z, MAX_LEN) + plain\n"
    assert set(texts(code, "symbols")) == {"extract", "fooBar", "x_y_z", "MAX_LEN"}


@given(
    st.lists(
        st.sampled_from(AGENT_TEXT.splitlines(keepends=True)) | st.text(max_size=40).map(lambda t: t + "\n"),
        max_size=8,
    )
)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_every_fact_stands_in_its_text_and_no_cut_at_a_line_end_makes_one_up(lines: list[str]) -> None:
    """OBS-3: a fact is verbatim, on one line, and what pieces say the whole says too."""
    lines = [line for line in lines if "\r" not in line and line[0] not in '{["\\']
    whole = "".join(lines)
    found = extract(whole)
    assert all(fact.text in whole and "\n" not in fact.text for fact in found)
    kept = {_same(fact) for fact in found}
    assert {_same(fact) for line in lines for fact in extract(line)} <= kept
    assert len({(f.kind, f.key, f.value, f.text) for f in found}) == len(found)


def _same(fact: Fact) -> tuple[str, str, str]:
    return fact.kind, fact.key, fact.value


def test_facts_do_not_depend_on_what_was_read_before() -> None:
    """Law SAME: the same text has the same facts."""
    finder = Finder()
    finder("FAILED src/other.py port=1 PROJ-9\n" * 3)
    assert finder(AGENT_TEXT) == finder(AGENT_TEXT) == extract(AGENT_TEXT)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "/",
        "=1",
        "1",
        " ",
        "a/",
        "a.",
        "a-",
        "@",
        "a 1 ",
        "\\n",
        "端口8",
        "error ",
        "error: x\n",
        "1.",
        "://",
    ],
)
def test_finding_facts_is_linear_in_hostile_text(unit: str) -> None:
    """OBS-3: four times the text costs at most some eight times the time (four, and the noise of a busy machine)."""
    small, large = unit * (25_000 // len(unit)), unit * (100_000 // len(unit))
    assert _seconds(large) <= 8 * _seconds(small) + 0.02


def _seconds(text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        extract(text)
        best = min(best, time.process_time() - start)
    return best
