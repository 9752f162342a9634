"""A session that goes on after a crash, is compacted, taken back, and forked: no network, no key.

The model is played by a script; what matters is that each `with` could be a process of its own.
"""

from __future__ import annotations

import tempfile
from typing import Any

import foldline

HOME = tempfile.mkdtemp(prefix="foldline-")
ROUNDS = 30


def model(number: int) -> dict[str, Any]:
    """The next response of a model that reads one file after another."""
    call = {
        "type": "tool_use",
        "id": f"call_{number}",
        "name": "read_file",
        "input": {"path": f"src/{number}.py"},
    }
    return {"role": "assistant", "content": [call], "stop_reason": "tool_use"}


def main() -> None:
    """Work, come back, compact, undo, fork."""
    with foldline.open("demo", format="anthropic", home=HOME) as session:
        session.user("Read every file, and never touch the database.")
        for number in range(ROUNDS):
            session.prepare(system="You are careful.")
            session.record(model(number))
            session.tool_result(f"call_{number}", f"def f_{number}(): ...\n" * 200)
        sent = session.prepare().data

    with foldline.open("demo", home=HOME) as session:
        print("opened again, the same bytes:", session.prepare().data == sent)
        report = session.compact(to=0.2)
        print(f"compacted: {report.tokens_before:,} to {report.tokens_after:,} tokens")
        print("an original, by its address:", session.show(report.covers.addresses[0]).title)
        with session.fork("demo-2") as other:
            other.undo()
            print("undone in a fork, the same bytes:", other.prepare().data == sent)
        print("every message is there:", len(session.messages) == 1 + 2 * ROUNDS)


if __name__ == "__main__":
    main()
