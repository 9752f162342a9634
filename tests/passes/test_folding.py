"""One synthetic message for several spans: where it points, and what it counts."""

from __future__ import annotations

from msgspec.structs import replace

from foldline.core.address import read_block
from foldline.passes.folding import counted, fold_of, messages_in
from foldline.passes.snip import Snip
from foldline.testing.builders import assistant, call, frame_for, result, user, view_from
from tests.passes.planning import planned, talk


def test_a_fold_is_a_users_message_that_carries_its_address() -> None:
    """CMP-40, law TRACE: delimited by a tag that depends on the covered bytes."""
    messages = [user("one"), user("two"), user("three"), user("four")]
    view = view_from(messages)
    items = view.items()
    edit = fold_of([items[0], items[1], items[3]], "said", frame=frame_for(view, originals=messages))
    assert [(span.start, span.end) for span in edit.spans] == [(0, 2), (3, 4)]
    assert (edit.message.role, edit.message.synthetic) == ("user", "fold")
    assert read_block(edit.message.text) == ("fold", edit.address, "said")
    other = [user("one"), user("2"), user("three"), user("four")]
    elsewhere = view_from(other)
    assert (
        fold_of(elsewhere.items()[:4], "said", frame=frame_for(elsewhere, originals=other)).address
        != edit.address
    )


def test_a_notice_is_a_synthetic_message_of_its_own_kind() -> None:
    """It says only that something went."""
    view = view_from([user("one")])
    assert fold_of(view.items(), "gone", frame=frame_for(view), kind="notice").message.synthetic == "notice"


def test_what_went_is_counted_with_what_earlier_folds_stand_for() -> None:
    """A fold of a fold counts messages, not folds."""
    assert counted(view_from([user("abcd")]).items()) == "1 earlier message, 5 tokens"
    done = planned(Snip(), talk(40, chars=2000), target=10_000)
    assert len(done.folded) > 5
    assert counted(done.after.items()).startswith("40 earlier messages, ")


def test_what_a_repair_put_in_is_no_message_that_went() -> None:
    """OBS-2: the fold counted 338 messages and the report 337."""
    put_in = replace(result("c", "[interrupted]"), synthetic="repair")
    assert messages_in(view_from([user("go"), assistant(call("ls", "c")), put_in]).items()) == 2
