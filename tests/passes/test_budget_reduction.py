"""Budget reduction cuts one oversized result, at stated limits, and nothing else."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.address import NOTICE_END, has_notice
from foldline.core.message import Message
from foldline.passes.budget_reduction import BudgetReduction, common_cap
from foldline.testing.builders import assistant, call, image, result, system, user
from tests.passes.planning import one_round, planned

CASCADE = BudgetReduction()
TOKENS = BudgetReduction(
    unit="tokens", limit=4000, head=1500, tail=500, per_tool=(("file_read", 8000), ("shell", 2000))
)


def reads(text: str, *, tool: str = "read_file") -> list[Message]:
    """One call of a tool and its result, between user messages."""
    return [user("go"), assistant(call(tool)), result(tool, text), assistant("seen"), user("next")]


def counted(chars: int) -> str:
    """A text of so many characters, each place of which can be told from its neighbours."""
    return "".join(f"{n:07} " for n in range(chars // 8 + 1))[:chars]


@pytest.mark.parametrize("chars", [1, 3999, 4000])
def test_a_result_of_four_thousand_characters_stays(chars: int) -> None:
    """BUD-6: over 4,000 characters; 4,000 exactly stays."""
    assert planned(CASCADE, reads(counted(chars))).edits == ()


def test_a_longer_result_keeps_its_first_2400_and_last_1600_characters() -> None:
    """BUD-6. The notice between says how many characters went, and where they are."""
    text = counted(20_000)
    after = planned(CASCADE, reads(text)).results[0]
    head, notice, tail = after[:2400], after[2400:-1600], after[-1600:]
    assert (head, tail) == (text[:2400], text[-1600:])
    assert notice.startswith("\n[foldline: 16,000 characters omitted · m2.0@")
    assert has_notice(after)


def test_a_cut_that_would_be_longer_than_what_it_replaces_is_not_made() -> None:
    """MIC-9: one character over the limit costs less than the notice."""
    assert planned(CASCADE, reads(counted(4001))).edits == ()
    assert planned(CASCADE, reads(counted(4200))).edited == [2]


def test_user_and_assistant_text_is_never_touched() -> None:
    """BUD-9."""
    long = counted(50_000)
    messages = [system(long), user(long), assistant(long, call("shell")), result("shell", "ok"), user(long)]
    assert planned(CASCADE, messages).edits == ()
    assert planned(TOKENS, messages).edits == ()


@pytest.mark.parametrize("reduce", [CASCADE, TOKENS, BudgetReduction(per_turn=5000)])
@pytest.mark.parametrize("pieces", [1, 2, 9])
def test_a_result_cut_once_is_not_cut_again(reduce: BudgetReduction, pieces: int) -> None:
    """BUD-10, MIC-6: a second run gives the same bytes, however many texts one result is made of."""
    texts = [counted(40_000)] * pieces
    messages = [
        user("go"),
        assistant(call("other")),
        result("other", *texts),
        assistant("seen"),
        user("next"),
    ]
    done = planned(reduce, messages)
    assert done.edited == [2]
    assert done.again == ()


@given(
    st.lists(st.integers(1, 30_000), min_size=1, max_size=6),
    st.integers(2_000, 40_000),
    st.integers(100, 9_000),
    st.sampled_from(["characters", "tokens"]),
)
def test_a_second_run_does_nothing_whatever_the_limits(
    sizes: list[int], per_turn: int, limit: int, unit: Literal["characters", "tokens"]
) -> None:
    """BUD-10, for results of any sizes in one turn and limits on either side of them."""
    reduce = BudgetReduction(unit=unit, limit=limit, per_turn=per_turn, per_tool=(("shell", limit // 2),))
    messages = [user("go")]
    for number, size in enumerate(sizes):
        messages += one_round(number, tool="shell" if number % 2 else "read_file", chars=max(4, size))
    assert planned(reduce, [*messages, user("next")]).again == ()


@pytest.mark.parametrize(
    ("tool", "tokens", "cut"),
    [
        ("read_file", 8000, False),
        ("read_file", 8100, True),
        ("bash", 2000, False),
        ("bash", 2100, True),
        ("something_else", 4000, False),
        ("something_else", 4100, True),
    ],
)
def test_limits_differ_by_tool(tool: str, tokens: int, cut: bool) -> None:
    """BUD-7, MIC-1: file reads 8,000 tokens, shell 2,000, others 4,000; at the threshold untouched."""
    assert bool(planned(TOKENS, reads(counted(tokens * 4), tool=tool)).edits) is cut


def test_the_cut_in_tokens_keeps_1500_and_500_and_names_what_went() -> None:
    """MIC-1: head 1,500 and tail 500 tokens, marked with the count less 2,000."""
    text = counted(4 * 9000)
    after = planned(TOKENS, reads(text, tool="web_search")).results[0]
    assert after.startswith(text[: 4 * 1500])
    assert after.endswith(text[-4 * 500 :])
    assert "[foldline: 7,000 tokens omitted · m2.0@" in after


def test_a_shell_result_of_2001_tokens_stays() -> None:
    """MIC-9: 1,500 + 500 and the marker would be more than 2,001."""
    assert planned(TOKENS, reads(counted(4 * 2001), tool="shell")).edits == ()


@pytest.mark.parametrize(("tokens", "cut"), [(600, False), (700, True), (1_900, True), (5_000, True)])
def test_a_limit_that_a_tool_declares_goes_before_the_policys(tokens: int, cut: bool) -> None:
    """BUD-7: declared by the tool's registration; a limit below head and tail shrinks both."""
    done = planned(TOKENS, reads(counted(4 * tokens), tool="lookup"), limits=(("lookup", 600),))
    assert bool(done.edits) is cut
    assert len(done.results[0]) // 4 <= 600 + 60
    assert done.again == ()


def test_a_declared_limit_may_be_higher_than_the_policys() -> None:
    """BUD-7."""
    declared = (("lookup", 6000),)
    assert planned(TOKENS, reads(counted(4 * 5900), tool="lookup"), limits=declared).edits == ()
    assert planned(TOKENS, reads(counted(4 * 6100), tool="lookup"), limits=declared).edited == [2]


def test_a_declared_limit_in_tokens_says_nothing_to_limits_in_characters() -> None:
    """BUD-6 holds whatever a tool declares in another unit."""
    assert planned(CASCADE, reads(counted(4000)), limits=(("read_file", 10),)).edits == ()


def turn(*sizes: int) -> list[Message]:
    """One turn in which each call returns so many characters."""
    rounds = [message for n, size in enumerate(sizes) for message in one_round(n, chars=size)]
    return [user("go"), *rounds, user("next")]


def test_the_results_of_a_turn_share_a_total_and_the_largest_give_way() -> None:
    """A total for one turn's results: what is small stays whole, the rest get one common cap."""
    done = planned(BudgetReduction(limit=10_000, per_turn=6_000), turn(9_000, 1_000, 8_000, 200))
    assert done.edited == [2, 6]
    assert [len(text) for text in done.results] == [
        pytest.approx(2_400, abs=90),
        1_000,
        pytest.approx(2_400, abs=90),
        200,
    ]
    assert done.again == ()


def test_a_turn_within_its_total_and_other_turns_are_left_alone() -> None:
    """The total is of one turn, not of the session."""
    messages = [*turn(2_900, 3_000)[:-1], *turn(2_900, 3_000)]
    assert planned(BudgetReduction(per_turn=6_000), messages).edits == ()
    assert planned(BudgetReduction(per_turn=5_000), messages).edited == [2, 4, 7, 9]


def test_a_result_over_its_own_limit_counts_with_what_is_left_of_it() -> None:
    """BUD-10: 4,000 of the 20,000 and the others' 3,900 are over 10,000 together, in the first run already."""
    done = planned(BudgetReduction(per_turn=10_000), turn(20_000, 3_900, 3_900))
    assert done.edited == [2, 4, 6]
    assert done.again == ()


@pytest.mark.parametrize(
    ("sizes", "total", "cap"),
    [
        ([], 10, 0),
        ([5], 10, 5),
        ([10, 10], 10, 5),
        ([1, 10, 10], 11, 5),
        ([3, 3], 0, 0),
        ([3, 3], -5, 0),
        ([7, 2], 9, 7),
    ],
)
def test_a_common_cap_is_as_high_as_the_total_allows(sizes: list[int], total: int, cap: int) -> None:
    """The capped sizes sum to at most the total."""
    assert common_cap(sizes, total) == cap


@given(st.lists(st.integers(0, 1000), max_size=12), st.integers(0, 5000))
def test_capped_sizes_never_sum_to_more_than_the_total(sizes: list[int], total: int) -> None:
    """And a cap one higher would be too much, unless nothing is capped."""
    cap = common_cap(sizes, total)
    assert sum(min(size, cap) for size in sizes) <= total
    assert not sizes or cap == max(sizes) or sum(min(size, cap + 1) for size in sizes) > total


def test_pinned_results_and_results_that_a_repair_made_stay() -> None:
    """Law PIN; what has no original has no address either."""
    assert planned(CASCADE, reads(counted(9000)), pins=[2]).edits == ()
    unanswered = [user("go"), assistant(call("shell")), user("next")]
    assert planned(BudgetReduction(limit=1, head=1, tail=0), unanswered).edits == ()


def test_an_oversized_result_of_the_open_round_may_be_cut() -> None:
    """Law TAIL allows it, marked; the round itself stays."""
    messages = [user("go"), assistant(call("a"), call("b")), result("a", counted(9000))]
    assert planned(CASCADE, messages).edited == [2]


def test_media_inside_a_result_stay() -> None:
    """Only texts are cut."""
    messages = [user("go"), assistant(call("shot")), result("shot", image(9), counted(9000)), user("next")]
    [edit] = planned(CASCADE, messages).edits
    assert type(edit).__name__ == "Replace"
    assert "Media" in repr(edit)


def test_a_json_result_stays_json() -> None:
    """Issue of many projects: half a JSON document helps nobody; numbers keep their spelling."""
    rows = [{"id": n, "price": 1.10, "big": 12345678901234567890, "note": "word " * 20} for n in range(300)]
    text = json.dumps(rows).replace("1.1,", "1.10,")
    after = planned(CASCADE, reads(text)).results[0]
    assert len(after) <= 4000
    kept = json.loads(after)
    assert kept[0]["id"] == 0
    assert kept[-1]["id"] == 299
    assert '"price":1.10' in after
    assert "12345678901234567890" in after
    assert "[foldline: " in after


def test_what_recall_gave_is_whole_in_the_round_that_asked() -> None:
    """Cut at once, it would be asked for again and again; once the model has answered it is a result like any other."""
    recalled = f'<foldline-recall address="m1.0@00000000">\n{counted(9_000)}\n</foldline-recall>'
    asked = [user("go"), assistant(call("recall")), result("recall", recalled)]
    assert planned(CASCADE, asked).edits == ()
    assert len(planned(CASCADE, [*asked, assistant("seen"), user("next")]).edits) == 1
    other = [user("go"), assistant(call("read_file")), result("read_file", counted(9_000))]
    assert len(planned(CASCADE, other).edits) == 1


def test_what_a_cut_frees_beyond_the_target_goes_to_facts() -> None:
    """CMP-8: a result within its limit may say more than head and tail."""
    listing = "x" * 8_000 + " ".join(f"src/part/module_{n}.py" for n in range(2_000)) + "x" * 8_000
    carrying = BudgetReduction(unit="tokens", limit=4_000, head=1_500, tail=500, carry=100)
    whole = planned(carrying, reads(listing, tool="ls")).before.tokens
    tight, roomy = (planned(carrying, reads(listing, tool="ls"), target=n) for n in (2_300, whole - 100))
    assert roomy.results[0].count("module_") > 2 * tight.results[0].count("module_")
    assert roomy.after.tokens < 4_300
    assert roomy.again == ()
    below = roomy.results[0].partition("[foldline: ")[2].split("\n")
    end = below.index(NOTICE_END)  # what follows is the result's own again
    assert [line.partition(":")[0] for line in below[1:end]] == ["paths", "identifiers"]
    assert below[end + 1].endswith("x" * 100)
