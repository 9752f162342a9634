"""Small faults, each one edit of one function of the core, and the test that must notice.

Data for `test_the_tests_can_fail.py`. A row names the function, the words of its source that are exchanged, and a test
that is green without the fault. When the source changes under a row, the row is rewritten with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from foldline.core import address, edit, estimate, laws, pairing, repair, rounds, view
from foldline.engine import report, run
from tests.core import (
    test_address,
    test_edit,
    test_estimate,
    test_pairing,
    test_repair,
    test_rounds,
    test_view,
)
from tests.engine import test_report, test_run
from tests.laws import test_laws


class Mutation(NamedTuple):
    """One fault."""

    fault: str
    owner: Any
    """The module or class that holds the function."""
    name: str
    old: str
    new: str
    noticed_by: Callable[[], None]


MUTATIONS = (
    Mutation(
        "a round ends at the first of its results",
        rounds,
        "_round_end",
        "while end < count and items[end].message.role != ",
        "if end < count and items[end].message.role != ",
        test_rounds.test_a_round_is_an_assistant_message_with_all_its_results,
    ),
    Mutation(
        "neighbouring assistant messages are two rounds",
        rounds,
        "_round_end",
        'while end < count and items[end].message.role == "assistant":',
        "while False:",
        test_rounds.test_neighbouring_assistant_messages_are_one_round,
    ),
    Mutation(
        "the open round may be edited",
        rounds,
        "kept_seqs",
        "unit.open or ",
        "",
        test_rounds.test_what_must_stay_is_the_opening_system_text_the_last_words_of_a_person_and_what_waits,
    ),
    Mutation(
        "a round that waits for a person may be edited",
        rounds,
        "_waits",
        "return True",
        "return False",
        test_rounds.test_what_must_stay_is_the_opening_system_text_the_last_words_of_a_person_and_what_waits,
    ),
    Mutation(
        "the outline of an older view serves a newer one",
        view.View,
        "append",
        "head=self.head,",
        "head=self.head, memo=self.memo,",
        test_rounds.test_an_outline_is_made_once_for_a_view_and_anew_for_the_next,
    ),
    Mutation(
        "a view that branches writes into the tail of the other",
        view.View,
        "append",
        "tail = tail[:end]",
        "pass",
        test_view.test_two_views_that_go_on_from_the_same_one_do_not_see_each_other,
    ),
    Mutation(
        "the running total is the weight of the last item",
        view.View,
        "append",
        "self.tokens + item.tokens",
        "item.tokens",
        test_view.test_a_view_grows_at_its_end_and_keeps_a_running_total,
    ),
    Mutation(
        "an item weighs its parts alone",
        view,
        "item_of",
        "overhead + sum(weights)",
        "sum(weights)",
        test_view.test_an_item_weighs_its_parts_and_its_envelope,
    ),
    Mutation(
        "a drop takes the next message along",
        edit,
        "_by_place",
        "range(edit.span.start, edit.span.end)",
        "range(edit.span.start, edit.span.end + 1)",
        test_edit.test_all_edits_of_a_plan_land_at_once,
    ),
    Mutation(
        "a replacement lands on every part of its message",
        edit,
        "_replaced",
        "place = (item.seq, part.slot)",
        "place = next(iter(replaced))",
        test_edit.test_the_parts_beside_a_replaced_one_are_the_same_objects,
    ),
    Mutation(
        "a replaced part keeps its old weight",
        edit,
        "_replaced",
        "replaced[place], tokens[place]",
        "replaced[place], weights[index]",
        test_edit.test_a_replacement_changes_one_part_and_its_weight_alone,
    ),
    Mutation(
        "a fold forgets what an earlier fold covered",
        edit,
        "_covered",
        "if item.covers:",
        "if False:",
        test_edit.test_a_later_fold_takes_over_what_an_earlier_one_covered,
    ),
    Mutation(
        "laws are not asked",
        edit,
        "apply",
        "if broken:",
        "if False:",
        test_edit.test_the_view_before_is_what_it_was,
    ),
    Mutation(
        "the history that results is not checked",
        edit,
        "apply",
        "*check(items, needs)",
        "",
        test_edit.test_an_edit_may_not_leave_a_history_that_cannot_be_sent,
    ),
    Mutation(
        "addresses point at what an earlier pass left",
        edit.Frame,
        "part_address",
        "if seq < len(self.originals):",
        "if False:",
        test_edit.test_addresses_point_at_what_came_in_whatever_was_made_of_it,
    ),
    Mutation(
        "a digest ignores what a text says",
        address,
        "_fields",
        'return ["t", part.text]',
        'return ["t"]',
        test_address.test_every_part_with_other_content_has_another_digest,
    ),
    Mutation(
        "a digest does not see where a text ends",
        address,
        "_length",
        'return b"%d:" % len(data)',
        'return b""',
        test_address.test_every_part_with_other_content_has_another_digest,
    ),
    Mutation(
        "quoted text may close a block",
        address,
        "escape_tags",
        r'_TAG_OPENING.sub(r"&lt;\1", text)',
        "text",
        test_address.test_quoted_text_can_neither_open_nor_close_a_block,
    ),
    Mutation(
        "results that come late are forgotten",
        pairing._Pairs,
        "_attach_early",
        "entry.answers.extend([one for one in found if one[1].kind in kinds])",
        "pass",
        test_pairing.test_a_result_before_its_call_moves_behind_it,
    ),
    Mutation(
        "a second result replaces the first",
        pairing,
        "_final",
        "content=result.content + content",
        "content=content",
        test_pairing.test_two_results_keep_what_both_say,
    ),
    Mutation(
        "words beside results leave the round open",
        pairing._Pairs,
        "__init__",
        "in_block and len(results) == len(message.parts)",
        "in_block and bool(results)",
        test_pairing.test_words_beside_a_result_end_the_round,
    ),
    Mutation(
        "an id is free when it is taken",
        pairing,
        "_free_id",
        "if not any",
        "if any",
        test_pairing.test_one_id_for_two_calls_of_a_round_is_told_apart,
    ),
    Mutation(
        "the assistant may open any history",
        repair,
        "repair",
        "if opening is not None and",
        "if False and",
        test_repair.test_a_history_that_opens_with_the_assistant_gets_a_line_before_it,
    ),
    Mutation(
        "the counted response is counted again",
        estimate,
        "project",
        "tokens_anchored=usage.tokens_context, tokens_estimated=tokens + grown",
        "tokens_anchored=usage.tokens_context, tokens_estimated=tokens + grown + usage.tokens_output",
        test_estimate.test_what_was_appended_after_the_last_response_is_added_to_its_usage,
    ),
    Mutation(
        "a plan that frees nothing is applied",
        run,
        "_made",
        "if tier.only_marks or view.tokens - after.tokens >= tier.gain_min",
        "if True",
        test_run.test_a_plan_that_frees_less_than_its_tier_demands_is_dropped,
    ),
    Mutation(
        "what earlier tiers did is forgotten",
        run,
        "running",
        "Compacted(view=course.now,",
        "Compacted(view=view,",
        test_run.test_edits_of_every_tier_land_in_the_one_view_that_comes_back,
    ),
    Mutation(
        "the kept prefix goes past the first change",
        report,
        "cache_of",
        "break",
        "pass",
        test_report.test_the_prefix_that_is_kept_ends_at_the_first_change,
    ),
    Mutation(
        "a violation names the wrong message",
        laws,
        "_at",
        "message {seq}, part",
        "message {slot}, part",
        test_laws.test_a_violation_names_its_place,
    ),
)
