"""Every environment variable foldline reads, declared once.

Read by `foldline.settings`, and `FOLDLINE_DEBUG` by `foldline.cli.main`, when a command or a session starts, never at import. What each does stands in
`docs/reference/settings.md`.
"""

from __future__ import annotations

from msgspec import Struct


class Variable(Struct, frozen=True, kw_only=True):
    """One variable."""

    name: str
    sentence: str


FOLDLINE_CONFIG = Variable(
    name="FOLDLINE_CONFIG",
    sentence="Path of the user's settings file, which must be there (`/dev/null`: none); left out: `foldline/foldline.toml` in "
    "the configuration folder.",
)
XDG_CONFIG_HOME = Variable(
    name="XDG_CONFIG_HOME", sentence="The user's configuration folder; left out: `~/.config`."
)
FOLDLINE_HOME = Variable(
    name="FOLDLINE_HOME",
    sentence="The folder in which sessions are kept; left out: `foldline` in the state folder.",
)
XDG_STATE_HOME = Variable(
    name="XDG_STATE_HOME", sentence="The user's state folder; left out: `~/.local/state`."
)
FOLDLINE_PROJECT_HOOKS = Variable(
    name="FOLDLINE_PROJECT_HOOKS",
    sentence="`1`: hooks of a project that the user approved run without a terminal too; `0`: they never run.",
)
FOLDLINE_DEBUG = Variable(
    name="FOLDLINE_DEBUG", sentence="`1`: show the traceback of a fault of foldline's own."
)
NO_COLOR = Variable(name="NO_COLOR", sentence="Set to anything: no colours.")

VARIABLES: tuple[Variable, ...] = (
    FOLDLINE_CONFIG,
    XDG_CONFIG_HOME,
    FOLDLINE_HOME,
    XDG_STATE_HOME,
    FOLDLINE_PROJECT_HOOKS,
    FOLDLINE_DEBUG,
    NO_COLOR,
)
