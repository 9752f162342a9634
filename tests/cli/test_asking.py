"""A model is asked from the command line with what the environment holds; what it would not do is said, and nothing is written."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline import presets
from foldline.cli import progress
from foldline.cli.asking import Asking, asking
from foldline.core.errors import ProviderFailed
from foldline.testing.twin import Answer, Fault, Twin, endless
from tests.cli.running import Screen, documents, run
from tests.engine.scripted import Asking as AskingPass
from tests.engine.scripted import asking_tier, policy

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the SDKs' own
KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openai-chat": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
MODULES = {"anthropic": "anthropic", "openai": "openai", "openai-chat": "openai", "gemini": "google.genai"}


@pytest.fixture(name="session")
def a_session(tmp_path: Path) -> Path:
    """A file of twenty turns."""
    turns = [(f"step {n} " + "word " * 300, f"answer {n}") for n in range(20)]
    messages = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": [*messages, {"role": "user", "content": "go on"}]}))
    return path


@pytest.fixture
def policy_that_asks(monkeypatch: pytest.MonkeyPatch) -> str:
    """One whose only tier asks a model."""
    monkeypatch.setitem(presets.POLICIES, "asks", lambda window: policy(asking_tier(AskingPass(1, 31))))
    return "asks"


def base_url(provider: str, twin: Twin) -> str:
    return f"{twin.url}/v1" if provider.startswith("openai") else twin.url


@pytest.mark.parametrize("provider", list(KEYS))
def test_a_model_writes_the_summary(
    provider: str, session: Path, policy_that_asks: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """CMP-2: the conversation and the instruction go to the provider, the key from where its SDK reads it."""
    pytest.importorskip(MODULES[provider], reason=f"the SDK {MODULES[provider]} is not installed")
    monkeypatch.setenv(KEYS[provider], "key-of-the-environment")
    out = tmp_path / "out.json"
    with Twin(endless(Answer(text="All is done but the last step.")), window=200_000) as twin:
        url = base_url(provider, twin)
        options = ["--provider", provider, "--base-url", url, "--model", "m", "--policy", policy_that_asks]
        done = run("compact", str(session), "--to", "4k", *options, "-o", str(out), "--json")
        [report] = documents(done.stdout)
        assert done.exit_code == 0, done.output
        assert report["outcome"] == "compacted"
        assert [request.status for request in twin.requests] == [200]
        assert b"Sum it up" in twin.requests[0].body
    assert b"All is done but the last step." in out.read_bytes()


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, 1, "check the key in the environment variable that the SDK reads (OPENAI_API_KEY)"),
        (404, 1, "check the model's name and --base-url"),
    ],
)
def test_what_a_provider_refuses_for_good_ends_the_command(
    session: Path, policy_that_asks: str, monkeypatch: pytest.MonkeyPatch, status: int, code: int, words: str
) -> None:
    """The reason and the next step; nothing is written, and a refusal is not asked for twice."""
    pytest.importorskip("openai", reason="the SDK openai is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    out = session.with_name("out.json")
    with Twin(endless(Fault(status=status))) as twin:
        url = base_url("openai-chat", twin)
        options = ["--provider", "openai-chat", "--base-url", url, "--model", "m"]
        given = ["--to", "4k", "--policy", policy_that_asks, *options]
        done = run("compact", str(session), *given, "-o", str(out))
        assert len(twin.requests) == 1
    assert done.exit_code == code
    assert words in " ".join(done.stderr.split())
    assert "key-of-the-environment" not in done.output
    assert not out.exists()


def test_no_key_and_no_server_are_said(
    session: Path, policy_that_asks: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the key goes, and what to look at; exit code 1, nothing written."""
    pytest.importorskip("openai", reason="the SDK openai is not installed")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out = tmp_path / "out.json"
    given = ["compact", str(session), "--to", "4k", "--policy", policy_that_asks, "-o", str(out)]
    keyless = run(*given, "--provider", "openai", "--model", "m")
    assert keyless.exit_code == 1
    assert "there is no key; set OPENAI_API_KEY" in keyless.stderr
    closed = run(*given, "--provider", "openai-chat", "--model", "m", "--base-url", "http://localhost:9/v1")
    assert closed.exit_code == 1
    assert "check the network and the base URL" in " ".join(closed.stderr.split())
    assert not out.exists()


def test_wrong_usage_names_the_option(session: Path) -> None:
    """Exit code 2, nothing asked."""
    for options, words in (
        (["--base-url", "http://localhost:9"], "it belongs to --provider"),
        (["--provider", "openai"], "name the model to ask with --model"),
        (["--provider", "mistral"], "is not one of"),
    ):
        done = run("compact", str(session), "--to", "4k", *options)
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())


def test_a_passing_refusal_is_no_end() -> None:
    """CMP-21: a throttle, a server's fault, a request that was too long are failures of one attempt."""

    def throttled(request: Any) -> Iterator[str]:
        yield "piece"
        raise ProviderFailed("openai", 429, why="slow down")

    asked = Asking(throttled)
    for _ in range(2):
        pieces = asked(None)
        assert next(pieces) == "piece"
        with pytest.raises(ProviderFailed):
            next(pieces)
    asked.check()


def test_without_a_provider_nobody_is_asked() -> None:
    """And nothing is imported."""
    with asking(None, base_url=None, model=None) as shown:
        assert shown == (None, None, None), "there is no terminal either"


def test_the_tail_is_the_last_thirty_characters_on_one_line() -> None:
    """UIX-3: line feeds first, then the cut; an ellipsis in front of what was cut."""
    assert progress.tail_of("") == ""
    assert progress.tail_of("a\nb") == "a\\nb"
    assert progress.tail_of("x" * 30) == "x" * 30
    assert progress.tail_of("y" + "x" * 30) == "…" + "x" * 30
    assert progress.tail_of("a" * 28 + "\n" + "b") == "…" + "a" * 27 + "\\nb"


def test_the_tail_is_shown_on_a_terminal_and_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """UIX-3: nothing behind the mark before the first output; what a model writes reaches no terminal unescaped."""
    shown = Screen()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(progress, "REDRAW_S", 0.0)
    with progress.tail("✻ Compacting") as hear:
        assert hear is not None
        assert shown.text().endswith("✻ Compacting")
        hear("the objective\n")
        hear("is \x1b[31mred")
        assert "✻ Compacting the objective\\nis" in shown.text()
        assert "\x1b[31m" not in shown.text()
    assert shown.text().endswith("\x1b[2K")


def test_the_last_piece_of_a_burst_is_seen_while_the_model_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """UIX-3: the last 30 characters of what has come, not of what came when it was last drawn."""
    drawn = threading.Event()

    class Watched(Screen):
        """Says when the last piece is on it."""

        def write(self, text: str) -> int:
            written = super().write(text)
            if "the last piece" in self.text():
                drawn.set()
            return written

    shown = Watched()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(progress, "REDRAW_S", 3_600.0)
    with progress.tail("✻ Compacting") as hear:
        assert hear is not None
        for piece in ("the first piece, ", "the last piece"):
            hear(piece)
        assert drawn.wait(10)


def test_a_pipe_shows_no_tail(capsys: pytest.CaptureFixture[str]) -> None:
    """UIX-3: nothing in a pipe."""
    with progress.tail("✻ Compacting") as hear:
        assert hear is None
    assert capsys.readouterr().err == ""


def test_a_session_is_compacted_by_a_model_in_its_own_log(
    session: Path, policy_that_asks: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """CMP-15: by hand, at once; `undo` takes it back."""
    pytest.importorskip("openai", reason="the SDK openai is not installed")
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    assert run("import", str(session), "--name", "mine").exit_code == 0
    with Twin(endless("All is done but the last step.")) as twin:
        url = base_url("openai-chat", twin)
        options = ["--provider", "openai-chat", "--base-url", url, "--model", "m"]
        given = ["--to", "4k", "--policy", policy_that_asks]
        done = run("compact", "mine", *given, *options)
        assert done.exit_code == 0, done.stderr
        assert len(twin.requests) == 1
    assert "All is done but the last step." in run("export", "mine", "-o", "-").output
    assert run("undo", "mine").exit_code == 0
