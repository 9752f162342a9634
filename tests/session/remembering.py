"""What a scope remembers of its view from one request to the next, held beside what the whole view comes to."""

from __future__ import annotations

from foldline.core.message import calls_of, is_native_compaction, is_own, is_text
from foldline.core.view import View
from foldline.log.state import Handoff
from foldline.provider_rules import broken_laws
from foldline.session.conversation import Conversation
from foldline.session.fitting import Fitting, Joining, Seen
from foldline.session.handing_off import in_force
from foldline.session.projecting import Fixed, Sound, outgoing_messages, sound
from foldline.session.setup import Setup


def check_scope(where: Conversation) -> None:
    """Of a session, or of a node that runs."""
    check_remembered(
        where._view().view,
        where._known.setup,
        remembered=(where._seen, where._fitting, where._joining),
        handoff=in_force(where._keeper.state, where._scope),
    )


def check_remembered(
    view: View, setup: Setup, *, remembered: tuple[Seen, Fitting, Joining], handoff: Handoff | None = None
) -> int:
    """Of one view; how many of its messages were settled."""
    seen, fitting, joining = remembered
    _check_seen(view, seen.of(view))
    standing = seen.standing
    fit = fitting.of(standing, setup)
    _check_fit(standing, fit, setup)
    made = joining.made(fit, view, fixed=Fixed(), setup=setup, handoff=handoff)
    whole = outgoing_messages(Sound(view=fit.view), view, setup=setup, handoff=handoff)
    assert (made.messages, len(made)) == (whole, len(whole))
    assert made.request().messages == whole
    assert joining.violations(made, setup.needs) == broken_laws(whole, setup.needs)
    return made.count


def _check_seen(view: View, seen: Seen) -> None:
    items = view.items()
    blocks = [place for place, item in enumerate(items) if is_native_compaction(item.message)]
    standing = items[max(blocks, default=0) :]
    assert (seen.standing.items(), seen.standing.next_seq) == (standing, view.next_seq)
    assert seen.standing.tokens == sum(item.tokens for item in standing)
    assert seen.has_block == bool(blocks)
    assert seen.calls == sum(len(calls_of(item.message)) for item in standing)
    assert seen.is_text == all(is_text(item.message) for item in items)
    assert seen.is_own == all(is_own(item.message) for item in items)


def _check_fit(standing: View, fit: Sound, setup: Setup) -> None:
    whole = sound(standing, needs=setup.needs, counter=setup.counter, format=setup.format)
    ours, theirs = fit.view.items(), whole.view.items()
    assert (ours, fit.repairs) == (theirs, whole.repairs)
    assert (fit.view.tokens, fit.view.next_seq) == (whole.view.tokens, whole.view.next_seq)
    assert (fit.view is standing) == (whole.view is standing), "a sound view is taken as it is"
    given = {id(item) for item in standing}
    assert [id(item) for item in ours if id(item) in given] == [
        id(item) for item in theirs if id(item) in given
    ], "what no repair touched is the very item"
