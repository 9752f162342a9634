"""Lines that report a failure, and their kinds."""

from __future__ import annotations

import pytest

from foldline.ledger.errors_in_text import IN_CODE, key_of
from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "errors"]


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
        "npm error code 2",
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
        "lastError: connection refused by 10.0.0.1",
        "TypeError: x is not a function",
        "错误：连接失败",
        "失败：0 次重试后放弃",
        "修复失败",
        "错误码：500",
        "失败：0，错误：3",
        "ERROR: 0 is not a valid id",
        "Failed tests: 0 of 3 could be FAILED",
        "编译失败，缺少头文件",
        "エラー: ファイルがありません",
        "程序抛出了异常",
        "异常终止，退出码 3",
        'reason: "the request failed"',
    ],
)
def test_lines_that_report_a_failure_are_found_whole(line: str) -> None:
    """OBS-3: none of the error lines were left after a real summary."""
    assert [f.text for f in extract(f"before\n{line}\nafter") if f.kind == "errors"] == [line]


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 12 passed",
        'excerpt: "积分榜前六名球队分差仅7分，本赛季冠军争夺异常激烈，多支球队都有机会问鼎。",',
        "今天的比赛异常精彩",
        "title: '主队遭遇失败',",
        "exit code 0",
        '{"error": null, "ok": true}',
        "no errors found",
        "没有错误",
        "    except OSError:  # nothing",
        "381\t        raise NotImplementedError",
        "if error is None:",
        "Handle errors gracefully.",
        "HTTP/1.1 200 OK",
        "ERROR COUNT: 0",
        "FAILED (0)",
        "Failed tests: 0",
        "Tests run: 5, Failures: 0, Errors: 0",
        "fatal: 0",
        "error(s): 0",
        "失败：0",
        "错误：0",
        "错误数 0",
        "0 个失败",
        "未发现错误",
        "没有发现任何错误",
        "修复了错误",
        "错误已修复",
        "错误处理已完成",
        "超时=30秒",
        "超时设置为 30 秒",
        "npm error path /repo/packages/agent",
        "npm error command sh -c tsgo --noEmit",
        "npm ERR! A complete log of this run can be found in: /var/npm/_logs/x.log",
        '295:            "Unable to convert the pixel data as the following required " ',
    ],
)
def test_lines_without_a_failure_are_no_errors(line: str) -> None:
    """OBS-3: a line that denies a failure, or a line of a program, reports none."""
    assert [f for f in extract(line) if f.kind == "errors" and not f.key.startswith(IN_CODE)] == []


def test_failures_that_differ_in_numbers_times_and_directories_are_one_kind() -> None:
    """OBS-3: the newest of each kind is kept, so a kind must outlive the run."""
    first = "2025-01-02T10:00:01Z /tmp/a/x.py:12: Error: took 30 ms at 0x7f3a"
    again = "2025-01-03T11:30:44Z /var/b/x.py:99: Error: took 31 ms at 0x11bc"
    assert key_of(first) == key_of(again)
    assert key_of("Error: no port") != key_of("Error: no host")


def test_a_failure_in_a_very_long_line_is_quoted_around_its_word() -> None:
    """OBS-3: minified output is one line."""
    (text,) = texts("x" * 5_000 + " FAILED: disk full " + "y" * 5_000)
    assert "FAILED: disk full" in text
    assert len(text) <= 240


def test_a_line_is_whole_or_as_long_as_what_is_quoted_of_one() -> None:
    """OBS-3: so it can be told which goes on."""
    assert texts(f"    Error: {'x' * 231}") == [f"Error: {'x' * 231}"]
    for more in ("x" * 233, "x" * 400, "x" * 225 + " " * 20 + "y"):
        (text,) = texts(f"    Error: {more}")
        assert len(text) >= 240
        assert f"Error: {more}".startswith(text)
