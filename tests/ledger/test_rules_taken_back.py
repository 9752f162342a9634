"""Rules fall where they are named, and only there."""

from __future__ import annotations

import pytest

from foldline.ledger.rules_taken_back import stems, taken_back
from tests.ledger.taking_back import supersedes


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Never use tabs.", "Forget what I said about tabs, tabs are fine now."),
        ("Never use tabs.", "Please disregard everything I said about using tabs."),
        ("Never commit to main.", "Ignore my earlier rule about main."),
        ("Never commit to main.", "You can ignore the rule about committing to main."),
        ("Never push.", "Drop the rule about pushing."),
        ("Always run the linter.", "Stop running the linter."),
        ("Always run the linter.", "It takes too long, so stop running the linter for now."),
        ("Always run the linter.", "You don't need to run the linter any more."),
        ("Always run the linter.", "You no longer have to run the linter."),
        ("Never touch db/schema.sql.", "Forget what I said about db/schema.sql."),
        ("Don't add dependencies.", "Adding dependencies is OK after all."),
        ("Never use tabs.", "Tabs are fine after all."),
    ],
)
def test_a_rule_that_a_user_takes_back_no_longer_stands(rule: str, later: str) -> None:
    """Kind stale-instruction: revoked rules were listed as in force."""
    (found,) = supersedes(later, [(0, rule)])
    assert found.how in ("withdrawn", "allowed")
    assert found.stands == ()


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Never use tabs.", "Don't forget what I said about tabs."),
        ("Never use tabs.", "Did you forget what I said about tabs?"),
        ("Never commit to main.", "You must never ignore my rule about main."),
        ("Never commit to main.", "People ignore my rule about main."),
        ("Never use tabs and never touch db.", "Forget what I said about tabs."),
        ("Never push.", "Stop pushing."),
        ("Never push.", "Please don't just drop the rule about pushing."),
        ("Always run the tests.", "Stop writing tests."),
        ("Always run the linter.", "Stop running the linter before every commit."),
        ("Always run the linter.", "Stop running the linter?"),
        ("Always run the linter.", "You don't need to run the linter."),
        ("Always run the linter.", "Bob says you don't need to run the linter any more."),
        ("Always run the linter.", "You don't need to run the linter any more before a commit."),
        ("Never run the linter.", "You don't need to run the linter any more."),
        ("Never push to main.", "Pushing to dev is fine after all."),
        ("Never deploy on a Friday or a holiday.", "Ignore my rule about Friday."),
        ("Don't add dependencies.", "Forget what I said about it."),
    ],
)
def test_in_doubt_a_rule_stands(rule: str, later: str) -> None:
    """A wrong supersession hides a rule: prefer none."""
    assert supersedes(later, [(0, rule)]) == ()


def test_the_rule_is_one_and_the_rules_are_all() -> None:
    """Where "the rule" could mean two, neither falls."""
    rules = ["Never push to main.", "Never commit to main.", "Never use tabs."]
    assert taken_back("Drop the rule about main.", rules) == ()
    assert taken_back("Drop the rule about pushing to main.", rules) == (0,)
    assert taken_back("Drop the rules about main.", rules) == (0, 1)
    assert taken_back("Forget what I said about main.", rules) == (0, 1)


def test_words_are_one_whatever_their_ending() -> None:
    """ "pushing" names a rule that says "push"."""
    for same in (["push", "pushing", "pushed", "pushes"], ["use", "using", "uses"], ["run", "running"],
                 ["dependency", "dependencies"], ["commit", "committing"], ["pass", "passes"]):  # fmt: skip
        assert len(stems(same)) == 1, same
