"""Records and totals."""

from __future__ import annotations

from typing import Any

from foldline.proxy.meters import OTHERS, UNKEPT_MAX, WHY_MAX, Meters, Record, as_json


def record(**values: Any) -> Record:
    return Record(**{"method": "POST", "path": "/v1/messages", "status": 200, **values})


def test_totals_are_the_sums_of_the_records() -> None:
    """OBS-1: what was saved is what was not sent."""
    meters = Meters()
    for one in (
        record(tokens_in=100, tokens_sent=40, outcome="edited", is_compaction=True),
        record(tokens_in=10, tokens_sent=10, why="the provider keeps the history (x)"),
        record(status=0, outcome="failed open", is_cut=True),
    ):
        meters.begun()
        meters.ended(one)
    meters.begun()
    told = meters.told()
    assert (told["requests"], told["on_their_way"], told["compactions"], told["answers_cut"]) == (3, 1, 1, 1)
    assert (told["tokens_in"], told["tokens_sent"], told["tokens_saved"]) == (110, 50, 60)
    assert told["outcomes"] == {"edited": 1, "as it came": 1, "failed open": 1}
    assert told["statuses"] == {"2xx": 2, "none": 1}
    assert told["why"] == {"the provider keeps the history (x)": 1}


def test_a_format_of_which_nothing_is_kept_for_long_is_told_once() -> None:
    """X05, headroomlabs-ai/headroom#3561: everything looked healthy, and nothing ever ran on that wire."""
    meters = Meters()
    unread = [record(format="gemini", why="cannot be read") for _ in range(UNKEPT_MAX + 5)]
    for one in unread:
        meters.ended(one, is_conversation=True)
        meters.ended(record(format="anthropic"), is_conversation=True)
        meters.ended(record(format="gemini"))
    assert [len(one.notes) for one in unread] == [0] * (UNKEPT_MAX - 1) + [1] + [0] * 5
    assert (
        "none of the last 20 requests of gemini could be kept (cannot be read)"
        in unread[UNKEPT_MAX - 1].notes
    )
    assert meters.told()["kept"] == {"gemini": False, "anthropic": True}
    meters.ended(record(format="gemini"), is_conversation=True)
    assert meters.told()["kept"]["gemini"]


def test_a_record_is_one_json_object() -> None:
    """What `--json` prints."""
    told = as_json(record(passes=("fold",)))
    assert told["schema"] == "foldline.proxy/1"
    assert told["passes"] == ("fold",)
    assert record(passes=("clear", "fold")).tier == "clear+fold"


def test_reasons_are_counted_by_themselves_up_to_a_bound() -> None:
    """Each is a label of a metric, and what a client can make up has no end."""
    meters = Meters()
    for n in range(WHY_MAX + 10):
        meters.begun()
        meters.ended(record(why=f"reason {n}"))
    told = meters.told()["why"]
    assert len(told) == WHY_MAX + 1
    assert told[OTHERS] == 10
