"""The language a person writes in, so that what is written for them is labelled in it.

Counts letters by script and, for scripts that many languages share, a few very common words. Small and honest: what
it cannot tell apart it names by the script. Code, paths and addresses do not count. Knows nothing of messages: give it
the texts of genuine user turns, never a tool's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

TURNS = 3
"""Latest turns that count; each counts half as much as the one after it."""
HAN_WORTH = 3
"""A Han, kana or hangul sign says about as much as three letters."""
LETTERS_MIN = 2
"""Fewer letters than this are no evidence."""

FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
RUN = re.compile(r"[!-~]+")
CODE = re.compile(r"[/\\@_=<>{}\d]|\w\.\w|\w\(")
CHARS_MAX = 4_000
"""Characters of a turn that are looked at."""
SCRIPTS: tuple[tuple[str, re.Pattern[str], int], ...] = (
    ("kana", re.compile(r"[\u3040-\u30ff\uff66-\uff9d]"), HAN_WORTH),
    ("hangul", re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), HAN_WORTH),
    ("han", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), HAN_WORTH),
    ("latin", re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"), 1),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]"), 1),
    ("greek", re.compile(r"[\u0370-\u03ff]"), 1),
    ("arabic", re.compile(r"[\u0600-\u06ff]"), 1),
    ("hebrew", re.compile(r"[\u0590-\u05ff]"), 1),
    ("devanagari", re.compile(r"[\u0900-\u097f]"), 1),
    ("bengali", re.compile(r"[\u0980-\u09ff]"), 1),
    ("tamil", re.compile(r"[\u0b80-\u0bff]"), 1),
    ("thai", re.compile(r"[\u0e00-\u0e7f]"), 1),
)
LANGUAGE_OF = {"hangul": "ko", "greek": "el", "hebrew": "he", "thai": "th", "tamil": "ta", "bengali": "bn"}
"""Scripts that one language writes; the others are told apart below or named by the script."""
COMMON = {
    "en": "the is are and of to in it you that this for with not can please on do what be have from add fix make use run",
    "de": "der die das und ist nicht ein eine ich du sie mit für auf den dem zu bitte es wie kann noch auch wir im",
    "fr": "le la les et est un une je tu vous pas que qui dans pour avec sur ne ce des du au merci plaît il nous",
    "es": "el la los las y es un una yo tú usted no que en para con por se del al está favor puedes cómo lo pero",
    "pt": "o a os as e é um uma eu você não que em para com por se do da no na está favor pode como sempre olá corrija",
    "it": "il lo la gli e è un una io tu non che in per con si del della di sono puoi come questo per favore",
    "nl": "de het een en is niet ik je van op met voor dat dit te zijn kan graag ook maar wat",
}
WORDS = {language: frozenset(words.split()) for language, words in COMMON.items()}
WORD = re.compile(r"[^\W\d_]+")
UKRAINIAN = re.compile(r"[іїєґІЇЄҐ]")


def language_of(texts: Sequence[str]) -> str:
    """The language of the latest of `texts` (oldest first): an ISO 639-1 code, or the name of a script.

    `en` where nothing tells: for want of letters, or of any word that is known.
    """
    for end in range(len(texts), 0, -TURNS):
        latest = [_prose(text) for text in texts[max(0, end - TURNS) : end]]
        weights = _weights(latest)
        if sum(weights.values()) >= LETTERS_MIN:
            return _named(weights, " ".join(latest))
    return "en"


def _weights(latest: Sequence[str]) -> Counter[str]:
    weights: Counter[str] = Counter()
    for back, prose in enumerate(reversed(latest)):
        for name, pattern, worth in SCRIPTS:
            weights[name] += len(pattern.findall(prose)) * worth * 2 ** (TURNS - 1 - back)
    return weights


def _named(weights: Counter[str], prose: str) -> str:
    script = max(weights, key=lambda name: weights[name])
    match script:
        case "han" | "kana":
            return "ja" if weights["kana"] * 10 > weights["han"] else "zh"
        case "latin":
            return _latin(prose)
        case "cyrillic":
            return "uk" if UKRAINIAN.search(prose) else "ru"
        case _:
            return LANGUAGE_OF.get(script, script)


def _prose(text: str) -> str:
    """A turn without code, paths, addresses and what else is of no language."""
    plain = FENCED.sub(" ", text[:CHARS_MAX])
    return RUN.sub(lambda run: " " if CODE.search(run[0]) else run[0], plain)


def _latin(prose: str) -> str:
    words = Counter(WORD.findall(prose.lower()))
    scores = {language: sum(words[word] for word in known) for language, known in WORDS.items()}
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] > scores["en"] else "en"
