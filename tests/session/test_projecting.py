"""From a view of the log to a history fit to send."""

from __future__ import annotations

from foldline.core.estimate import Counting
from foldline.core.message import Message, Usage
from foldline.core.needs import Needs
from foldline.core.view import View, item_of, view_of
from foldline.log.state import Anchor, Scope
from foldline.session.projecting import projected, sound
from foldline.testing.builders import assistant, call, result, user
from foldline.testing.counting import CharacterCounter

COUNTER = CharacterCounter()


def view(*messages: Message, step: int = 1) -> View:
    weighed = COUNTER.weights_of(messages)
    return view_of(
        tuple(
            item_of(n * step, message, weights=weights, overhead=overhead)
            for n, (message, (weights, overhead)) in enumerate(zip(messages, weighed, strict=True))
        )
    )


def test_a_sound_view_is_taken_as_it_is() -> None:
    """Law LOSSLESS: nothing is counted again."""
    given = view(user("a"), assistant(call("f")), result("f", "x"))
    assert sound(given, needs=Needs(), counter=COUNTER, format="anthropic").view is given


def test_a_repair_names_the_ordinals_of_the_log() -> None:
    """Law PAIR: mended in the projection alone, whatever numbers the messages have."""
    given = view(user("a"), assistant(call("f")), user("b"), step=10)
    fit = sound(given, needs=Needs(), counter=COUNTER, format="anthropic")
    assert [(one.kind, one.seq) for one in fit.repairs] == [("interrupted-call", 10)]
    assert [item.seq for item in fit.view] == [0, 10, 10, 20]
    assert fit.view.tokens == sum(COUNTER.message(item.message) for item in fit.view)


def test_the_projection_adds_what_came_after_the_anchor() -> None:
    """TOK-3: by ordinal, wherever a repair has moved the index."""
    given = view(user("a"), assistant("b"), user("c" * 40), step=5)
    scope = Scope(view=given, anchor=Anchor(ordinal=5, usage=Usage(tokens_input=100), tokens_fixed=3))
    tokens = projected(scope, given, fixed=7, counting=Counting())
    assert (tokens.tokens_anchored, tokens.tokens_estimated) == (100, 14 + 4)
    assert projected(Scope(view=given), given, fixed=7, counting=Counting()).tokens == given.tokens + 7
