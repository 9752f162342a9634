"""Limits that providers named: learned from a refusal, planned with in the next process, forgotten when they no longer hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import foldline
from foldline.core.errors import FoldlineError
from foldline.session.limits import learned, outgrown, with_limit
from foldline.session.session import Session
from foldline.session.setup import SessionOptions, setup_for
from foldline.stores.limits import FILE, Limits
from tests.session.making import answer, worked
from tests.session.test_reacting import ApiError

HERE, THERE = "http://localhost:11434/v1", "https://elsewhere.example/v1"
REFUSED = ApiError(
    {"error": {"message": "prompt is too long: 30000 tokens > 8192 maximum", "type": "invalid_request_error"}}
)


def opened(
    home: Path, name: str, *, model: str = "claude-sonnet-4-5", endpoint: str | None = HERE
) -> Session:
    """A session of a host that says where its requests go."""
    return foldline.open(name, model=model, endpoint=endpoint, home=home, counter="length/4")


def taught(home: Path) -> Session:
    """A session whose request was refused with a number."""
    session = opened(home, "first")
    session.user("read it all")
    worked(session, 20, size=6_000)
    session.prepare()
    session.recover(REFUSED)
    return session


def test_a_limit_is_planned_with_in_the_next_process_for_the_same_model_and_endpoint(tmp_path: Path) -> None:
    """Kept per model and endpoint, with its origin, across processes; shown where context is shown."""
    with taught(tmp_path) as first:
        assert first.context_use()["tokens_window"] == 8_192
    with opened(tmp_path, "second") as second:
        use = second.context_use()
        assert (use["tokens_window"], use["window_source"]) == (8_192, "refusal")
        note = next(note for note in use["notes"] if "named that limit" in note)
        assert all(
            word in note for word in ("200,000", HERE, " on 20", "models claude-sonnet-4-5 --forget-limits")
        )
        second.use("claude-opus-4-1")
        assert second.context_use()["tokens_window"] == 200_000
        second.use("claude-sonnet-4-5")
        assert second.context_use()["tokens_window"] == 8_192
    for elsewhere in (THERE, None):
        with opened(tmp_path, "third", endpoint=elsewhere) as third:
            assert third.context_use()["tokens_window"] == 200_000


def test_an_overflow_without_a_number_is_kept_nowhere(tmp_path: Path) -> None:
    """A guess never (NousResearch/hermes-agent#2600)."""
    with opened(tmp_path, "s") as session:
        session.user("read it all")
        worked(session, 20, size=6_000)
        session.prepare()
        session.recover(ApiError({"error": {"message": "Prompt exceeds max length", "code": "1261"}}))
    assert Limits(tmp_path).all() == ()


def test_a_limit_that_no_longer_holds_is_forgotten(tmp_path: Path) -> None:
    """A request with more than that was answered: the provider has raised it."""
    with taught(tmp_path) as session:
        session.record(answer("fine", tokens=20_000))
        assert session.context_use()["tokens_window"] == 200_000
        assert any("is forgotten" in note for note in session.context_use()["notes"])
    assert Limits(tmp_path).all() == ()


def test_what_the_user_says_of_the_window_since_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """anomalyco/opencode#15871: the user's own word first; anomalyco/opencode#50187: but not the one that was refused."""
    file = tmp_path / "settings.toml"
    monkeypatch.setenv("FOLDLINE_CONFIG", str(file))
    for before, after, window in ((None, 64_000, 64_000), (65_536, 65_536, 8_192), (65_536, 32_000, 32_000)):
        home = tmp_path / f"{before}-{after}"
        file.write_text("" if before is None else f"[models.claude-sonnet-4-5]\nwindow = {before}\n")
        taught(home).close()
        file.write_text(f"[models.claude-sonnet-4-5]\nwindow = {after}\n")
        with opened(home, "s") as session:
            assert session.context_use()["tokens_window"] == window


def test_a_home_that_cannot_be_read_or_written_costs_a_note(tmp_path: Path) -> None:
    """Goal 1: a session goes on."""
    (tmp_path / FILE).write_text("{")
    (tmp_path / FILE).chmod(0o600)
    with taught(tmp_path) as session:
        notes = session.context_use()["notes"]
        assert any("are not known" in note for note in notes)
        assert any("is not kept for the next process" in note for note in notes)
        assert session.context_use()["tokens_window"] == 8_192


def test_a_limit_above_the_window_teaches_nothing() -> None:
    """Planned with what is smaller."""
    setup: Any = setup_for(SessionOptions(), format="anthropic", model="claude-sonnet-4-5")
    assert learned(setup, 200_000) is setup
    assert learned(setup, 0) is setup
    assert with_limit(setup) is setup
    assert outgrown(setup, 10**6) is setup
    assert learned(setup, 9_000).planned.window == 9_000


def test_a_limit_that_is_named_is_for_input_and_output_together() -> None:
    """CMP-41: also of a model whose input has a limit of its own, so that an output cap is lowered to what is left of it."""
    setup: Any = setup_for(SessionOptions(), format="openai-chat", model="gpt-5")
    assert setup.planned.window_shared > setup.planned.window
    assert learned(setup, 128_000).planned.window_shared == 128_000


def test_a_policy_whose_numbers_follow_the_window_is_looked_up_anew(tmp_path: Path) -> None:
    """PRE-1: limits of results are shares of the window."""
    with foldline.open("s", model="claude-sonnet-4-5", policy="handoff", home=tmp_path) as session:
        before = session.policy.tiers[0]
        session._known.setup = learned(session._known.setup, 50_000)
        assert session.policy.tiers[0] != before


def test_an_endpoint_is_a_text(tmp_path: Path) -> None:
    """style.md, 10."""
    with pytest.raises(FoldlineError, match="endpoint"):
        foldline.open("s", endpoint=5, home=tmp_path)  # type: ignore[arg-type]


def test_a_key_that_a_refusal_or_a_base_url_holds_is_in_no_file_and_no_note(tmp_path: Path) -> None:
    """Whatever a gateway quotes, and whoever signs in through the URL."""
    key = "ghp_" + "NqVwYS81VP7Hb1DX8pPd5khxE3pyIgKpaUnA"
    body = {"error": {"message": f"prompt is too long: 30000 tokens > 8192 maximum (key {key}, Jane Roe)"}}
    door = f"http://jane:{key}@localhost:9/v1?api-key={key}"
    with opened(tmp_path, "s", endpoint=door) as session:
        session.user("read it all")
        worked(session, 20, size=6_000)
        session.prepare()
        session.recover(ApiError(body))
        shown = str(session.context_use()["notes"])
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).decode(
        "utf-8", "replace"
    )
    assert "http://localhost:9/v1" in written
    assert (key in written + shown, "Jane Roe" in written + shown) == (False, False)
