"""compactbench's public templates made into cases: a transcript, what is asked about it, what a right answer is.

Templates and word lists are compactbench's own (`data/compactbench`, Apache-2.0), and so are its rules of scoring, told
here anew: weights by type of question, and the share of answers that name what must not be done. Knows nothing of
compaction or of who answers; `bench_compactbench` brings both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

DATA = Path(__file__).parent / "data" / "compactbench" / "templates.json"
DISTRACTORS = 32
"""Turns of chatter in each block: compactbench's hardest setting, given to the starter templates too."""
WEIGHTS = {
    "locked_decision_retention": 3.0,
    "forbidden_behavior_retention": 3.0,
    "immutable_fact_recall": 2.0,
    "unresolved_task_continuity": 2.0,
    "entity_integrity": 1.0,
    "planning_soundness": 1.0,
}
RECALL = ("forbidden_behavior_retention", "locked_decision_retention")
"""Questions whose right answer names what must not be done."""


class Question(Struct, frozen=True, kw_only=True):
    """One question and the check of its answer."""

    key: str
    type: str
    prompt: str
    check: str
    value: str

    def passed(self, answer: str) -> bool:
        """Whether an answer holds the value, or must not and does not; case and blanks do not count."""
        return (plain(self.value) in plain(answer)) == (self.check == "contains_normalized")


class Case(Struct, frozen=True, kw_only=True):
    """A conversation and what is asked about it."""

    template: str
    family: str
    messages: list[dict[str, Any]]
    questions: tuple[Question, ...]
    forbidden: tuple[str, ...]


def plain(text: str) -> str:
    """Small letters, one blank between words."""
    return " ".join(text.lower().split())


def cases(seed: int) -> list[Case]:
    """One case of each template, the same for the same seed."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    return [
        _case(template, data["lexicons"], Random(f"{seed}:{template['key']}"))
        for template in data["templates"]
    ]


def _case(template: Mapping[str, Any], lexicons: Mapping[str, list[str]], random: Random) -> Case:
    values: dict[str, str] = {}
    for variable in template["variables"]:
        free = [word for word in lexicons[_LEXICON[variable["generator"]]] if word not in values.values()]
        values[variable["name"]] = random.choice(free)
    truth = template["ground_truth"]
    return Case(
        template=template["key"],
        family=template["family"],
        messages=_messages(template["transcript"]["turns"], values, lexicons, random),
        questions=tuple(
            Question(
                key=item["key"],
                type=item["type"],
                prompt=_filled(item["prompt"], values),
                check=item["expected"]["check"],
                value=_filled(item["expected"]["value"], values),
            )
            for item in template["evaluation_items"]
        ),
        forbidden=tuple(_filled(text, values) for text in truth.get("forbidden_behaviors", ())),
    )


_LEXICON = {
    "person_name": "first_names",
    "action_phrase": "action_phrase",
    "project_noun": "project_noun",
    "org_name": "org_names",
}


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda name: values[name[1]], text)


def _messages(
    turns: list[dict[str, Any]], values: Mapping[str, str], lexicons: Mapping[str, list[str]], random: Random
) -> list[dict[str, Any]]:
    found = []
    for turn in turns:
        if turn["role"] != "distractor_block":
            found.append({"role": turn["role"], "content": _filled(turn["template"], values)})
            continue
        for number in range(DISTRACTORS):
            role = "assistant" if number % 2 else "user"
            found.append({"role": role, "content": random.choice(lexicons[f"{role}_distractors"])})
    return found


def score(case: Case, answers: Mapping[str, str]) -> float:
    """compactbench's cycle score in [0, 1], lowered by the share of answers that name what must not be done."""
    earned = sum(WEIGHTS[q.type] for q in case.questions if q.passed(answers[q.key]))
    whole = sum(WEIGHTS[q.type] for q in case.questions)
    rest = [answers[q.key] for q in case.questions if q.type not in RECALL]
    wrong = sum(any(plain(phrase) in plain(answer) for phrase in case.forbidden) for answer in rest)
    return earned / whole * (1 - wrong / len(rest) if rest else 1)
