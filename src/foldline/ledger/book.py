"""The book: what was done, found out and left open, entry by entry, from calls and results alone.

Built by rules from the units that leave the view; every entry keeps who said it and where. Nothing that a tool, a file
or the web said becomes an objective, a constraint or a task: those come from users (`compose`) and from the agent's own
list of things to do. Knows calls by what their tools do (`foldline.ledger.tools`). Counterpart: `render`, which writes the entries under their headings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from foldline.core.json_text import object_in
from foldline.core.message import Message, Reasoning, Text, ToolCall, ToolResult, result_text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.actions import answer_of, bearing_of, call_line, gist_of_call, is_action, is_same_task
from foldline.ledger.answers import answer_in
from foldline.ledger.called import Called
from foldline.ledger.carrying import Book, put, settled
from foldline.ledger.changes import NEW, OLD, PATH_KEYS, WHOLE, edits_in, gist_of, is_edit, patched_files
from foldline.ledger.command_lines import script_in
from foldline.ledger.decisions import reasons_in
from foldline.ledger.entries import Done, Entry, Section
from foldline.ledger.lines import one_line, unbroken
from foldline.ledger.outcomes import (
    is_failed,
    is_refused,
    is_unread,
    names_failure,
    unmade,
)
from foldline.ledger.quoting import quotation
from foldline.ledger.ranks import evidence_rank, rank_of
from foldline.ledger.refusals import refuses
from foldline.ledger.shell_entries import shell_entries
from foldline.ledger.tools import ToolKind, kind_of
from foldline.ledger.withdrawals import withdrawals_in

COMMAND_CHARS = 160
RUN_CHARS_MIN = 110
"""However long its folder is, a command shows so much of what it runs."""
COMMAND_END_CHARS = 48
SIGN_CHARS = 6
NEXT_CHARS = 300
REASON_CHARS = 60
"""Of a reason that is told: an answer that holds so much of it says the same."""
STATUS_CHARS = 1_000
"""How far from its end a result is searched for what an editor says of itself."""
TOLD_CHARS_MAX = 16 << 20
"""About what the calls that `Told` remembers may hold with their results, and the texts, before it forgets all and starts again:
a history of two million tokens twice over."""
CALL_CHARS = 1_000
"""About what a call takes beside its characters, with its entries."""
TEXT_CHARS = 200
"""About what a text of the agent's takes beside its characters."""
TOOLS_MAX = 512
"""Names of tools that are remembered by what they do."""
PATHS_MAX = 64
"""Paths taken from one call."""

_TEXT_KEYS = frozenset((*OLD, *NEW, *WHOLE))
"""Under these names stands what a file has, whatever that names."""
_OPEN_FILE = re.compile(r"^\(Open file: (/[^\n]{1,512})\)$", re.MULTILINE)
_CHANGE_FOLDER = re.compile(r"^\s*(cd [^\n;&|]{0,300}[^\n;&|\s])\s*(?:&&|;|\n)\s*")
_FOLDER = re.compile(r"cd [^\s&;|]{1,400} && ")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "work_dir", "working_dir", "directory")
_SAYS = re.compile(r"\w{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TASK_TOOLS = re.compile(r"todo|update_?plan|task_?(?:list|update|create|get)|plan_?write", re.IGNORECASE)
_MADE = {"edit": "edited", "write": "written", "delete": "deleted", "undo": "edit undone"}
_UNDO = ("undo_edit", "undo")
SAID, SAID_BEFORE = "last said: ", "last said, before more was done: "
_ASKS = re.compile(r"[?？؟](?=[\s\"'”’)\]）」*_]|$)|(?:吗|呢)[。\s]*$")


T = TypeVar("T")


class _Room:
    """Bounds about what several memories take together: where that would be too much, all of them forget all at once."""

    def __init__(self, chars_max: int) -> None:
        self.memories: list[dict[Any, Any]] = []
        self._chars = 0
        self._chars_max = chars_max

    def take(self, chars: int) -> None:
        if self._chars + chars > self._chars_max:
            for memory in self.memories:
                memory.clear()
            self._chars = 0
        self._chars += chars


class Once(Generic[T]):
    """What is read of texts, read once, as far as there is room."""

    def __init__(self, read: Callable[[str], T], *, room: _Room) -> None:
        self._read = read
        self._known: dict[str, T] = {}
        self._room = room
        room.memories.append(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __call__(self, said: str) -> T:
        if said not in self._known:
            found = self._read(said)
            self._room.take(TEXT_CHARS + len(said))
            self._known[said] = found
        return self._known[said]


class Told:
    """What was told of calls and read of what was said, to be known when the same leaves the view again: in the second draft of a
    ledger, or at the next compaction of a history that came back longer. A call is known by its whole result, which is held for
    it, also when it has left the view: all of it is bounded together by about what it takes."""

    def __init__(self, *, chars_max: int = TOLD_CHARS_MAX) -> None:
        self._entries: dict[tuple[int, str, str, str, bool, str], tuple[Entry, ...]] = {}
        self._room = room = _Room(chars_max)
        room.memories.append(self._entries)
        self.reasons: Once[tuple[str, ...]] = Once(lambda said: tuple(reasons_in(said)), room=room)
        """The sentences in which a text gives a reason."""
        self.answer = Once(answer_in, room=room)
        """What a text tells whoever asked."""
        self.withdrawals = {
            is_users: Once(partial(withdrawals_in, is_users=is_users), room=room)
            for is_users in (False, True)
        }
        """What a text takes back of decisions, of the agent's and of the users'."""
        self.rank = Once(rank_of, room=room)
        """How soon a user's words may leave the view, or their quotation the ledger."""
        self.quotation = Once(quotation, room=room)
        """What is repeated of a user's words that left."""
        self.refuses = Once(refuses, room=room)
        """Whether a user's words say that what was done is not right."""
        self.evidence = Once(evidence_rank, room=room)
        """How soon what a command came to may leave the ledger."""

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, done: Done, *, folder: str) -> tuple[Entry, ...]:
        """The entries of one call."""
        text, is_error = (
            ("", False) if done.result is None else (result_text(done.result), done.result.is_error)
        )
        key = (done.seq, done.call.name, done.call.arguments, text, is_error, folder)
        known = self._entries.get(key)
        if known is None:
            known = tuple(_of_call(done, folder=folder))
            self._room.take(CALL_CHARS + len(done.call.arguments) + len(text))
            self._entries[key] = known
        return known


def entries_of(
    items: Sequence[Item],
    before: Iterable[Entry] = (),
    *,
    told: Told | None = None,
    calls: Sequence[Done] | None = None,
) -> tuple[Entry, ...]:
    """Every entry the items give, newest state of each key, in order of the key's last mention; O(n). `before`: what an earlier ledger
    says, which each of them speaks of in its turn: of two resets the first one counts. `calls`: of the items."""
    book: Book = {}
    for entry in before:
        put(book, entry)
    for found in _entries(items, calls or list(calls_in(items)), told=Told() if told is None else told):
        entry = found
        if not (found.key.isprintable() and found.text.isprintable()):
            entry = replace(found, key=unbroken(found.key), text=unbroken(found.text))
        put(book, entry)
    return tuple(book.values())


def _entries(items: Sequence[Item], made: Sequence[Done], *, told: Told) -> Iterator[Entry]:
    for item, after in zip(items, [*items[1:], None], strict=True):
        message = item.message
        if message.role == "assistant":
            yield from _decisions(message, item.seq, told=told)
            if after is not None and (after.seq > item.seq + 1 or speaks_for_user(after.message)):
                yield from _answer(message, item.seq, told=told)
    calls = [done for done in made if not is_of_tasks(done.call)]
    folders = [_folder_of(done.call) for done in calls]
    is_one = len({folder for folder in folders if folder}) <= 1
    found = [
        entry
        for done, folder in zip(calls, folders, strict=True)
        for entry in told.of(done, folder="" if is_one else folder)
    ]
    yield from _got_over(found, calls) if any(entry.section == "risks" for entry in found) else found
    yield from _next(items)


def _got_over(entries: Sequence[Entry], calls: Sequence[Done]) -> Iterator[Entry]:
    """What failed is no open risk where a later call for the same task went well; where that said something else, it is told
    with it."""
    again: dict[str, list[Done]] = {}
    for done in calls:
        again.setdefault(done.call.name, []).append(done)
    failed = {(done.seq, _action(done).text): done for done in calls if kind_of_call(done.call) == "other"}
    for entry in entries:
        found = failed.get((entry.seq, entry.text)) if entry.section == "risks" else None
        later = [] if found is None else _later(found, again[found.call.name])
        yield settled(entry, by=_action(later[-1])) if later else entry


def _later(failed: Done, calls: Iterable[Done]) -> list[Done]:
    """The answered calls after one that failed that were for the same task."""
    asked = arguments_of(failed.call)
    return [
        done
        for done in calls
        if done.seq > failed.seq and done.result is not None and is_same_task(asked, arguments_of(done.call))
    ]


def _folder_of(call: ToolCall) -> str:
    """The folder that a shell call names beside its command: told where the calls name more than one."""
    if kind_of(call.name) != "shell":
        return ""
    arguments = arguments_of(call)
    return next((arguments[key] for key in _FOLDER_KEYS if isinstance(arguments.get(key), str)), "")


def calls_in(items: Iterable[Item]) -> Iterator[Done]:
    """Calls in order, each with its result where the items hold it."""
    return calls_of((item.seq, item.message) for item in items)


def calls_of(messages: Iterable[tuple[int, Message]]) -> Iterator[Done]:
    """The same of messages with their ordinals, in the order in which they were called."""
    yield from Called(messages).every


def is_of_tasks(call: ToolCall) -> bool:
    """True for a call of a tool that keeps a list of things to do (`foldline.ledger.tasks`)."""
    return _keeps_tasks(call.name)


@lru_cache(maxsize=TOOLS_MAX)
def _keeps_tasks(name: str) -> bool:
    return _TASK_TOOLS.search(name) is not None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """A call's arguments; empty where they are no object."""
    return object_in(call.arguments)


def paths_of(call: ToolCall) -> tuple[str, ...]:
    """Files a call names."""
    arguments = arguments_of(call)
    found = [arguments[key] for key in PATH_KEYS if isinstance(arguments.get(key), str)]
    for edit in edits_in(arguments):
        found += [edit[key] for key in PATH_KEYS if isinstance(edit.get(key), str)]
    found += _patched_by(call, arguments)
    return tuple(dict.fromkeys(path.strip() for path in found if path.strip()))[:PATHS_MAX]


def _patched_by(call: ToolCall, arguments: Mapping[str, Any]) -> dict[str, bool]:
    """The files that the patches of a call name, each with whether it goes, as the first that is said of it has it."""
    texts = [value for key, value in arguments.items() if isinstance(value, str) and key not in _TEXT_KEYS]
    if not arguments:
        texts = [call.arguments.replace("\\n", "\n")]
    found: dict[str, bool] = {}
    for path, goes in chain.from_iterable(map(patched_files, texts)):
        found.setdefault(path, goes)
    return found


def script_of(call: ToolCall) -> str:
    """What a shell call runs, as it stands; empty for other calls."""
    if kind_of(call.name) != "shell":
        return ""
    arguments = arguments_of(call)
    value = next((arguments[key] for key in ("command", "cmd", "script", "code") if key in arguments), "")
    return script_in([str(word) for word in value]) if isinstance(value, list) else str(value)


def command_of(call: ToolCall) -> str:
    """The command line a shell call runs, with the folder it changes to, on one line; empty for other calls. A long one
    is cut in its middle and carries a sign of the whole, so that two commands are never told as one."""
    script = script_of(call)
    lines = [line for line in script.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    flat = " ".join(_CHANGE_FOLDER.sub(r"\1 && ", "\n".join(lines)).split())
    if len(flat) <= COMMAND_CHARS:
        return flat
    sign = f" #{hashlib.sha256(flat.encode('utf-8', 'replace')).hexdigest()[:SIGN_CHARS]}"
    end = flat[-COMMAND_END_CHARS:].partition(" ")[2] or flat[-COMMAND_END_CHARS:]
    folder = found[0] if (found := _FOLDER.match(flat)) is not None else ""
    chars = max(COMMAND_CHARS - len(folder), RUN_CHARS_MIN) - len(sign) - len(end) - 1
    return f"{folder}{one_line(flat[len(folder) :], chars)} {end}{sign}"


def kind_of_call(call: ToolCall) -> ToolKind:
    """What a call does: an editor that nobody knows by name is known by what it is given, if its name does not say that it reads."""
    kind = kind_of(call.name)
    if kind != "other" or bearing_of(call.name) == "reads":
        return kind
    return "file_edit" if paths_of(call) and is_edit(arguments_of(call), name=call.name) else kind


def _of_call(done: Done, *, folder: str = "") -> Iterator[Entry]:
    kind = kind_of_call(done.call)
    match kind:
        case "file_edit" | "file_write":
            viewed = arguments_of(done.call).get("command") == "view"
            for path in _files_of(done):
                if not viewed:
                    yield _changed(done, path, verb=_verb_of(done.call, path))
                elif _is_read(done):
                    yield _read(done, path)
        case "file_read":
            if _is_read(done):
                yield from (_read(done, path) for path in paths_of(done.call))
        case "shell":
            command = command_of(done.call)
            if command:
                command = f"cd {folder} && {command}" if folder else command
                script, where = script_of(done.call), _folder_of(done.call)
                yield from shell_entries(done, command=command, script=script, folder=where)
        case _:
            if _is_told(done, kind):
                yield _action(done)


def _is_told(done: Done, kind: ToolKind) -> bool:
    """Whether a call of a tool that is neither an editor nor a shell has a line: an action, and what failed."""
    if kind == "other" and is_action(done.call.name, done.result, given=arguments_of(done.call)):
        return True
    return done.result is not None and (is_refused if kind == "other" else is_failed)(done.result)


def _action(done: Done) -> Entry:
    """A call of a tool of no known kind, whose failure is an open risk."""
    arguments = arguments_of(done.call)
    call, gist = call_line(done.call.name, arguments), gist_of_call(arguments)
    outcome = answer_of(done.result, arguments)
    about = f"; about: {gist}" if gist and gist.rstrip("…") not in outcome.replace("`", "'") else ""
    text = f"`{call}` → {outcome}{about}"
    section: Section = "risks" if done.result is not None and names_failure(outcome) else "mutations"
    return Entry(section=section, key=call, text=text, seq=done.seq, origin="tool")


def _files_of(done: Done) -> tuple[str, ...]:
    """The files of an editor's call, where its answer says where it is with their whole path."""
    paths, opened = paths_of(done.call), _open_file(done.result)
    return (
        opened
        if not paths or (len(paths) == 1 and opened[:1] and opened[0].endswith(f"/{paths[0]}"))
        else paths
    )


def _open_file(result: ToolResult | None) -> tuple[str, ...]:
    """The file that an editor without paths in its calls says is open, below its output (SWE-agent)."""
    found = _OPEN_FILE.findall(result_text(result)[-STATUS_CHARS:]) if result is not None else []
    return tuple(found[-1:])


def _is_read(done: Done) -> bool:
    """Whether a call that was to show a file did, as far as its answer says; one that is still to come may."""
    return done.result is None or not is_unread(done.result)


def _read(done: Done, path: str) -> Entry:
    return Entry(section="read", key=path, text=path, seq=done.seq, origin="assistant")


def _verb_of(call: ToolCall, path: str) -> str:
    """What a call does to a file: a patch says so of each of its files."""
    arguments = arguments_of(call)
    if arguments.get("command") in _UNDO or call.name.lower() in _UNDO:
        return "undo"
    if "delete" in call.name.lower() or _patched_by(call, arguments).get(path):
        return "delete"
    return "edit" if kind_of_call(call) == "file_edit" else "write"


def _changed(done: Done, path: str, *, verb: str) -> Entry:
    """A change to a file, told as made only where something says that it was."""
    failure = unmade(done.result, path, arguments=arguments_of(done.call)) if done.result is not None else ""
    if failure:
        key = f"{verb} of `{path}"
        return Entry(section="evidence", key=key, text=f"{key}` → {failure}", seq=done.seq, origin="tool")
    gist = "" if verb == "undo" else gist_of(arguments_of(done.call), path)
    text = f"{path} {_MADE[verb]}{gist}"
    return Entry(section="mutations", key=path, text=text, seq=done.seq, origin="assistant")


def is_unmade(call: ToolCall, result: ToolResult | None) -> bool:
    """True for an edit that its result does not say was made: what it was to bring is no value that holds."""
    if result is None or kind_of_call(call) not in ("file_edit", "file_write"):
        return False
    arguments = arguments_of(call)
    path = next(iter(paths_of(call)), "")
    return arguments.get("command") != "view" and bool(unmade(result, path, arguments=arguments))


def _decisions(message: Message, seq: int, *, told: Told) -> Iterator[Entry]:
    for part in message.parts:
        if isinstance(part, (Text, Reasoning)):
            for text in told.reasons(part.text):
                yield Entry(section="decisions", key=text, text=text, seq=seq, origin="assistant")


def _answer(message: Message, seq: int, *, told: Told) -> Iterator[Entry]:
    """What a turn ended with, where no reason told says as much."""
    if any(type(part) is ToolCall for part in message.parts):
        return
    said = "\n\n".join([part.text for part in message.parts if isinstance(part, Text)])
    text = told.answer(said)
    if text and not any(reason[:REASON_CHARS] in text for reason in told.reasons(said)):
        yield Entry(section="decisions", key=text, text=text, seq=seq, origin="assistant")


def asks(text: str) -> bool:
    """Whether a text ends with a question, or with a paragraph that holds one."""
    return _ASKS.search(text.rstrip().rpartition("\n\n")[2]) is not None


def _next(items: Sequence[Item]) -> Iterator[Entry]:
    """The last thing the assistant said it would do: its end, from the start of a line or a sentence. A question that the user
    has answered since is none; where the assistant has acted since, that is said."""
    answered = acted = False
    for item in reversed(items):
        message = item.message
        answered = answered or (speaks_for_user(message) and bool(message.text.strip()))
        if message.role != "assistant":
            continue
        acted = acted or any(type(part) is ToolCall for part in message.parts)
        said = [part.text for part in message.parts if isinstance(part, Text) and part.text.strip()]
        if said:
            end = _end_of(said[-1])
            # a sign of consent names no next step
            if _SAYS.search(end) is not None and not (answered and asks(said[-1])):
                text = f"{SAID_BEFORE if acted else SAID}{one_line(end, NEXT_CHARS)}"
                yield Entry(section="next", key="said", text=text, seq=item.seq, origin="assistant")
            return


def _end_of(said: str) -> str:
    """The end of a text from where something begins: a line, a sentence or, in one that is long, a word."""
    if len(said) <= NEXT_CHARS:
        return said
    end = said[-NEXT_CHARS:]
    for begins in (r"\n\s*(?=\S)", r"[.!?]\s+|[。！？]\s*", r"\s+"):
        found = re.search(begins, end[:-1])
        if found is not None:
            return end[found.end() :]
    return end
