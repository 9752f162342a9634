"""A request that is ready to be sent: the view in its wire form, made when it is asked for.

Each has values of its own, parsed from the history's bytes, so that a cache mark a caller puts on a message stays there and
never in the history.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foldline.core.estimate import Estimate
from foldline.engine.report import Report
from foldline.session.fitting import Made
from foldline.wire import strict
from foldline.wire.body import KEYS, write_body
from foldline.wire.codec import Request
from foldline.wire.native import Asked

NOTHING: Final = Asked(body={})


class Beside(Struct, frozen=True, kw_only=True):
    """What goes out beside the conversation."""

    asked: Asked = NOTHING
    """Of the provider's own service."""
    output_cap: int | None = None
    lowered: str = ""
    """What the report says of the output cap, where it is lower than the one that was asked for."""


PLAIN: Final = Beside()


class Prepared:
    """What `Session.prepare` returns."""

    def __init__(
        self,
        made: Made,
        *,
        report: Report,
        tokens: Estimate,
        fingerprint: str,
        beside: Beside = PLAIN,
    ) -> None:
        self.asked, self.output_cap, self.lowered = beside.asked, beside.output_cap, beside.lowered
        """What it asks of the provider's own service · the output cap to send: the one that was asked for, or what the window leaves of it; `None` where none was named · what the report says of one that is lower, else nothing."""
        self.betas = beside.asked.betas
        """Names that the header `anthropic-beta` has to hold for it; none for other providers."""
        self._made, self.report, self.tokens, self.fingerprint = made, report, tokens, fingerprint
        """… · what the passes did for it · its projected size · a digest of system prompt, tools and history: equal ones are
        equal requests (requirement TOK-7)."""

    def uncapped(self) -> None:
        """Ask for no lower output cap, and report none: who sends it cannot."""
        notes = tuple(note for note in self.report.notes if note != self.lowered)
        self.report = replace(self.report, notes=notes)
        self.output_cap, self.lowered = None, ""

    @cached_property
    def request(self) -> Request:
        """The request in foldline's own values."""
        return self._made.request()

    @cached_property
    def data(self) -> bytes:
        """The part of the body that carries the conversation, as JSON, with what it asks of the provider's service."""
        data = write_body(self.request)
        return data if not self.asked.body else b"%b,%b" % (data[:-1], strict.dump(dict(self.asked.body))[1:])

    @cached_property
    def body(self) -> dict[str, Any]:
        """The same as values, under the format's own keys: to be merged into the call."""
        value: dict[str, Any] = strict.parse(self.data)
        return value

    @property
    def messages(self) -> list[Any]:
        """What goes under the format's key for messages; for OpenAI chat the system prompt is the first of them."""
        found: list[Any] = self.body[KEYS[self._made.format].messages]
        return found

    @property
    def system(self) -> Any:
        """What goes under the format's key for the system prompt; `None` where there is none, or no such key."""
        keys = KEYS[self._made.format]
        return None if keys.system_is_message else self.body.get(keys.system[0])

    @property
    def tools(self) -> list[Any] | None:
        """The tool schemas; `None` for none."""
        return self.body.get("tools")
