"""What there is, as values to print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline import catalogue
from foldline.core.errors import InvalidOption
from foldline.engine.policy import Policy, Tier
from foldline.presets import POLICIES, policy_of
from foldline.stores.limits import FILE, Limit, Limits
from foldline.transcripts import detect


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No user's settings reach these tests."""
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    monkeypatch.chdir(tmp_path)


def test_every_format_says_what_can_be_done_with_it() -> None:
    """interface.md names fifteen formats, seven of which can be written."""
    rows = catalogue.formats()
    assert [row["name"] for row in rows] == sorted(detect.READERS)
    assert {row["name"] for row in rows if row["writes"]} == set(detect.WRITERS)
    assert all(row["reads"] for row in rows)
    assert len(rows) == 15


def test_policies_are_printed_whole() -> None:
    """interface.md: each policy's tiers with all their numbers, as JSON."""
    rows = catalogue.policies()
    assert [row["name"] for row in rows] == list(POLICIES)
    assert json.loads(json.dumps(rows)) == rows
    assert all(row["sentence"] and row["tiers"] and row["threshold"] and row["target"] for row in rows)


def test_a_policy_is_printed_with_all_that_it_says() -> None:
    """RST-8: what a ladder gives each skill is one of its numbers; no field of a policy, nor of a tier, is left out."""
    [row] = catalogue.policies("ladder-professional")
    assert set(Policy.__struct_fields__) - set(row) == set()
    assert row["skill_tokens"] == 1_500
    tier_fields = {*Tier.__struct_fields__} - {"reduce", "ask", "only_marks"}  # `values`, and of no policy
    assert all(tier_fields - set(tier) <= {"gain_min"} for tier in row["tiers"])


def test_a_pass_within_a_pass_is_printed_as_settings_without_its_name() -> None:
    """interface.md: each policy's tiers with all their numbers; what a pass is called is none of them."""
    tiers = {tier["name"]: tier["values"] for tier in catalogue.policies("balanced")[0]["tiers"]}
    assert tiers["auto-compact"]["fold"] == tiers["ledger"]
    assert not any("name" in values for values in tiers.values())


def test_the_users_own_policies_stand_last_each_with_its_file(tmp_path: Path) -> None:
    """`foldline policies`: their source is the file. One that is wrong does not hide a preset that is asked for."""
    (tmp_path / "foldline.toml").write_text(
        catalogue.policy_as_toml("handoff") + "[policies.broken]\n", encoding="utf-8"
    )
    [own] = catalogue.policies("my-handoff")
    assert own["file"] == "foldline.toml"
    assert own["source"] == policy_of("handoff").source
    [preset] = catalogue.policies("handoff")
    assert preset["file"] is None
    assert own["tiers"] == preset["tiers"]
    with pytest.raises(InvalidOption):
        catalogue.policies()
    (tmp_path / "foldline.toml").write_text(catalogue.policy_as_toml("my-handoff"), encoding="utf-8")
    assert [row["name"] for row in catalogue.policies()] == [*POLICIES, "my-handoff"]


def test_a_preset_whose_sizes_depend_on_the_window_says_so() -> None:
    """A file's numbers are the same for every window."""
    assert "for a window of 200,000 tokens" in catalogue.policy_as_toml("handoff")
    assert "window of" not in catalogue.policy_as_toml("balanced")


def test_one_model_or_all_of_the_table() -> None:
    """A model's row says its window and where that is from."""
    (one,) = catalogue.models("gpt-4o")
    assert one["window"] > 0
    assert "notes" in one
    assert len(catalogue.models()) > 20
    (unknown,) = catalogue.models("nobody/has-this-one")
    assert unknown["notes"]


def test_limits_that_providers_named_are_listed_with_their_model_and_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is learned is shown, each endpoint apart; a file that is not sound is said, and refuses nothing else."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path))
    Limits(tmp_path).keep(
        Limit(model="gpt-5", endpoint="http://localhost:1", tokens=32_000, instead_of=272_000)
    )
    [told] = catalogue.models("gpt-5")
    assert told["limits"] == [{"name": "http://localhost:1", "tokens": 32_000, "instead_of": 272_000}]
    assert (catalogue.forget_limits("gpt-5"), "limits" in catalogue.models("gpt-5")[0]) == (1, False)
    (tmp_path / FILE).write_text("{")
    [told] = catalogue.models("gpt-5")
    assert "limits that providers named are not known" in told["notes"][-1]
