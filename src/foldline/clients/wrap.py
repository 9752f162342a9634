"""`foldline.wrap`: an official client that keeps a session, used as before.

    client = foldline.wrap(anthropic.Anthropic(), session="fix-login")
    client.messages.create(model=…, messages=history, …)

The caller goes on keeping its own list and sends all of it each time. What the policy takes out is taken out on the way, what is
answered is in the session's log, and a request that nothing was done for is the one the SDK would have sent.
"""

from __future__ import annotations

import os
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from foldline.clients.following import Conversations
from foldline.clients.opening import opening
from foldline.clients.same_model import SameModel
from foldline.clients.sessions import Terms
from foldline.core.errors import InvalidOption
from foldline.core.kinds import refuse_no_flag, refuse_no_name
from foldline.core.naming import check_name
from foldline.engine.policy import Policy
from foldline.home import disk_store
from foldline.presets import policy_of
from foldline.providers.sdks import is_async, sdk_of
from foldline.session.hosting import Host
from foldline.session.opening import normalised
from foldline.session.session import Session
from foldline.session.setup import SessionOptions
from foldline.settings import plan_for

Client = TypeVar("Client")
SAME: Final = "same"
ATTRIBUTE: Final = "foldline"
"""Under this name a wrapped client has its `Conversations`: `.session`, `.report`, `.passed`, `.close()`."""


def wrap(
    client: Client,
    *,
    session: str | Session | None = None,
    policy: str | Policy = "balanced",
    model: str | None = None,
    home: str | os.PathLike[str] | None = None,
    completer: Any = None,
    recall: bool = False,
    native: bool = False,
) -> Client:
    """A client of `anthropic`, `openai` or `google-genai`, sync or async, that keeps its conversations inside their window.

    `session`: the name of a durable session, or an open one; left out, what was taken out is kept in memory alone. `policy`: when
    and how far. `model`: whose window is planned with, where the requests name one that is not known. `home`: as of
    `foldline.open`. `completer`: who writes summaries where the policy asks a model; `"same"` is this client with the model and
    parameters of the request on its way, so that the provider's cached prefix is hit. `recall`: once something was taken out, the
    model has the tool `recall` beside its own, and what it asks of it is answered here; such answers are given whole. `native`: the
    provider's own service may do what the policy has for it (`Policy.native`), and is asked in each request. The given client
    stays as it is. What a wrapped one has done is under its attribute `foldline`: `.session`, `.report` of the last request, `.passed`
    (requests left alone, by why), `.close()`.

    Raises `InvalidOption`, `UnknownPolicy`. Its requests raise what the SDK raises, and what `foldline.open` and
    `Session.prepare` do.
    """
    refuse_no_flag(recall=recall, native=native)
    refuse_no_name(or_none=True, model=model)
    sdk = sdk_of(client)
    if session is not None and not isinstance(session, (str, Session)):
        raise InvalidOption("session", session, why="give the name of a session, or one that is open")
    named = check_name(session) if isinstance(session, str) else ""
    given = session if isinstance(session, Session) else None
    terms = Terms(
        open=opening(
            SessionOptions(
                policy=policy,
                model=model,
                host=_host(completer, client),
                native=native,
                endpoint=str(getattr(client, "base_url", "") or ""),
            ),
            home=home,
        ),
        policy=policy_of(policy, plan_for(model).window) if given is None else given.policy,
        model=model,
        names=lambda: disk_store(home).names(),
        recalls=recall,
        is_native=native if given is None else given._known.setup.asked.native,
    )
    conversations = Conversations(terms, name=named, session=given)
    wrapped = _seated(client, sdk.module, conversations=conversations)
    setattr(wrapped, ATTRIBUTE, conversations)
    made: Client = wrapped
    return made


def _seated(client: Any, module: str, *, conversations: Conversations) -> Any:
    asynchronous = is_async(client)
    if module == "anthropic":
        from foldline.clients import anthropic_seat

        return anthropic_seat.seated(client, conversations, is_async=asynchronous)
    if module == "openai":
        from foldline.clients import openai_seat

        return openai_seat.seated(client, conversations, is_async=asynchronous)
    if asynchronous:
        why = "give the genai.Client itself; what its .aio sends is seen too"
        raise InvalidOption("client", type(client).__name__, why=why)
    from foldline.clients import gemini_seat

    return gemini_seat.seated(client, conversations)


def _host(completer: Any, client: Any) -> Host:
    if completer == SAME:
        sdk = sdk_of(client)
        if sdk.module == "openai":  # a conversation of it is in one of the two, whichever server it is
            sdk = replace(sdk, formats=("openai-chat", "openai-responses"))
        completer = SameModel(sdk, client)
    elif completer is not None and not callable(completer):
        raise InvalidOption("completer", completer, why=f'give "{SAME}", a completer, or leave it out')
    return Host(completer=completer, workspace=normalised(None))
