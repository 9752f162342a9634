"""`foldline proxy`: what may be asked of it on the command line."""

from __future__ import annotations

import pytest

from tests.cli.running import run


@pytest.mark.parametrize(
    "args",
    [
        ("--host", "0.0.0.0"),
        ("--host", "0.0.0.0", "--expose"),
        ("--host", "0.0.0.0", "--token"),
        ("--host", "192.0.2.1", "--token"),
        ("--upstream", "http://api.example.com"),
        ("--upstream", "nonsense"),
        ("--policy", "nonsense"),
        ("--strict", "--observe"),
        ("--port", "70000"),
    ],
)
def test_what_is_not_safe_or_not_known_is_refused_before_anything_listens(args: tuple[str, ...]) -> None:
    """Test S2: another address than loopback takes a word for it; threat 7: keys do not go in the clear."""
    done = run("proxy", *args)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
