"""Sessions to search in: messages of any format in a store's logs, appended as a session does.

Owns how a test writes a log down. Knows stores by their port.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from foldline.core.entry import Draft, Entry
from foldline.core.message import Message
from foldline.core.ports import Store
from foldline.log.values import dumps, message_json
from foldline.recall.find import Recall
from foldline.stores.memory import MemoryStore
from foldline.testing.counting import CharacterCounter
from foldline.wire.formats import codec


def draft(message: Message | dict[str, Any], *, format: str = "anthropic") -> Draft:
    """A `message` entry. A dict is a wire message of `format`."""
    told = codec(format).decode(message) if isinstance(message, dict) else message
    return Draft(kind="message", body=dumps(message_json(told)))


def entry(kind: str, body: Any) -> Draft:
    """An entry of another kind."""
    return Draft(kind=kind, body=dumps(body))


def written(
    store: Store, session: str, given: Iterable[Message | Draft], *, about: Any = None
) -> list[Entry]:
    """A new session with these messages and entries, closed again."""
    journal = store.create(session, format="anthropic", about=dumps(about or {}))
    entries = journal.append([one if isinstance(one, Draft) else draft(one) for one in given])
    journal.close()
    return list(entries)


def more(store: Store, session: str, given: Iterable[Message | Draft]) -> list[Entry]:
    """The session goes on."""
    journal = store.write(session)
    entries = journal.append([one if isinstance(one, Draft) else draft(one) for one in given])
    journal.close()
    return list(entries)


def recall_over(store: Store | None = None, *, path: Path | None = None) -> Recall:
    """A recall with a counter that needs no tokenizer."""
    return Recall(store or MemoryStore(), path=path, counter=CharacterCounter())


def saying(*messages: Message, path: Path | None = None) -> Recall:
    """A recall over one session, `s`, with these messages."""
    store = MemoryStore()
    written(store, "s", messages)
    return recall_over(store, path=path)


def bytes_of(path: Path) -> bytes:
    """Every byte of a database and of what lies beside it."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(f"{path.name}*")))
