"""Which language a user writes, told from script and commonest words, and whether a text is in it.

A summary is read back by the model and colours what it says next: one in another language than the user's makes the next
answers come in that language (anomalyco/opencode#20156). Words of a text that are code, paths or quoted output say nothing of
it. Says nothing rather than something wrong: where it is not sure, the instruction asks for the user's own language without
naming it. Knows scripts and words alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

LETTERS_WANTED: Final = 400
"""Letters of a user's newest words that are enough to tell by."""
LETTERS_CLEAR: Final = 40
"""Letters of the newest message that are enough where its words name a language."""
LETTERS_MIN: Final = 4
"""With fewer nothing is said, but of scripts that only one language is written in."""
SCRIPT_SHARE: Final = 0.25
"""Share of letters in a script that makes it the text's own: names of code stand between, in Latin letters."""
SCRIPT_SHARE_MIN: Final = 0.1
"""Below this share a text that should be in that script is in another."""
WORDS_MIN: Final = 2
"""Commonest words that have to be found before a language of Latin letters is named."""
LEAD: Final = 2.0
"""How many times more of its words than of English's own a text has to hold before it is told as the other language …"""
ENGLISH_MIN: Final = 12
"""… and how many of English's a text has to hold that is none of the language it should be in."""

SAME_MAX: Final = 3
"""One word that stands again and again says no more than three times."""

_NOT_PROSE: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?<![A-Za-z0-9_.~/\\:-])[A-Za-z0-9_.~:-]*[/\\][A-Za-z0-9_./\\~:-]*"
    r"|(?<![A-Za-z0-9_.~/\\:-])[A-Za-z0-9]+[_.][A-Za-z0-9][A-Za-z0-9_.]*",
    re.DOTALL,
)
"""Fences, code, paths with their addresses, and names; each looked for where a token begins, so that it is linear."""
_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")

_SCRIPTS: Final[tuple[tuple[str, str], ...]] = (
    # Kana before Han: Japanese is written with both.
    ("Japanese", "\u3040-\u30ff\uff66-\uff9d"),
    ("Korean", "\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"),
    ("Chinese", "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"),
    ("Ukrainian", "іїєґІЇЄҐ"),
    ("Russian", "\u0400-\u04ff"),
    ("Greek", "\u0370-\u03ff"),
    ("Arabic", "\u0600-\u06ff"),
    ("Hebrew", "\u0590-\u05ff"),
    ("Hindi", "\u0900-\u097f"),
    ("Thai", "\u0e00-\u0e7f"),
)
_IN_SCRIPT: Final = {name: re.compile(f"[{letters}]") for name, letters in _SCRIPTS}
_FEW: Final[Mapping[str, float]] = {"Japanese": 0.1, "Ukrainian": 0.02}
"""Scripts of which less is enough: kana stand between Han, four letters tell Ukrainian from Russian."""
_WRITTEN_WITH: Final[Mapping[str, str]] = {"Japanese": "Chinese", "Ukrainian": "Russian"}
"""What else a language's letters are counted by."""

_COMMON: Final[Mapping[str, frozenset[str]]] = {
    "English": frozenset(
        "the and is are was were to of in it that this for with you we be not but have has on as at from do does please should"
        " what when which there their will would can could then than".split()
    ),
    "Portuguese": frozenset(
        "não que em na uma um para com os das dos isso está são você por favor mas também já foi pelo pela mais como quando fazer o"
        " deve seu sua então arquivo nem sem ao às à depois ele ela".split()
    ),
    "Spanish": frozenset(
        "que los las una un para con el por favor pero también está son no del esto ese como cuando más hay muy ya fue sin"
        " debe hacer archivo después entonces porque y tú usted".split()
    ),
    "French": frozenset(
        "le les des une un est pas que pour dans avec vous nous sur il elle ce cette mais aussi être sont du au aux s'il plaît"
        " fait faut donc et ou où je fichier après sans ne".split()
    ),
    "German": frozenset(
        "der die das und ist nicht ein eine für mit auf den dem sie wir ich es aber auch bitte soll wird werden von zu im noch"
        " nach wenn dann oder kein keine datei zum zur wie was".split()
    ),
    "Italian": frozenset(
        "il lo gli una un per con non che di della del sono è ma anche questo questa come quando più fare deve favore nel nella"
        " poi senza si ho dal alla".split()
    ),
    "Dutch": frozenset(
        "het een en is niet van voor met op te dat dit zijn maar ook wij je jij de er naar moet worden graag bestand als dan"
        " geen nog aan bij".split()
    ),
    "Polish": frozenset(
        "nie jest się na do to że proszę z w i dla ale jak tylko po tak czy już być plik przez przed który oraz może".split()
    ),
    "Czech": frozenset(
        "není je se na že prosím pro ale jak jen po tak už být soubor před který nebo má jsou aby".split()
    ),
    "Swedish": frozenset(
        "och är inte en ett som på för med att det den av till men också vi du filen ska kan när om".split()
    ),
    "Danish": frozenset(
        "og er ikke en et som på for med at det den af til men også vi du filen skal kan når hvis jeg".split()
    ),
    "Norwegian": frozenset(
        "og er ikke en et som på for med at det den av til men også vi du filen skal kan når hvis jeg".split()
    ),
    "Turkish": frozenset(
        "ve bir bu için değil ile var yok da de çok ama gibi lütfen dosya olarak daha sonra ne mi olan".split()
    ),
    "Vietnamese": frozenset(
        "không là và của cho một những được trong với này khi có thể hãy tệp các để đã".split()
    ),
    "Indonesian": frozenset(
        "yang dan tidak untuk dengan ini itu di ke dari jangan akan sudah tolong berkas pada atau juga".split()
    ),
}


def language_of(texts: Iterable[str]) -> str:
    """The language of the newest of these texts (newest first), by its English name; empty where it is not clear."""
    prose: list[str] = []
    for text in texts:
        prose += _prose(text)
        letters = sum(map(len, prose))
        name = _named(prose)
        if letters >= LETTERS_WANTED or name in _IN_SCRIPT or (name and letters >= LETTERS_CLEAR):
            return name
    return _named(prose)


def is_in_another(text: str, language: str) -> bool:
    """True where a text is plainly not in that language. A text of names and numbers is in none."""
    words = _prose(text)
    if not language or not words:
        return False
    if language in _IN_SCRIPT:
        return sum(map(len, words)) >= LETTERS_MIN and _share(words, language) < SCRIPT_SHARE_MIN
    counts = _counts(words)
    if language == "English":
        others = [name for name, _ in _SCRIPTS if _share(words, name) > 0.5]
        return bool(others) and not counts["English"]
    return counts["English"] >= ENGLISH_MIN and counts["English"] > LEAD * counts[language]


def _prose(text: str) -> list[str]:
    return _WORD.findall(_NOT_PROSE.sub(" ", text))


def _named(words: list[str]) -> str:
    for name, _ in _SCRIPTS:
        if (
            _share(words, name, own=True) >= _FEW.get(name, SCRIPT_SHARE)
            and _share(words, name) >= SCRIPT_SHARE
        ):
            return name
    if sum(map(len, words)) < LETTERS_MIN:
        return ""
    counts = _counts(words)
    best = max(counts, key=lambda name: counts[name])
    second = max(count for name, count in counts.items() if name != best)
    if counts[best] < WORDS_MIN or (counts[best] == second and best != "English"):
        return ""
    return best


def _share(words: list[str], script: str, *, own: bool = False) -> float:
    """Share of the letters that are in a language's script, with what else it is written in unless `own`."""
    all_of = "".join(words)
    if not all_of:
        return 0.0
    found = len(_IN_SCRIPT[script].findall(all_of))
    beside = _WRITTEN_WITH.get(script)
    if beside is not None and not own:
        found = len(_IN_SCRIPT[beside].findall(all_of)) + (found if script == "Japanese" else 0)
    return found / len(all_of)


def _counts(words: list[str]) -> dict[str, int]:
    """How many of each language's commonest words a text holds, none of them counted more than `SAME_MAX` times."""
    times = Counter(word.lower() for word in words)
    return {
        name: sum(min(SAME_MAX, times[word]) for word in common if word in times)
        for name, common in _COMMON.items()
    }
