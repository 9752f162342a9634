"""`foldline proxy`: an agent that nobody can change, kept inside its window.

Owns the printing and the signals; what the proxy does is `foldline.proxy`'s. Ends with 0 when it is told to stop.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from foldline.cli import screen
from foldline.cli.layout import plural
from foldline.cli.options import size

if TYPE_CHECKING:
    from foldline.proxy.meters import Record
    from foldline.proxy.server import Options, Running

PORT = 8377
TOKEN_BYTES = 16
WINDOW_MIN = 1_000
NOTES_MAX = 1_000
"""Notes of conversations that are shown, each once."""
LINES = {
    "input": "input",
    "effective": "window, 5% kept",
    "window": "window",
    "reserve": "window, less the reserve",
}
"""What a threshold is a share of, in a word."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command("proxy")
@click.option(
    "--upstream", metavar="URL", help="Where requests go on to (left out: each provider's own host)."
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=PORT,
    show_default=True,
    help="0 takes any that is free.",
)
@click.option(
    "--host", metavar="ADDRESS", default=LOOPBACK[0], show_default=True, help="The address to listen on."
)
@click.option(
    "--expose", is_flag=True, help="Allow an address that other machines reach; --token goes with it."
)
@click.option(
    "--policy", metavar="NAME", default="balanced", show_default=True, help="When and how far to reduce."
)
@click.option(
    "--window",
    metavar="TOKENS",
    help="The window, whatever the model (left out: that of the model each request names).",
)
@click.option(
    "--completer",
    metavar="NAME",
    type=click.Choice(["upstream", "none"]),
    default="none",
    show_default=True,
    help="Who writes summaries: `upstream` asks the conversation's own model, with its key; `none` asks nobody.",
)
@click.option(
    "--recall",
    is_flag=True,
    help="Give the model a tool to look up what was taken out; its calls are answered here.",
)
@click.option(
    "--token", is_flag=True, help="Put a secret into the base URL, for a machine with several users."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse a request whose conversation cannot be kept, instead of passing it on.",
)
@click.option("--observe", is_flag=True, help="Change nothing; say what would be done.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a request, on a terminal too.")
def command(**given: Any) -> int:
    """Keep any agent inside its window, unchanged: a proxy on this machine.

    Set the agent's base URL to the one that is printed. Requests of Anthropic, OpenAI and Gemini are followed, and what their model's window does not hold is taken out on the way;
    everything else is passed through as it came. The caller's key goes on to the provider and is never kept.
    """
    wanted = Wanted(**given)
    if wanted.strict and wanted.observe:
        raise click.UsageError("--observe changes nothing, so there is nothing to be strict about")
    if wanted.host not in LOOPBACK and not (wanted.expose and wanted.token):
        raise click.UsageError(f"{wanted.host} is reached by other machines; say --expose --token to mean it")
    _need_the_extra()
    if screen.is_terminal("stderr"):
        screen.say("starting …")  # what comes next takes seconds on a slow machine
    from foldline.cli.serving import run

    begun: list[Running] = []

    def ready(running: Running, token: str) -> None:
        begun.append(running)
        _say_ready(running, token, wanted=wanted)

    code = run(_options(wanted), ready=ready, tell=teller(wanted))
    for running in begun:
        _say_stopped(running)
    return code


def _tokens(window: str) -> int:
    with contextlib.suppress(click.BadParameter):  # whose words offer a share
        tokens = size(window)
        if isinstance(tokens, int) and tokens >= WINDOW_MIN:
            return tokens
    raise click.BadParameter(f"--window {window}: give tokens (200000, 200k), at least {WINDOW_MIN:,}")


class Wanted(Struct, frozen=True, kw_only=True):
    """The options as they were given."""

    upstream: str | None
    port: int
    host: str
    expose: bool
    policy: str
    window: str | None
    completer: str
    recall: bool
    token: bool
    strict: bool
    observe: bool
    as_json: bool


def _need_the_extra() -> None:
    import importlib.util

    from foldline.core.foreign import installing

    if importlib.util.find_spec("aiohttp") is None:
        raise click.UsageError(f"the proxy needs its extra: {installing('proxy')}")


def _options(wanted: Wanted) -> Options:
    from foldline.presets import policy_of
    from foldline.proxy.beginning import Keeping, beginning
    from foldline.proxy.relay import checked_upstream
    from foldline.proxy.server import Options

    policy_of(wanted.policy)  # a name that there is not is refused before anything listens
    mode: Any = "observe" if wanted.observe else "strict" if wanted.strict else "open"
    upstream = None if wanted.upstream is None else checked_upstream(wanted.upstream)
    keeping = Keeping(
        policy=wanted.policy,
        upstream=upstream,
        window=None if wanted.window is None else _tokens(wanted.window),
        asks_upstream=wanted.completer == "upstream",
        recalls=wanted.recall,
        is_durable=not wanted.observe,
    )
    return Options(
        begin=beginning(keeping),
        upstream=upstream,
        host=wanted.host,
        port=wanted.port,
        prefix=os.urandom(TOKEN_BYTES).hex() if wanted.token else "",
        pages_token=os.urandom(TOKEN_BYTES).hex(),
        is_exposed=wanted.host not in LOOPBACK,
        mode=mode,
        recalls=wanted.recall,
        about={
            "policy": wanted.policy,
            "mode": mode,
            "upstream": upstream or "each provider's own",
            "window": keeping.window,
            "completer": wanted.completer,
            "recall": wanted.recall,
        },
    )


def _say_ready(running: Running, token: str, *, wanted: Wanted) -> None:
    screen.say(f"listening on {running.url} ({_terms(wanted)}); stop with Ctrl-C")
    screen.say(f"Claude Code, Anthropic SDKs: ANTHROPIC_BASE_URL={running.url}")
    screen.say(f"Codex, OpenAI SDKs: OPENAI_BASE_URL={running.url}/v1")
    ask, page = f"curl -H 'x-foldline-token: {token}'", f"{running.url}/_foldline/status"
    told = f"status: {ask} {page}"  # what is copied is broken where a shell takes it
    if screen.is_terminal("stderr") and len(told) + len("foldline: ") > screen.width_of("stderr"):
        told = f"status:\n  {ask} \\\n  {page}"
    screen.write_text(f"foldline: {told}\n", to="stderr")


def _terms(wanted: Wanted) -> str:
    """By what it reduces, and from where on."""
    from foldline.core.budget import Room
    from foldline.presets import policy_of
    from foldline.tokens.models import WINDOW_DEFAULT

    if wanted.window is None:
        line = policy_of(wanted.policy, WINDOW_DEFAULT).threshold
        return f"policy {wanted.policy}, reduces from {line.percent}% of each model's {LINES[line.of]}"
    window = _tokens(wanted.window)
    line = policy_of(wanted.policy, window).threshold
    tokens = line.tokens(Room(window))
    told = {
        "input": f"{line.percent}% of what a request's output cap leaves of it ({tokens:,} tokens where it names none)",
        "reserve": f"{tokens:,} tokens, or later where the model writes little",
    }
    return (
        f"policy {wanted.policy}, window {window:,}, reduces from {told.get(line.of, f'{tokens:,} tokens')}"
    )


def _say_stopped(running: Running) -> None:
    told = running.meters.told()
    spent = ""
    if told["summary_requests"]:
        asked, failed = plural(told["summary_requests"], "request"), told["summary_failures"]
        spent = f", {told['summary_tokens']:,} spent on summaries ({asked}, {failed:,} refused)"
    done = f"{plural(told['requests'], 'request')}, {plural(told['compactions'], 'compaction')}"
    screen.say(f"stopped: {done}, {plural(told['tokens_saved'], 'token')} saved{spent}")


def teller(wanted: Wanted) -> Any:
    """What prints a request's record."""
    from time import localtime, strftime

    from foldline.proxy.lines import below, line
    from foldline.proxy.meters import as_json

    is_calm = screen.is_terminal("stdout") and not wanted.as_json
    told: set[tuple[str, str]] = set()

    def tell(record: Record) -> None:
        if not is_calm:
            screen.write_line(as_json(record))
            return
        columns = screen.width_of("stdout")
        screen.write_text(line(record, clock=strftime("%H:%M:%S", localtime()), columns=columns) + "\n")
        for note in record.notes:
            if (record.session, note) not in told and len(told) < NOTES_MAX:
                told.add((record.session, note))
                screen.write_text(below(note, columns=columns) + "\n")

    return tell
