"""What there is: formats, policies and models, as values to print.

Feeds `foldline formats`, `foldline policies` and `foldline models`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from foldline.core.errors import UnknownFormat
from foldline.presets import POLICIES
from foldline.settings import known_model
from foldline.tokens import models as table
from foldline.transcripts import detect


def formats() -> list[dict[str, Any]]:
    """Every format: whether it can be read, whether it can be written."""
    return [{"name": name, "reads": True, "writes": name in detect.WRITERS} for name in sorted(detect.READERS)]


def known_format(name: str) -> str:
    """The name of a format that can be read. Raises `UnknownFormat`."""
    if name not in detect.READERS and name not in detect.ALIASES:
        raise UnknownFormat(name, tuple(sorted(detect.READERS)), f"there is no format called {name!r}")
    return detect.ALIASES.get(name, name)


def policies() -> list[dict[str, Any]]:
    """Every policy with its tiers and all their numbers, in order."""
    return [
        {
            "name": policy.name,
            "sentence": policy.sentence,
            "threshold": msgspec.to_builtins(policy.threshold),
            "target": msgspec.to_builtins(policy.target),
            "tiers": [
                {
                    "pass": tier.reduce.name,
                    "when": tier.when,
                    "gain_min": tier.gain_min,
                    "values": {
                        key: value
                        for key, value in msgspec.to_builtins(tier.reduce, order="deterministic").items()
                        if key != "name"
                    },
                }
                for tier in policy.tiers
            ],
        }
        for policy in POLICIES.values()
    ]


def models(name: str | None = None) -> list[dict[str, Any]]:
    """One model, the user's own word first; without a name every model of the table."""
    if name is not None:
        known, notes = known_model(name)
        return [{**msgspec.to_builtins(known), "notes": list(notes)}]
    return [msgspec.to_builtins(table.model(known)) for known in table.names()]
