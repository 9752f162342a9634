"""Rules in German, French, Spanish, Portuguese, Italian and Russian: what people say that is one, and what they say that only sounds like one.

Each sentence is tried through `constraints`, as the tables are only ever used; the tables know nothing of sentences.
"""

from __future__ import annotations

import pytest

from foldline.ledger.constraints import constraints

RULES = [
    "Bitte keine neuen Abhängigkeiten hinzufügen.",
    "Du darfst src/db nicht ändern.",
    "Antworte immer auf Deutsch.",
    "Ich will kein console.log im Code.",
    "Wir möchten nie wieder so einen Commit.",
    "Ne modifiez pas src/db.",
    "Réponds toujours en français.",
    "N'ajoute aucune dépendance.",
    "No modifiques src/db.",
    "Responde siempre en español.",
    "Nunca hagas push a main.",
    "Não altere src/db.",
    "Responda sempre em português.",
    "Nunca faça push na main.",
    "Не трогай src/db.",
    "Всегда отвечай на русском.",
    "Non modificare src/db.",
    "Finger weg von src/db!",
    "Die Commits mache ich selbst.",
    "Ich bin allergisch gegen Nüsse.",
    "Keine neuen Abhängigkeiten.",
    "Pas de nouvelles dépendances.",
    "Je suis allergique aux noix.",
    "Nada de dependencias nuevas.",
    "Soy alérgico a las nueces.",
    "Los commits los hago yo.",
    "Elles sont allergiques aux noix.",
    "Laisse les tests tranquilles.",
    "Faut pas toucher au schéma.",
    "Bitte mit keinem Framework.",
    "Les commits directs sont interdits.",
    "Préférez les fonctions pures.",
    "Préférer les fonctions pures.",
    "Los commits directos están prohibidos.",
    "Como mucho 3 reintentos.",
    "Somos alérgicos a las nueces.",
]
TALK = [
    "Es funktioniert nicht.",
    "Ich will es verstehen.",
    "Ça ne marche pas.",
    "No funciona.",
    "Não funciona.",
    "Не работает.",
    "Es geht nicht.",
    "Ich bin gleich zurück.",
    "Je ne sais pas.",
    "La page est vide.",
]


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_is_found_and_kept_word_for_word(sentence: str) -> None:
    """CMP-8: constraints stand in the ledger verbatim (kind lost-constraints of public reports)."""
    assert [found.text for found in constraints(sentence)] == [sentence.lstrip("-# ")] or [
        found.text for found in constraints(sentence)
    ] == [sentence]


@pytest.mark.parametrize("sentence", TALK)
def test_a_plain_report_or_request_is_no_rule(sentence: str) -> None:
    """A ledger in which everything is a rule has none."""
    assert constraints(sentence) == ()
