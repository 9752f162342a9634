"""What the host brings, and what it is told."""

from __future__ import annotations

from foldline.session.hosting import Block, Listener


def test_a_listener_hears_what_it_asked_for_and_nothing_it_raises_comes_back() -> None:
    """JRN-18: state, deltas and blocks."""
    heard: list[object] = []

    def hear(one: object) -> None:
        heard.append(one)
        raise ValueError("the host is broken")

    listener = Listener(on_state=hear, on_delta=hear, on_block=hear)
    block = Block(text="why not", is_error=True)
    listener.state(is_compacting=True)
    listener.delta("a piece")
    listener.block(block)
    assert heard == [True, "a piece", block]
    Listener().state(is_compacting=False)
