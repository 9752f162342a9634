"""What is taken of a summariser's reply, and when it is no summary.

    reply ──► analysis and thoughts out, <summary> taken (requirement CMP-4) ──► the text, or a failure by its name

A model's words are put into a fold line by line, each with one space before it: so no line of them reads as a line of the
host's record (`foldline.ledger.render`), whatever they say, and no opening of our tags stands in them. Knows text alone.
"""

from __future__ import annotations

import re
import zlib
from typing import Final, TypeAlias

from msgspec import Struct

from foldline.core.address import escape_tags
from foldline.core.completion import FailureName, Reply
from foldline.summary.language import is_in_another
from foldline.wire.endings import ending

Fault: TypeAlias = tuple[FailureName, str]
"""A failure's name, and why in a few words."""

SHORT_CHARS: Final = 40
"""A text below this says too little of …"""
SHORT_OF_TOKENS: Final = 200
"""… so many tokens or more."""
PHRASE_CHARS: Final = 300
"""A refusal or an acknowledgement is no longer than this …"""
OPENING_CHARS: Final = 80
"""… and says so in its beginning."""
COPY_CHARS: Final = 400
"""A text below this is no copy: it may be one quotation."""
COPY_PIECE: Final = 48
COPY_PIECES: Final = 160
COPY_SHARE: Final = 0.8
"""A text of whose pieces so many stand in what was to be summed up is a copy of it."""
REPEATED_CHARS: Final = 800
REPEATED_SHARE: Final = 0.1
"""A text that packs into this share of itself says the same again and again; summaries pack into a third."""

_THOUGHTS: Final = ("analysis", "think", "thinking", "reasoning")
_OPENING: Final = re.compile(rf"<({'|'.join(_THOUGHTS)})>", re.IGNORECASE)
_CLOSINGS: Final = {name: re.compile(f"</{name}>", re.IGNORECASE) for name in _THOUGHTS}
_OPENED: Final = re.compile(r"<(?:analysis|think|thinking|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
_SUMMARY: Final = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)
_DELIMITERS: Final = re.compile(r"</?foldline-data\b[^>\n]{0,200}>", re.IGNORECASE)
_BLANK: Final = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_STARTS_OK: Final = re.compile(
    r"\W{0,4}(?:ok(?:ay)?\b|sure\b|understood\b|got it\b|noted\b|acknowledged\b|ack\b|certainly\b|of course\b|will do\b|"
    r"i(?: understand|['’]ll| will| am ready|['’]m ready)\b|let me\b|ready\b|thanks?\b|claro\b|entendido\b|de acuerdo\b|"
    r"d['’]accord\b|compris\b|verstanden\b|alles klar\b|capito\b|begrepen\b|好的|收到|明白|了解|知道了|はい|承知|了解しました|네|알겠)",
    re.IGNORECASE,
)
_REFUSES: Final = re.compile(
    r"\b(?:i(?:['’]m| am)? (?:sorry|afraid|unable)|i (?:can(?:not|['’]t)|won['’]t|will not)|lo siento|no puedo|je ne peux pas|"
    r"désolé|ich kann (?:das |dabei )?(?:leider )?nicht|não posso|desculpe|non posso)\b|抱歉|对不起|无法(?:协助|提供|总结)|不能(?:协助|提供)|"
    r"申し訳|できません|죄송|할 수 없",
    re.IGNORECASE,
)
_CALLS: Final = re.compile(
    r"<(?:tool_call|function_calls?|invoke\b|tool_use\b|antml:)|<\|(?:tool_call|python_tag|tool_calls_section_begin)|"
    r"```tool_(?:code|call)|\[TOOL_CALLS?\]|<｜tool|^[ \t]{0,16}\{\s{0,16}\"(?:name|tool|function)\"\s{0,4}:\s{0,4}\"[\w.-]{1,64}\"\s{0,4},\s{0,16}"
    r"\"(?:arguments|parameters|input)\"\s{0,4}:",
    re.IGNORECASE | re.MULTILINE,
)


class Asked(Struct, frozen=True, kw_only=True):
    """What a reply is judged against."""

    source: str
    """What was to be summed up, as text."""
    source_tokens: int
    language: str = ""
    """What it should be in; empty: whatever."""
    is_lenient: bool = False
    """True for a form that looks at no content beyond whether there is any (requirement CMP-22)."""


def extracted(text: str) -> str:
    """The summary in a reply: the analysis stripped, `<summary>` taken, a text without it as it is; runs of blank lines are
    one, nothing blank around it (requirement CMP-4). Reasoning that a model writes into its text is no summary."""
    told = _without_thoughts(text)
    found = _SUMMARY.search(told)
    told = found.group(1) if found is not None and found.group(1).strip() else _OPENED.sub("", told)
    told = re.sub(r"</?summary>", "", told, flags=re.IGNORECASE)
    return _BLANK.sub("\n\n", told.replace("\r\n", "\n")).strip()


def _without_thoughts(text: str) -> str:
    """A text without what stands between a tag of thoughts and its end. Linear: an end that is not there is looked for once."""
    kept: list[str] = []
    at, unclosed = 0, set[str]()
    for opening in _OPENING.finditer(text):
        name = opening[1].lower()
        if opening.start() < at or name in unclosed:
            continue
        closing = _CLOSINGS[name].search(text, opening.end())
        if closing is None:
            unclosed.add(name)
            continue
        kept.append(text[at : opening.start()])
        at = closing.end()
    return "".join([*kept, text[at:]])


def fault_of(reply: Reply, asked: Asked) -> Fault | None:
    """Why the reply is no summary; `None` where it is one. The order is from what is plain to what is judged."""
    if reply.error:
        return ("overflow" if reply.is_overflow else "provider_error"), reply.error
    text = extracted(reply.text)
    if reply.tool_calls and not text:
        return "tool_call", f"it called {reply.tool_calls[0].name[:64]} in every round and wrote nothing"
    unfinished = _unfinished(reply, len(text))
    if unfinished is not None:
        return unfinished
    if not text:
        return _without_text(reply)
    return _of_words(text, asked)


def _unfinished(reply: Reply, chars: int) -> Fault | None:
    """Why a reply's ending makes it none; `None` where the ending is good, or where there is no place for one, as in a plain
    text, for which whoever hands it over vouches."""
    if reply.stop_reason is None:
        if not reply.is_open or not (reply.text.strip() or reply.reasoning.strip()):
            return None
        return "cut_off", f"it stopped after {chars:,} characters and never said that it had ended"
    reason = str(reply.stop_reason)[:64]
    match ending(reason):
        case "whole":
            return None
        case "cut":
            return "cut_off", f"it ended at the output limit ({reason}), after {chars:,} characters"
        case "declined":
            return "refused", f"the provider ended it ({reason})"
        case "calling":
            return "tool_call", f"it wanted to call a tool ({reason})"
        case "other":
            return "unfinished", f"the provider ended it ({reason}), after {chars:,} characters"


def _without_text(reply: Reply) -> Fault:
    if reply.text.strip() or reply.reasoning.strip():
        return "only_analysis", "it thought and wrote no summary"
    return "empty", "no text came"


def _of_words(text: str, asked: Asked) -> Fault | None:
    flat = " ".join(text.split())
    if (
        len(flat) <= PHRASE_CHARS
        and _REFUSES.search(flat[:OPENING_CHARS])
        and asked.source_tokens >= SHORT_OF_TOKENS
    ):
        return "refused", f"it said: {_line(flat)}"
    if asked.source_tokens >= SHORT_OF_TOKENS and _says_nothing(flat):
        return "acknowledgement", f"it said: {_line(flat)}"
    if not asked.is_lenient and (called := _CALLS.search(text)) is not None:
        return "tool_call", f"it wrote a tool call as text: {_line(text[called.start() :])}"
    if _repeats(text):
        return "repetition", "it says the same again and again"
    if _is_copy(" ".join(_DELIMITERS.sub(" ", text).split()), asked.source):
        return "copy", "it repeats what was to be summed up"
    if not asked.is_lenient and is_in_another(text, asked.language):
        return "wrong_language", f"it is not in {asked.language}"
    return None


def _says_nothing(flat: str) -> bool:
    if len(flat) < SHORT_CHARS and not _is_dense(flat):
        return True
    return len(flat) <= PHRASE_CHARS and _STARTS_OK.match(flat) is not None


def _is_dense(flat: str) -> bool:
    """True for writing of which a few characters say a sentence."""
    wide = sum(1 for sign in flat if "\u3040" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7af")
    return wide >= SHORT_CHARS // 4


def _repeats(text: str) -> bool:
    data = text.encode("utf-8", "replace")
    return len(data) >= REPEATED_CHARS and len(zlib.compress(data, 6)) < REPEATED_SHARE * len(data)


def _is_copy(flat: str, source: str) -> bool:
    """Whether most pieces of a text stand in its source, which has its blanks joined as the text has."""
    if len(flat) < COPY_CHARS or len(flat) < COPY_PIECE:
        return False
    step = max(COPY_PIECE // 2, (len(flat) - COPY_PIECE) // COPY_PIECES)
    pieces = [flat[at : at + COPY_PIECE] for at in range(0, len(flat) - COPY_PIECE + 1, step)]
    return sum(piece in source for piece in pieces) >= COPY_SHARE * len(pieces)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else f"{flat[:79]}…"


def as_prose(text: str) -> str:
    """A model's words as they stand in a fold: every line with one space before it, no tag of ours in them."""
    lines = [line.rstrip() for line in escape_tags(text).splitlines()]
    return "\n".join(f" {line}" if line else "" for line in lines)
