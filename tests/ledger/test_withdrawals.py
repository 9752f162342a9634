"""A decision that later words plainly take back is told so, and none that they only touch."""

from __future__ import annotations

import cProfile
from functools import lru_cache, partial

import pytest

from foldline.ledger.entries import Entry
from foldline.ledger.marks import TAKEN_BACK
from foldline.ledger.withdrawals import taken_back, withdrawals_in
from foldline.testing.builders import assistant, user
from tests.ledger.test_compose import ledger, section

READ = {is_users: partial(withdrawals_in, is_users=is_users) for is_users in (False, True)}
REDIS = "I decided to use Redis for the queue because it is fast."


def standing(decision: str, *later: str, is_users: bool = False) -> str:
    """What is told of a decision of message 1 after later texts."""
    entry = Entry(section="decisions", key=decision, text=decision, seq=1, origin="assistant")
    said = [(seq, text, is_users) for seq, text in enumerate(later, 2)]
    [found] = taken_back([entry], said, read=READ)
    return found.text.removeprefix(decision)


QUEUE = "The fix is simple: use `queueMessage` instead of `appendMessage`."


@pytest.mark.parametrize(
    ("decision", "later", "is_back"),
    [
        (QUEUE, "The `queueMessage` approach is wrong. I'll keep it pending.", True),
        (QUEUE, "The `appendMessage` approach is wrong.", False),
        (QUEUE, "If the `queueMessage` approach is wrong, we will see.", False),
        (QUEUE, "Is the `queueMessage` approach wrong?", False),
        (QUEUE, "The `queueMessage` approach isn't wrong.", False),
        (QUEUE, "I call `queueMessage` twice.", False),
        ("We use `Redis` because it is fast.", "We use `Postgres` instead of `Redis`.", True),
        (
            "We use `Redis` because `Postgres` is slow.",
            "We no longer use Kafka, and no longer use `Postgres`.",
            False,
        ),
        ("We use `Redis` because it is fast.", "I replaced `Redis` with `Postgres`.", False),
        ("我决定用 `Redis`，因为快。", "把 `Redis` 换成 `Postgres`。", True),
        ("我决定用 `Redis`，因为快。", "`Redis` 的方案行不通。", True),
        ("我决定用 Redis，因为快。", "不再使用 Redis。", True),
        ("I use the queue because it is short.", "The old test is wrong, and the queue is short.", False),
        ("我决定用 `Redis`，因为快。", "如果 `Redis` 行不通就再看。", False),
        ('我决定采用"科技"风格', '最终采用"能量"风格。', True),
        ('我决定采用"科技"风格', '最终采用"科技"风格。', False),
        ('我决定采用"科技"风格', '最终采用"能量"数据库。', False),
        ('I went with the "tech" theme.', 'In the end I went with the "energy" theme.', True),
    ],
)
def test_a_decision_that_later_words_plainly_take_back_is_told_so(
    decision: str, later: str, *, is_back: bool
) -> None:
    """CMP-8: whoever went on from the ledger would have put back what the user had rejected."""
    assert standing(decision, later) == (f"{TAKEN_BACK}2" if is_back else "")


def test_only_later_words_take_back_and_only_once() -> None:
    """CMP-8: a line that an earlier ledger carried says where it was taken back already."""
    wrong = "The `queueMessage` approach is wrong."
    assert standing(QUEUE, "x", wrong, wrong) == f"{TAKEN_BACK}3"
    told = Entry(section="decisions", key="k", text=f"{QUEUE}{TAKEN_BACK}3", seq=1, origin="assistant")
    assert list(taken_back([told], [(9, wrong, False)], read=READ)) == [told]
    before = Entry(section="decisions", key=QUEUE, text=QUEUE, seq=9, origin="assistant")
    assert list(taken_back([before], [(9, wrong, False)], read=READ)) == [before]


@pytest.mark.parametrize(
    "later",
    [
        "Don't use Redis, use Postgres.",
        "dont use redis",
        "We can't use Redis because it would cost too much.",
        "Redis is wrong here.",
        "No Redis please.",
        "Forget Redis.",
        "Use Postgres, not Redis.",
        "Let's not use Redis for the queue.",
        "Redis is not an option.",
        "We don't need Redis.",
        "Actually, use Memcached.",
        "不要用 Redis，用 Postgres。",
        "Redis 不合适",
        "Kein Redis bitte.",
        "Pas de Redis.",
        "Olvida Redis.",
        "Não use Redis.",
        "Не используй Redis.",
        "Redisは使わないでください。",
        "Redis 쓰지 마세요",
    ],
)
def test_a_user_who_overrules_a_decision_takes_it_back(later: str) -> None:
    """CMP-8: "I decided to use Redis" stood after the user's "Don't use Redis", and was built on."""
    assert standing(REDIS, later, is_users=True) == f"{TAKEN_BACK}2"


@pytest.mark.parametrize(
    ("decision", "later", "is_back"),
    [
        ("I put the README in docs because it is long.", "I don't want the README.", False),
        (
            "I decided to write the README in Markdown because it is simple.",
            "We don't want the README.",
            False,
        ),
        ("I decided to write the README in Markdown because it is simple.", "I don't want Markdown.", True),
        ("I added a README because there was none.", "I don't want the README.", True),
        (REDIS, "I don't want Redis.", True),
        (REDIS, "We don't want Redis.", True),
        ("我决定用 Redis，因为快。", "I don't want Redis.", True),
        ("I'll go with pytest because it is there.", "I don't want pytest.", True),
    ],
)
def test_what_is_not_wanted_takes_back_what_took_it(decision: str, later: str, *, is_back: bool) -> None:
    """CMP-8: a decision that only speaks of the thing stands."""
    assert standing(decision, later, is_users=True) == (f"{TAKEN_BACK}2" if is_back else "")


@pytest.mark.parametrize(
    ("later", "is_back"),
    [
        ("Actually, run it with unittest.", False),
        ("Actually, can you run the tests with unittest?", False),
        ("Actually, try it with unittest.", False),
        ("Actually, please rerun it with unittest now.", False),
        ("Actually, run it with unittest from now on.", True),
        ("Actually, always run it with unittest.", True),
        ("Run it with unittest instead.", True),
        ("On second thought, run it with unittest.", True),
        ("Actually, use unittest.", True),
        ("Actually, go with unittest.", True),
    ],
)
def test_how_to_run_something_once_takes_no_choice_back(later: str, *, is_back: bool) -> None:
    """CMP-8: "run it with unittest" is asked for once, unless it says that it holds on."""
    said = "I decided to use pytest because it is there."
    assert standing(said, later, is_users=True) == (f"{TAKEN_BACK}2" if is_back else "")


@pytest.mark.parametrize(
    "later",
    [
        "Using Redis was a mistake.",
        "I'll drop Redis and use Postgres.",
    ],
)
def test_an_agent_that_gives_up_what_it_chose_takes_it_back(later: str) -> None:
    """CMP-8: only "X instead of Redis" was understood."""
    assert standing(REDIS, later) == f"{TAKEN_BACK}2"


@pytest.mark.parametrize(
    "later",
    [
        "Skip Redis. Review the rest.",
        "No need for Redis; I know it.",
        "I said rename utils, not Redis.",
        "Show me utils.py, not Redis.",
        "Never mind Redis, that is a separate issue",
        "Leave out Redis, I know that part.",
        "I was wrong about Redis, it is great, keep it.",
        "I changed my mind about Redis, it is great.",
        "Redis was removed by mistake, put it back.",
        "把 Redis 改成异步的",
        "不是说不用 Redis",
        "Redis is bad at this, but we stay with it.",
        "Rather than Redis, check the worker first.",
        "Test the client instead of Redis.",
        "The bug is in the client rather than Redis.",
    ],
)
def test_a_user_who_leaves_a_thing_out_of_the_talk_takes_nothing_back(later: str) -> None:
    """CMP-8: a decision that stands was told as taken back."""
    assert standing(REDIS, later, is_users=True) == ""


@pytest.mark.parametrize(
    "later",
    [
        "Redis cannot be imported, so I will fix the path.",
        "Redis cannot be found, so I looked in utils.",
        "Redis can't be pickled, so we set it in the worker.",
        "I was wrong about Redis, it was already correct.",
        "I'm removing Redis, then adding it back in utils.",
        "I am not using Redis here.",
        "Redis was replaced by the formatter with one line.",
        "I deleted redis, then installed redis 7.",
        "I replaced Redis with a cleaner version.",
        "I removed Redis again.",
    ],
)
def test_what_an_agent_finds_and_does_on_its_way_takes_nothing_back(later: str) -> None:
    """CMP-8: a finding and a deed are no choice."""
    assert standing(REDIS, later) == ""


@pytest.mark.parametrize("later", ["Sorry, do use Redis.", "OK use Redis."])
def test_an_order_to_use_it_takes_it_up_again(later: str) -> None:
    """CMP-8: the last word counts."""
    assert standing(REDIS, "Do not use Redis.", later, is_users=True) == ""


@pytest.mark.parametrize(
    "later",
    [
        "Don't use Redis' KEYS command.",
        "Don't use Redis for sessions, only for the cache.",
        "Don't use Redis for sessions.",
        "Don't use Redis yet.",
        "Don't restart Redis.",
        "No, Redis is fine.",
        "The Redis config is wrong.",
        "Replace Redis 6 with Redis 7.",
        "The old queue was replaced with Redis.",
        "Replace the old queue by Redis.",
        "Remove Redis from the list of questions.",
        "Forget Redis for now.",
        "I have not used Redis.",
        "Actually, use Vitest.",
        "不要改 Redis 的配置",
    ],
)
def test_what_is_said_of_a_part_or_a_case_takes_nothing_back(later: str) -> None:
    """CMP-8: in doubt a decision stands."""
    assert standing(REDIS, later, is_users=True) == ""


def test_to_give_up_one_of_two_uses_leaves_the_decision() -> None:
    """CMP-8: Redis still holds the cache."""
    both = "I decided to use Redis for sessions and the cache because it is fast."
    assert standing(both, "Don't use Redis for sessions.", is_users=True) == ""
    assert standing(both, "Don't use Redis for sessions and the cache.", is_users=True) == f"{TAKEN_BACK}2"


@pytest.mark.parametrize(
    ("decision", "later"),
    [
        ("I decided to drop Redis because it is slow.", "I removed Redis."),
        ("I decided to remove `foo.py` since nobody uses it.", "I removed `foo.py`."),
        ("I decided to replace Redis with Postgres because it is simple.", "I replaced Redis with Postgres."),
        ("I'm switching from Redis to Postgres because it is simple.", "We no longer use Redis."),
        ("我决定删除 `foo.py`，因为没人用。", "我已经删除 `foo.py`。"),
    ],
)
def test_what_a_decision_does_away_with_is_not_what_it_chose(decision: str, later: str) -> None:
    """CMP-8: a decision that was carried out was told as taken back."""
    assert standing(decision, later) == ""


@pytest.mark.parametrize(
    "later", ["Use Redis after all.", "Ok, keep Redis.", "Back to Redis please.", "还是用 Redis 吧"]
)
def test_a_decision_that_is_taken_up_again_stands(later: str) -> None:
    """CMP-8: the last word counts; a decision that stands was told as taken back."""
    assert standing(REDIS, "Don't use Redis.", later, is_users=True) == ""
    assert standing(REDIS, later, "Don't use Redis.", is_users=True) == f"{TAKEN_BACK}3"
    assert standing(REDIS, "Don't use Redis.", later.replace("Redis", "Kafka"), is_users=True)


@pytest.mark.parametrize(
    "later",
    [
        "Never use Redis again.",
        "Don't use Redis again.",
        "Don't go back to Redis.",
        "Don't keep Redis.",
        "We should not keep Redis.",
        "Let's not stick with Redis.",
        "Keeping Redis is a mistake.",
        "Using Redis again is out of the question.",
        "No longer use Redis.",
        "不要保留 Redis。",
        "别再恢复 Redis",
        "不要恢复 Redis，用 Postgres。",
        "Kein Redis mehr.",
        "N'utilisez plus Redis.",
        "Ya no uses Redis.",
        "Não use Redis.",
        "Не используй Redis.",
        "Redisは使わないでください。",
        "Redis 쓰지 마세요",
    ],
)
def test_an_emphatic_no_is_no_yes(later: str) -> None:
    """CMP-8: "Never use Redis again." left the decision standing, and undid the user's earlier "Don't use Redis."."""
    assert standing(REDIS, later, is_users=True) == f"{TAKEN_BACK}2"
    assert standing(REDIS, "Don't use Redis.", later, is_users=True) == f"{TAKEN_BACK}2"


@pytest.mark.parametrize(
    "later",
    [
        "Don't keep Redis for now.",
        "I never said to keep Redis.",
        "There is no way back to Redis.",
        "We will not go back to Redis yet.",
        "我们不会恢复 Redis",
        "没有保留 Redis",
    ],
)
def test_what_is_not_kept_is_not_taken_up_again(later: str) -> None:
    """CMP-8: words that give nothing up by themselves do not undo what was given up either."""
    assert standing(REDIS, later, is_users=True) == ""
    assert standing(REDIS, "Don't use Redis.", later, is_users=True) == f"{TAKEN_BACK}2"


@pytest.mark.parametrize(
    "later",
    [
        "Don't use Kafka, keep Redis.",
        "Kafka can't be installed, so back to Redis.",
        "Drop Kafka and use Redis again.",
        "Don't forget to keep Redis.",
        "Don't use Redis for sessions, keep Redis for the queue.",
        "不要用 Kafka，还是用 Redis 吧",
        "不如保留 Redis",
    ],
)
def test_a_no_to_something_else_takes_up_again(later: str) -> None:
    """CMP-8: a negation speaks of its own clause."""
    assert standing(REDIS, "Don't use Redis.", later, is_users=True) == ""


def test_texts_that_name_nothing_decided_are_not_read() -> None:
    """CMP-8: what a decision costs must not grow with all that was said since."""

    def fails(said: str) -> tuple[()]:
        raise AssertionError(said)

    entry = Entry(section="decisions", key=REDIS, text=REDIS, seq=1, origin="assistant")
    read = {True: fails, False: fails}
    assert list(taken_back([entry], [(2, "Don't use Kafka.", True)], read=read)) == [entry]


def test_more_decisions_cost_no_more_for_each_text() -> None:
    """CMP-8: each text that took something back was held against every decision, 6.6 s for 1,600 of them."""

    def cost(decisions: int) -> int:
        texts = [f"I decided to use `lib{n}` for part {n} because it is fast." for n in range(decisions)]
        entries = [
            Entry(section="decisions", key=text, text=text, seq=2 * n, origin="assistant")
            for n, text in enumerate(texts)
        ]
        said = [(2 * n + 1, f"Don't use `lib{n - 3}`, keep `lib{n}`.", True) for n in range(decisions)]
        read = dict.fromkeys((True, False), lru_cache(partial(withdrawals_in, is_users=True)))
        profile = cProfile.Profile()
        told = profile.runcall(list[Entry], taken_back(entries, said, read=read))
        assert sum(TAKEN_BACK in entry.text for entry in told) == decisions - 3
        return sum(row.callcount for row in profile.getstats())

    assert cost(400) <= 5 * cost(100)


def test_an_overruled_decision_says_so_in_the_ledger_at_the_users_words() -> None:
    """CMP-8: whether the words that overrule it leave or stay."""
    decided, overruled = [user("Set it up."), assistant(REDIS)], user("Don't use Redis, use Postgres.")
    for gone, kept in (([*decided, overruled], []), (decided, [overruled])):
        told = section(ledger(gone, kept).text, "Decisions and rationale")
        assert told == f"- {REDIS}{TAKEN_BACK}2 (m1 assistant)"
