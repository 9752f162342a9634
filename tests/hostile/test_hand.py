"""Hostile files made by hand, each given to the program as a process with bounded memory and time.

For each: the documented exit code, one sentence that names the file and a next step, no traceback, nothing written.
The kinds are those that stock JSON parsers crash on, hang on, or read as something else (S10, S12, S19).
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import REPO, environment
from tests.linear import GROWTH_MAX, STEP, Work, beside

ENTRY = "from foldline.cli.main import main; main(prog_name='foldline')"
MEMORY_BYTES_MAX = 2**30
"""Address space of a process; what the interpreter maps without using it included."""
SECONDS_MAX = 120
"""After which a process is taken to hang: far more than any takes beside five others."""
START_TIMES_MAX = 8
"""How much more processor time than for a sound file of one message a hostile one may take."""

USER = b'{"role":"user","content":"hi"}'


def body(content: bytes) -> bytes:
    """A request body around a content."""
    return b'{"messages":[{"role":"user","content":%b}]}' % content


def deep(opening: bytes, closing: bytes, depth: int) -> bytes:
    """Nested containers with a number inside."""
    return opening * depth + b"1" + closing * depth


def call(arguments: bytes) -> bytes:
    """An OpenAI call with these arguments, and its result."""
    return (
        b'{"messages":[%b,{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f",'
        b'"arguments":%b}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}' % (USER, arguments)
    )


DEEP = 100_000
REFUSED: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\n",
    "zeros": bytes(5_000),
    "binary": bytes(range(256)) * 20,
    "gzip cut off": gzip.compress(body(b'"x"'), mtime=0)[:25],
    "gzip bomb": gzip.compress(bytes(20_000_000), mtime=0),
    "UTF-16": body(b'"hi"').decode().encode("utf-16"),
    "UTF-16 without a mark": body(b'"hi"').decode().encode("utf-16-le"),
    "deep lists": deep(b"[", b"]", DEEP),
    "deep objects": deep(b'{"a":', b"}", DEEP),
    "a head of nothing but nesting": b'{"a":' * 13_000,
    "a deep list of many keys": b"[" * 30_000 + b"{" + b'"a":1,' * 5_500,
    "deep content": body(deep(b"[", b"]", DEEP)),
    "NaN": b'{"messages":[{"role":"user","content":"hi","n":NaN}]}',
    "Infinity": b'{"messages":[{"role":"user","content":"hi","n":-Infinity}]}',
    "a float out of range": b'{"messages":[{"role":"user","content":"hi","n":1e999}]}',
    "a million digits": b'{"messages":[{"role":"user","content":"hi","n":' + b"9" * 1_000_000 + b"}]}",
    "a role twice": b'{"messages":[{"role":"user","content":"hi","role":"system"}]}',
    "a role twice, once escaped": b'{"messages":[{"role":"user","content":"hi","ro\\u006ce":"system"}]}',
    "a key of a block twice": body(b'[{"type":"text","text":"a","text":"b"}]'),
    "messages twice": b'{"messages":[],"messages":[%b]}' % USER,
    "not UTF-8": body(b'"\xff"'),
    "cut off": body(b'"hi"')[:-3],
    "two documents on one line": body(b'"hi"') * 2,
    "ten million small lists": b"[" + b"[]," * 5_000_000 + b"0]",
    "a million keys": b"{" + b",".join(b'"%d":0' % n for n in range(1_000_000)) + b"}",
    "a terminal's title for a key": b'{"\\u001b]0;pwn\\u0007":1,"\\u202ekey":2}',
}
READ: dict[str, bytes] = {
    "a byte order mark": b"\xef\xbb\xbf" + body(b'"hi"'),
    "CRLF": USER + b"\r\n" + USER + b"\r\n",
    "no line feed at the end": USER + b"\n" + USER,
    "line separators in a line": body('"a\u2028b\u2029c\u0085d\\u000be"'.encode()),
    "a lone surrogate": body(b'"a\\ud83d"'),
    "lone surrogates everywhere": b'{"messages":[{"role":"user","content":"\\ud800","name":"\\udc00","\\ud801":1}]}',
    "a run of zeros between lines": USER + b"\n" + bytes(9_000) + b"\n" + USER + b"\n",
    "deep arguments": call(json.dumps(deep(b"[", b"]", DEEP).decode()).encode()),
    "deep text": body(json.dumps(deep(b'{"a":', b"}", DEEP).decode()).encode()),
    "colliding keys": body(b'"hi"')[:-1]
    + b","
    + b",".join(b'"k%d":1' % (n * 2**40) for n in range(50_000))
    + b"}",
    "terminal escapes": json.dumps(
        {"messages": [{"role": "user", "content": text, "name": text} for text in PAYLOADS.values()]}
    ).encode(),
}


def run(
    *args: str, stdin: bytes | None = None, user: int | None = None, memory: int = MEMORY_BYTES_MAX
) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """The program as a process, and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, *args],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=environment(),
        check=False,
        timeout=SECONDS_MAX,
        user=user,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_refused(done: subprocess.CompletedProcess[bytes], name: str) -> None:
    """Exit code 1, one sentence with the place and a next step, nothing on stdout."""
    said = done.stderr.decode()
    assert done.returncode == 1, said
    assert done.stdout == b""
    assert name in said
    assert "; " in said or "?" in said
    assert "Traceback" not in said
    assert not FORBIDDEN.search(said)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file that is read at once: what the program takes to start, and hardly more."""
    path = tmp_path_factory.mktemp("sound") / "sound.json"
    path.write_bytes(body(b'"hi"'))
    return str(path)


@cache
def once(turn: int, *args: str, memory: int) -> float:
    """Seconds of a sound run; that of a turn serves every test."""
    return run(*args, memory=memory)[1]


def is_within(
    seconds: float,
    args: tuple[str, ...],
    beside_args: tuple[str, ...],
    *,
    most: float,
    memory: int = MEMORY_BYTES_MAX,
) -> None:
    """The program took at most so many times as long as on something else; how long it took once is known."""

    def clock(work: Work, _: float) -> float:
        done = work()
        assert isinstance(done, float)
        return done

    verdict = beside(
        lambda _: lambda: run(*args, memory=memory)[1],
        lambda turn: lambda: once(turn, *beside_args, memory=memory),
        most=most,
        clock=clock,
        least_s=seconds,
    )
    assert verdict.wrong == ""


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_is_refused_with_place_and_next_step(
    data: bytes, sound: str, tmp_path: Path
) -> None:
    """Threat 10. Nothing is written, also not the file asked for."""
    path, out = tmp_path / "hostile.jsonl", tmp_path / "out.json"
    path.write_bytes(data)
    args = ("--to", "50%", "--counter", "length/4", "-o", str(out))
    done, seconds = run("compact", str(path), *args)
    is_refused(done, "hostile.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["hostile.jsonl"]
    is_within(seconds, ("compact", str(path), *args), ("check", sound), most=START_TIMES_MAX)


@pytest.mark.parametrize("data", READ.values(), ids=READ.keys())
def test_what_real_logs_hold_is_read(data: bytes, sound: str, tmp_path: Path) -> None:
    """Odd is not bad. The result is JSON and holds nothing half."""
    path = tmp_path / "odd.jsonl"
    path.write_bytes(data)
    done, seconds = run("convert", str(path), "--as", "openai-chat")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["messages"]
    assert not FORBIDDEN.search(done.stderr.decode())
    as_chat = ("--as", "openai-chat")
    is_within(seconds, ("convert", str(path), *as_chat), ("check", sound), most=START_TIMES_MAX)


def test_places_that_are_no_file_are_refused(tmp_path: Path) -> None:
    """Missing, a folder, a name that no system takes."""
    for name in (str(tmp_path / "missing.json"), str(tmp_path), "x" * 5_000):
        is_refused(run("check", name)[0], name[-20:])


def test_a_name_that_acts_on_a_terminal_is_shown_harmless(tmp_path: Path) -> None:
    """Threat 9: file names are foreign text too."""
    for text in (PAYLOADS["title"].replace("/", ""), PAYLOADS["bidi"], PAYLOADS["tag_chars"]):
        done, _ = run("compact", str(tmp_path / f"a{text}b.json"), "--json")
        said = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == 1
        assert "no such file" in said
        assert not FORBIDDEN.search(said)


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    """As another user where the tests run as root, whom no permission stops."""
    path = tmp_path / "secret.json"
    path.write_bytes(body(b'"hi"'))
    path.chmod(0)
    if os.geteuid() == 0:
        pytest.skip("root may read everything; run as another user")
    done, _ = run("compact", str(path))
    is_refused(done, "secret.json")
    assert "permission denied" in done.stderr.decode()


def test_a_pipe_is_read_to_its_end_and_refused_like_a_file() -> None:
    """`-` is standard input; the place is then called `-`."""
    done, _ = run("check", "-", stdin=body(b'"hi"'))
    assert done.returncode == 0, done.stderr
    is_refused(run("check", "-", stdin=b"\x1f\x8b\x08cut")[0], "-")


@pytest.mark.parametrize(
    "megabytes", [20, pytest.param(200, marks=pytest.mark.nightly)], ids=["20 MB", "200 MB"]
)
def test_one_line_of_many_megabytes_is_read_or_refused_within_bounds(megabytes: int, tmp_path: Path) -> None:
    """S19: a single line; memory stays within a stated multiple of it."""
    path, fourth = tmp_path / "line.jsonl", tmp_path / "fourth.jsonl"
    path.write_bytes(b'"' + b"x" * (megabytes * 1_000_000) + b'"')
    fourth.write_bytes(b'"' + b"x" * (megabytes * 1_000_000 // STEP) + b'"')
    memory = MEMORY_BYTES_MAX + megabytes * 4_000_000
    done, seconds = run("check", str(path), memory=memory)
    is_refused(done, "line.jsonl")
    is_within(seconds, ("check", str(path)), ("check", str(fourth)), most=GROWTH_MAX, memory=memory)


@pytest.mark.parametrize(
    "megabytes", [20, pytest.param(200, marks=pytest.mark.nightly)], ids=["20 MB", "200 MB"]
)
def test_a_long_session_is_streamed(megabytes: int, tmp_path: Path) -> None:
    """A session of JSON lines whose live context is small is read without holding the file: what lies
    before the last compaction is never kept."""
    path = tmp_path / "long.jsonl"
    line = json.dumps(
        {"type": "user", "uuid": "u%d", "parentUuid": None, "sessionId": "s", "version": "2.1.0",
         "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": True,
         "message": {"role": "user", "content": "x" * 4_000}}
    ).encode() + b"\n"  # fmt: skip
    last = line.replace(b'"isSidechain": true', b'"isSidechain": false').replace(b"u%d", b"end")
    with path.open("wb") as file:
        for number in range(megabytes * 1_000_000 // len(line)):
            file.write(line.replace(b"%d", b"%d" % number))
        file.write(last)
    probe = (
        "import resource; from foldline.transcripts import detect; start=resource.getrusage(0).ru_maxrss;"
        f"found=detect.read({str(path)!r}); assert len(found[0].messages) == 1, len(found[0].messages);"
        "print(resource.getrusage(0).ru_maxrss - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, env=environment(), check=True, timeout=120
    )
    assert int(done.stdout) * 1024 < 16 * 2**20 + path.stat().st_size // 4


def test_the_repo_is_where_the_program_comes_from() -> None:
    """The processes above test this source and no installed one."""
    done = subprocess.run(
        [sys.executable, "-c", "import foldline; print(foldline.__file__)"],
        capture_output=True, env=environment(), check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.decode().startswith(str(REPO))
