"""What says of a call that it was carried out: the known words of success, a structured answer, or the new text itself.

Silence, an unknown word and a word that is denied, doubted or put off are none of these: what is not said is not taken
for done, in whatever language it is not said. Counterpart: `outcomes`, which also knows what says that a call failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from foldline.core.json_text import object_in

ANSWER_CHARS = 400
"""How far an answer is read for what it says of its call; behind that stands what it shows."""
SHOWN_CHARS = 20_000
"""How far it is read for the new text."""
LINES_MAX = 200
_LINE_CHARS_MIN = 4

_DONE = re.compile(
    r"\b(?:updated|edited|applied|created|wrote|written|saved|replaced|inserted|appended|modified|changed|added|deleted|removed|overwrote|overwritten"
    r"|succe(?:ss|eded|eds|ssful|ssfully)|completed?|finished|done|ok|okay|passed|passing|passes|sent|deployed|published|uploaded|installed|built|merged|pushed"
    r"|aktualisiert|gespeichert|erstellt|ersetzt|erfolgreich|actualizado|guardado|creado|éxito|mis à jour|enregistré|créé|succès|atualizado|salvo|criado|sucesso|обновл\w+|сохран\w+|созда\w+|успешно)\b"
    r"|[✓✔✅]|成功|已经?(?:更新|修改|写入|保存|创建|替换|应用|编辑|删除|完成|通过|发送|部署)|(?:更新|修改|写入|保存|创建|替换|编辑|删除|部署)(?:完成|完毕)|(?:全部|测试|检查|构建|均)已?通过"
    r"|(?:更新|保存|作成|編集|置換|適用|変更|削除|完了)しました|完了|성공|완료|(?:저장|수정|생성|적용)(?:했|되었|됨)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:no|not|never|nothing|none|neither|nor|without|zero|cannot|would|will|could|should|shall|must|may|might|can|if|unless|until|when|once|but|however|instead|only|yet|needs?|requires?|required"
    r"|except|almost|partly|partial\w*|wait\w*|await\w*|pending|staged|propos\w+|preview\w*|suggest\w+|simulat\w+|dry|queued|scheduled|requested|background|running|in progress"
    r"|denied|denies|reject\w*|refus\w+|revert\w*|undone|undid|undo|rolled|rollback|block\w*|fail\w*|errors?|fatal|abort\w*|cancel\w*|skip\w*|discard\w*|dismiss\w*|ignor\w+|declin\w+|withheld|conflict\w*"
    r"|interrupt\w*|missing|invalid|unable|unchanged|problems?|timed?[ -]?out|killed|crash\w*|nicht|kein\w*|nie|ohne|ningun\w*|nunca|sin|pas|aucun\w*|jamais|sans|não|nenhum\w*|sem|не|нет|без|ни)\b"
    r"|n['’]t\b|(?<![\d.,:])0(?![\d.,:%])|[✗✖✘❌⚠]|[未没沒不无無非拒败敗错錯误誤异異待需将將]|失败|撤|回滚|取消|跳过|ません|なかっ|ない|않|못|안 |실패|없",
    re.IGNORECASE,
)
_NOTHING_BAD = re.compile(
    r"\b(?:0|no|zero|without|with no)\s(?:\w{1,20}\s){0,2}?(?:errors?|failed|failures?|failing|warnings?|problems?|issues|skipped|pending|conflicts?)\b"
    r"|\b(?:errors?|failed|failures?|warnings?|problems?|skipped)\s?[:=]\s?0\b|(?:没有|无|未发现|0 ?个?)(?:错误|失败|警告|问题)",
    re.IGNORECASE,
)
"""What says that nothing went wrong: no doubt, and by itself a success."""
_MENDED = re.compile(r"(?:修复|解决|处理)了?[^，。；]{0,8}(?:错误|异常|失败)?(?:处理)?")
_COUNTS = re.compile(r"\b(\d{1,9})\s?(?:/|of|out of)\s?(\d{1,9})\b")
_QUOTED = re.compile(r"'[^'\n]{0,200}'|`[^`\n]{0,200}`|\"[^\"\n]{0,200}\"")
_SHOWS_FILE = re.compile(r"\[File: [^\n]{0,512} \(\d{1,9} lines total\)\]")
"""How an editor shows the file as it is now (SWE-agent)."""
_SENTENCE_END = re.compile(r"[.!;。！；](?=\s|$|[^\x00-\x7f])|\n|(?<=[\w)])[:：](?=\s|$)")
_YES = ("success", "ok", "succeeded", "done", "applied", "completed", "updated", "created", "saved")
_NUMBERED = ("applied", "replacements", "replaced", "changes", "edits", "occurrences", "modified", "updated")
_STATES = ("status", "state", "result", "outcome")
_REHEARSED = frozenset(
    ("dryrun", "isdryrun", "simulated", "simulation", "validateonly", "previewonly", "noop")
)
"""Fields, without what joins their words, by which an answer says that nothing was done but tried out."""


def says_done(text: str) -> bool:
    """Whether a text opens by saying, in known words and without any doubt, that something was done."""
    opening = _QUOTED.sub("''", text[:ANSWER_CHARS].strip())
    if _SHOWS_FILE.match(opening):
        return True
    end = _SENTENCE_END.search(opening)
    first = opening[: end.start()] if end is not None else opening
    return _is_success(first) and not is_doubted(opening.partition("\n")[0][: ANSWER_CHARS // 2], undone=True)


def line_says_done(line: str) -> bool:
    """Whether a whole line says so, and nothing in it is in doubt."""
    return _is_success(line)


def _is_success(said: str) -> bool:
    counted = all(done == all_of for done, all_of in _COUNTS.findall(said))
    return (
        counted
        and (_DONE.search(said) is not None or _NOTHING_BAD.search(said) is not None)
        and not is_doubted(said)
    )


_UNDONE = re.compile(
    r"\b(?:revert(?:ed)?|undone|rolled back|reject(?:ed)?|denied|discarded|not saved|refused|withheld)\b|回滚|撤销|撤回|还原|拒绝",
    re.IGNORECASE,
)


def is_doubted(said: str, *, undone: bool = False) -> bool:
    """Whether a text denies, doubts or puts off what it says; with `undone`, only whether it takes it back."""
    plain = _MENDED.sub("", _NOTHING_BAD.sub("", said))
    return (_UNDONE if undone else _DOUBT).search(plain) is not None


def structured_success(text: str) -> bool | None:
    """What a structured answer says by its fields: done, not done, or neither."""
    if text.lstrip()[:1] != "{":
        return None
    value = object_in(text)
    return None if _tries(value) else _said_by(value)


def is_rehearsal(text: str) -> bool:
    """Whether a structured answer says that what was asked for was only tried out."""
    return text.lstrip()[:1] == "{" and _tries(object_in(text))


def _tries(value: Mapping[str, Any]) -> bool:
    every = [value, *(inner for inner in value.values() if isinstance(inner, dict))]
    return any(
        said is True and re.sub(r"[\W_]", "", key).lower() in _REHEARSED
        for fields in every
        for key, said in fields.items()
    )


def _said_by(value: Mapping[str, Any]) -> bool | None:
    told = [
        value[key] for key in ("success", "ok", "applied", "succeeded") if isinstance(value.get(key), bool)
    ]
    counts = [value[key] for key in _NUMBERED if type(value.get(key)) is int]
    if False in told or value.get("error") or value.get("errors") or 0 in counts:
        return False
    if told or counts:
        return True
    for key in _STATES:
        state = value.get(key)
        if isinstance(state, str):
            return True if state.lower() in _YES else None
    return None


def shows_new_text(text: str, arguments: Mapping[str, Any], *, path: str) -> bool:
    """Whether an answer shows what a call was to write, and does not open with a doubt."""
    said = text[:SHOWN_CHARS]
    new = {line for line in _new_lines(arguments) if line in said}
    if not new or is_doubted(text.lstrip()[:ANSWER_CHARS].partition("\n")[0].replace(path, "")):
        return False
    return not new.isdisjoint([line.strip(" \t+|0123456789:→") for line in said.split("\n")])


def _new_lines(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a call's arguments that may be new: those of texts that say what is to go are left out."""
    old = {
        line for key, text in _texts(arguments) if "old" in key or key == "search" for line in _lines(text)
    }
    for key, text in _texts(arguments):
        if not ("old" in key or key == "search" or "path" in key or "file" in key.partition("_")[0]):
            yield from [line for line in _lines(text) if line not in old]


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in arguments.items():
        if isinstance(value, str):
            yield key.lower(), value
        elif isinstance(value, list):
            for each in value[:LINES_MAX]:
                if isinstance(each, dict):
                    yield from ((name.lower(), text) for name, text in each.items() if isinstance(text, str))


def _lines(text: str) -> list[str]:
    lines = (line.strip(" \t+|0123456789:→") for line in text[:SHOWN_CHARS].split("\n")[:LINES_MAX])
    return [line for line in lines if len(line) >= _LINE_CHARS_MIN and re.search(r"\w", line)]
