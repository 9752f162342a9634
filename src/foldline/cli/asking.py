"""Asking a model from the command line: `--provider` and `--base-url`, and what is seen while the model writes.

The SDK finds the key in the environment, as it does everywhere; there is no option for one, since command lines are read by others. A
refusal that no second try mends ends the command with its reason; a passing one leaves the policy's tiers without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import click

from foldline.cli import progress
from foldline.core.errors import InvalidOption, ProviderFailed

PROVIDERS = ("anthropic", "openai", "gemini", "openai-chat")
PASSING = (408, 413, 429)
"""Statuses that are worth another try, or tell of a request that was too long."""

Command = Callable[..., Any]


def provider_options(command: Command) -> Command:
    """`--provider` and `--base-url`."""
    for option in (
        click.option(
            "--base-url",
            metavar="URL",
            help="Of a server that speaks like the provider: Ollama, llama.cpp, vLLM, OpenRouter.",
        ),
        click.option(
            "--provider",
            type=click.Choice(PROVIDERS),
            help="Ask this provider's --model for the summary; its SDK reads the key from the environment.",
        ),
    ):
        command = option(command)
    return command


class Asking:
    """A completer that remembers what a provider would not do."""

    def __init__(self, completer: Any) -> None:
        self._completer = completer
        self._refused: ProviderFailed | None = None

    def __call__(self, request: Any) -> Iterator[Any]:
        """Ask, unless the answer is known."""
        if self._refused is not None:
            raise self._refused
        try:
            yield from self._completer(request)
        except ProviderFailed as error:
            if error.status is None or (error.status < 500 and error.status not in PASSING):
                self._refused = error
            raise

    def check(self) -> None:
        """Raise what the provider refused for good: nothing is written then."""
        if self._refused is not None:
            raise self._refused


class Shown(NamedTuple):
    """Whom to ask, and who is told what happens; each may be nobody."""

    completer: Asking | None
    hear: Callable[[str], None] | None
    """What the model writes."""
    stage: progress.Stage | None
    """What else is being done."""


@contextmanager
def asking(provider: str | None, *, base_url: str | None, model: str | None) -> Iterator[Shown]:
    """A completer and who hears what it writes, for a `with` block that shows it; nothing to ask without `--provider`."""
    if provider is None:
        if base_url is not None:
            raise InvalidOption("base_url", base_url, why="it belongs to --provider; name one")
        with progress.busy("compacting") as stage:
            yield Shown(None, None, stage)
        return
    if model is None:
        raise InvalidOption("model", None, why="name the model to ask with --model")
    from foldline.providers.completer import Completer, completer

    made = completer(provider, model=model, base_url=base_url)
    assert isinstance(made, Completer), "a name makes a sync client"
    asked = Asking(made)
    with closing(made), progress.tail("✻ Compacting") as hear:
        yield Shown(asked, hear, None)
    asked.check()
