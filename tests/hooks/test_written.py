"""Hooks of a settings file are read as written, and what is wrong is said with file, key, value and what is allowed."""

from __future__ import annotations

import tomllib

import pytest

from foldline.core.errors import InvalidOption
from foldline.hooks.command import Command
from foldline.hooks.written import Written, read_hooks


def test_a_hook_is_read_with_all_its_settings() -> None:
    """Order is that of the file."""
    text = """
    [[hooks.PreCompact]]
    argv = ["python3", "before.py"]
    timeout_s = 10
    trigger = "auto"
    env = ["NAME"]
    files = ["rules.txt"]
    blocks_on_exit_2 = true
    [[hooks.PreCompact]]
    argv = ["second"]
    [[hooks.PostCompact]]
    argv = ["third"]
    """
    first = Command(
        argv=("python3", "before.py"),
        timeout_s=10,
        env=("NAME",),
        files=("rules.txt",),
        blocks_on_exit_2=True,
    )
    assert read_hooks(tomllib.loads(text)["hooks"], file="f.toml") == (
        Written(event="PreCompact", command=first, trigger="auto"),
        Written(event="PreCompact", command=Command(argv=("second",))),
        Written(event="PostCompact", command=Command(argv=("third",))),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hooks = 3", r"\[\[hooks.PreCompact\]\]"),
        ("[hooks]\nPreToolUse = []", "one of PreCompact, SessionStart, PostCompact"),
        ("[hooks.PreCompact]\nargv = ['x']", r"\[\[hooks.PreCompact\]\]"),
        ("[hooks]\nPreCompact = ['x']", "hook 1 of PreCompact in f.toml"),
        ("[[hooks.PreCompact]]\ncommand = 'rm -rf /'", "a shell's line is never run"),
        ("[[hooks.PreCompact]]\nargv = ['x']\nshell = true", "its keys are argv"),
        ("[[hooks.PreCompact]]\nargv = 'x y'", "a list of texts"),
        ("[[hooks.PreCompact]]\nargv = []", "name the program"),
        ("[[hooks.PreCompact]]\nargv = [' ']", "name the program"),
        ("[[hooks.PreCompact]]\nargv = ['x', 1]", "a list of texts"),
        ('[[hooks.PreCompact]]\nargv = ["x\\u0000"]', "a list of texts"),
        ("[[hooks.PreCompact]]\nargv = ['x']\ntimeout_s = 0", "more than 0 and at most 600"),
        ("[[hooks.PreCompact]]\nargv = ['x']\ntimeout_s = true", "more than 0"),
        ("[[hooks.PreCompact]]\nargv = ['x']\ntimeout_s = nan", "more than 0"),
        ("[[hooks.PreCompact]]\nargv = ['x']\ntrigger = 'always'", "one of manual, auto"),
        ("[[hooks.PreCompact]]\nargv = ['x']\nenv = 'PATH'", "a list of texts"),
        ("[[hooks.PreCompact]]\nargv = ['x']\nblocks_on_exit_2 = 1", "true or false"),
        ("[[hooks.PreCompact]]\nargv = ['x']\n" * 17, "at most 16"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    """Every message names the file and what to write."""
    with pytest.raises(InvalidOption, match=says) as caught:
        read_hooks(tomllib.loads(text)["hooks"], file="f.toml")
    assert "f.toml" in str(caught.value)
