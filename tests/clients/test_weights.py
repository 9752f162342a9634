"""What a caller's own list would have come to."""

from __future__ import annotations

from pathlib import Path

from foldline.tokens.choose import counter_for
from foldline.wire import strict
from foldline.wire.formats import codec
from tests.clients.lists import MODEL, answer, assistant, call, conversations, long, user


def test_what_came_is_counted_though_the_view_shows_it_no_more(tmp_path: Path) -> None:
    """OBS-1: what the counter says of the caller's list, through compactions and a restart."""
    known, messages, compactions = conversations(tmp_path), [user("Fix the login.")], 0
    for n in range(40):
        if n == 30:
            known.close()
            known = conversations(tmp_path)
        asked = call(messages)
        going = known.outgoing(asked)
        assert going is not None
        if going.prepared is not None:
            compactions += going.prepared.report.outcome == "compacted"
            weights = counter_for(MODEL, wire="openai-chat").weights
            decoded = [codec("openai-chat").decode(strict.dump(message)) for message in messages]
            came = sum(sum(parts) + overhead for parts, overhead in map(weights, decoded))
            assert abs(going.tokens_came / came - 1) < 0.01
        known.answered(going.ticket, answer(f"answer {n}"))
        messages += [assistant(f"answer {n}"), user(f"step {n} {long(f'w{n}x', 9_000)}")]
    assert compactions >= 3
