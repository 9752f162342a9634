"""Tasks: what the agent's own list of things to do says now, call by call.

Two kinds of lists: one call that writes the whole list (`todo_write`, `update_plan`), whose newest state replaces all
before it, and calls that make or change one task (`TaskCreate`, `TaskUpdate`). A call that was refused changed nothing,
one that only reads says nothing. What a user gives up afterwards by a task's own words is withdrawn. Knows calls, users' words and the
tasks that an earlier ledger carried; whether a list still stands in the view is `compose`'s affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from foldline.core.message import result_text
from foldline.ledger.book import arguments_of, is_of_tasks
from foldline.ledger.entries import Done, Entry
from foldline.ledger.given_up import GivenUp, given_up_in
from foldline.ledger.lines import one_line, unbroken
from foldline.ledger.outcomes import is_refused
from foldline.ledger.requests import VERBS, requests
from foldline.ledger.rules_taken_back import telling

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
_LABEL = re.compile(r"^#\d{1,6} ")
_ASIDE: Final = re.compile(
    r"\s(?:to|for|in|on|with|of|from|at|by|into|per|via|using|so|because)\s", re.IGNORECASE
)
"""Where a task goes on from what it is about to what that is for."""
_OF_LIST = re.compile(
    r"\b(?:from|off) (?:the|your|our) (?:\w{1,10} )?(?:list|plan|todos?|to-dos?|tasks?)\b|\b(?:task|to-?do|item|step)s?\b|(?:这个|这项|那个)?(?:任务|待办|步骤)",
    re.IGNORECASE,
)
"""What says of words that they speak of the list."""
_REMOVES = frozenset(
    "remove delete drop clear clean abandon scrap uninstall disable deprecate strip purge retire kill revert undo cancel replace".split()
)
"""Tasks that take something away: who is done with the thing wants them all the more, so that only their own verb's words give them up."""
_MAKES = frozenset(
    "add build create design develop document draft generate implement import include insert install integrate introduce make output prepare produce provide set setup write".split()
)
"""Tasks that bring something, which fall with the wish for it."""
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_HAN_DOES = re.compile(
    r"添加|增加|新增|加上|加入|加|编写|撰写|写|制作|做|实现|修复|修改|修|改|更新|创建|新建|完成|优化|测试|补充|补|检查|运行|部署|设计|开发|整理|删除|移除|重构"
)
_HAN_SMALL = re.compile(r"[\s\W]|(?:了|吧|啦)$|^(?:再|那个|这个)|(?:功能|的?部分)$|は$|を$")


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


def withdrawn(tasks: Sequence[Entry], said: Iterable[tuple[int, str]]) -> tuple[Entry, ...]:
    """The tasks, each open one as withdrawn that a user's later words give up where they can mean no other, until the user asks for it
    again. `said`: what users said, in its order."""
    found, gone = list(tasks), dict[int, Entry]()
    meant = [place for place, each in enumerate(found) if _is_open(each) and each.seq >= 0]
    marks: dict[str, list[int]] = {}
    for place in meant:
        for word in _marks(found[place].key):
            marks.setdefault(word, []).append(place)
    first = min([found[place].seq for place in meant], default=0)
    for seq, text in said if marks else ():
        if seq <= first:
            continue
        lowered = text.lower()
        named = sorted({place for word in marks if word in lowered for place in marks[word]})
        is_open = [place for place in named if place not in gone and found[place].seq < seq]
        for place in [place for place in named if place in gone]:
            if _is_asked(_LABEL.sub("", found[place].key), text):
                found[place] = gone.pop(place)
        for given in given_up_in(text, is_users=True) if is_open else ():
            hits = [place for place in is_open if _is_named(_LABEL.sub("", found[place].key), given)]
            if len(hits) == 1 and hits[0] not in gone:
                hit = gone[hits[0]] = found[hits[0]]
                found[hits[0]] = replace(hit, text=f"[withdrawn] {hit.key}", seq=seq, origin="user")
    return tuple(found)


def _is_open(entry: Entry) -> bool:
    return entry.text.startswith("[open]")


def _marks(task: str) -> Iterable[str]:
    """Some of these stand in every text that names a task."""
    return _HAN.findall(task) or telling(task.lower())


def _is_asked(task: str, said: str) -> bool:
    """Whether a text asks for a task in its words."""
    wanted = telling(task)
    return any(
        task.lower() in asked.text.lower() or (bool(wanted) and wanted <= telling(asked.text))
        for asked in requests(said)
        if asked.kind == "task"
    )


def _is_named(task: str, given: GivenUp) -> bool:
    """Whether the words of something given up are those of a task: all, or what it is about where no deed is meant."""
    if given.how == "judged":
        return False
    what = _OF_LIST.sub(" ", given.what)
    verb = task.partition(" ")[0].lower()
    needs_all = verb in _REMOVES or (given.how == "deed" and what == given.what)
    if given.how == "unwanted" and verb in VERBS and verb not in _MAKES:
        needs_all = True  # what is not wanted may still be to be read
    if _HAN.search(task) is not None:
        return _is_same_in_han(task, what, needs_all=needs_all)
    said, words = telling(what), telling(task)
    about = telling(_ASIDE.split(task, maxsplit=1)[0])
    if len(about) > 1 and verb in VERBS:
        about -= telling(verb)
    return bool(said) and said <= words and (words if needs_all else about) <= said


def _is_same_in_han(task: str, what: str, *, needs_all: bool) -> bool:
    wanted, said = _HAN_SMALL.sub("", task.lower()), _HAN_SMALL.sub("", what)
    if wanted == said or needs_all:
        return wanted == said
    does, asked = _HAN_DOES.match(wanted), _HAN_DOES.match(said)
    if does is None or (asked is not None and asked[0] not in (does[0], *does[0], "做")):
        return False
    return wanted[does.end() :] == (said if asked is None else said[asked.end() :])


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
