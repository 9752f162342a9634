"""An official client that keeps a session: an agent runs past its model's window and never notices.

The provider is the one foldline tests with, on this machine: no network, no key, no cost. Needs `pip install '.[openai]'`.
"""

from __future__ import annotations

import importlib
import tempfile
from typing import Any

import foldline
from foldline.testing.twin import Twin, endless

WINDOW = 16_000  # tokens that this provider takes; its model says more, as happens


def agent(client: Any, turns: int) -> list[dict[str, Any]]:
    """A loop as you have it: a list of its own, all of it sent each time."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the login. Never touch auth.py."}]
    for turn in range(turns):
        answer = client.chat.completions.create(model="gpt-4o", messages=messages)
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})
        messages.append({"role": "user", "content": f"Step {turn}. " + f"Line {turn} of a long file. " * 250})
    return messages


def main() -> None:
    """Twelve turns, three windows' worth."""
    try:
        openai = importlib.import_module("openai")
    except ModuleNotFoundError:
        print("this example needs the SDK: pip install '.[openai]'")
        return
    with tempfile.TemporaryDirectory() as home, Twin(endless("Done."), window=WINDOW) as twin:
        with openai.OpenAI(base_url=f"{twin.url}/v1", api_key="any") as plain:
            client = foldline.wrap(plain, session="fix-login", home=home)
            messages = agent(client, turns=24)
            last = twin.requests[-1]
            print(f"{len(messages)} messages said, {len(last.parsed['messages'])} in the last request")
            print("the rule is in it:", "Never touch auth.py." in last.body.decode())
            client.foldline.close()


if __name__ == "__main__":
    main()
