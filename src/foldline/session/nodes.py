"""Nodes: sub-agents whose messages stand in the session's log and in a view of their own.

    outside   user │ [research_agent began: input] ……………………………………… [research_agent completed: output]
    inside          └ input │ assistant │ result │ assistant ┘

Inside sees its own messages, the input as the first of them. Outside sees what `expose` says: input and output (`io`), every
message (`full`), or nothing (`hidden`). Where a node answers a call of the outside, call and result are input and output.
What the outside shows of it are messages like any other and go through the ordinary cascade; the output names the address
of the node's own messages, which stay in the log (requirements FUN-1…4).
"""

from __future__ import annotations

from collections.abc import Container
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from msgspec.structs import replace

from foldline.core.address import block, escape_tags
from foldline.core.entry import Draft
from foldline.core.errors import FoldlineError, InvalidOption
from foldline.core.message import Message, Meta
from foldline.core.view import Item
from foldline.log.checkpoint import NODES_MAX
from foldline.log.state import EXPOSES, Expose, Node, Status
from foldline.log.values import dumps
from foldline.recall.tool import TOKENS_MAX, Answer
from foldline.session.conversation import Conversation
from foldline.session.incoming import result_message, user_message, waiting_call
from foldline.session.keep import Keeper, message_draft
from foldline.session.planning import Known
from foldline.session.recalling import answered
from foldline.session.twins import twin
from foldline.wire.strict import dump_foreign

if TYPE_CHECKING:
    from foldline.session.session import Session

INTERRUPTED: Final = "the process ended before it did"
ROLLED_BACK: Final = "the session was rolled back to before it ended"
SAID_CHARS_MAX: Final = 200_000
"""Characters of an input or output that the outside shows; the messages themselves are behind the address."""


class RunningNode(Conversation):
    """What `with session.node(…) as node` gives: a conversation of its own, until the block ends."""

    def __init__(self, session: Session, node: Node) -> None:
        super().__init__(session._keeper, session._known, scope=node.id)
        self.id, self.name = node.id, node.name
        self.output: str | None = None
        """What came of it, as the outside has it; `None` while it runs."""
        self._session = session

    def finish(self, output: Any = None) -> None:
        """End as completed. `output`: a text or any JSON value; left out, the text of the last answer."""
        said = _text(output, option="output") if output is not None else self._last_answer()
        end(self._keeper, self._known, node=self._node(), status="completed", output=said)
        self.output = said

    afinish = twin(finish)

    def answer(self, call: object, *, everywhere: bool = False, tokens_max: int = TOKENS_MAX) -> Answer:
        """Answer the sub-agent's own call of `foldline.recall_tool`, as `Session.answer`: it finds what the whole session has
        said, and the result is one of its messages."""
        return answered(self._session, self, call=call, everywhere=everywhere, tokens_max=tokens_max)

    aanswer = twin(answer)

    def node(
        self, name: str, *, input: Any = "", expose: Expose = "io", call_id: str | None = None
    ) -> RunningNode:
        """A node within this one."""
        return begin(self._session, name=name, input=input, where=(self._scope, expose, call_id))

    anode = twin(node)

    def __enter__(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._keeper.lock:
            if self.id not in self._keeper.state.nodes:
                return
            if error is None:
                self.finish()
                return
            status: Status = "error" if isinstance(error, Exception) else "interrupted"
            said = f"{type(error).__name__}: {error}"
            try:
                end(self._keeper, self._known, node=self._node(), status=status, output=said)
                self.output = said
            except FoldlineError as second:  # a log that can no longer be written: the first error says more
                error.add_note(f"the end of node {self.id} was not recorded: {second}")

    __aexit__ = twin(__exit__)

    def _node(self) -> Node:
        self._view()
        return self._keeper.state.nodes[self.id]

    def _last_answer(self) -> str:
        for item in reversed(self._view().view.items()):
            if item.message.role == "assistant" and item.message.text:
                return item.message.text
        return ""


def begin(session: Session, *, name: str, input: Any, where: tuple[str, Expose, str | None]) -> RunningNode:
    """Start a node in a scope: its entry, what the outside sees of it, and its input as its first message. Raises
    `InvalidOption`."""
    scope, expose, call_id = where
    given: object = name
    if not isinstance(given, str) or not given.strip():
        raise InvalidOption("name", name, why="give the node a name, a text with a visible character")
    if expose not in EXPOSES:
        raise InvalidOption("expose", expose, why=f"a node exposes one of {', '.join(EXPOSES)}")
    if expose == "hidden" and call_id is not None:
        raise InvalidOption(
            "expose", expose, why="a node that answers a call shows its output; give io or full"
        )
    keeper, format = session._keeper, session._known.setup.format
    with keeper.lock:
        state = keeper.state
        if scope not in state.scopes:
            raise InvalidOption("node", scope, why="it has ended, or was rolled back; start another")
        if len(state.nodes) >= NODES_MAX:
            raise InvalidOption("node", name, why=f"at most {NODES_MAX} nodes run at once; end one first")
        if call_id is not None:
            waiting_call(state.scopes[scope].view, call_id)
        said, id = _text(input, option="input"), f"n{state.seq + 1}"
        told = {"id": id, "name": name, "expose": expose, "parent": scope, "call_id": call_id, "input": said}
        drafts = [
            Draft(
                kind="node", body=dumps({k: v for k, v in told.items() if v not in (None, "")} | {"id": id})
            )
        ]
        if expose == "io" and call_id is None:
            drafts.append(message_draft(_began(id, name, said=said, format=format), scope=scope))
        if said:
            drafts.append(message_draft(user_message(said, format=format), scope=id))
        keeper.say(*drafts)
        return RunningNode(session, keeper.state.nodes[id])


def end(keeper: Keeper, known: Known, *, node: Node, status: Status, output: str) -> None:
    """End a node, and show the outside what came of it."""
    with keeper.lock:
        told = {"id": node.id, "status": status, "output": output}
        drafts = [Draft(kind="node_end", body=dumps(told))]
        outside = keeper.state.scopes.get(node.parent)
        if outside is not None and node.call_id is not None:
            call = waiting_call(outside.view, node.call_id)
            is_error = status != "completed"
            answer = result_message(call, output, is_error=is_error, format=known.setup.format)
            drafts.append(message_draft(answer, scope=node.parent))
        elif outside is not None and node.expose == "io":
            drafts.append(
                message_draft(_ended(keeper, known, node=node, said=(status, output)), scope=node.parent)
            )
        known.fixed.pop(node.id, None)
        keeper.say(*drafts)


def interrupt_all(
    keeper: Keeper, known: Known, *, held: Container[str] = (), why: str = INTERRUPTED
) -> tuple[str, ...]:
    """Nodes that run in the log and in no process: interrupted, not finished, the innermost first. Their names. `held`: those
    that somebody here goes on with, by id."""
    names = []
    for node in sorted(keeper.state.nodes.values(), key=lambda node: -node.seq):
        if node.id not in held:
            end(keeper, known, node=node, status="interrupted", output=why)
            names.append(node.name)
    return tuple(names)


def _began(id: str, name: str, *, said: str, format: str) -> Message:
    body = f"{escape_tags(_line(name))} began" + (f"\ninput: {_quoted(said)}" if said else "")
    return _shown(block("node", id, body=body), format=format)


def _ended(keeper: Keeper, known: Known, *, node: Node, said: tuple[Status, str]) -> Message:
    """The outcome, as a notice that opens the node's own messages."""
    status, output = said
    own: list[Item] = list(keeper.state.scopes[node.id].view)
    body = f"{escape_tags(_line(node.name))} {status}" + (f"\noutput: {_quoted(output)}" if output else "")
    if not own:
        return _shown(block("node", node.id, body=body), format=known.setup.format)
    first = min(min((span.start for span in item.covers), default=item.seq) for item in own)
    last = max(max((span.end - 1 for span in item.covers), default=item.seq) for item in own)
    address = known.spans.address(first, last + 1)
    return _shown(block("notice", address, body=body), format=known.setup.format)


def _shown(text: str, *, format: str) -> Message:
    # injected: words of a sub-agent are nobody's earlier ledger, and no user's either
    return replace(user_message(text, format=format), meta=Meta(injected=True))


def _line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    cut = text[:SAID_CHARS_MAX]
    return escape_tags(cut if len(text) <= SAID_CHARS_MAX else f"{cut} …")


def _text(value: Any, *, option: str) -> str:
    if isinstance(value, str):
        return value
    try:
        return dump_foreign(value).decode()
    except ValueError as error:
        raise InvalidOption(option, value, why=f"{error}; give a text or values of JSON") from error
