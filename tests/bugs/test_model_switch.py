"""Fault reports of kind `model-switch`: the window that counts is that of the model that is asked next, and so is the usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.session.hosting import Host
from foldline.testing.completers import ScriptedCompleter
from tests.bugs.case import load
from tests.bugs.test_summariser_overflow import SIZES, SUMMARY, grown, tokens_of
from tests.judges.panel import violations
from tests.session.making import answer, opened, worked
from tests.session.modelling import kinds

LARGE, SMALL = "gemini-2.5-pro", "claude-sonnet-4-5"
"""Of a million, and of 200,000 tokens."""


@pytest.mark.parametrize("policy", ["reserve", "handoff", "ladder-professional", "cascade", "balanced"])
@pytest.mark.parametrize("divided", SIZES)
def test_a_session_that_is_switched_to_a_smaller_window_fits_it_before_the_first_request(
    policy: str, divided: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Y01, XiaomiMiMo/MiMo-Code#1840: neither a turn nor a summary in one pass did fit."""
    payload = {key: number // divided for key, number in load("Y01").payload.items()}
    window = payload["to_window"]
    monkeypatch.chdir(tmp_path)
    Path("foldline.toml").write_text(f'[models."{SMALL}"]\nwindow = {window}\n', encoding="utf-8")
    completer = ScriptedCompleter(SUMMARY)
    session = grown(
        payload["history_tokens"],
        window=payload["from_window"],
        policy=policy,
        completer=completer,
        talks=True,
        model=LARGE,
    )
    assert session.context_use()["tokens_total"] > 3 * window
    session.use(SMALL)
    assert session._known.setup.planned.window == window
    request = session.prepare()
    assert request.report.outcome == "compacted"
    assert request.tokens.tokens < window
    assert violations(request.body, format="anthropic") == []
    assert [size for size in map(tokens_of, completer.requests) if size > window] == []
    assert len(completer.requests) != 1, "in one pass it cannot be read"


def test_usage_of_another_model_or_of_before_a_compaction_decides_nothing() -> None:
    """Y03, earendil-works/pi#6426: values from before the last compaction decided after a switch."""
    payload = load("Y03").payload
    used, estimate = payload["last_usage"]["tokens"], payload["estimate"]
    session = opened(policy="balanced", model=LARGE, host=Host())
    session.user("go")
    worked(session, 30, size=8_000)
    session.prepare()
    session.record(answer("read", tokens=used))
    session.user("and now?")
    session.compact(to=estimate)
    session.use(SMALL)
    assert session._known.setup.planned.window == payload["window"]
    request = session.prepare()
    assert (request.report.outcome == "compacted") is payload["expected_compact"]
    assert request.tokens.tokens <= estimate
    assert kinds(session).count("compaction") == 1
