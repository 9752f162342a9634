"""Tasks: what the agent's own list of things to do says now, call by call.

Two kinds of lists: one call that writes the whole list (`todo_write`, `update_plan`), whose newest state replaces all
before it, and calls that make or change one task (`TaskCreate`, `TaskUpdate`). A call that was refused changed nothing,
one that only reads says nothing. Knows calls and the tasks that an earlier ledger carried; whether a list still stands in
the view is `compose`'s affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from foldline.core.message import result_text
from foldline.ledger.book import arguments_of, is_of_tasks
from foldline.ledger.entries import Done, Entry
from foldline.ledger.lines import one_line, unbroken
from foldline.ledger.outcomes import is_refused

TODO_CHARS = 160

_WHAT = ("content", "step", "title", "text", "task", "subject")
_ID = ("taskId", "task_id", "id")
_STATUS = ("status", "state", "done", "completed", "is_done", "checked", "progress")
"""Where a row says how far it is; a truth value says whether it is done."""
_DONE = frozenset(
    "completed done complete finished served closed resolved checked x ✓ ✔ ✅ ☑ 完成 已完成 已结束 完了 완료 erledigt fertig hecho completado terminé fait concluído готово выполнено".split()
)
_GONE = frozenset(
    "cancelled canceled deleted withdrawn removed skipped dropped abandoned obsolete wontfix 已取消 取消 已删除 已跳过 跳过 キャンセル 취소 abgebrochen cancelado annulé отменено".split()
)
_OPEN = frozenset(
    "open pending todo to-do new queued not_started 待办 待处理 未开始 未完成 未着手 대기".split()
)
_GOES_ON = re.compile(r"progress|\bdoing\b|\bactive\b|\bstarted$|进行|進行|진행", re.IGNORECASE)
_SHOWN_CHARS = 24
"""What is told of a status that no list here knows."""
_NUMBER = re.compile(r"#(\d{1,6})\b")
_STATE = re.compile(r"\[(done|served|withdrawn|open)\] |( \((?:in progress|status: [^()\n]{1,24})\))$")


def tasks_of(calls: Iterable[Done], before: Iterable[Entry] = ()) -> tuple[Entry, ...]:
    """The tasks after the calls, newest change last, each once. `before` are those of an earlier ledger."""
    tasks = {entry.key: entry for entry in before}
    for done in calls:
        if not is_of_tasks(done.call) or (done.result is not None and is_refused(done.result)):
            continue
        arguments = arguments_of(done.call)
        rows = next((value for value in arguments.values() if isinstance(value, list)), None)
        if rows is not None:
            tasks = _listed(rows, tasks, seq=done.seq)
        elif (entry := _changed(done, arguments, tasks=tasks)) is not None:
            tasks.pop(entry.key, None)
            tasks[entry.key] = entry
    return tuple(tasks.values())


def _listed(rows: list[Any], before: Mapping[str, Entry], *, seq: int) -> dict[str, Entry]:
    """A whole list; of what stood before, what was served. What the agent dropped is open no more."""
    tasks = {key: entry for key, entry in before.items() if not entry.text.startswith("[open]")}
    for row in rows:
        what = _text_in(row, _WHAT) if isinstance(row, dict) else ""
        if what:
            entry = _entry(what, _status_in(row) or "open", seq=seq)
            tasks.pop(entry.key, None)
            tasks[entry.key] = entry
    return tasks


def _changed(done: Done, arguments: Mapping[str, Any], *, tasks: Mapping[str, Entry]) -> Entry | None:
    """One task that a call made or changed; known by its number, which the result of its making says."""
    number, what = _text_in(arguments, _ID), _text_in(arguments, _WHAT)
    if not number and what and done.result is not None:
        found = _NUMBER.search(result_text(done.result))
        number = found[1] if found is not None else ""
    known = next((entry for key, entry in tasks.items() if number and key.startswith(f"#{number} ")), None)
    status = _status_in(arguments)
    if known is not None:
        what = _STATE.sub("", known.text)
        if not status:
            return None
    elif not what:
        return None
    elif number:
        what = f"#{number} {what}"
    return _entry(what, status or "open", seq=done.seq)


def _text_in(holder: Mapping[str, Any], names: Iterable[str]) -> str:
    for name in names:
        value = holder.get(name)
        if isinstance(value, str) or (type(value) is int and name in _ID):
            return str(value)
    return ""


def _status_in(row: Mapping[str, Any]) -> str:
    """How far a row says it is; empty where it does not say."""
    for name in _STATUS:
        value = row.get(name)
        if isinstance(value, bool):
            return "done" if value else "open"
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _entry(what: str, status: str, *, seq: int) -> Entry:
    word = status.lower()
    state = "done" if word in _DONE else "withdrawn" if word in _GONE else "open"
    shown = one_line(unbroken(what), TODO_CHARS)
    more = ""
    if state == "open" and "not" not in word and _GOES_ON.search(word):
        more = " (in progress)"
    elif state == "open" and word not in _OPEN:
        told = one_line(re.sub(r"[()]", " ", unbroken(status)), _SHOWN_CHARS)
        more = f" (status: {told})" if told else ""
    return Entry(section="tasks", key=shown, text=f"[{state}] {shown}{more}", seq=seq, origin="assistant")
