"""Rules in English: what people say that is one, and what they say that only sounds like one.

Each sentence is tried through `constraints`, as the tables are only ever used; the tables know nothing of sentences.
"""

from __future__ import annotations

import pytest

from foldline.ledger.constraints import constraints

RULES = [
    "Never touch src/db.",
    "Don't touch the config.",
    "do not add dependencies",
    "Constraint: do not add dependencies.",
    "could you please not touch the config?",
    "Could you refactor the parser, and please don't rename public functions?",
    "Please keep the public API unchanged.",
    "No new dependencies",
    "- no emojis",
    "Only change files under src/.",
    "You must run the tests before committing.",
    "Logs must never contain emails.",
    "Use pnpm, not npm.",
    "use X instead of Y in all scripts",
    "From now on, answer in German.",
    "Remember that the demo is on Friday.",
    "Do it without adding packages.",
    "Ask me before deleting anything.",
    "At most 3 retries.",
    "The budget is $500.",
    "Call it Foldline.",
    "The passwords should never be logged.",
    "You may only use the standard library.",
    "I don't want any mocks in tests",
    "We never deploy on Fridays.",
    "Under no circumstances should anyone on this thread deploy on Fridays.",
    "Absolutely never deploy on Fridays.",
    "Yes: never deploy on Fridays in this project.",
    "So — let's not do that this time.",
    "Treat src/legacy as off limits.",
    "The migration folder is read-only.",
    "Leave the tests alone.",
    "Make sure the build stays green.",
    "Wait for my approval before merging.",
    "Nothing in /etc may be changed.",
    "The response should be valid JSON.",
    "Respond in Spanish.",
    "Keep responses under 200 words.",
    "Avoid global state.",
    "Unless I say so, stay on this branch.",
    "Two spaces, never tabs.",
    "can we avoid touching the lockfile?",
    "must not exceed 100 ms",
    "Function names must be snake_case",
    "Please stop adding comments.",
    "# never log the token",
    "# do not rename this function",
]
TALK = [
    "I don't know why it fails.",
    "It doesn't work.",
    "The test never finishes.",
    "I never received the email.",
    "We don't have any flights.",
    "Fix the login bug.",
    "why is this so slow?",
    "What time is it?",
    "No, thank you.",
    "No problem!",
    "add a dark mode to the settings page",
    "are we all commited?",
    "It keeps crashing",
    "I only have one bag.",
    "I can't open the page.",
    "I want to cancel my reservation.",
    "Thanks, that works.",
    "The function returns None instead of a list.",
    "By the way, how long have you been working with me today?",
    "I just remembered I need to send someone an email later.",
    "Quick tangent: is it true that pandas have thumbs?",
    "He is not here",
    "She must have left",
    "I must admit it's nice",
    "There are no errors.",
    "you were right",
    "Can you check the logs?",
    "the server was not running yesterday",
    "it took less time than before",
]


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_is_found_and_kept_word_for_word(sentence: str) -> None:
    """CMP-8: constraints stand in the ledger verbatim (kind lost-constraints of public reports)."""
    assert [found.text for found in constraints(sentence)] == [sentence.lstrip("-# ")] or [
        found.text for found in constraints(sentence)
    ] == [sentence]


@pytest.mark.parametrize("sentence", TALK)
def test_a_plain_report_or_request_is_no_rule(sentence: str) -> None:
    """A ledger in which everything is a rule has none."""
    assert constraints(sentence) == ()
