"""A reader in forty lines: answers a question about a history from what still stands in it.

It knows no template and no right answer. What a mark takes back it does not read; what forbids or takes back it
does not offer as a plan; to yes or no it looks for the clause that says so. Used by `bench_compactbench`.
"""

import re
from collections.abc import Iterable
from typing import Any

MARK = re.compile(r'\[superseded by \S+?(?:: "(.+)")?\]')
NO = re.compile(
    r"\b(?i:no|not|never|don't|off the table|rules?|(?:forget|ignore|scratch) (?:the|that|all|everything|A))\b"
)
WORD = re.compile(r"[A-Za-z][\w-]{2,}")
ASIDE = set("the and for are was will should does still this that with what who our your handle own".split())


def standing(messages: Iterable[dict[str, Any]]) -> Iterable[str]:
    """The texts without what a mark behind them takes back: all of the text, or the sentences the mark quotes."""
    for message in messages:
        content = message["content"]
        texts: list[str] = []
        for text in [content] if isinstance(content, str) else [p.get("text", "") for p in content]:
            if (mark := MARK.fullmatch(text)) is None:
                texts.append(text)
            for quote in (mark[1] or texts[-1]).split('" · "') if mark and texts else ():
                texts[-1] = texts[-1].replace(quote, "")
        yield from texts


def allowed(texts: Iterable[str]) -> Iterable[str]:
    """Sentences that neither forbid nor take back; what a "don't do that" points back to goes with it."""
    for line in "\n".join(texts).splitlines():
        parts = re.split(r"(?<=[.!?])\s+", line)
        if not any(NO.search(part) and re.search(r"\bdo that\b", part) for part in parts):
            yield from (part for part in parts if not NO.search(part))


def answer(messages: Iterable[dict[str, Any]], prompt: str, type: str) -> str:
    """All that stands if something is to be recalled, what is allowed if something is to be done or told."""
    texts = list(standing(messages))
    names = set(re.findall(r"(?<=\w )[A-Z][a-z]{2,}\b", prompt))
    words = {word.lower() for word in WORD.findall(prompt)} - ASIDE - {name.lower() for name in names}
    if re.match(r"(?:Is|Are|Does|Do|Should|Can) (?!there)", prompt):
        clauses = [
            c for part in allowed(texts) for c in re.split(r"[.,;]\s| and ", part) if names <= set(c.split())
        ]
        yes = [c for c in clauses if 2 * sum(word in c.lower() for word in words) >= len(words)]
        return f"Yes: {yes}" if yes else "No." if names else "\n".join(allowed(texts))
    if type in ("planning_soundness", "entity_integrity", "immutable_fact_recall"):
        return "\n".join(line for line in allowed(texts) if not names or names & set(WORD.findall(line)))
    return "\n".join(texts)
