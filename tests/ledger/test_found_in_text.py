"""What holds for facts of every kind: verbatim, once, the same from pieces, and cheap whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ledger.facts import Fact
from foldline.ledger.found_in_text import Finder, extract
from tests.linear import slowness

AGENT_TEXT = (
    "$ pytest tests/test_pool.py -x\n"
    "FAILED tests/test_pool.py::test_drain - TimeoutError: pool 'db-7' did not drain in 30s\n"
    "2 failed, 118 passed in 4.21s\n"
    '{"port": 8787, "retry_limit": 3, "url": "https://example.com/a/b?x=1", "sha": "3f2a9bc1d"}\n'
    "见 src/pool/drain.py:88，服务端口 8080，超时时间设置为30秒。错误：连接被拒绝\n"
    "def drain_pool(timeout_s: float) -> None:\n"
    "    raise PoolError(`${pool}`)  # see PROJ-412, C:\\Users\\ann\\pool.log\n"
)


@given(
    st.lists(
        st.sampled_from(AGENT_TEXT.splitlines(keepends=True)) | st.text(max_size=40).map(lambda t: t + "\n"),
        max_size=8,
    )
)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_every_fact_stands_in_its_text_and_no_cut_at_a_line_end_makes_one_up(lines: list[str]) -> None:
    """OBS-3: a fact is verbatim, on one line, and what pieces say the whole says too."""
    lines = [line for line in lines if "\r" not in line and line[0] not in '{["\\']
    whole = "".join(lines)
    found = extract(whole)
    assert all(fact.text in whole and "\n" not in fact.text for fact in found)
    kept = {_same(fact) for fact in found}
    assert {_same(fact) for line in lines for fact in extract(line)} <= kept
    assert len({(f.kind, f.key, f.value, f.text) for f in found}) == len(found)


def _same(fact: Fact) -> tuple[str, str, str]:
    return fact.kind, fact.key, fact.value


def test_facts_do_not_depend_on_what_was_read_before() -> None:
    """Law SAME: the same text has the same facts."""
    finder = Finder()
    finder("FAILED src/other.py port=1 PROJ-9\n" * 3)
    assert finder(AGENT_TEXT) == finder(AGENT_TEXT) == extract(AGENT_TEXT)


def test_many_texts_together_have_the_facts_that_each_has_alone() -> None:
    """Law SAME: words are learned together, and nothing goes from one text to another."""
    texts = [AGENT_TEXT, "FAILED src/other.py port=1 PROJ-9\n" * 3, "", *AGENT_TEXT.splitlines()]
    assert [found.facts for found in Finder().many(texts)] == [extract(text) for text in texts]
    assert Finder().many([]) == []


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "/",
        "=1",
        "1",
        " ",
        "a/",
        "a.",
        "a-",
        "@",
        "a 1 ",
        "\\n",
        "端口8",
        "error ",
        "error: x\n",
        "1.",
        "://",
        '{"a":1},',
        "a=1\n",
    ],
)
def test_finding_facts_is_linear_in_hostile_text(unit: str) -> None:
    """OBS-3."""
    assert slowness(extract, unit, size=100_000, scans_max=30) == ""


def test_what_recall_gave_back_states_no_facts() -> None:
    """It stood elsewhere before: an old value, read again, is not the newest."""
    said = "pool_size = 20, see src/pool.py"
    assert extract(said)
    assert extract(f'<foldline-recall query="pool">\n1. m1.0@00000000\n   {said}\n</foldline-recall>') == ()
    assert extract(f"it gave <foldline-recall and {said}")


def test_a_path_with_signs_in_its_name_is_one_path() -> None:
    """OBS-3: it was cut at the `=`, and the folder's piece named no file."""
    path = "/r/configs/E=8,N=14336,device_name=NVIDIA_A100.json"
    assert [fact.text for fact in extract(f"see {path} now") if fact.kind == "paths"] == [path]
    assert [fact.text for fact in extract("--config=src/a.json") if fact.kind == "paths"] == ["src/a.json"]


def test_what_git_keeps_for_itself_is_no_path() -> None:
    """OBS-3: one `find .` put 87 folders of objects into the ledger."""
    listing = "./.git/objects/1a\n./.git/objects\n./.git/logs/HEAD\n./.git/hooks/pre-push.sample\n./.git/config\n./src/a.py"
    assert [fact.key for fact in extract(listing) if fact.kind == "paths"] == [".git/config", "src/a.py"]


def test_a_field_that_is_called_after_an_error_is_code() -> None:
    """OBS-3: `isError: message.isError,` stood among the failures of commands."""
    found = {
        fact.text: fact.key
        for fact in extract("isError: message.isError,\nValueError: bad row")
        if fact.kind == "errors"
    }
    assert found["isError: message.isError,"].startswith("in code: ")
    assert found["ValueError: bad row"] == "ValueError: bad row"
