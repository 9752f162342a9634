"""Which libraries are measured, in which configurations: the rows of the table, by name.

The versions are those of `requirements.txt` beside this module. A row says why it cannot run here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

from benchmarks.peers.peer import Peer

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
OURS = "foldline"
LIBRARIES = "benchmarks.peers.libraries"


@dataclass(frozen=True)
class Row:
    """One library in one configuration."""

    name: str
    package: str
    """As the registry calls it."""
    entry: str
    """`module:Class` in `libraries`."""
    python: tuple[int, int] = (3, 11)
    """The oldest Python it runs on."""
    by_rules: bool = False
    """True where no model is ever asked."""
    speed_only: bool = False
    """True where another row has the same results."""

    def make(self) -> Peer:
        """The library, imported and ready."""
        module, _, kind = self.entry.partition(":")
        made: Peer = getattr(import_module(f"{LIBRARIES}.{module}"), kind)()
        return made

    def version(self) -> str:
        """What is installed. Raises `PackageNotFoundError`."""
        if self.package == OURS:
            return str(import_module(OURS).__version__)
        return metadata.version(self.package)

    def missing(self) -> str | None:
        """Why it cannot run here; `None` when it can."""
        if sys.version_info < self.python:
            wanted, here = (".".join(map(str, found[:2])) for found in (self.python, sys.version_info))
            return f"needs Python {wanted}, this is {here}"
        try:
            self.version()
        except metadata.PackageNotFoundError:
            pin = pins(REQUIREMENTS.read_text(encoding="utf-8")).get(self.package, "no pin")
            return f"{self.package} ({pin}) is not installed: `make bench-peers` says why"
        return None


ROSTER: tuple[Row, ...] = (
    Row("foldline balanced", OURS, "foldline_here:Held", by_rules=True),
    Row("foldline balanced, facts known", OURS, "foldline_here:FactsKnown", by_rules=True, speed_only=True),
    Row("foldline balanced, template", OURS, "foldline_here:Template", by_rules=True),
    Row("foldline ladder-minimal", OURS, "foldline_here:LadderMinimal", by_rules=True),
    Row("foldline.compact, whole report", OURS, "foldline_here:Stateless", by_rules=True, speed_only=True),
    Row(
        "foldline.compact, facts known", OURS, "foldline_here:StatelessKnown", by_rules=True, speed_only=True
    ),
    Row("LangChain summarization", "langchain", "langchain:Summarization"),
    Row("LangChain summarization, untrimmed", "langchain", "langchain:SummarizationUntrimmed"),
    Row("LangChain context editing", "langchain", "langchain:ContextEditing", by_rules=True),
    Row("deepagents summarization", "deepagents", "deepagents:Summarization"),
    Row("pydantic-ai-harness summarizing", "pydantic-ai-harness", "pydantic_ai_harness:Summarizing"),
    Row("pydantic-ai-harness tiered", "pydantic-ai-harness", "pydantic_ai_harness:Tiered"),
    Row("Strands summarizing", "strands-agents", "strands:Summarizing"),
    Row("Strands auto", "strands-agents", "strands:Auto"),
    Row("google-adk", "google-adk", "google_adk:EventsCompaction"),
    Row("headroom", "headroom-ai", "headroom:Compress", by_rules=True),
    Row("OpenHands condenser", "openhands-sdk", "openhands:Condenser", python=(3, 12)),
)


def row_named(name: str) -> Row:
    """A row by its name. Raises `KeyError`."""
    return {row.name: row for row in ROSTER}[name]


def pins(text: str) -> dict[str, str]:
    """Package → version, of the lines of a requirements file."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        package, equals, version = line.split("#")[0].split(";")[0].strip().partition("==")
        if equals:
            found[package] = version.strip()
    return found
