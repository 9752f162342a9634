"""What of a session file a completer is shown: the conversation in a wire format, whatever the file is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.asking import asking_notes
from foldline.core.completion import Ask
from foldline.file_asking import answering_for
from foldline.presets import policy_of
from foldline.reading import read
from foldline.reduce import Goal
from foldline.testing.builders import view_from
from foldline.wire.completion import CompletionRequest
from tests.engine.scripted import Asking, asking_tier, policy

DATA = Path(__file__).parent / "data"


def asked_of(path: Path) -> CompletionRequest:
    """The request that a completer is given about a file."""
    seen: list[CompletionRequest] = []

    def completer(request: CompletionRequest) -> str:
        seen.append(request)
        return "summed up"

    transcript = read(str(path))[0]
    ask = Ask(messages=(), live=view_from(transcript.messages).items(), is_fork=True, instruction="Sum")
    assert answering_for(transcript, completer)(ask).text == "summed up"
    return seen[0]


FILES = {path.parent.name: path for path in sorted(DATA.glob("*/*.json*")) if path.parent.name != "bugs"}


@pytest.mark.parametrize("path", list(FILES.values()), ids=list(FILES))
def test_a_completer_sees_messages_of_one_wire_format(path: Path) -> None:
    """Of every session format; a call and its results together, in the shapes of that wire."""
    request = asked_of(path)
    assert request.messages
    assert all(isinstance(message, dict) for message in request.messages)
    roles: set[Any] = {message.get("role") for message in request.messages}
    if request.format == "anthropic":
        assert roles <= {"user", "assistant", "system"}


def test_reasoning_that_a_provider_signed_is_not_shown_to_another(tmp_path: Path) -> None:
    """Who is asked about a file refuses a signature that is not its own; text and calls stay, a message of reasoning alone goes."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "hello"}]}
    users = [{"role": "user", "content": text} for text in ("hi", "go on")]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"system": "be brief", "messages": [users[0], said, users[1]]}))
    request = asked_of(path)
    assert request.format == "anthropic"
    assert request.messages == [users[0], {**said, "content": said["content"][1:]}, users[1]]
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "e"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]},
    ]
    path.write_text(json.dumps({"input": items}))
    assert [item["type"] for item in asked_of(path).messages] == ["message", "message"]


def test_a_focus_and_a_model_that_nobody_needs_are_said() -> None:
    """What an option does not do."""
    local = Goal(policy=policy_of("ladder-minimal"), focus="the login")
    assert asking_notes(local)[0].startswith("focus has no effect")
    asks = Goal(policy=policy(asking_tier(Asking(0, 1))), focus="the login", has_model=True)
    assert asking_notes(asks) == ()
    unasked = replace(asks, policy=policy(), focus="")
    assert asking_notes(unasked) == ("policy scripted never asks a model: none was asked",)
