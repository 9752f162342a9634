"""The real Claude Code and Codex, offline, through the proxy: a prompt, a tool loop past the window, their own compaction, a resume.

    make e2e-agents

Run by `scripts/e2e_agents.sh` in a network namespace of its own with loopback alone, so that nothing can be asked of anybody. The
provider is `foldline.testing.twin`, which refuses what its provider would; the agents are installed from npm and are not part of this
repo. Prints one line a stage; exit 1 where a request was refused, the rule that the user said at the beginning is not in one, a summary
of the agent's own was not known as one, or a stage failed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

from foldline.clients.own_summaries import WHY
from foldline.testing.twin import Answer, Call, Twin
from foldline.testing.twin.script import Received, Step

ROOT = Path(__file__).parent.parent
WINDOWS = {"claude": 200_000, "codex": 64_000}
"""Of the twin and of the proxy; the agents believe in their model's own, which is larger. Claude Code's own prompt and tools take 32,000
tokens of it, and it asks for as many as 64,000 of output."""
ROUNDS = 20
"""Of the tool loop: together past the window."""
LINES = {"claude": 4_000, "codex": 1_500}
TIMEOUT_S = 240
RULE = "Never touch auth.py."
SUMMARY = "<analysis>all of it</analysis>\n<summary>The loop ran. The rule: Never touch auth.py. Nothing is open.</summary>"
MODELS = {"claude": "claude-sonnet-5", "codex": "gpt-5-codex"}


def has_tools(request: Received) -> bool:
    """True for the agent's own turns: titles and probes come without."""
    return bool(request.parsed.get("tools"))


def is_summary(request: Received) -> bool:
    """True where the agent asks for a summary of its own."""
    said = request.parsed.get("messages") or request.parsed.get("input") or [{}]
    last = json.dumps(next((one for one in reversed(said) if one.get("role") != "system"), ""))
    return "TEXT ONLY" in last or "CONTEXT CHECKPOINT COMPACTION" in last or "detailed summary" in last


class Loop:
    """What the model says: so many tool calls whenever it is told to loop, and an answer else."""

    def __init__(self, call: Callable[[int], Call]) -> None:
        self._call, self.left, self.calls, self.summaries = call, 0, 0, 0

    def __call__(self, request: Received) -> Step:
        if is_summary(request):
            self.summaries += 1
            return Answer(text=SUMMARY)
        if not has_tools(request) or not self.left:
            return Answer(text="It is done.")
        self.left -= 1
        self.calls += 1
        return Answer(text=f"step {self.calls}", calls=(self._call(self.calls),))


def claude_call(n: int) -> Call:
    """Claude Code's tool for a shell."""
    return Call(
        name="Bash",
        arguments={"command": f"seq {n * 10_000} {n * 10_000 + LINES['claude']}", "description": "count"},
    )


def codex_call(n: int) -> Call:
    """Codex's tool for a shell."""
    return Call(name="exec_command", arguments={"cmd": f"seq {n * 10_000} {n * 10_000 + LINES['codex']}"})


@contextmanager
def proxied(upstream: str, folder: Path, *, window: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The command, on a free port: its base URL, and the records that it printed so far."""
    command = [
        sys.executable,
        "-m",
        "foldline",
        "proxy",
        "--port",
        "0",
        "--upstream",
        upstream,
        "--window",
        str(window),
        "--json",
    ]
    env = {**os.environ, "FOLDLINE_HOME": str(folder / "foldline")}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    records: list[dict[str, Any]] = []
    assert running.stdout is not None
    assert running.stderr is not None
    out, err = running.stdout, running.stderr
    first = next(line for line in err if "listening on " in line)
    url = first.partition("listening on ")[2].split()[0]
    readers = [
        threading.Thread(target=lambda: records.extend(json.loads(line) for line in out), daemon=True),
        threading.Thread(target=lambda: list(err), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        yield url, records
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(20)


def ran(command: Sequence[str], *, folder: Path, env: dict[str, str]) -> str:
    """What an agent printed. Raises `SystemExit` where it failed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command[:3])} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
    return done.stdout


Stage = tuple[str, int, list[str], str]
"""Its name, rounds of the loop, the agent's arguments, and how a summary of its own is to go up: "whole", "view", or "" for none."""


def claude(bin: Path, folder: Path, url: str) -> tuple[list[Stage], dict[str, str]]:
    """Claude Code: how it is asked, and where it finds its provider."""
    base = [str(bin / "claude"), "-p", "--model", MODELS["claude"], "--allowedTools=Bash"]
    stages: list[Stage] = [
        ("a prompt", 0, [*base, f"Say hello. {RULE}"], ""),
        ("a tool loop", 2, [*base, "--continue", "Count, step by step."], ""),
        ("its own /compact", 0, [*base, "--continue", "/compact"], "whole"),
        ("a tool loop past the window", ROUNDS, [*base, "--continue", "Count, step by step."], ""),
        ("its own /compact, past it", 0, [*base, "--continue", "/compact"], "view"),
        ("a resume", 2, [*base, "--continue", "Go on."], ""),
    ]
    env = {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key-of-this-run", "HOME": str(folder), "IS_SANDBOX": "1",
        "CLAUDE_CONFIG_DIR": str(folder / ".claude"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    }  # fmt: skip
    return stages, env


def codex(bin: Path, folder: Path, url: str) -> tuple[list[Stage], dict[str, str]]:
    """Codex: the same. Its own compaction begins at a limit, which the last stage sets below what is there."""
    home = folder / ".codex"
    home.mkdir()
    (home / "config.toml").write_text(
        f'model = "{MODELS["codex"]}"\nmodel_provider = "foldline"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        "model_context_window = 400000\n"
        f'[model_providers.foldline]\nname = "foldline"\nbase_url = "{url}/v1"\nenv_key = "KEY_OF_THIS_RUN"\nwire_api = "responses"\n'
    )
    base = [str(bin / "codex"), "exec", "--skip-git-repo-check"]
    stages: list[Stage] = [
        ("a prompt", 0, [*base, f"Say hello. {RULE}"], ""),
        ("a tool loop past the window", ROUNDS, [*base, "resume", "--last", "Count, step by step."], ""),
        (
            "its own compaction",
            0,
            [*base, "-c", "model_auto_compact_token_limit=1000", "resume", "--last", "Go on."],
            "view",
        ),
        ("a resume", 2, [*base, "resume", "--last", "Go on."], ""),
    ]
    return stages, {"CODEX_HOME": str(home), "HOME": str(folder), "KEY_OF_THIS_RUN": "key"}


AGENTS = {"claude": (claude, claude_call), "codex": (codex, codex_call)}


def run(name: str, bin: Path) -> bool:
    """All stages of one agent; true where all of them held."""
    told, call = AGENTS[name]
    version = re.search(r"[\d.]+", ran([str(bin / name), "--version"], folder=bin, env={}))
    print(f"{name} {version[0] if version else ''}, window {WINDOWS[name]:,}")
    loop, holds = Loop(call), True
    folder = Path(tempfile.mkdtemp(prefix="foldline-e2e-"))
    window = WINDOWS[name]
    try:
        with (
            Twin(repeat(loop), window=window) as twin,
            proxied(twin.url, folder, window=window) as (url, records),
        ):
            stages, env = told(bin, folder, url)
            work = folder / "work"
            work.mkdir()
            for stage, rounds, command, summary in stages:
                loop.left, loop.calls, loop.summaries = rounds, 0, 0
                seen, heard = len(twin.requests), len(records)
                ran(command, folder=work, env=env)
                sent, done = twin.requests[seen:], records[heard:]
                print(f"  {stage:<28} {_figures(sent, done)}, {loop.calls} calls, {loop.summaries} summaries")
                faults = [*_faults(sent, done), *_summed_up(done, loop.summaries, how=summary)]
                holds = holds and not faults
                for why in faults:
                    print(f"    {why}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return holds


def _figures(sent: Sequence[Received], done: Sequence[dict[str, Any]]) -> str:
    compactions = sum(one["is_compaction"] for one in done)
    most = max((one["tokens_in"] for one in done), default=0)
    top = max((one.tokens for one in sent), default=0)
    cached = sum(one.tokens_cached for one in sent) * 100 // max(1, sum(one.tokens for one in sent))
    return f"{len(sent):>3} requests, up to {most:,} tokens in, {top:,} sent, {compactions} compactions, cache {cached} %"


def _faults(sent: Sequence[Received], done: Sequence[dict[str, Any]]) -> list[str]:
    """What must not be: a refusal, a request without the user's rule, a fault of the proxy's."""
    talk = [one for one in sent if one.path.partition("?")[0].rpartition("/")[2] in ("messages", "responses")]
    refused = [f"{one.path} {one.status}: {one.refusal[:300]}" for one in talk if one.status >= 400]
    without = [
        f"{one.path}: without the rule" for one in talk if has_tools(one) and RULE not in one.body.decode()
    ]
    return [
        *refused,
        *without,
        *(f"failed open: {one['why']}" for one in done if one["outcome"] == "failed open"),
    ]


def _summed_up(done: Sequence[dict[str, Any]], summaries: int, *, how: str) -> list[str]:
    """Whether a summary of the agent's own was asked for, and went up as it was to."""
    if not how:
        return []
    whole = sum(one["why"] == WHY for one in done)
    return (
        []
        if summaries and bool(whole) == (how == "whole")
        else [f"{summaries} summaries, {whole} of them whole"]
    )


if __name__ == "__main__":
    agents = sys.argv[2:] or list(AGENTS)
    results = [run(agent, Path(sys.argv[1]).resolve()) for agent in agents]
    sys.exit(0 if all(results) else 1)
