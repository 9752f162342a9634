"""An agent's loop whose requests never outgrow their budget: no session, no disk, no network, no key.

The model is played by a script that asks for one file after another; what matters is `fitted`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import foldline

LIMIT = 4_000  # tokens of one request: compact when more would be sent …
TARGET = 2_000  # … and then far enough to leave the prompt cache alone for a while
SESSION = Path(__file__).parent / "session.jsonl"

Messages = list[dict[str, Any]]


def fitted(messages: Messages) -> Messages:
    """What to send, and to go on from: the same list while it fits, a smaller one when it does not."""
    if foldline.compact(messages, to=LIMIT, format="anthropic").report.outcome == "unchanged":
        return messages
    return foldline.compact(messages, to=TARGET, format="anthropic").messages


def read_lines(first: int, last: int) -> str:
    """The tool: lines of a file."""
    return "".join(SESSION.read_text(encoding="utf-8").splitlines(keepends=True)[first:last])


def main() -> None:
    """Twelve rounds, each adding a call and its result."""
    messages: Messages = [{"role": "user", "content": "Read the session and say what went wrong."}]
    for step in range(12):
        call = {"type": "tool_use", "id": f"toolu_{step}", "name": "read_file", "input": {"part": step}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{step}",
            "content": read_lines(step, step + 1),
        }
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})

        request = fitted(messages)
        done = "sent as it is" if request is messages else f"compacted to {len(request)} messages"
        print(f"round {step + 1:2}: {len(messages):2} messages, {done}")
        messages = request


if __name__ == "__main__":
    main()
