"""Settings: written, merged, resolved once."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.core.budget import Room
from foldline.core.errors import InvalidOption
from foldline.settings import (
    FILE,
    FILE_MAX,
    Planned,
    event_days,
    events_since_ms,
    in_window,
    known_model,
    load,
    plan_for,
    sessions_home,
    user_file,
)


@pytest.fixture
def user_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings file, and a working folder without one."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    path = tmp_path / "user.toml"
    path.touch()
    monkeypatch.setenv("FOLDLINE_CONFIG", str(path))
    return path


def test_without_a_file_there_are_no_settings(
    user_settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything has a default."""
    monkeypatch.setenv("FOLDLINE_CONFIG", "/dev/null")
    assert load().models == {}
    assert load().sources == ()
    monkeypatch.delenv("FOLDLINE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    assert load().sources == ()


@pytest.mark.parametrize("name", ["missing.toml", "work"])
def test_settings_that_the_environment_names_must_be_there(
    name: str, user_settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip in the name left windows and policies out without a word."""
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / name))
    with pytest.raises(InvalidOption, match=f"FOLDLINE_CONFIG='.*{name}': there is no such file"):
        load()


@pytest.mark.parametrize("text", ["a=" + "[" * 5_000 + "]" * 5_000, "a=" + "9" * 5_000])
def test_what_the_parser_gives_up_on_is_told_as_what_cannot_be_read(text: str, user_settings: Path) -> None:
    """Tables too deep and a number too long were a fault of ours."""
    user_settings.write_text(text)
    with pytest.raises(InvalidOption, match="cannot be read"):
        load()


def test_how_long_events_are_kept_is_the_users_to_say_alone(user_settings: Path) -> None:
    """JRN-7: seven days unless said otherwise; what is no number of days is refused by name, and a project has no say."""
    Path(FILE).write_text("[events]\ndays = 1\n")
    assert (event_days(), events_since_ms(7 * 86_400_000)) == (7, 0)
    user_settings.write_text("[events]\ndays = 30\n")
    assert event_days() == 30
    for wrong in (
        "events = 7",
        "[events]\ndays = 0",
        "[events]\ndays = true",
        '[events]\ndays = "7"',
        "[events]\ndays = 36501",
    ):
        user_settings.write_text(wrong)
        with pytest.raises(InvalidOption, match="give days, a whole number from 1 to 36,500"):
            event_days()


def test_the_projects_word_goes_before_the_users_key_by_key(user_settings: Path, tmp_path: Path) -> None:
    """The user's file first, the project's over it; both are named."""
    user_settings.write_text('[models."m"]\nwindow = 1000\nmax_output = 10\n[models."n"]\nwindow = 5\n')
    project = tmp_path / "work"
    (project / FILE).write_text('[models."m"]\nwindow = 2000\n')
    found = load(project=project)
    assert found.models == {"m": {"window": 2000, "max_output": 10}, "n": {"window": 5}}
    assert found.sources == (str(user_settings), str(project / FILE))
    assert load().models == found.models


def test_of_a_policy_the_projects_word_goes_before_the_users_as_a_whole(
    user_settings: Path, tmp_path: Path
) -> None:
    """A policy is one value: half of two is neither. Each knows its file."""
    user_settings.write_text('[policies.a]\nsentence = "u"\ncounter = "estimate"\n[policies.b]\n')
    project = tmp_path / "work"
    (project / FILE).write_text('[policies.a]\nsentence = "p"\n')
    found = load(project=project).policies
    assert found["a"].table == {"sentence": "p"}
    assert found["a"].file == str(project / FILE)
    assert found["b"].file == str(user_settings)


@pytest.mark.parametrize(
    "data",
    [
        b"policies = 3\n",
        b"[policies]\nmine = 3\n",
        b"window = [",
        b"\xff\xfe",
        b"models = 3\n",
        b"[models]\nm = 3\n",
        b"# " + b"x" * FILE_MAX,
    ],
    ids=[
        "no table of policies",
        "no table of a policy",
        "no TOML",
        "no UTF-8",
        "no table",
        "no table of a model",
        "too large",
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_path(user_settings: Path, data: bytes) -> None:
    """A setting that is silently passed over is worse than none."""
    user_settings.write_bytes(data)
    with pytest.raises(InvalidOption) as caught:
        load()
    assert str(user_settings) in str(caught.value)


def test_the_users_file_lies_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """FOLDLINE_CONFIG, then XDG_CONFIG_HOME, then ~/.config."""
    monkeypatch.setenv("FOLDLINE_CONFIG", str(tmp_path / "a.toml"))
    assert user_file() == tmp_path / "a.toml"
    monkeypatch.delenv("FOLDLINE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_file() == tmp_path / "foldline" / FILE
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_file() == tmp_path / ".config" / "foldline" / FILE


def test_sessions_are_kept_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """FOLDLINE_HOME, then XDG_STATE_HOME, then ~/.local/state."""
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "a"))
    assert sessions_home() == tmp_path / "a"
    monkeypatch.delenv("FOLDLINE_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert sessions_home() == tmp_path / "foldline"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert sessions_home() == tmp_path / ".local/state/foldline"


def test_the_users_own_word_on_a_model_goes_first(user_settings: Path) -> None:
    """A user knows their deployment better than a table."""
    user_settings.write_text('[models."gpt-4o"]\nwindow = 4321\n')
    assert plan_for("gpt-4o").window == 4321
    assert known_model("gpt-4o")[0].window == 4321


def test_a_model_with_an_input_limit_is_planned_with_that(user_settings: Path) -> None:
    """The whole window counts for the output cap alone; a window that is named is all there is."""
    planned = plan_for("gpt-5")
    assert (planned.window, planned.window_shared) == (272_000, 400_000)
    named = in_window(planned, 64_000)
    assert (named.window, named.window_shared) == (64_000, 64_000)


@pytest.mark.parametrize(("cap", "reserved"), [(None, None), (128_000, 0), (128_001, 1), (0, 0), (-1, -1)])
def test_of_an_output_cap_so_much_is_reserved_as_an_input_limit_does_not_leave_free(
    cap: int | None, reserved: int | None, user_settings: Path
) -> None:
    """BUD-1: GPT-5 takes 272,000 tokens, and 400,000 with its answer."""
    planned = plan_for("gpt-5")
    assert planned.room(cap) == Room(272_000, output_cap=reserved, output_max=planned.output_max)
    assert in_window(planned, 64_000).room(9_000).output_cap == 9_000


def test_an_unknown_model_has_the_default_window_and_a_note(user_settings: Path) -> None:
    """A stated default and a warning; the warning comes back as a value."""
    planned = plan_for("nobody/has-this-one")
    assert planned.window == 128_000
    assert any("nobody/has-this-one" in note for note in planned.notes)


def test_what_a_file_states_of_its_window_serves_where_no_model_is_named(user_settings: Path) -> None:
    """The session's own word, then the default."""
    assert plan_for(None, stated=32_000).window == 32_000
    assert plan_for(None).window == 128_000
    assert plan_for(None).notes == ()


def test_a_window_that_is_named_keeps_no_more_than_half_of_it_for_the_output() -> None:
    """Else a small window would leave no room for the input."""
    planned = in_window(Planned(window=200_000, output_max=64_000), 30_000)
    assert (planned.window, planned.output_max, planned.is_window_known) == (30_000, 15_000, True)
    assert in_window(Planned(window=9, output_max=None), 30_000).output_max is None
