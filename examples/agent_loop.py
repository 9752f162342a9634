"""An agent's loop whose requests never outgrow their budget: no session, no disk, no network, no key.

The model is played by a script that asks for one file after another; what matters is the line with `compact`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import foldline

BUDGET = 4_000  # tokens of one request
SESSION = Path(__file__).parent / "session.jsonl"


def read_lines(first: int, last: int) -> str:
    """The tool: lines of a file."""
    return "".join(SESSION.read_text(encoding="utf-8").splitlines(keepends=True)[first:last])


def main() -> None:
    """Twelve rounds, each adding a call and its result."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Read the session and say what went wrong."}
    ]
    for step in range(12):
        call = {"type": "tool_use", "id": f"toolu_{step}", "name": "read_file", "input": {"part": step}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{step}",
            "content": read_lines(step * 2, step * 2 + 2),
        }
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})

        request = foldline.compact(messages, to=BUDGET, format="anthropic")
        report = request.report.to_dict()
        print(
            f"round {step + 1:2}: {report['tokens_before']:6,} tokens in the history,"
            f" {report['tokens_after']:5,} sent in {len(request.messages):2} messages ({report['outcome']})"
        )


if __name__ == "__main__":
    main()
