"""Of many rows that look alike the last are read, and no failure hides among them."""

from __future__ import annotations

import json

from foldline.ledger.found_in_text import extract
from foldline.ledger.look_alikes import ROWS_MAX, rows_of

ROWS = [f"src/pool/part_{number}.py: ok, took={number} ms" for number in range(10 * ROWS_MAX)]


def test_the_last_rows_of_a_look_are_kept_and_what_looks_different_is_kept_too() -> None:
    """OBS-3: a column of data is no memory, its newest rows are."""
    whole = "\n".join(["$ make parts", *ROWS, "done."])
    raws, rows = rows_of(whole, whole)
    assert raws is rows
    assert rows == ["$ make parts", *ROWS[-ROWS_MAX:], "done."]


def test_a_text_with_few_rows_is_left_as_it_is() -> None:
    """OBS-3: only data is cut."""
    whole = "\n".join(ROWS[:ROWS_MAX])
    assert rows_of(whole, whole) == (ROWS[:ROWS_MAX], ROWS[:ROWS_MAX])


def test_each_row_stands_beside_itself_as_it_came() -> None:
    """OBS-3: a row with its escapes laid open is read, and quoted as it came."""
    came = "".join([f"part {number}: ok\\n" for number in range(3 * ROWS_MAX)])
    raws, rows = rows_of(came, came.replace("\\n", " \n"))
    numbers = range(2 * ROWS_MAX, 3 * ROWS_MAX)
    assert rows == [*[f"part {number}: ok " for number in numbers], ""]
    assert raws == [*[f"part {number}: ok\\" for number in numbers], ""]


def test_a_failure_among_rows_that_look_alike_is_found() -> None:
    """OBS-3: the one test of a thousand that failed is what the run was for."""
    rows = [f"tests/test_a.py::test_{number} PASSED" for number in range(1_000)]
    rows[3] = "tests/test_a.py::test_3 FAILED"
    assert [fact.text for fact in extract("\n".join(rows)) if fact.kind == "errors"] == [rows[3]]


def test_rows_of_a_list_in_one_line_are_rows() -> None:
    """OBS-3: JSON has no line ends of its own."""
    text = json.dumps([{"id": number, "name": "a"} for number in range(1_000)])
    values = [fact.value for fact in extract(text) if fact.key == "id"]
    assert ROWS_MAX <= len(values) <= ROWS_MAX + 2  # the first and the last object open and close the list
    assert values[-1] == "999"


def test_what_is_quoted_stands_in_the_text_with_its_escapes() -> None:
    """OBS-3: a fact is verbatim, also where its row is a string within JSON."""
    text = json.dumps({"output": "\n".join(f'"latency_ms": {number},' for number in range(1_000))})
    facts = extract(text)
    assert all(fact.text in text for fact in facts)
    values = [fact.value for fact in facts if fact.key == "latency_ms" and fact.kind == "numbers"]
    assert (
        ROWS_MAX <= len(values) <= ROWS_MAX + 2
    )  # the first and the last row stand in the lines of the object
