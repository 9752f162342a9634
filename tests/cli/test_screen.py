"""What goes where: words and documents harmless everywhere, data untouched where no terminal is."""

from __future__ import annotations

import io
import json
import sys

import pytest
from rich.text import Text

from foldline.cli import screen
from tests.cli.payloads import FORBIDDEN, PAYLOADS
from tests.cli.running import Screen

ALL = "".join(PAYLOADS.values())


class Pipe(io.TextIOWrapper):
    """A stream in memory that is no terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def raw(self) -> bytes:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue()


def test_data_is_untouched_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pipe gets is what a file would hold."""
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", pipe)
    screen.write_json_data(b'{"a": "\xe2\x80\xae\xff"}')
    screen.write_content("a\x1b[2J")
    screen.write_bytes(b"\x00\xff")
    assert pipe.raw() == b'{"a": "\xe2\x80\xae\xff"}a\x1b[2J\x00\xff'


def test_a_lone_surrogate_of_an_original_is_not_lost_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real JavaScript logs hold them (anthropics/claude-code#69927); a replacement character would be a loss."""
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", pipe)
    screen.write_content("a\ud83d")
    assert pipe.raw().decode("utf-8", "surrogatepass") == "a\ud83d"


def test_data_on_a_terminal_is_escaped_and_the_same_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-o -` on a terminal: copy and paste gives the same value."""
    shown = Screen()
    monkeypatch.setattr(sys, "stdout", shown)
    document = json.dumps([ALL], ensure_ascii=False)
    screen.write_json_data(document.encode("utf-8", "backslashreplace"))
    assert not FORBIDDEN.search(shown.text())
    assert json.loads(shown.text()) == [ALL]


def test_a_document_is_one_line_in_a_pipe_and_indented_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--json` into a log file stays one record; on a terminal a person reads it."""
    pipe, shown = Pipe(), Screen()
    monkeypatch.setattr(sys, "stdout", pipe)
    screen.write_document({"a": ALL, "b": (1, 2)})
    monkeypatch.setattr(sys, "stdout", shown)
    screen.write_document({"a": ALL, "b": (1, 2)})
    in_pipe = pipe.raw().decode()
    assert in_pipe.count("\n") == 1
    assert shown.text().count("\n") > 1
    assert not FORBIDDEN.search(in_pipe + shown.text())
    assert json.loads(in_pipe) == json.loads(shown.text()) == {"a": ALL, "b": [1, 2]}


def test_lines_are_spaced_alike_whatever_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON lines of one command look alike; half a character, which a log may hold, is written as its escape."""
    for told, written in (({"a": [1, "é"]}, '{"a": [1, "é"]}'), ({"a": ["\ud800"]}, '{"a": ["\\ud800"]}')):
        pipe = Pipe()
        monkeypatch.setattr(sys, "stdout", pipe)
        screen.write_line(told)
        assert pipe.raw().decode() == written + "\n"


def test_a_stream_without_our_characters_gets_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Latin-1 terminal or `PYTHONIOENCODING=ascii` is no reason to fail."""
    pipe = Pipe("ascii")
    monkeypatch.setattr(sys, "stdout", pipe)
    screen.show(Text("1 → 2 · 漢"))
    assert pipe.raw() == b"1 -> 2 - \\u6f22\n"


def test_a_closed_stream_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """`foldline … 2>&-` says nothing; `>&-` cannot give its answer, and that is an error."""
    monkeypatch.setattr(sys, "stderr", None)
    screen.say("unheard")
    monkeypatch.setattr(sys, "stdout", None)
    assert not screen.is_terminal("stdout")
    with pytest.raises(OSError, match="stdout is closed"):
        screen.write_content("unread")


@pytest.mark.parametrize(
    ("columns", "used"), [("60", 60), ("200", screen.WIDTH_MAX), ("1", screen.WIDTH_MIN)]
)
def test_the_width_stays_readable(columns: str, used: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 60 to 200 columns a page looks the same; beyond the bounds it does not follow."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", Pipe())
    assert screen.width_of("stdout") == used


def test_markup_in_content_is_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """`[bold]` and `:smiley:` in a file name are letters; no space is left at a line's end."""
    pipe = Pipe()
    monkeypatch.setattr(sys, "stdout", pipe)
    screen.show(screen.cell("[bold red]x[/] :smiley: [link=http://evil]y   "))
    assert pipe.raw().decode() == "[bold red]x[/] :smiley: [link=http://evil]y\n"


def test_a_long_sentence_breaks_at_spaces_on_a_terminal_and_nowhere_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path stays whole to be copied; a log line stays one line."""
    monkeypatch.setenv("COLUMNS", "40")
    path = "/a/very-long-path/" * 4
    said = f"{'word ' * 12}{path} end"
    shown, pipe = Screen(), Pipe()
    monkeypatch.setattr(sys, "stderr", shown)
    screen.say(said)
    monkeypatch.setattr(sys, "stderr", pipe)
    screen.say(said)
    assert path in shown.text()
    assert max(len(row) for row in shown.text().splitlines() if path not in row) <= 40
    assert pipe.raw().decode() == f"foldline: {said}\n"
