"""Sizes and ranges as people write them, and what a bad one is told."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from foldline.cli.options import lines, page_of, size, write_file
from tests.cli.running import documents, run, run_on_terminal
from tests.cli.sessions import EXCERPT as PI_SESSION


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("20000", 20_000),
        ("20_000", 20_000),
        ("20,000", 20_000),
        ("20k", 20_000),
        ("20K", 20_000),
        ("1.5k", 1_500),
        ("2m", 2_000_000),
        ("0.5M", 500_000),
        ("1", 1),
        (" 7 ", 7),
        ("1k", 1_000),
    ],
)
def test_a_size_in_tokens(written: str, meant: int) -> None:
    """Interface: an int is tokens, the command line also takes `20k`; 1 is a legal target."""
    given = size(written)
    assert given == meant
    assert isinstance(given, int)


@pytest.mark.parametrize(
    ("written", "meant"), [("25%", 0.25), ("0.25", 0.25), ("12.5%", 0.125), ("99%", 0.99)]
)
def test_a_size_as_a_share(written: str, meant: float) -> None:
    """Interface: a float in (0, 1) is a share of what comes in; the command line also takes `25%`."""
    assert size(written) == pytest.approx(meant)


@pytest.mark.parametrize(
    "written",
    ["0", "0%", "100%", "101%", "1.0", "0.0", "-5", "-5%", "nan", "inf", "1e5", "", "k", "%", "20kb", "２０", "9" * 5000,
     "9999999999999", "0x10", "20 k", "1.0%%", "\x1b[2J"],
)  # fmt: skip
def test_a_size_out_of_bounds_says_why(written: str) -> None:
    """Interface: exit 2 for an option's value too; no number is guessed and none overflows."""
    with pytest.raises(click.BadParameter, match=r"no size|out of bounds"):
        size(written)


@pytest.mark.usefixtures("stub")
def test_a_bad_size_exits_2_before_anything_is_read() -> None:
    """The option is named, and so is the reason."""
    done = run("compact", "missing.jsonl", "--to", "0")
    assert done.exit_code == 2
    assert "--to" in done.stderr
    assert "tokens are 1 to" in done.stderr


@pytest.mark.parametrize(
    ("written", "meant"), [("10-40", (10, 40)), ("10-", (10, None)), ("-40", (1, 40)), ("7", (7, 7))]
)
def test_a_range_of_lines(written: str, meant: tuple[int, int | None]) -> None:
    """Interface: `--lines A-B`."""
    assert lines(written) == meant


@pytest.mark.parametrize("written", ["", "-", "0", "0-5", "5-4", "a-b", "1-2-3", "1:2"])
def test_a_range_without_a_line_says_why(written: str) -> None:
    """Lines count from 1."""
    with pytest.raises(click.BadParameter, match=r"no range|no line"):
        lines(written)


def test_what_cannot_be_written_exits_1_with_the_place(tmp_path: Path) -> None:
    """Where, why, what next."""
    with pytest.raises(
        click.ClickException, match="No such file or directory; nothing was written"
    ) as stopped:
        write_file(str(tmp_path / "no" / "out.json"), b"data")
    assert stopped.value.exit_code == 1


def test_reading_from_a_terminal_says_how_to_end() -> None:
    """A wait without a sign of life looks like a hang. The stand-in does not wait for a terminal's end of file."""
    _, shown = run_on_terminal("context", "-", STUB_NO_STDIN="1")
    assert "end with Ctrl-D" in shown


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("command", ["compact", "convert", "show"])
def test_the_only_original_is_not_replaced_by_what_was_made_from_it(
    command: str, link: bool, tmp_path: Path
) -> None:
    """README: your file is never changed. The addresses of a result open in the file it came from."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(PI_SESSION.read_bytes())
    out = file
    if link:
        out = tmp_path / "link"
        out.symlink_to(file)
    more = {"compact": ["--to", "25%"], "convert": ["--as", "anthropic"], "show": [address_in(file)]}[command]
    done = run(command, str(file), *more, "-o", str(out))
    assert done.exit_code == 2
    assert "another file" in done.stderr
    assert ("--as foldline" in done.stderr) is (command != "show")
    assert file.read_bytes() == PI_SESSION.read_bytes()


def test_a_log_that_keeps_everything_may_be_written_over_itself(tmp_path: Path) -> None:
    """Every address of the report opens in the file that was written."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(PI_SESSION.read_bytes())
    run("convert", str(file), "--as", "foldline", "-o", str(file))
    whole = len(documents(run("convert", str(file), "--as", "foldline", "-o", "-").stdout))
    for share, more in (("25%", ["--as", "foldline"]), ("60%", []), ("60%", ["--as", "foldline"])):
        done = run("compact", str(file), "--to", share, *more, "-o", str(file), "--json")
        [report] = documents(done.stdout)
        assert report["outcome"] == "compacted"
        for address in report["covers"]["addresses"]:
            assert run("show", str(file), address).exit_code == 0, address
    assert len(file.read_bytes().splitlines()) >= whole
    before = file.read_bytes()
    done = run("compact", str(file), "--to", "10%", "--as", "anthropic", "-o", str(file))
    assert (done.exit_code, "--as foldline" in done.stderr) == (2, True)
    assert file.read_bytes() == before


def address_in(file: Path) -> str:
    """The address of something in a file."""
    [document] = documents(run("context", str(file), "--json").stdout)
    return str(document["largest"][0]["address"])


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    """A page goes on behind a name that need not be there any more."""
    names = ["run.10", "run.2", "a", "run.1", "run"]
    assert page_of(names, after=None, limit=3) == (["a", "run", "run.1"], "run.1")
    assert page_of(names, after="run.3", limit=3) == (["run.10"], None)
