"""Makes `src/foldline/tokens/models.json`, the reduced snapshot of litellm's public price table (MIT licence).

    python scripts/make_models.py                 download litellm's wheel (never installed), read its table
    python scripts/make_models.py --table FILE    read a table that is already here

Kept of each chat model: window, input and output limits, four prices. Dropped: what a shorter spelling of the same
name gives anyway, fine-tunes, prices by region or commitment. The file has one model a line, sorted, so that a new
snapshot shows its changes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from foldline.tokens.models import spellings

TABLE = "litellm/model_prices_and_context_window_backup.json"
OUT = Path(__file__).parent.parent / "src/foldline/tokens/models.json"
MODES = {"chat", "responses", "completion"}
MAKERS = (
    "openai",
    "anthropic",
    "gemini",
    "vertex_ai-language-models",
    "xai",
    "deepseek",
    "mistral",
    "moonshot",
    "zai",
    "dashscope",
    "bedrock_converse",
    "bedrock",
    "vertex_ai-anthropic_models",
)
"""Whose entry stands for a name without a provider, in this order; resellers state all kinds of windows."""

INPUT_CAPS = {272_000, 922_000}
"""`max_input_tokens` that are limits on input alone: OpenAI's models of 400,000 and 1,050,000 tokens, with 128,000 of
output beside. Everywhere else the same field holds the whole window."""
PRICE_FIELDS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)

Row = list[float | int | None]


def fetch() -> tuple[str, dict[str, Any]]:
    """The table out of the newest litellm wheel, and where it is from."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            folder,
            "litellm",
        ]
        subprocess.run(command, check=True)
        wheel = next(Path(folder).glob("litellm-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return "-".join(wheel.name.split("-")[:2]), json.loads(archive.read(TABLE))


def row_of(entry: dict[str, Any]) -> Row | None:
    """One model's numbers; `None` for what is no chat model or has no known window."""
    limit, output = entry.get("max_input_tokens"), entry.get("max_output_tokens")
    if entry.get("mode") not in MODES or not isinstance(limit, int) or limit < 1:
        return None
    output = output if isinstance(output, int) and output > 0 else None
    split = limit in INPUT_CAPS and output is not None
    prices = [entry.get(field) for field in PRICE_FIELDS]
    row: Row = [limit + output if split and output else limit, limit if split else None, output]
    row += [round(price * 1e6, 6) if isinstance(price, (int, float)) else None for price in prices]
    while row[-1] is None:
        row.pop()
    return row


def reduce(table: dict[str, Any]) -> dict[str, Row]:
    """The rows to keep, by name: each provider's own, and one for the shortest spelling of each model."""
    rows: dict[str, Row] = {}
    served: dict[str, list[tuple[int, int, Row]]] = {}
    for name, entry in table.items():
        row = row_of(entry)
        if row is None or name.startswith("ft:") or "*" in name or "-commitment/" in name:
            continue
        rows[name.lower()] = row
        maker = entry.get("litellm_provider")
        rank = MAKERS.index(maker) if maker in MAKERS else len(MAKERS)
        served.setdefault(list(spellings(name))[-1], []).append((rank, len(name), row))
    rows = {name: standing_for(offers) for name, offers in served.items()} | rows
    return {name: rows[name] for name in sorted(rows) if not is_given(name, rows)}


def standing_for(offers: list[tuple[int, int, Row]]) -> Row:
    """The row for a bare name: its maker's under the shortest name, else a reseller's with the commonest window."""
    offers = sorted(offers, key=lambda offer: offer[:2])
    if offers[0][0] < len(MAKERS):
        return offers[0][2]
    windows = Counter(row[0] for _, _, row in offers)
    most = max(windows.values())
    window = min(size for size, times in windows.items() if times == most and size is not None)
    return next(row for _, _, row in offers if row[0] == window)


def is_given(name: str, rows: dict[str, Row]) -> bool:
    """True when the nearest other spelling of the name is in the table with the same numbers."""
    others = (spelling for spelling in spellings(name) if spelling != name and spelling in rows)
    nearest = next(others, None)
    return nearest is not None and rows[nearest] == rows[name]


def main() -> None:
    """Write the snapshot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, help=f"litellm's table ({TABLE}) as a file")
    parser.add_argument("--source", default="litellm", help="what to call the source of --table")
    options = parser.parse_args()
    source, table = (options.source, json.loads(options.table.read_bytes())) if options.table else fetch()
    rows = reduce(table)
    lines = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in rows.items()
    )
    credit = f"{source}, model_prices_and_context_window_backup.json, MIT licence, BerriAI"
    OUT.write_text(f'{{"source":{json.dumps(credit)},\n"models":{{\n{lines}\n}}}}\n', encoding="utf-8")
    sys.stdout.write(f"{len(rows)} of {len(table)} entries, {OUT.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
