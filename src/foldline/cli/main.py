"""The program `foldline`: finds the command, runs it, and turns what happens into an exit code.

Owns the outermost door: the one place that catches everything. Knows nothing of what a command does; a command's
module is imported when it runs, so that `foldline --help` costs no more than its page of text.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NoReturn

import click

from foldline.cli import exits, screen
from foldline.core.errors import ForgetUnfinished, UnknownModel
from foldline.environment import FOLDLINE_DEBUG

COMMANDS: Mapping[str, tuple[str, str]] = {
    "compact": (
        "foldline.cli.commands.compact",
        "Shrink a session to a budget; it stays valid, and a report says what was done.",
    ),
    "context": (
        "foldline.cli.commands.context",
        "Show where the tokens are, and how close the threshold is.",
    ),
    "proxy": (
        "foldline.cli.commands.proxy",
        "Keep any agent inside its window, unchanged: a proxy on this machine.",
    ),
    "check": ("foldline.cli.commands.check", "Check a session against the laws and its provider's rules."),
    "convert": ("foldline.cli.commands.convert", "Write a session in another format."),
    "show": ("foldline.cli.commands.show", "Show the original behind an address, or what was said."),
    "recall": (
        "foldline.cli.commands.recall",
        "Search sessions for words, or open what an address names.",
    ),
    "scan": (
        "foldline.cli.commands.scan",
        "List the secrets in a file or in sessions: family and place, never the secret.",
    ),
    "verify": ("foldline.cli.commands.verify", "Prove sessions and their archives whole."),
    "archive": ("foldline.cli.commands.archive", "Pack away the older bytes of a session."),
    "events": (
        "foldline.cli.commands.events",
        "List what happened in a session: inputs, tool calls and results, compactions, checkpoints.",
    ),
    "stats": (
        "foldline.cli.commands.stats",
        "Show what sessions come to: events, compactions, tokens freed, facts kept, costs.",
    ),
    "forget": (
        "foldline.cli.commands.forget",
        "Forget words, what stands at an address, or a whole session.",
    ),
    "sessions": (
        "foldline.cli.commands.sessions",
        "List the sessions by name, with their size and when each was last written.",
    ),
    "import": ("foldline.cli.commands.import_", "Make a durable session of a session file."),
    "export": ("foldline.cli.commands.export", "Write a durable session as a session file."),
    "undo": ("foldline.cli.commands.undo", "Take a compaction of a session back."),
    "rollback": ("foldline.cli.commands.rollback", "Bring a session back to an earlier entry."),
    "fork": ("foldline.cli.commands.fork", "Begin session NAME where SESSION stands."),
    "hooks": (
        "foldline.cli.commands.hooks",
        "List the hooks of the settings; approve or revoke those of a project.",
    ),
    "formats": ("foldline.cli.commands.formats", "List the formats that are read and written."),
    "policies": ("foldline.cli.commands.policies", "List the policies, with their tiers and numbers."),
    "models": ("foldline.cli.commands.models", "List the known models: window, output limit, prices."),
}
"""Name to module and one-line help, in the order of the help page; the module's click command is `command`."""


class Program(click.Group):
    """A group whose commands are imported when they are needed."""

    typed: Mapping[str, str] = MappingProxyType({})
    """By their names in Python, how the options of the command that failed last are written."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command is called {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough (`| head`): nothing to say
            screen.abandon_stdout()
            return exits.DONE
        except Exception as error:
            self.typed = _typed(self.get_command(ctx, ctx.invoked_subcommand or ""))
            if ctx.params.get("debug") and not isinstance(
                error, (click.ClickException, click.exceptions.Exit)
            ):
                _say_traceback(error)
            raise

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run with the given or the process's arguments and exit; click's own `standalone_mode=False` returns."""
        run: Any = super().main
        if not kwargs.pop("standalone_mode", True):
            return run(*args, standalone_mode=False, **kwargs)
        given = args[0] if args else kwargs.get("args")
        wants_json = "--json" in (sys.argv[1:] if given is None else given)
        try:
            with _calm_warnings():
                code = run(*args, standalone_mode=False, **kwargs)
        except click.Abort as error:
            _end(error, exits.INTERRUPTED, sentence=exits.MEANINGS[exits.INTERRUPTED], wants_json=wants_json)
        except Exception as error:  # the outermost door
            _fail(error, wants_json=wants_json, typed=self.typed)
        sys.exit(code if isinstance(code, int) else exits.DONE)


def _typed(command: click.Command | None) -> dict[str, str]:
    options = [one for one in command.params if isinstance(one, click.Option)] if command else []
    longest = {str(one.name): max(one.opts, key=len) for one in options}
    return longest | {option[2:].replace("-", "_"): option for option in longest.values()}


def _fail(error: Exception, *, wants_json: bool, typed: Mapping[str, str]) -> NoReturn:
    """Say what went wrong, on stderr for people and on stdout for `--json`, and exit with its code."""
    if isinstance(error, click.ClickException):
        code, sentence = error.exit_code, error.format_message()
        asked = error.ctx if isinstance(error, click.UsageError) else None
        if asked is not None:
            sentence += f" (help: {asked.command_path} --help)"
    else:
        code, sentence = exits.code_of(error), exits.sentence_of(error, typed)
    _end(error, code, sentence=sentence, wants_json=wants_json)


def _end(error: Exception, code: int, *, sentence: str, wants_json: bool) -> NoReturn:
    screen.say(sentence)
    if wants_json:
        with contextlib.suppress(OSError):  # stdout itself may be what failed
            screen.write_document(exits.document_of(error, code=code, sentence=sentence))
    if isinstance(error, OSError):
        screen.abandon_stdout()
    sys.exit(code)


def _say_traceback(error: Exception) -> None:
    import traceback

    screen.say("".join(traceback.format_exception(error)).rstrip())


@contextmanager
def _calm_warnings() -> Iterator[None]:
    """Warnings as one sentence each, without the line of code that raised them."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UnknownModel)
        warnings.simplefilter("always", ForgetUnfinished)
        warnings.showwarning = lambda message, *_: screen.say(f"warning: {message}")
        yield


def _show_version(ctx: click.Context) -> None:
    from foldline import __version__

    screen.write_text(f"foldline {__version__}\n")
    ctx.exit()


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: foldline compact session.jsonl --to 20k --as anthropic -o smaller.json",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: _show_version(ctx) if wanted else None,
    help="Show the version.",
)
@click.option(
    "--debug",
    is_flag=True,
    envvar=FOLDLINE_DEBUG.name,
    show_envvar=True,
    help="Show where an error comes from.",
)
def main(debug: bool) -> int:
    """Keep an agent's history inside its context window.

    FILE is any session file foldline knows, recognised by its content; `-` is stdin.
    """
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        return exits.DONE
    screen.write_text(ctx.get_help() + "\n", to="stderr")
    return exits.USAGE
