"""`foldline policies`: what there is, for people and as one document."""

from __future__ import annotations

import pytest

from tests.cli import stub_files
from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_each_policy_shows_its_tiers_and_numbers() -> None:
    """Interface: with each policy's tiers and numbers; one by name."""
    page = run("policies").stdout
    assert page.count("limit 20,000") == 2
    assert page.count("144,000 (80% of input)") == 4
    one = run("policies", "handoff").stdout
    assert one.startswith("handoff\n")
    assert "balanced" not in one


def test_json_prints_policies_whole() -> None:
    """Interface: `foldline policies --json` prints them whole."""
    (document,) = documents(run("policies", "--json").stdout)
    assert document == {"schema": "foldline.policies/1", "policies": stub_files.policies()}


def test_an_unknown_policy_lists_what_exists() -> None:
    """Exit 2: an argument's value."""
    done = run("policies", "nonsense")
    assert done.exit_code == 2
    assert "there are: balanced, handoff" in done.stderr


@pytest.mark.parametrize("arguments", [["--toml"], ["handoff", "--toml", "--json"]])
def test_toml_is_of_one_policy_and_beside_no_document(arguments: list[str]) -> None:
    """Exit 2: what was asked for cannot be done at once."""
    done = run("policies", *arguments)
    assert done.exit_code == 2
    assert "--toml prints one policy" in done.stderr
