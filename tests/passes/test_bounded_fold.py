"""The deterministic fallback of a summary: within its bound, with every rule, without thoughts and pictures."""

from __future__ import annotations

import pytest

from foldline.core.budget import replacement_max
from foldline.core.message import Media, Message, Reasoning, ToolResult
from foldline.passes.bounded_fold import BoundedFold
from foldline.testing.builders import assistant, call, image, result, system, thinking, user
from tests.passes.planning import Planned, planned, work

FALLBACK = BoundedFold()


def replacement(done: Planned) -> int:
    """Tokens of all that stands for what could be folded."""
    fixed = {0, len(done.before) - 1}
    return sum(item.tokens for item in done.after if item.seq not in fixed)


@pytest.mark.parametrize("rounds", [60, 600])
def test_what_replaces_a_history_stays_within_its_bound(rounds: int) -> None:
    """CMP-9, CMP-10 and CMP-12: ledger, then whole units from the newest; min(50,000, half the window, 80 % of the
    source), however far the target is."""
    messages = [system("rules"), *work(rounds), user("next")]
    done = planned(FALLBACK, messages, target=rounds * 190, tokens_window=80_000)
    source = done.before.tokens - done.before.items()[0].tokens - done.before.items()[-1].tokens
    assert replacement(done) <= replacement_max(source, 80_000)
    assert [item.message.synthetic for item in done.after][:3] == [None, None, "fold"]
    kept = [item.message for item in done.after if item.message.synthetic is None][2:]
    assert kept == messages[-len(kept) :]


def test_a_view_that_fits_is_left_alone() -> None:
    """Law GAIN."""
    assert planned(FALLBACK, work(5), target=10**6).edits == ()


def test_a_fifth_of_the_messages_stays_whole_where_the_bound_allows_it() -> None:
    """CMP-9: the newest 20 % of what could be folded."""
    messages = [system("rules"), *work(100), user("next")]
    done = planned(FALLBACK, messages, target=15_000)
    kept = [item for item in done.after if item.message.synthetic is None]
    assert len(kept) - 2 >= len(messages) // 5


def test_rules_stand_whatever_the_bound_says() -> None:
    """CMP-30: the target rises to what the rules take; none is dropped silently."""
    rules = [f"Never touch the file secret-{n}.py, whatever happens to the other ones." for n in range(400)]
    messages: list[Message] = [user("\n".join(rules)), *work(20), user("next")]
    done = planned(FALLBACK, messages, target=600, tokens_window=8_000)
    text = "\n".join(done.texts)
    assert [rule for rule in rules if rule not in text] == []
    assert done.after.tokens > 600


def test_the_last_user_message_stands_exactly_once() -> None:
    """CMP-31 and law TAIL."""
    messages = [user("first"), *work(30), user("Fix the login, and nothing else.")]
    done = planned(FALLBACK, messages, target=900)
    assert sum("Fix the login, and nothing else." in text for text in done.texts) == 1
    assert done.after.items()[-1].message == messages[-1]


def test_what_is_kept_leaves_unsigned_reasoning_and_pictures_behind_addresses() -> None:
    """CMP-32; signed reasoning stays with its round (law ROUND), a user's own picture with the words (law CUT)."""
    seen = [
        assistant(thinking("I wonder whether " * 20), call("look", "l1", at="page")),
        result("l1", "a page", image(60)),
        assistant(thinking("signed " * 40, signature="c2ln"), call("look", "l2", at="page")),
        result("l2", "short"),
    ]
    messages = [user("go", image()), *work(40), *seen, user("next")]
    done = planned(FALLBACK, messages, target=3_000)
    after = {item.seq: item.message for item in done.after if not item.covers}
    first, looked, signed = (after[len(messages) - 5 + n].parts[0] for n in range(3))
    assert isinstance(first, Reasoning)
    assert first.text.startswith("[foldline: reasoning cleared")
    assert isinstance(looked, ToolResult)
    assert not any(isinstance(inner, Media) for inner in looked.content)
    assert "[foldline: image cleared" in looked.content[1].text  # type: ignore[union-attr]
    assert isinstance(signed, Reasoning)
    assert signed.text == "signed " * 40


def test_a_picture_that_is_folded_is_not_written_into_the_fold() -> None:
    """CMP-13: no summary sees the data of a picture; the original is behind the address of the fold."""
    seen = [assistant(call("look", "l1", at="page")), result("l1", "a page", image(400))]
    messages = [user("go"), *seen, *work(40), user("next")]
    done = planned(FALLBACK, messages, target=1_500)
    assert not any(isinstance(part, Media) for item in done.after for part in item.message.parts)
    assert "iVBORw0K" not in "\n".join(done.texts)


def test_its_own_result_is_left_alone() -> None:
    """Law SAME: what was cleared and folded once is not touched again at the same target."""
    messages = [user("go"), *work(40), user("next")]
    done = planned(FALLBACK, messages, target=3_000)
    assert done.again == ()
