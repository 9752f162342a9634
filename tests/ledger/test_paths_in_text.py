"""Paths of files and directories, and what only looks like one."""

from __future__ import annotations

import pytest

from foldline.ledger.found_in_text import extract


def texts(text: str) -> list[str]:
    return [fact.text for fact in extract(text) if fact.kind == "paths"]


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
    assert texts(text) == paths


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
    assert texts(text) == []


def test_a_path_is_one_fact_however_it_is_spelled() -> None:
    """OBS-3: near-duplicates of one path are one fact; different paths stay apart."""
    keys = [
        fact.key
        for fact in extract("a/src/x.py b/src/x.py ./src/x.py src/x.py src/x.pyi")
        if fact.kind == "paths"
    ]
    assert keys == ["src/x.py", "src/x.pyi"]
