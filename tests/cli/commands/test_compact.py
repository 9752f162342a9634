"""`foldline compact`: where the result and the report go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run, run_on_terminal

pytestmark = pytest.mark.usefixtures("stub")


def test_the_result_goes_to_stdout_and_the_report_to_stderr() -> None:
    """`foldline compact session.jsonl --to 20k > smaller.jsonl` holds the result and nothing else."""
    done = run("compact", "session.jsonl", "--to", "20k")
    assert done.stdout_bytes == stub_files.result()
    assert "compacted  session.jsonl" in done.stderr


def test_with_an_output_file_stdout_stays_empty(tmp_path: Path) -> None:
    """The file is written whole, and the last line says where it is."""
    out = tmp_path / "out.json"
    done = run("compact", "session.jsonl", "--to", "20k", "-o", str(out))
    assert out.read_bytes() == stub_files.result()
    assert done.stdout == ""
    assert done.stderr.endswith(f"written to {out}\n")


def test_json_prints_the_report_alone(tmp_path: Path) -> None:
    """With `--json` stdout holds the report; the result goes only to -o."""
    out = tmp_path / "out.json"
    done = run("compact", "session.jsonl", "--to", "20k", "--json", "-o", str(out))
    (document,) = documents(done.stdout)
    assert document["schema"] == "foldline.report/1"
    assert out.read_bytes() == stub_files.result()
    assert done.stderr == ""


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """Every compaction can be shown before it is made."""
    out = tmp_path / "out.json"
    done = run("compact", "session.jsonl", "--to", "20k", "--dry-run", "-o", str(out))
    assert done.exit_code == 0
    assert not out.exists()
    assert done.stdout == ""
    assert "dry run, nothing was written" in done.stderr
    assert done.stderr.startswith("would compact  session.jsonl"), "it was not"
    assert documents(run("compact", "session.jsonl", "--dry-run", "--json", "-o", "-").stdout)


def test_a_missed_target_still_gives_result_and_report(tmp_path: Path) -> None:
    """Interface: exit 3, smallest result and report all the same, `reason` says why."""
    out = tmp_path / "out.json"
    done = run("compact", "session.jsonl", "--to", "1", "-o", str(out))
    assert done.exit_code == 3
    assert out.read_bytes() == stub_files.result()
    assert "because text" in done.stderr


def test_a_failed_compaction_writes_nothing(tmp_path: Path) -> None:
    """A pass failed: our fault; the report shows which, and no result is passed off as one."""
    out = tmp_path / "out.json"
    done = run("compact", "failing.jsonl", "--to", "20k", "-o", str(out))
    assert done.exit_code == 70
    assert not out.exists()
    assert "failed  " in done.stderr


def test_many_conversations_give_one_list_and_one_document(tmp_path: Path) -> None:
    """Interface: the output is a JSON list and the report `foldline.reports/1`; `--select` takes one."""
    out = tmp_path / "out.json"
    (document,) = documents(run("compact", "many.json", "--to", "20k", "--json", "-o", str(out)).stdout)
    assert (document["schema"], len(document["sessions"])) == ("foldline.reports/1", 2)
    assert len(json.loads(out.read_bytes())) == 2
    (document,) = documents(run("compact", "many.json", "--select", "0", "--json").stdout)
    assert document["schema"] == "foldline.report/1"


def test_stdin_is_read_and_stdout_written_by_a_dash() -> None:
    """Interface: `-` is stdin/stdout."""
    done = run("compact", "-", "--to", "20k", "-o", "-", stdin=b"{}")
    assert done.stdout_bytes == stub_files.result()
    assert "compacted  stdin" in done.stderr


def test_the_options_arrive_as_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of the interface reaches the engine under its meaning."""
    given = ("--to", "25%", "--policy", "handoff", "--model", "m", "--counter", "c", "--focus", "f", "--as", "pi",
             "--from", "pi", "--pin", "a", "--pin", "b", "--json")  # fmt: skip
    seen: list[stub_files.CompactOptions] = []
    real = stub_files.report

    def noting(outcome: str, options: stub_files.CompactOptions) -> dict[str, Any]:
        seen.append(options)
        return real(outcome, options)

    monkeypatch.setattr(stub_files, "report", noting)
    assert run("compact", "session.jsonl", *given).exit_code == 0
    assert seen == [
        stub_files.CompactOptions(
            to=0.25, policy="handoff", model="m", counter="c", focus="f", pins=("a", "b"), as_format="pi"
        )
    ]


def test_a_terminal_gets_the_report_and_not_the_result() -> None:
    """A hundred screens of JSON help nobody; the last line says how to keep the result, `-o -` insists."""
    code, shown = run_on_terminal("compact", "session.jsonl", "--to", "20k")
    assert code == 0
    assert '"messages"' not in shown
    assert "keep it with -o FILE" in " ".join(shown.split())
    assert '"messages"' in run_on_terminal("compact", "session.jsonl", "--to", "20k", "-o", "-")[1]
