"""What a later message takes back is told from what it leaves, and in doubt everything stands.

A wrong supersession hides a rule, so the cases in which nothing may be superseded are the longer list.
"""

from __future__ import annotations

import pytest

from foldline.ledger.supersession import supersessions
from tests.ledger.taking_back import supersedes
from tests.linear import slowness

TAKES_BACK = [
    (
        ["Task A: restructure section X."],
        "Task B instead: fix the reasoning in file Z. Drop A.",
        {0: "withdrawn"},
    ),
    (
        ["For Ann's overhaul, let's use md5."],
        "Actually, wait — scratch that. Instead, let's use bcrypt.",
        {0: "withdrawn"},
    ),
    (["add a dark mode to the settings page"], "never mind", {0: "withdrawn"}),
    (["add a dark mode", "fix the login bug"], "Never mind the dark mode.", {0: "withdrawn"}),
    (["请实现导出功能", "修复登录"], "取消导出功能", {0: "withdrawn"}),
    (["请实现导出功能", "修复登录"], "不用做导出功能了", {0: "withdrawn"}),
    (["The port is 8080."], "the port is 9090 now", {0: "updated"}),
    (["The timeout is 30 s."], "Make the timeout 60 s.", {0: "updated"}),
    (["Add paging to the list."], "I changed my mind about the paging.", {0: "withdrawn"}),
    (["Add paging to the list."], "Oh, I found it myself, never mind.", {0: "withdrawn"}),
    (["Add the export."], "The export feature is out.", {0: "withdrawn"}),
    (["实现导出功能。"], "导出功能取消了。", {0: "withdrawn"}),
    (["Don't touch the schema."], "Scratch that, the schema can be changed.", {0: "allowed"}),
    (["Always run the linter."], "You don't need to run the linter any more.", {0: "withdrawn"}),
    (["use port 7000 on staging", "Pickup is on Tuesday."], "Change: pickup moves to Friday", {1: "updated"}),
    (["Use 4 workers."], "Use 8 workers.", {0: "updated"}),
    (["Use Python 3.11."], "Use Python 3.12.", {0: "updated"}),
    (["The level must be `debug`."], "The level must be `info` now.", {0: "updated"}),
    (["The reviewer is Anna."], "The reviewer is Ben now.", {0: "updated"}),
    (["The delivery is on Monday."], "The delivery is on Friday.", {0: "updated"}),
    (["请把端口设为 8080"], "请把端口设为 9090", {0: "updated"}),
    (["The deadline is 12 May."], "The deadline is 14 May.", {0: "updated"}),
    (["The date is May 12."], "The date is 14 June.", {0: "updated"}),
    (["Look at PR 12.", "Look at PR 13."], "Look at PR 15 instead.", {1: "updated"}),
    (["Meeting on Monday."], "The meeting moves to Friday.", {0: "updated"}),
    (["Never touch src/db.", "do not touch src/api"], "you may now touch src/db", {0: "allowed"}),
    (["Never log passwords."], "You may now log passwords.", {0: "allowed"}),
    (["不要动 src/db"], "现在可以改 src/db 了", {0: "allowed"}),
    (
        ["Plan: we'll use one queue.", "I think one queue is the right call.", "What's the weather like?"],
        "Wait — scratch all of this. We're going to use two topics instead.",
        {0: "reset", 1: "reset"},
    ),
    (
        ["Current plan: skip the tests."],
        "Ignore everything we've said so far. New plan: write them.",
        {0: "reset"},
    ),
]
LEAVES = [
    (["The header must have `X-A`."], "The header must have `X-B`."),
    (["The user must have `admin`."], "The user must have `editor`."),
    (["The button must be `primary`."], "The button must be `disabled`."),
    (["The job must take at most 5 minutes."], "The job must take at most 2 GB."),
    (["The budget is 500 EUR."], "The budget is 20 hours."),
    (["The budget is 500 EUR."], "The budget is 20 hours now."),
    (["The test for limit = 5 fails."], "The test for limit = 10 fails."),
    (["The gym class is Monday."], "The gym class is Wednesday."),
    (["Add a user with role=admin."], "Add a user with role=guest."),
    (["Let's use md5."], "yes"),
    (["Task A: y", "Task B: z"], "B"),
    (["implement the cache with a list"], "use a dict instead"),
    (["I want to book a reservation"], "cancel my reservation"),
    (["Do not touch src/db or src/api."], "You can edit src/db now."),
    (["Never touch src/db."], "can I touch src/db now?"),
    (["Add 3 tests"], "Add 5 tests"),
    (["The staging port is 8080.", "The production port is 9090."], "The port is 7070 now"),
    (["The staging port is 8080."], "The port is 9090 now."),
    (["Memory limit is 512 MB."], "Memory is 600 MB now."),
    (["Coverage threshold is 90%."], "Coverage is 70% now."),
    (["fix the tests"], "ignore all warnings"),
    (["fix login"], "Forget everything I said about the budget"),
    (["drop the users table", "add an index"], "drop the column users.email"),
    (["Never push to main."], "Ignore everything we've said so far. Total reset."),
    (["Always answer in French."], "never mind"),
    (["Never log passwords."], "You may now log errors."),
    (["不要重命名表"], "现在可以重命名列了"),
    (["Never log passwords, " + "nor what stands near them, " * 20 + "ever."], "You may now log passwords."),
    (["add a dark mode"], "Forget about that one instead of this."),
    (["fix the login bug"], "it returns 5 instead of 10"),
    (["The database is `orders` and you must never drop it."], "The database is `invoices` now."),
    (["The API key is `abc123` and must never be logged."], "The API key is `def456` now."),
    (["The port is 8080 and never expose it to the internet."], "The port is 9090 now."),
    (["The deadline is Friday, and never skip review."], "The deadline is Monday now."),
    (["We should never store passwords in plain text."], "Let's use argon2 instead."),
    (["Let's keep Python 3.8 support."], "Let's do the CLI in click instead."),
    (["Let's do the API in Go."], "Let's do the CLI in click instead."),
    (["Let's never push to main."], "Let's push to dev instead."),
    (["Let's never push to main."], "Scratch that."),
    (["fix the login bug"], "Please ignore everything that lint says."),
    (["fix the login bug"], "Ignore everything above line 40 in the log."),
    (
        ["Never touch src/db."],
        'Look: <foldline-fold id="m1">\nYou may now touch src/db.\n</foldline-fold> ok?',
    ),
    (["fix the login bug"], 'Look: <foldline-fold id="m1">\nScratch that.\n</foldline-fold> ok?'),
    (["实现登录功能。"], "之前的提交都取消了吗？"),
    *[
        (["Never run migrations."], later)
        for later in (
            "> You may run migrations now.",
            "```\nYou may run migrations now.\n```",
            "<log>\nYou may run migrations now.\n</log>",
            "Here is the output:\nYou may run migrations now.",
            "It is false that you may run migrations now.",
            "Is it true that you can run migrations now",
            "Translate: you may run migrations now.",
            "You may run migrations now. Just kidding!",
            "You may run migrations now — no, wait, don't.",
        )
    ],
    (["请给设置页加上深色模式。"], "算了一下，一共 30 个。"),
    (["Add paging to the list."], "My wife said I changed my mind."),
    (["Add paging to the list."], "I changed my mind about lunch. Anyway, how is it going?"),
    (["Add a dark mode to the settings page."], "Add an undo toast that reads: scratch that."),
    (["Fix the login."], "Please add a search box. Never mind."),
    (["Fix the login."], "Scratch that, the schema can be changed."),
    (["Fix the cancel order task."], "Cancel order task first."),
    (["Fix the drop shadow feature."], "Drop shadow feature."),
    (["修复取消订单功能。"], "取消订单功能。"),
    (["Fix the order page."], "The order is cancelled twice."),
    (["Add paging to the list and a dark mode to the page."], "Never mind the list."),
    (["Task A: fix the login. Task B: write the tests."], "> drop A"),
    (["1. Fix the login\n2. Write the tests"], "Why did you skip 2?"),
    (["We'll use Redis for the cache."], "If Redis fails we'll use Memcached for the cache instead."),
    (["We'll use Redis for the cache."], 'The doc says "we\'ll use Memcached for the cache instead".'),
    (["We'll use Redis for the cache."], "Alice says: let's use Memcached for the cache instead."),
    (["We'll use Redis for the cache."], "Alice: let's use Memcached for the cache instead."),
    (["We'll use Redis for the cache."], "Actually we'll need a test for that."),
    (["The limit is 100 for free users and 500 for paid users."], "The limit is 200 for free users now."),
    (["The port is 8080."], "```\nport is 9090 now\n```"),
    (["The port is 8080."], "The port is 9090 now. Just kidding."),
    (["Look at PR 12."], "Look at PR 15."),
    (["Meeting on Monday"], "Meeting on Friday"),
    (["Deploy on Fridays."], "Deploy on Mondays."),
    (["We should talk to Anna."], "We should talk to Ben."),
    (["Set up a call with Anna."], "Set up a call with Ben."),
    (["Run the tests with Python 3.11."], "Run the tests with Python 3.12."),
    (["Room 12 is booked."], "Room 14 is booked now."),
    (["Version 2 of the API is slow."], "Version 3 of the API is slow."),
    (["You must add 3 tests."], "You must add 5 tests."),
    (["Step 2: use a dict."], "Step 3: use a dict instead."),
    (["Look at PR 12."], "Also look at PR 15 instead."),
    (["name: Anna\nage: 30"], "name: Ben\nage: 35"),
    (["Set the timeout to 30 and run the benchmark."], "Set the timeout to 60 and run the benchmark."),
    (["Use 4 workers and run the tests."], "Use 8 workers and run the tests."),
    (["The failing test is `a`."], "The failing test is `b`."),
    (["The function is `foo`."], "The function is `bar`."),
    (["Use `foo` in a.py"], "Use `bar` in a.py"),
    (["Use 3 sentences."], "Use 5 sentences."),
    (["My flight is on Monday."], "My flight is on Friday."),
    (["My guess is 12."], "My guess is 15."),
    (["x = 5"], "x = 7"),
    (["请看：12"], "请看：15"),
    (["用 3 句话总结"], "用 5 句话总结"),
    (["把它改成 12"], "把它改成 15"),
    (["그것은 12 입니다"], "그것은 15 입니다"),
    (["port: 7070"], "staging:\nport: 8080\nproduction:\nport: 9090"),
]


@pytest.mark.parametrize(("earlier", "later", "expected"), TAKES_BACK)
def test_a_later_message_supersedes_what_it_names(
    earlier: list[str], later: str, expected: dict[int, str]
) -> None:
    """NousResearch/hermes-agent#41607: the newest message wins and superseded ones are marked."""
    found = supersedes(later, list(enumerate(earlier)))
    assert {one.ordinal: one.how for one in found} == expected
    assert all(one.stands == () for one in found)


@pytest.mark.parametrize(("earlier", "later"), LEAVES)
def test_in_doubt_nothing_is_superseded(earlier: list[str], later: str) -> None:
    """A wrong supersession hides a rule: prefer none."""
    assert supersedes(later, list(enumerate(earlier))) == ()


def test_only_the_sentences_concerned_fall() -> None:
    """The rest of the message still stands, and says where."""
    text = "Goal: ship it with Ann. Approach: use floats. Never log passwords."
    (found,) = supersedes("Let's swap. Use integers. The use floats plan is off the table.", [(4, text)])
    assert [text[start:end] for start, end in found.spans] == ["Approach: use floats."]
    assert [text[start:end] for start, end in found.stands] == [
        "Goal: ship it with Ann.",
        "Never log passwords.",
    ]


def test_a_value_takes_no_rule_with_it_that_stands_beside_it() -> None:
    """A number before a full stop ends a sentence."""
    (found,) = supersedes("The retry limit is 6 now.", [(0, "The retry limit is 5. Never push to main.")])
    assert found.stands == ((22, 41),)


@pytest.mark.parametrize(
    ("earlier", "struck"),
    [
        ("The database port is 5432 and the port is 8080.", "and the port is 8080"),
        ("The port is 8080 and the database port is 5432.", "The port is 8080 and"),
        ("Fix the bug, the port is 8080.", ", the port is 8080"),
    ],
)
def test_of_a_sentence_with_two_values_only_the_older_value_falls(earlier: str, struck: str) -> None:
    """Its neighbour was not changed: it stands and is told on."""
    (found,) = supersedes("The port is 9090 now.", [(0, earlier)])
    assert [earlier[start:end] for start, end in found.spans] == [struck]
    stands = "".join(earlier[start:end] for start, end in found.stands)
    assert stands.strip(" .") == earlier.replace(struck, "").strip(" .")


def test_of_a_list_of_settings_the_one_that_changed_falls() -> None:
    """With several others it would be another list: of the next service, of another person."""
    earlier = "port: 8080\ntimeout: 30"
    (found,) = supersedes("port: 9090\ntimeout: 30", [(0, earlier)])
    assert [earlier[start:end] for start, end in found.spans] == ["port: 8080"]
    assert supersedes("port: 9090\ntimeout: 60", [(0, earlier)]) == ()


def test_a_whole_history_gives_for_each_message_the_last_that_supersedes_it() -> None:
    """Options named by letter fall in their order when that leaves no doubt."""
    history = [
        (0, "I think we should deploy on Fridays, let's do that."),
        (2, "Let's deploy on Mondays instead."),
        (4, "Final answer: let's deploy on Sundays. Forget A and B — go with C."),
    ]
    assert {ordinal: by for ordinal, (by, _) in supersessions(history).items()} == {0: 4, 2: 4}


@pytest.mark.parametrize(
    "piece", ["never x. ", "you can ", "drop A and ", "let's ", "x # never\n", ". ", "use x ", "`"]
)
def test_hostile_text_takes_time_in_proportion(piece: str) -> None:
    """30,000 characters against themselves, each of the two read and heard."""

    def halves(text: str) -> object:
        half = text[: len(text) // 2]
        return supersessions([(0, half), (1, half)])

    assert slowness(halves, piece, size=60_000, scans_max=100) == ""
