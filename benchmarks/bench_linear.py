"""Whether small and hostile texts cost what their size says.

    python -m benchmarks.bench_linear [--quick]

Texts made to be slow for one expression or another (a wall of escape sequences, openings without an end, rows of
regional indicators, digits and tags) at one size and at twice the size: at most `GROWTH_MAX` times the time. Beside it,
what weighing many small messages costs for each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.core.address import escape_tags, has_notice, read_block
from foldline.core.clamp import fit_head, fit_tail, plain
from foldline.core.clamp_json import clamp_json
from foldline.core.message import Message, Text, ToolCall, ToolResult
from foldline.core.surrogates import whole_json
from foldline.tokens.choose import counter_for

GROWTH_MAX = 2.5
CHARS = 400_000
CHARS_QUICK = 20_000
SMALL_MESSAGES = 5_000

TEXTS: dict[str, str] = {
    "escapes": "\x1b[31;1mred\x1b[0m",
    "open links": "\x1b]8;;",
    "open strings": "\x1bP",
    "redrawn lines": "10%\r",
    "flags": "\U0001f1e9",
    "marks": "e\u0301",
    "tags": "<foldline-",
    "notices": "[foldline: ",
    "blocks": '<foldline-fold id="m0@00000000">\n',
    "halves": "\\ud83d",
    "rows": '{"a":[',
}


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    chars = CHARS_QUICK if quick else CHARS
    counter = counter_for()
    works: dict[str, Callable[[str], object]] = {
        "plain": plain,
        "head": partial(fit_head, limit=1_500, measure=counter.text),
        "tail": partial(fit_tail, limit=500, measure=counter.text),
        "JSON": lambda text: clamp_json("[" + text, 4_000, mark="[…]"),
        "halves": whole_json,
        "tags": escape_tags,
        "notice": has_notice,
        "block": read_block,
    }
    bounds = []
    for name, piece in TEXTS.items():
        once, twice = (piece * (size // len(piece)) for size in (chars, 2 * chars))
        seconds = cpu_medians(
            {"once": partial(_all, works, once), "twice": partial(_all, works, twice)}, quick=quick
        )
        milliseconds({f"{name}: every expression over {chars:,} characters": seconds["once"]})
        bounds.append(
            Bound(f"{name}: twice the size ÷ once", seconds["twice"] / seconds["once"], most=GROWTH_MAX)
        )
    history = _small_messages()
    seconds = cpu_medians({"many": lambda: counter.weights_of(history)}, quick=quick)
    milliseconds({"weights_of, each small message": seconds["many"] / len(history)})
    verdict(bounds, quick=quick)


def _all(works: dict[str, Callable[[str], object]], text: str) -> None:
    for work in works.values():
        work(text)


def _small_messages() -> list[Message]:
    call = ToolCall(id="c", name="bash", arguments='{"command":"ls -la src"}', slot=0)
    result = ToolResult(call_id="c", content=(Text(text="total 4\nsrc\ntests\n", slot=0),), slot=0)
    said = Text(text="The test fails because the cache is never cleared.", slot=0)
    round_ = [Message(role="assistant", parts=(said, call)), Message(role="tool", parts=(result,))]
    return round_ * (SMALL_MESSAGES // 2)


if __name__ == "__main__":
    main()
