"""The index of the ledger: dense lines that hold every text as it stood, share their room and can be read back."""

from __future__ import annotations

import pytest

from foldline.ledger import index as index_module
from foldline.ledger.columns import CODE, Prices
from foldline.ledger.errors_in_text import IN_CODE, key_of_listed
from foldline.ledger.facts import Fact, FactKind, name_of
from foldline.ledger.found_in_text import Finder
from foldline.ledger.index import (
    LABEL_TOKENS,
    SCARCE,
    SCARCE_SHARES,
    SHARES,
    choose,
    facts_in_line,
    holds_more,
    index,
    indexes,
    lines_of,
    listed_paths,
    names_in_line,
    price,
)
from foldline.testing.counting import CharacterCounter

PRICES = Prices(CharacterCounter().texts)
AMPLE = 100_000


def fact(kind: FactKind, text: str) -> Fact:
    """A fact of a kind whose key is its text."""
    return Fact(kind=kind, key=text, text=text)


def number(key: str, value: str) -> Fact:
    """A number as a text shows it."""
    return Fact(kind="numbers", key=key, text=f'"{key}": {value}', value=value)


FACTS = (
    fact("errors", "ValueError: no such row"),
    fact("errors", "make: *** [all] Error 2"),
    fact("paths", "src/pool.py"),
    fact("paths", "C:\\work\\run.bat"),
    fact("identifiers", "https://x.example/a?b=1"),
    number("limit", "100"),
    number("limit", "1,050"),
    number("端口", "8080"),
    fact("symbols", "load_rows"),
)


def test_words_stand_apart_by_spaces_and_values_under_their_key() -> None:
    """CMP-8: nothing is spent on what only separates; every text is as it was."""
    assert index(FACTS, AMPLE, prices=PRICES)[1] == [
        "errors: ValueError: no such row · make: *** [all] Error 2",
        "paths: src/pool.py C:\\work\\run.bat",
        "identifiers: https://x.example/a?b=1",
        "numbers, newest first: limit=100|1,050 端口=8080",
        "names: load_rows",
    ]


def test_lines_read_back_give_the_same_lines_ten_times_over() -> None:
    """CMP-16: an index is carried on as it is, a value with a comma among it."""
    lines = lines_of(FACTS)
    for _ in range(10):
        found = [fact for line in lines for fact in facts_in_line(line)]
        assert [(f.kind, f.value) for f in found if f.value] == [
            ("numbers", v) for v in ("100", "1,050", "8080")
        ]
        assert lines_of(found) == lines


@pytest.mark.parametrize(
    "odd",
    [
        fact("paths", "two words.py"),
        fact("symbols", "a\u2028b"),
        number("a key", "1"),
        number("a=b", "1"),
        number("a", "1|2"),
    ],
)
def test_what_could_not_be_told_apart_again_is_left_out(odd: Fact) -> None:
    """Law TRACE: half of a text must not come back as a fact."""
    assert index([odd, fact("paths", "a.py")], AMPLE, prices=PRICES)[1] == ["paths: a.py"]


def test_a_fact_that_a_longer_one_shows_takes_no_room() -> None:
    """CMP-8: `app.py` can be found in `/repo/src/app.py`, a folder in the path of its file, a name in its number."""
    shorter = [fact("paths", text) for text in ("app.py", "src/app.py", "/repo/src/", "src")]
    facts = [*shorter, fact("paths", "/repo/src/app.py"), number("limit", "5"), fact("symbols", "limit")]
    assert index(facts, AMPLE, prices=PRICES)[1] == [
        "paths: /repo/src/app.py",
        "numbers, newest first: limit=5",
    ]


def test_a_fact_that_an_entry_shows_takes_no_room() -> None:
    """CMP-8: what was edited is not listed again."""
    facts = [
        fact("paths", "src/app.py"),
        fact("paths", "app.py"),
        fact("paths", "other.py"),
        fact("symbols", "run"),
    ]
    chosen = choose(
        price(facts, prices=PRICES), AMPLE, said=["- src/app.py edited (m5)", "- `run` is slow (m6)"]
    )
    assert [found.text for found in chosen.facts] == ["other.py"]
    assert chosen.is_all


@pytest.mark.parametrize("longer", ["app.pyc", "my-app.py", "src/myapp.py", "src/app.py.orig"])
def test_a_fact_inside_a_word_is_not_shown_by_it(longer: str) -> None:
    """OBS-3: another file of a like name is another fact."""
    assert index([fact("paths", "app.py"), fact("paths", longer)], AMPLE, prices=PRICES)[1] == [
        f"paths: app.py {longer}"
    ]


@pytest.mark.parametrize("each", [60, 200])
def test_no_kind_is_complete_before_every_kind_has_its_share(each: int) -> None:
    """CMP-8: a hundred failures do not push out the files, nor the files the names of code; where most find no room, lines of
    code give way to names."""
    facts = [
        made
        for n in range(each)
        for made in (
            fact("errors", f"Error: step {n} failed for a long reason"),
            Fact(kind="errors", key=f"{IN_CODE}{n}", text=f"raise ValueError({n})"),
            fact("paths", f"src/module{n}.py"),
            fact("identifiers", f"ABC-{n}"),
            number(f"key{n}", "7"),
            fact("symbols", f"load_rows_{n}"),
        )
    ]
    room = 1_200
    priced = price(facts, prices=PRICES)
    assert room < priced.tokens
    chosen = choose(priced, room).facts
    spent: dict[str, int] = {}
    for found in chosen:
        kind = CODE if found.key.startswith(IN_CODE) else found.kind
        spent[kind] = spent.get(kind, 0) + PRICES.count([f" {found.text}"])[0]
    shares = SCARCE_SHARES if room < SCARCE * priced.tokens else SHARES
    whole = sum(shares.values())
    for kind, share in shares.items():
        assert spent[kind] > 0.5 * room * share / whole, kind


def test_what_a_kind_leaves_goes_to_the_others() -> None:
    """CMP-8: shares are for what competes."""
    facts = [fact("paths", "a.py"), *(fact("symbols", f"load_rows_{n}") for n in range(200))]
    chosen = choose(price(facts, prices=PRICES), 500)
    assert sum(PRICES.count([f" {found.text}" for found in chosen.facts])) > 500 - 5 * LABEL_TOKENS
    assert not chosen.is_all


def test_of_a_number_the_newest_value_comes_first_however_long() -> None:
    """OBS-3: an older, shorter value never takes the place of the one that holds."""
    facts = [number("limit", "123456789012345"), number("limit", "5")]
    for room in range(40):
        values = [found.value for found in choose(price(facts, prices=PRICES), room).facts]
        assert values in ([], ["123456789012345"], ["123456789012345", "5"])
    assert values == ["123456789012345", "5"]


def test_an_error_that_holds_the_separator_is_read_back_whole() -> None:
    """CMP-16: it came back as two, one of them no error."""
    texts = ["no such row", "build · job failed", "isError: message.isError,"]
    facts = [Fact(kind="errors", key=key_of_listed(text), text=text) for text in texts]
    lines = lines_of(facts)
    assert lines == [
        "errors: no such row",
        "error: build · job failed",
        "code that names errors: isError: message.isError,",
    ]
    again = [fact for line in lines for fact in facts_in_line(line)]
    assert sorted(again, key=lambda fact: fact.text) == sorted(facts, key=lambda fact: fact.text)


def test_the_names_of_what_is_listed_are_read_off_its_lines() -> None:
    """OBS-3: what a ledger shows is told without looking for facts in it."""
    facts = [
        fact("errors", "no such row"),
        fact("paths", "src/app.py"),
        fact("identifiers", "3f2a9bc1d"),
        number("limit", "100"),
        number("limit", "50"),
        fact("symbols", "load_rows"),
    ]
    lines = lines_of(facts)
    found = {name for line in lines for name in names_in_line(line)}
    assert found == {*map(name_of, facts), "plimit"}
    assert listed_paths([*lines, "paths: lib/x.c b.py"]) == "src/app.py lib/x.c b.py"
    assert [holds_more(line) for line in lines] == [True, False, False, False, False]
    assert holds_more("identifiers: 3f2a9bc1d https://a.example/3f2a9bc1d")
    assert names_in_line("paths: ./src/app.py b/lib/x.c src/ C:\\a") == [
        "psrc/app.py",
        "plib/x.c",
        "psrc",
        "pC:\\a",
    ]
    assert set(names_in_line("numbers, newest first: a=1 b=2|3 c=x=4")) == {
        *("na\x001", "nb\x002", "nb\x003", "nc\x00x=4"),
        *("pa", "pb", "pc"),
    }
    assert not names_in_line("- `make check` → ok (m3 assistant)")


def test_no_identifier_is_listed_among_the_names_too() -> None:
    """CMP-8: all of `identifiers:` stood again among `names:`."""
    facts = [
        Fact(kind="identifiers", key="fun_1234", text="fun_1234"),
        Fact(kind="symbols", key="fun_1234", text="fun_1234"),
    ]
    chosen, lines = index(facts, 100, prices=Prices(lambda texts: [len(text) for text in texts]))
    assert (len(chosen), lines) == (1, ["identifiers: fun_1234"])


def test_a_piece_is_counted_once_whatever_index_it_stands_in() -> None:
    """Design: what depends on an immutable text alone is found once; what is remembered is bounded."""
    counted: list[str] = []

    def count(texts: list[str]) -> list[int]:
        counted.extend(texts)
        return [len(text) for text in texts]

    prices = Prices(count, pieces_max=len(FACTS) + 2)
    first = price(FACTS, prices=prices)
    assert len(counted) == len(set(counted)) > 0
    counted.clear()
    again = price(FACTS[::-1], prices=prices)
    assert counted == []
    assert sorted(again.costs) == sorted(first.costs)
    assert again.tokens == first.tokens
    price([fact("paths", f"src/a{n}.py") for n in range(5)], prices=prices)
    assert len(counted) == 5
    assert price(FACTS, prices=prices).costs == first.costs
    assert len(counted) > 5


def test_indexes_made_together_are_those_made_one_by_one() -> None:
    """Law SAME: facts that texts share stand in one table; what each index lists is told by its own text and room."""
    texts = [
        "src/app.py ./src/app.py app.py limit=5 load_rows() ValueError: no row 7 in src/",
        "app.py limit=6 limit=5 ABC-123 load_rows_of() ValueError: no row 3 in src/",
        "/repo/src/app.py port=8080 limit=5 `limit_of` src/pool.py ABC-123",
        "",
        " ".join(f"src/module{n}.py key{n}={n}" for n in range(40)),
    ]
    founds = Finder().many(texts)
    for room in (0, 12, 30, 80, AMPLE):
        alone = [index(found.facts, room, prices=PRICES)[1] for found in founds]
        assert indexes([(found, room) for found in founds], prices=PRICES) == alone
        assert any(alone) == (room >= 30)


def test_a_failure_whose_line_goes_on_says_so_and_is_read_back_as_it_stood() -> None:
    """OBS-3: `…Time) d` stood as what an API had answered."""
    cut = Fact(kind="errors", key="k", text="Error: " + "x" * 233)
    whole = Fact(kind="errors", key="w", text="Error: no port")
    lines = lines_of([cut, whole])
    assert lines == [f"errors: {cut.text} … · Error: no port"]
    assert [fact.text for fact in facts_in_line(lines[0])] == [cut.text, whole.text]
    [line] = lines_of([Fact(kind="errors", key="k", text="Error: a · " + "x" * 233)])
    assert line.endswith("x …")
    assert [fact.text for fact in facts_in_line(line)] == ["Error: a · " + "x" * 233]


@pytest.mark.parametrize("room", [40, 150, 400, 900, 1_600, 2_400])
def test_what_is_chosen_is_the_same_however_many_are_put_in_order_first(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law SAME: facts are put in order as far as the room may reach, and all of them where it reaches farther."""
    facts = [
        made
        for n in range(60)
        for made in (
            fact("paths", f"src/{'long_' * (n % 7)}module{n}.py"),
            fact("paths", f"module{n}.py"),
            number(f"key{n % 9}", str(n**5)),
            fact("symbols", f"load_{n}"),
        )
    ]
    said = ["- src/module7.py edited (m5)", "- module14.py read (m6)"]
    chosen = []
    for near in (0.1, index_module.NEAR, 1e9):
        monkeypatch.setattr(index_module, "NEAR", near)
        chosen.append(choose(price(facts, prices=PRICES), room, said=said).facts)
    assert chosen[0] == chosen[1] == chosen[2]
