"""What there is: formats, policies and models, as values to print.

Feeds `foldline formats`, `foldline policies` and `foldline models`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from foldline.core.budget import Room
from foldline.core.errors import InvalidOption
from foldline.engine.policy import Line, Policy, Tier
from foldline.home import home_at
from foldline.policy_file import write_policy
from foldline.presets import POLICIES, WINDOW_SHOWN, own_policies, policy_of
from foldline.settings import known_model
from foldline.stores.limits import Limits
from foldline.tokens import models as table
from foldline.transcripts import detect


def formats() -> list[dict[str, Any]]:
    """Every format: whether it can be read, whether it can be written."""
    return [
        {"name": name, "reads": True, "writes": name in detect.WRITERS} for name in sorted(detect.READERS)
    ]


def policies(name: str | None = None) -> list[dict[str, Any]]:
    """One policy, or every one, the user's own last: its tiers and all their numbers, in order, for a window of
    `WINDOW_SHOWN` tokens. Raises `UnknownPolicy`, `InvalidOption`."""
    if name in POLICIES:
        return [_policy(policy_of(name, WINDOW_SHOWN), file=None)]
    own = own_policies()
    names = (*POLICIES, *own) if name is None else (name,)
    return [
        _policy(policy_of(each, WINDOW_SHOWN), file=own[each].file if each in own else None) for each in names
    ]


def policy_as_toml(name: str) -> str:
    """A policy as a table of `foldline.toml`; of a preset a copy under a name of its own. Raises as `policies`."""
    policy = policy_of(name, WINDOW_SHOWN)
    if name not in POLICIES:
        return write_policy(policy, name=name)
    said = f"# {name} as it comes with foldline, to be changed"
    if policy != policy_of(name, WINDOW_SHOWN // 2):
        said += f"; its sizes are those for a window of {WINDOW_SHOWN:,} tokens"
    return f"{said}.\n{write_policy(policy, name=f'my-{name}')}"


def _policy(policy: Policy, *, file: str | None) -> dict[str, Any]:
    lines = {name: getattr(policy, name) for name in ("threshold", "target", "handoff", "forced", "advice")}
    return {
        "name": policy.name,
        "sentence": policy.sentence,
        "source": policy.source,
        "file": file,
        "tokens_window": WINDOW_SHOWN,
        "counter": policy.counter,
        "counting": msgspec.to_builtins(policy.counting),
        "once_per_response": policy.once_per_response,
        "is_reactive": policy.is_reactive,
        "hooks_may_block": policy.hooks_may_block,
        "resumes_at_summary": policy.resumes_at_summary,
        "restores": policy.restores,
        "skill_tokens": policy.skill_tokens,
        "native": msgspec.to_builtins(policy.native),
        **{name: _line(line) for name, line in lines.items()},
        "floors": {
            floor.kind: {"in_view": floor.in_view, "not_lost": floor.not_lost} for floor in policy.floors
        },
        "tiers": [
            {
                "name": tier.name,
                "needs": tier.needs or None,
                "done": tier.done or None,
                "when": tier.when,
                "due": _line(tier.due),
                "target": _line(tier.target),
                **({"gain_min": tier.gain_min} if tier.gain_min > 1 else {}),
                "values": _values(tier),
            }
            for tier in policy.tiers
        ],
    }


def _line(line: Line | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {**msgspec.to_builtins(line), "tokens": line.tokens(Room(WINDOW_SHOWN))}


def _values(tier: Tier) -> dict[str, Any]:
    plans = tier.reduce if tier.reduce is not None else tier.ask
    if plans is None:
        return {}
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plans, order="deterministic"))
    return _unnamed(values)


def _unnamed(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a pass, and of a pass in it, without their names, which are no settings."""
    told = {key: _unnamed(value) if isinstance(value, dict) else value for key, value in values.items()}
    told.pop("name", None)
    return told


def models(name: str | None = None) -> list[dict[str, Any]]:
    """One model, the user's own word first; without a name every model of the table."""
    if name is not None:
        known, notes = known_model(name)
        limits, problem = _limits_of(name)
        more = {"limits": limits} if limits else {}
        return [{**msgspec.to_builtins(known), **more, "notes": [*notes, *problem]}]
    return [msgspec.to_builtins(table.model(known)) for known in table.names()]


def _limits_of(model: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """What providers named as a model's limit when they refused a request, by endpoint; and why that is not known."""
    try:
        known = [one for one in Limits(home_at()).all() if one.model == model]
    except (OSError, InvalidOption) as error:
        return [], (f"limits that providers named are not known: {error}",)
    return [
        {"name": one.endpoint or "a provider", "tokens": one.tokens, "instead_of": one.instead_of}
        for one in known
    ], ()


def forget_limits(model: str) -> int:
    """Drop what providers named as a model's limit; how many there were. Raises `OSError`, `InvalidOption` of the home."""
    return Limits(home_at()).forget_model(model)
