"""Runs a golden case: settings and session in, the files that are compared out.

Knows the public doors for policies and the pass itself for a single pass; owns only how a result is laid out for a
reader.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline import files, reading
from foldline.transcript_history import history_for
from foldline.core.edit import Drop, Frame, apply
from foldline.core.ports import Moment, Pass
from foldline.core.rounds import kept_seqs, outline_of
from foldline.core.view import Item
from foldline.passes.bounded_fold import BoundedFold
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.fold_range import FoldRange
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip
from foldline.passes.supersession import MarkSuperseded
from foldline.tokens.choose import counter_for
from foldline.transcripts.transcript import Transcript

FOLDER = Path(__file__).parent
PASSES: dict[str, type[Struct]] = {
    "budget-reduction": BudgetReduction,
    "microcompact": Microcompact,
    "snip": Snip,
    "collapse": Collapse,
    "fold-range": FoldRange,
    "fold": FoldOldest,
    "bounded-fold": BoundedFold,
    "supersession": MarkSuperseded,
}
GIVEN = ("input.json", "input.jsonl", "settings.toml")
SUFFIXES = {"claude-code": "jsonl", "foldline": "jsonl"}
WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini")


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"reduce": "pass"}):
    """`settings.toml`."""

    why: str
    """What the case shows, in one sentence."""
    to: int | float | None = None
    policy: str = "balanced"
    reduce: dict[str, Any] | None = None
    """`[pass]`: its name and values; then no policy runs."""
    moment: dict[str, Any] = {}
    """What the pass may know of the moment beside its target: `idle_s`, `calls`."""
    formats: tuple[str, ...] = ()
    """Formats the result is written in."""
    pins: tuple[int | str, ...] = ()


def names() -> list[str]:
    """Every case."""
    return sorted(path.parent.name for path in FOLDER.glob("*/settings.toml"))


def expected(name: str) -> dict[str, str]:
    """The files of a case that a run makes, by name."""
    paths = sorted((FOLDER / name).iterdir())
    return {path.name: path.read_text(encoding="utf-8") for path in paths if path.name not in GIVEN}


def made(name: str) -> dict[str, str]:
    """What a run of a case makes, by file name."""
    folder = FOLDER / name
    settings = msgspec.convert(
        tomllib.loads((folder / "settings.toml").read_text(encoding="utf-8")), Settings
    )
    [transcript] = reading.read(str(next(folder.glob("input.*"))))
    return _by_pass(transcript, settings) if settings.reduce else _by_policy(transcript, settings)


def _by_policy(transcript: Transcript, settings: Settings) -> dict[str, str]:
    out: dict[str, str] = {}
    for format in settings.formats:
        options = files.CompactOptions(
            to=settings.to, policy=settings.policy, pins=settings.pins, as_format=format
        )
        [result] = files.compact([transcript], options).results
        report = result.report.to_dict()
        if not out:
            out["report.json"] = _laid_out(_without_seconds(report))
        if format in WIRES:
            out[f"request.{format}.json"] = _laid_out(json.loads(result.data))
        else:
            out[f"session.{format}.{SUFFIXES.get(format, 'json')}"] = result.data.decode()
    return out


def _by_pass(transcript: Transcript, settings: Settings) -> dict[str, str]:
    assert settings.reduce is not None
    values = {key: value for key, value in settings.reduce.items() if key != "name"}
    reduce: Pass = msgspec.convert(values, PASSES[settings.reduce["name"]])  # type: ignore[assignment]
    counter = counter_for()
    history = history_for(transcript, counter, wire=transcript.wire)
    view, frame = history.view, Frame(counter=counter, needs=history.needs, originals=history.originals)
    frame = replace(frame, kept=kept_seqs(outline_of(view)), limits=history.limits)
    target = view.tokens if settings.to is None else int(settings.to)
    moment = Moment(tokens_excess=view.tokens - target, tokens_target=target, **settings.moment)
    plan = reduce.plan(view, moment, frame)
    after = apply(view, plan.edits, frame=frame)
    report = {
        "pass": settings.reduce["name"],
        "tokens_before": view.tokens,
        "tokens_after": after.tokens,
        "edits": [
            f"{type(edit).__name__.lower()} {edit.address}"
            for edit in plan.edits
            if not isinstance(edit, Drop)
        ],
    }
    return {"view.json": _laid_out([_shown(item) for item in after]), "report.json": _laid_out(report)}


def _shown(item: Item) -> dict[str, Any]:
    message = item.message
    shown: dict[str, Any] = {"seq": item.seq, "role": message.role, "tokens": item.tokens}
    if message.synthetic:
        shown["synthetic"] = message.synthetic
    if item.covers:
        shown["covers"] = [f"{span.start}-{span.end - 1}" for span in item.covers]
    return {**shown, "parts": [_part(msgspec.to_builtins(part)) for part in message.parts]}


def _part(value: dict[str, Any]) -> dict[str, Any]:
    """A part without what says nothing."""
    kept = {
        key: inner
        for key, inner in value.items()
        if key != "slot" and inner not in (None, False, []) and (key, inner) != ("kind", "")
    }
    return kept | ({"content": [_part(inner) for inner in value["content"]]} if "content" in kept else {})


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_seconds(inner) for key, inner in value.items() if key != "seconds"}
    if isinstance(value, list):
        return [_without_seconds(inner) for inner in value]
    return value


def _laid_out(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
