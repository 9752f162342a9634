"""Policies as tables of `foldline.toml`: one read into a value, a value written as one.

    [policies.mine]
    sentence = "Cuts large results, then folds."
    threshold = { percent = 75, of = "input" }
    target = { percent = 40, of = "input" }

    [[policies.mine.tiers]]
    pass = "budget-reduction"
    when = "always"
    limit = 6_000

Keys are the fields of `foldline.engine.policy.Policy`, its tiers and their passes, and a field's own type says what may stand
in it. What is wrong is told with file, tier, key, value and what is allowed. Counterpart: `foldline.settings`, which finds
the tables; owns no number and no default (`docs/decisions/0014-policies-in-toml.md`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec import inspect as types
from msgspec.structs import FieldInfo, fields, replace

from foldline.core.errors import InvalidOption
from foldline.engine.policy import Floor, Policy, Tier
from foldline.ledger.retention import KINDS
from foldline.passes.bounded_fold import BoundedFold
from foldline.passes.budget_reduction import BudgetReduction
from foldline.passes.collapse import Collapse
from foldline.passes.fold_oldest import FoldOldest
from foldline.passes.fold_range import FoldRange
from foldline.passes.microcompact import Microcompact
from foldline.passes.snip import Snip
from foldline.summary.full_summary import FullSummary
from foldline.summary.prose_ledger import ProseLedger
from foldline.summary.segments import Segments
from foldline.tokens.choose import COUNTERS

AnyPass: TypeAlias = BudgetReduction | Microcompact | Snip | Collapse | FoldRange | FoldOldest | BoundedFold
AnyAsking: TypeAlias = ProseLedger | FullSummary | Segments
PASSES: Final[Mapping[str, type[AnyPass | AnyAsking]]] = {
    made().name: made for made in (*get_args(AnyPass), *get_args(AnyAsking))
}
"""What a tier may name; the last three ask a model, and a tier that names one is passed over without it. Superseded words are marked before every policy's tiers; no tier is needed for that."""
TIERS_MAX: Final = 32
NAME = re.compile(r"\w[\w.-]{0,63}")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NOT_WRITTEN: Final = ("reduce", "ask", "only_marks")
"""Of a tier: the pass, which is written by its name and numbers, and what is true of none that a file may name."""
_OF_TIER: Final = tuple(field.name for field in fields(Tier) if field.name not in _NOT_WRITTEN)

Value = TypeVar("Value", bound=Struct)


class _Place(Struct, frozen=True, kw_only=True):
    """Where in which file something stands."""

    file: str
    option: str
    tier: str = ""

    def at(self, key: str) -> _Place:
        return replace(self, option=f"{self.option}.{key}")

    def refuse(self, value: object, why: str) -> InvalidOption:
        where = f"in {self.file}, {self.tier}" if self.tier else f"in {self.file}"
        return InvalidOption(self.option, value, why=f"{where}: {why}")


# ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────


def read_policy(name: str, table: Mapping[str, Any], *, file: str) -> Policy:
    """The policy that a table of a file is. Raises `InvalidOption`, which names the key and what may stand there."""
    place = _Place(file=file, option=f"policies.{name}")
    if not NAME.fullmatch(name):
        raise place.refuse(
            name,
            "a policy's name has at most 64 letters, digits, `_`, `-` and `.`; a letter or digit is first",
        )
    rest = {"source": file, **table}
    tiers = _tiers(rest.pop("tiers", None), place.at("tiers"))
    floors = _floors(rest.pop("floors", {}), place.at("floors"))
    told = _told(Policy, rest, place=place, apart=("name", "tiers", "floors"), also=("tiers", "floors"))
    policy = Policy(name=name, tiers=tiers, floors=floors, **told)
    if policy.counter is not None and policy.counter not in COUNTERS:
        raise place.at("counter").refuse(policy.counter, f"give one of {', '.join(COUNTERS)}")
    threshold, target = policy.threshold, policy.target
    if replace(threshold, percent=target.percent, over=target.over) == target and (
        target.percent > threshold.percent
    ):
        raise place.at("target").refuse(
            rest["target"], "it lies above the threshold: a compaction would be due and have nothing to do"
        )
    return policy


def _tiers(given: object, place: _Place) -> tuple[Tier, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= TIERS_MAX:
        table = place.option.replace("policies.", "[[policies.", 1)
        raise place.refuse(given, f"write 1 to {TIERS_MAX} tiers, each under {table}]]")
    return tuple(_tier(row, replace(place, tier=f"tier {n}")) for n, row in enumerate(given, start=1))


def _tier(given: object, place: _Place) -> Tier:
    rest = _table(given, place)
    wanted = rest.pop("pass", None)
    if wanted is None and rest.get("needs"):  # named, and passed over
        return Tier(reduce=None, **_told(Tier, rest, place=place, apart=_NOT_WRITTEN))
    made = PASSES.get(wanted) if isinstance(wanted, str) else None
    if made is None:
        raise place.at("pass").refuse(wanted, f"give one of {', '.join(PASSES)}")
    name = rest.setdefault("name", wanted)
    of_tier = {key: rest.pop(key) for key in _OF_TIER if key in rest}
    told = _told(Tier, of_tier, place=place, apart=_NOT_WRITTEN)
    plans = made(name=name, **_told(made, rest, place=place, apart=("name",), also=("pass", *_OF_TIER)))
    if isinstance(plans, (ProseLedger, FullSummary, Segments)):
        return Tier(reduce=None, ask=plans, **{"needs": "model", **told})
    return Tier(reduce=plans, **told)


def _floors(given: object, place: _Place) -> tuple[Floor, ...]:
    rows = _table(given, place)
    return tuple(
        Floor(kind=_kind(kind, place), **_told(Floor, row, place=place.at(kind), apart=("kind",)))
        for kind, row in rows.items()
    )


def _kind(kind: str, place: _Place) -> str:
    if kind not in KINDS:
        raise place.refuse(kind, f"no facts of this kind are counted; there are {', '.join(KINDS)}")
    return kind


def _told(
    made: type[Struct], given: object, *, place: _Place, apart: tuple[str, ...], also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What a table says of a value's fields, each checked; those `apart` are not for it to say. `also`: what else may stand
    beside them. Raises `InvalidOption` for a key that is no field, and for a field that has to be there and is not."""
    table = _table(given, place)
    known = {field.name: field for field in fields(made) if field.name not in apart}
    for key, value in table.items():
        if key not in known:
            there = [*also, *known]
            near = get_close_matches(key, there, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise place.at(key).refuse(value, f"there is no such key; {meant}there are {', '.join(there)}")
    for key, field in known.items():
        if key not in table and field.default is NODEFAULT and field.default_factory is NODEFAULT:
            raise place.at(key).refuse(None, f"it is missing; give {_allowed(types.type_info(field.type))}")
    return {key: _value(known[key], value, place=place.at(key)) for key, value in table.items()}


def _value(field: FieldInfo, value: object, *, place: _Place) -> Any:
    info = _given(types.type_info(field.type))
    named = value
    if isinstance(info, (types.StructType, types.VarTupleType)):
        if not isinstance(value, dict):
            raise place.refuse(value, f"give {_allowed(info)}")
        if isinstance(info, types.StructType):
            is_pass = info.cls in PASSES.values()
            return info.cls(**_told(info.cls, value, place=place, apart=("name",) if is_pass else ()))
        named = list(value.items())  # pairs, which a file writes as a table
    try:
        return msgspec.convert(named, field.type)
    except msgspec.ValidationError as error:
        raise place.refuse(value, f"give {_allowed(info)}") from error


def _table(given: object, place: _Place) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise place.refuse(given, "write a table here")
    return dict(given)


def _given(info: types.Type) -> types.Type:
    """The type of what is given; that it may be left out is seen to already."""
    if isinstance(info, types.UnionType):
        [info] = [one for one in info.types if not isinstance(one, types.NoneType)]
    return info


def _allowed(info: types.Type) -> str:
    """What may stand in a field of a type, in words."""
    match _given(info):
        case types.BoolType():
            return "true or false"
        case types.IntType() as number:
            return f"a whole number from {number.ge:,} to {number.le:,}"
        case types.FloatType() as number:
            return f"a number from {number.ge:g} to {number.le:,.0f}"
        case types.LiteralType() as literal:
            return f"one of {', '.join(str(value) or 'nothing' for value in literal.values)}"
        case types.FrozenSetType(item_type=types.LiteralType() as literal):
            return f"a list of some of {', '.join(map(str, literal.values))}"
        case types.VarTupleType(item_type=types.TupleType(item_types=(_, of))):
            return f"a table of names, each with {_allowed(of)}"
        case types.StructType() as struct:
            needed = [field.name for field in struct.fields if field.required]
            return f"a table with {' and '.join(needed)}" if needed else "a table"
        case _:
            return "a text"


# ── write ────────────────────────────────────────────────────────────────────────────────────────────────────


def write_policy(policy: Policy, *, name: str) -> str:
    """The policy as a table of `foldline.toml` that reads back as the same value under that name. Of a pass, which takes its
    tier's name, and of a floor every field is written, so that each number can be changed; of the rest what differs from its
    default.
    Raises `InvalidOption` for a pass that no file can name."""
    table = f"policies.{_key(name)}"
    lines = [f"[{table}]", *_lines(_fields(policy, apart=("name", "tiers", "floors")))]
    if policy.floors:
        floors = {floor.kind: _fields(floor, apart=("kind",)) for floor in policy.floors}
        lines += ["", f"[{table}.floors]", *_lines(floors)]
    for tier in policy.tiers:
        lines += ["", f"[[{table}.tiers]]"]
        plans = tier.reduce if tier.reduce is not None else tier.ask
        if plans is None:
            lines += _lines(_fields(tier))
        else:
            name, numbers = _named(plans)
            apart = _NOT_WRITTEN if tier.name != name else (*_NOT_WRITTEN, "name")
            of_tier = _fields(tier, apart=apart)
            lines += _lines({"pass": name} | of_tier | numbers)
    return "\n".join(lines) + "\n"


def _named(reduce: object) -> tuple[str, dict[str, Any]]:
    """A pass as a file names it, and its fields."""
    for name, made in PASSES.items():
        if isinstance(reduce, made):
            return name, _fields(reduce, apart=("name",))
    raise InvalidOption("tiers", reduce, why=f"a file can name no pass but {', '.join(PASSES)}")


def _lines(told: Mapping[str, object]) -> Iterator[str]:
    for key, value in told.items():
        yield f"{_key(key)} = {_written(value)}"


def _fields(value: Struct, *, apart: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a value that a file has to say. By being left out no field says another thing than by `None`."""
    whole = isinstance(value, (Floor, *PASSES.values()))
    listed = [(field, getattr(value, field.name)) for field in fields(value) if field.name not in apart]
    return {
        field.name: told for field, told in listed if told is not None and (whole or told != field.default)
    }


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:_}"
        case float():
            return repr(value)
        case str():
            return _text(value)
        case frozenset():
            return f"[{', '.join(sorted(map(_written, value)))}]"
        case tuple():
            return _written(dict(value))
        case Struct():
            return _written(_fields(value, apart=("name",)))
        case dict():  # of a policy, whose keys are texts
            told = ", ".join(f"{_key(key)} = {_written(one)}" for key, one in value.items())
            return f"{{ {told} }}" if told else "{}"
        case _:
            raise AssertionError(f"no field of a policy holds a {type(value).__name__}")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # a JSON string is a basic string of TOML, but for the one control character that JSON leaves as it is
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
