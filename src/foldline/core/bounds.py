"""Bounds of the numbers that policies and passes are made of, as types: a field says itself what may stand in it.

They are checked where a value is read from a file (`foldline.policy_file`); a value made in Python is its author's own.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

NUMBER_MAX: Final = 10**12
"""No size, count or time of a policy is larger; a longer number is a slip."""

Whole: TypeAlias = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
"""A size or a count that may be none."""
Positive: TypeAlias = Annotated[int, Meta(ge=1, le=NUMBER_MAX)]
"""A size or a count of at least one."""
Percent: TypeAlias = Annotated[int, Meta(ge=0, le=100)]
PositivePercent: TypeAlias = Annotated[int, Meta(ge=1, le=100)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
"""A part of 1, both ends included."""
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=NUMBER_MAX)]
