"""The book: what was done, found out and left open, entry by entry, from calls and results alone.

Built by rules from the units that leave the view; every entry keeps who said it and where. Nothing that a tool, a file
or the web said becomes an objective, a constraint or a task: those come from users (`compose`) and from the agent's own
list of things to do. Knows calls by what their tools do (`foldline.ledger.tools`). Counterpart: `render`, which writes the entries under their headings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foldline.core.message import Message, Reasoning, Text, ToolCall, ToolResult, result_text, speaks_for_user
from foldline.core.view import Item
from foldline.ledger.actions import answer_of, call_line, gist_of_call, is_action, is_same_task
from foldline.ledger.changes import gist_of
from foldline.ledger.command_lines import hides_status, only_looks, run_of, script_in
from foldline.ledger.facts import Origin
from foldline.ledger.lines import one_line, unbroken
from foldline.ledger.outcomes import (
    FAILED_AT,
    names_failure,
    outcome_of,
    unmade,
    went_well,
)
from foldline.ledger.sentences import sentences
from foldline.ledger.successes import is_doubted
from foldline.ledger.tools import kind_of

Section: TypeAlias = Literal[
    "objective", "decisions", "mutations", "evidence", "tasks", "risks", "next", "read", "index"
]
"""The seven headings of the ledger; `read` stands beside the mutations and `index` below all."""

COMMAND_CHARS = 160
COMMAND_END_CHARS = 48
SIGN_CHARS = 6
DECISION_CHARS = 240
NEXT_CHARS = 300
STATUS_CHARS = 1_000
"""How far from its end a result is searched for what an editor says of itself."""
TOLD_CHARS_MAX = 16 << 20
"""About what the calls that `Told` remembers may hold with their results before it forgets all and starts again: a history
of two million tokens twice over."""
CALL_CHARS = 1_000
"""About what a call takes beside its characters, with its entries."""
TEXT_CHARS = 200
"""About what a text of the agent's takes beside its characters."""
TOOLS_MAX = 512
"""Names of tools that are remembered by what they do."""
PATHS_MAX = 64
"""Paths taken from one call."""

_PATH_KEYS = (
    "path",
    "file_path",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "filepath",
    "absolute_path",
)
_PATCH_PATH = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,512})$", re.MULTILINE)
_OPEN_FILE = re.compile(r"^\(Open file: (/[^\n]{1,512})\)$", re.MULTILINE)
_CHANGE_FOLDER = re.compile(r"^\s*(cd [^\n;&|]{0,300}[^\n;&|\s])\s*(?:&&|;|\n)\s*")
_FOLDER_KEYS = ("workdir", "cwd", "working_directory", "work_dir", "working_dir", "directory")
_REASONS = (
    *("because", "since", "so that", "instead of", "rather than", "decid", "chose", "cause", "turns out"),
    *("因为", "由于", "决定", "改用", "原因", "而不是", "因此", "所以"),
)
_BECAUSE = re.compile(
    r"\bbecause\b|\bsince\b|\bso that\b|\binstead of\b|\brather than\b|\bdecided\b|\bdecision\b|\bchose\b|\bthe (?:root )?cause\b"
    r"|\bturns out\b|因为|由于|决定|改用|原因|而不是|因此|所以",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\byet to|\bstill to|\bneed to|\bhave to|\bmust|\bshould|\bwill|\blet me|\bto|\bcannot) (?:yet |even |fully |really )?(?:been )?(?:decid|cho[so])"
    r"|\b(?:maybe|perhaps|possibly|should probably|(?:it|we) could|could (?:also|either|just|simply|even))\b|\bundecided\b|\bdecid\w* (?:yet )?(?:whether|if|between)\b|(?:\bnot|n['’]t) (?:\w{1,12} )?because\b|[?？][\"'”’)\]]{0,3}$"
    r"|(?:还没|没有|尚未|还未|未曾|未)(?:有)?(?:做)?(?:出)?决定|(?:不是|并非|并不是)(?:因为|由于)|(?:是否|要不要)",
    re.IGNORECASE,
)
"""What speaks of a decision that was not made, or denies a reason."""
_REVERSES = re.compile(
    r"\W*(?:(?:but|oh|hmm|and|so|well|ok|okay)\W+){0,2}(?:actually|wait|no\b|nope|on (?:reflection|second thoughts?)|thinking (?:about it )?again|scratch that|forget that|never\s?mind|correction|instead"
    r"|(?:that|this|it) (?:was|is) (?:wrong|a mistake|not right|incorrect)|(?:that|it)['’]s (?:wrong|not right)|i was (?:wrong|mistaken)|i take that back|i (?:have )?changed my mind|however)\b"
    r"|\W*(?:不对|等等|等一下|算了|其实|更正|重新考虑|改主意|转念|不过|但是|错了)",
    re.IGNORECASE,
)
"""How a sentence opens that may take back the one before."""
_SAYS = re.compile(r"\w{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TASK_TOOLS = re.compile(r"todo|update_?plan|task_?(?:list|update|create|get)|plan_?write", re.IGNORECASE)
_MADE = {"edit": "edited", "write": "written", "delete": "deleted", "undo": "edit undone"}
_UNDO = ("undo_edit", "undo")
UNDONE = " edit undone"
LAST_UNDONE = "; last edit undone"
_ASKS = re.compile(r"[?？؟](?=[\s\"'”’)\]）」*_]|$)|(?:吗|呢)[。\s]*$")


NOTHING_FOUND = ("failed (exit 1): (no output)", "failed (exit 1): no output")
"""What a search comes to that finds nothing."""
CALLED_AGAIN = re.compile(r"; (?:called again at m\d+, .*|done at m\d+)$")
"""Behind what an action that failed came to: what a later one for the same task did."""
NOT_SEEN_TO_PASS = ", not seen to pass since"
ANSWER_CHARS = 100
REPORT_CHARS = 60
"""What is told of an answer is this long where it is a report, not a word that may say that something waits."""


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """One line of the ledger."""

    section: Section
    key: str
    """Entries of one key are one: the newest stands."""
    text: str
    """One line, as it will be read; not yet escaped."""
    seq: int
    """Ordinal of the message it comes from."""
    origin: Origin
    times: int = 1


class Done(Struct, frozen=True, kw_only=True, gc=False):
    """One call with what came of it."""

    seq: int
    call: ToolCall
    result: ToolResult | None


class Told:
    """What was told of calls and of the agent's words, to be known when the same call leaves the view again: in the second draft of a ledger, or at
    the next compaction of a history that came back longer. A call is known by its whole result, which is held for it, also
    when it has left the view: bounded by about what all of them take."""

    def __init__(self, *, chars_max: int = TOLD_CHARS_MAX) -> None:
        self._entries: dict[tuple[int, str, str, str, bool, str], tuple[Entry, ...]] = {}
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._chars_max = chars_max
        self._chars = 0

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
            self._make_room(CALL_CHARS + len(done.call.arguments) + len(text))
            known = self._entries[key] = tuple(_of_call(done, folder=folder))
        return known

    def reasons(self, said: str) -> tuple[str, ...]:
        """The sentences in which a text gives a reason."""
        known = self._reasons.get(said)
        if known is None:
            self._make_room(TEXT_CHARS + len(said))
            known = self._reasons[said] = tuple(_reasons(said))
        return known

    def _make_room(self, chars: int) -> None:
        if self._chars + chars > self._chars_max:
            self._entries, self._reasons, self._chars = {}, {}, 0
        self._chars += chars


def entries_of(
    items: Sequence[Item], *, told: Told | None = None, calls: Sequence[Done] | None = None
) -> tuple[Entry, ...]:
    """Every entry the items give, newest state of each key, in order of the key's last mention; O(n). `calls`: of the items."""
    book: dict[tuple[Section, str], Entry] = {}
    for found in _entries(items, calls or list(calls_in(items)), told=Told() if told is None else told):
        entry = found
        if not (found.key.isprintable() and found.text.isprintable()):
            entry = replace(found, key=unbroken(found.key), text=unbroken(found.text))
        before = book.pop((entry.section, entry.key), None)
        book[entry.section, entry.key] = entry if before is None else carried_on(before, entry)
    return tuple(book.values())


def carried_on(before: Entry, entry: Entry) -> Entry:
    """The newer of two entries of one key. A run that says that it went well settles that one before it had not; one that
    says nothing of it leaves that open."""
    if entry.section == "mutations" and (entry.text.endswith(UNDONE) or before.text.endswith(UNDONE)):
        return _undone(before, entry)
    times = before.times + entry.times
    outcome, last = outcome_in(before), outcome_in(entry)
    if not outcome or names_failure(last) or FAILED_AT.search(entry.text):
        return replace(entry, times=times)
    failed = FAILED_AT.search(before.text)
    mark = failed[0] if failed is not None else ""
    if names_failure(FAILED_AT.sub("", outcome)):
        mark = f"; failed at m{before.seq}{NOT_SEEN_TO_PASS}"
    if went_well(last):
        mark = mark.removesuffix(NOT_SEEN_TO_PASS)
    return replace(entry, text=f"{entry.text}{mark}", times=times)


def _undone(before: Entry, entry: Entry) -> Entry:
    """A change to a file that was taken back, or one made after that: what is left of it is told, once."""
    if not entry.text.endswith(UNDONE) or before.text.endswith(UNDONE) or before.times < 2:
        return replace(entry, times=1)
    text = f"{before.text.removesuffix(LAST_UNDONE)}{LAST_UNDONE}"
    return replace(entry, text=text, times=before.times - 1)


def outcome_in(entry: Entry) -> str:
    """What a command or an action came to, as its entry says; empty for other entries."""
    is_told = entry.section in ("evidence", "risks", "mutations") and "` → " in entry.text
    return entry.text.rpartition("` → ")[2] if is_told else ""


def _entries(items: Sequence[Item], made: Sequence[Done], *, told: Told) -> Iterator[Entry]:
    for item in items:
        message = item.message
        if message.role == "assistant":
            yield from _decisions(message, item.seq, told=told)
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
    failed = {(done.seq, _action(done).text): done for done in calls if kind_of(done.call.name) == "other"}
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


def settled(entry: Entry, *, by: Entry) -> Entry:
    """An action that failed, with what a later one for the same task came to."""
    outcome, text = outcome_in(by), CALLED_AGAIN.sub("", entry.text)
    if names_failure(outcome):
        return entry
    if outcome.startswith("ok") or (len(outcome) >= REPORT_CHARS and not is_doubted(outcome)):
        return replace(entry, section="evidence", text=f"{text}; done at m{by.seq}")
    return replace(entry, text=f"{text}; called again at m{by.seq}, {one_line(outcome, ANSWER_CHARS)}")


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
    """The same of messages with their ordinals. In the order in which they were called: results may come in any."""
    asked: list[tuple[int, ToolCall]] = []
    waiting: dict[str, int] = {}
    results: dict[int, ToolResult] = {}
    for seq, message in messages:
        for part in message.parts:
            if type(part) is ToolCall:
                waiting[part.id] = len(asked)
                asked.append((seq, part))
            elif type(part) is ToolResult and part.call_id in waiting:
                results[waiting.pop(part.call_id)] = part
    for place, (seq, call) in enumerate(asked):
        yield Done(seq=seq, call=call, result=results.get(place))


def is_of_tasks(call: ToolCall) -> bool:
    """True for a call of a tool that keeps a list of things to do (`foldline.ledger.tasks`)."""
    return _keeps_tasks(call.name)


@lru_cache(maxsize=TOOLS_MAX)
def _keeps_tasks(name: str) -> bool:
    return _TASK_TOOLS.search(name) is not None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """A call's arguments; empty where they are no object."""
    try:
        value = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def paths_of(call: ToolCall) -> tuple[str, ...]:
    """Files a call names."""
    arguments = arguments_of(call)
    found = [arguments[key] for key in _PATH_KEYS if isinstance(arguments.get(key), str)]
    for value in arguments.values():
        if isinstance(value, str) and "*** " in value:
            found += _PATCH_PATH.findall(value)
    if not arguments and "*** " in call.arguments:
        found += _PATCH_PATH.findall(call.arguments.replace("\\n", "\n"))
    return tuple(dict.fromkeys(path.strip() for path in found if path.strip()))[:PATHS_MAX]


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
    return f"{one_line(flat, COMMAND_CHARS - len(sign) - len(end) - 1)} {end}{sign}"


def _of_call(done: Done, *, folder: str = "") -> Iterator[Entry]:
    kind = kind_of(done.call.name)
    match kind:
        case "file_edit" | "file_write":
            viewed = arguments_of(done.call).get("command") == "view"
            for path in paths_of(done.call) or _open_file(done.result):
                yield _read(done, path) if viewed else _changed(done, path, verb=_verb_of(done.call, path))
        case "file_read":
            for path in paths_of(done.call):
                yield _read(done, path)
        case "shell":
            command = command_of(done.call)
            if command:
                command = f"cd {folder} && {command}" if folder else command
                script = script_of(done.call)
                outcome = outcome_of(done.result, hidden=hides_status(script), script=script)
                if (not names_failure(outcome) or outcome in NOTHING_FOUND) and only_looks(script):
                    return
                text = f"`{command}` → {outcome}"
                yield Entry(section="evidence", key=run_of(command), text=text, seq=done.seq, origin="tool")
        case _:
            entry = _action(done)
            is_told = kind == "other" and is_action(done.call.name, done.result)
            if is_told or entry.section == "risks":
                yield entry


def _action(done: Done) -> Entry:
    """A call of a tool of no known kind, whose failure is an open risk."""
    arguments = arguments_of(done.call)
    call, gist = call_line(done.call.name, arguments), gist_of_call(arguments)
    outcome = answer_of(done.result, arguments)
    about = f"; about: {gist}" if gist and gist.rstrip("…") not in outcome.replace("`", "'") else ""
    text = f"`{call}` → {outcome}{about}"
    section: Section = "risks" if done.result is not None and names_failure(outcome) else "mutations"
    return Entry(section=section, key=call, text=text, seq=done.seq, origin="tool")


def _open_file(result: ToolResult | None) -> tuple[str, ...]:
    """The file that an editor without paths in its calls says is open, below its output (SWE-agent)."""
    found = _OPEN_FILE.findall(result_text(result)[-STATUS_CHARS:]) if result is not None else []
    return tuple(found[-1:])


def _read(done: Done, path: str) -> Entry:
    return Entry(section="read", key=path, text=path, seq=done.seq, origin="assistant")


def _verb_of(call: ToolCall, path: str) -> str:
    """What a call does to a file: a patch says so of each of its files."""
    patch = call.arguments.replace("\\n", "\n")
    named = re.search(
        rf"^.{{0,200}}\*\*\* (Update|Add|Delete) File: {re.escape(path)}\s*$", patch, re.MULTILINE
    )
    if arguments_of(call).get("command") in _UNDO or call.name.lower() in _UNDO:
        return "undo"
    if "delete" in call.name.lower() or (named is not None and named[1] == "Delete"):
        return "delete"
    return "edit" if kind_of(call.name) == "file_edit" else "write"


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
    if result is None or kind_of(call.name) not in ("file_edit", "file_write"):
        return False
    arguments = arguments_of(call)
    path = next(iter(paths_of(call)), "")
    return arguments.get("command") != "view" and bool(unmade(result, path, arguments=arguments))


def _decisions(message: Message, seq: int, *, told: Told) -> Iterator[Entry]:
    for part in message.parts:
        if isinstance(part, (Text, Reasoning)):
            for text in told.reasons(part.text):
                yield Entry(section="decisions", key=text, text=text, seq=seq, origin="assistant")


def _reasons(said: str) -> Iterator[str]:
    """Sentences in which the assistant gives a reason, each with the next one where that turns against it, and none that the
    next one only doubts; one that announces what follows says nothing by itself."""
    spans = sentences(said) if _may_give_reason(said) else ()
    for place, (start, end) in enumerate(spans):
        if not _decides(said[start:end]):
            continue
        after = spans[place + 1] if place + 1 < len(spans) else (end, end)
        turns = _REVERSES.match(said, *after) is not None
        if turns and _UNDECIDED.search(said[slice(*after)]):
            continue
        yield one_line(said[start : after[1] if turns else end], DECISION_CHARS)


def _decides(sentence: str) -> bool:
    return (
        _may_give_reason(sentence)
        and not sentence.endswith((":", "："))
        and _BECAUSE.search(sentence) is not None
        and not _UNDECIDED.search(sentence)
    )


def _may_give_reason(text: str) -> bool:
    """Whether a text holds a word of `_BECAUSE`; far cheaper than the expression."""
    lowered = text.lower()
    return any([word in lowered for word in _REASONS])


def asks(text: str) -> bool:
    """Whether a text ends with a question, or with a paragraph that holds one."""
    return _ASKS.search(text.rstrip().rpartition("\n\n")[2]) is not None


def _next(items: Sequence[Item]) -> Iterator[Entry]:
    """The last thing the assistant said it would do: its end, from a word's start. A question that the user has answered
    since is none."""
    answered = False
    for item in reversed(items):
        answered = answered or (speaks_for_user(item.message) and bool(item.message.text.strip()))
        if item.message.role == "assistant":
            said = [part.text for part in item.message.parts if isinstance(part, Text) and part.text.strip()]
            if said:
                end = said[-1][-NEXT_CHARS * 2 :]
                if len(end) < len(said[-1]) and not said[-1][-len(end) - 1].isspace():
                    end = "".join(re.split(r"(\s)", end, maxsplit=1)[1:]) or end
                if _SAYS.search(end) is None:  # a sign of consent names no next step
                    return
                if answered and asks(said[-1]):
                    return
                text = one_line(end, NEXT_CHARS)
                yield Entry(
                    section="next", key="said", text=f"last said: {text}", seq=item.seq, origin="assistant"
                )
                return
