"""`foldline context`: where the tokens are."""

from __future__ import annotations

import pytest

from tests.cli.running import documents, run

pytestmark = pytest.mark.usefixtures("stub")


def test_the_page_shows_usage_kinds_tools_and_biggest_items() -> None:
    """Interface: token distribution by kind, usage against the threshold, biggest items (what `/context` shows in a chat).
    BUD-5: the threshold is the denominator, and the window is named beside it."""
    done = run("context", "session.jsonl")
    page = " ".join(done.stdout.split())
    assert "foldline: window by default" in done.stderr
    for words in (
        "135,468 tokens session.jsonl",
        "85% of the threshold of 160,000 (balanced) · 24,532 below it · the window is 200,000",
        "the provider last counted 130,000, since then 5,468 estimated",
        "tool results 90,468 67%",
        "read_file 30,468 22%",
        "9,000 text m12.0@4f2a91c0text",
    ):
        assert words in page
    assert "media" not in page, "a kind without tokens takes no row"


@pytest.mark.parametrize(
    ("total", "by_kind", "words"),
    [
        (39_839, {}, "107,348; 67,509 more than this file holds (system prompt, tools and the like)"),
        (39_839, {"system": 9}, "107,348; 67,509 more than this file holds"),
        (107_348, {}, "the provider last counted 107,348"),
        (107_358, {}, "the provider last counted 107,348; 10 less than is counted here"),
    ],
)
def test_what_the_provider_counted_is_told_beside_what_the_file_holds(
    total: int, by_kind: dict[str, int], words: str
) -> None:
    """BUD-5: what the next request takes leads the page; why that is more than its kinds come to stands beneath it."""
    from foldline.cli.commands.context import _anchored

    assert _anchored({"tokens_total": total, "by_kind": by_kind}, 107_348, estimated=0).endswith(words)


def test_an_unknown_window_says_how_to_name_one() -> None:
    """No share of a window that is not known."""
    page = run("context", "windowless.jsonl").stdout
    assert "no window known; name the model with --model" in page
    assert "None" not in page


def test_json_is_the_document_of_the_interface() -> None:
    """One conversation gives `foldline.context/1`, many a document around them."""
    (one,) = documents(run("context", "session.jsonl", "--json").stdout)
    assert one["schema"] == "foldline.context/1"
    (many,) = documents(run("context", "many.json", "--json").stdout)
    assert (many["schema"], len(many["sessions"])) == ("foldline.contexts/1", 2)


def test_context_tells_what_was_read_again() -> None:
    """The loop guard's line, with and without its advice."""
    from foldline.cli.commands.context import _again

    assert _again({"again": 1, "evicted": 1200, "keep_more": False}) == (
        "1 of 1,200 readings that compactions took out were soon read again"
    )
    assert _again({"again": 9, "evicted": 12, "keep_more": True}).endswith(
        "a policy that keeps more would cost less"
    )


def test_the_page_says_what_its_numbers_rest_on() -> None:
    """One file has another size by another counter."""
    [document] = documents(run("context", "session.jsonl", "--json").stdout)
    assert f"counted with {document['counter']}" in run("context", "session.jsonl").stdout


@pytest.mark.parametrize(
    ("used", "percent", "words"),
    [
        (83_500, 50, "50% of the threshold of 167,000 (reserve) · 83,500 below it"),
        (166_999, 100, "100% of the threshold of 167,000 (reserve) · 1 below it"),
        (167_000, 100, "100% of the threshold of 167,000 (reserve) · 0 past it"),
        (190_000, 100, "100% of the threshold of 167,000 (reserve) · 23,000 past it · the window is 200,000"),
        (
            215_000,
            100,
            "· 48,000 past it · the window is 200,000, 15,000 less than the request takes",
        ),
    ],
)
def test_usage_is_a_share_of_the_threshold_and_ends_at_a_hundred(
    used: int, percent: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """BUD-5: 83,500 of 167,000 are 50 %, 167,000 and more 100 %; BUD-11: the projection is the numerator, not a recount."""
    from foldline.cli.commands.context import _show

    document = {
        "policy": "reserve",
        "tokens_total": 1_000,
        "tokens_projected": used,
        "tokens_window": 200_000,
        "tokens_threshold": 167_000,
        "percent": percent,
    }
    _show(document, "s")
    assert words in " ".join(capsys.readouterr().out.split())
