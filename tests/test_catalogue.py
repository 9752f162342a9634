"""What there is, as values to print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldline import catalogue
from foldline.core.errors import UnknownFormat
from foldline.presets import POLICIES
from foldline.transcripts import detect


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No user's settings reach these tests."""
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.chdir(tmp_path)


def test_every_format_says_what_can_be_done_with_it() -> None:
    """interface.md names fifteen formats, seven of which can be written."""
    rows = catalogue.formats()
    assert [row["name"] for row in rows] == sorted(detect.READERS)
    assert {row["name"] for row in rows if row["writes"]} == set(detect.WRITERS)
    assert all(row["reads"] for row in rows)
    assert len(rows) == 15


def test_a_format_is_known_by_its_name_and_by_its_aliases() -> None:
    """People give the same formats other names."""
    assert catalogue.known_format("pi") == "pi"
    for alias, name in detect.ALIASES.items():
        assert catalogue.known_format(alias) == name
    with pytest.raises(UnknownFormat) as caught:
        catalogue.known_format("nonsense")
    assert caught.value.known == tuple(sorted(detect.READERS))


def test_policies_are_printed_whole() -> None:
    """interface.md: each policy's tiers with all their numbers, as JSON."""
    rows = catalogue.policies()
    assert [row["name"] for row in rows] == list(POLICIES)
    assert json.loads(json.dumps(rows)) == rows
    assert all(row["sentence"] and row["tiers"] and row["threshold"] and row["target"] for row in rows)


def test_one_model_or_all_of_the_table() -> None:
    """A model's row says its window and where that is from."""
    (one,) = catalogue.models("gpt-4o")
    assert one["window"] > 0
    assert "notes" in one
    assert len(catalogue.models()) > 20
    (unknown,) = catalogue.models("nobody/has-this-one")
    assert unknown["notes"]
