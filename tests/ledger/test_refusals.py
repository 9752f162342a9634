"""What was called done and is not, in the words of those it was done for."""

from __future__ import annotations

import pytest

from foldline.core.message import Message, Meta, Text
from foldline.ledger.refusals import complaint, is_over, refuses
from foldline.testing.builders import assistant, call, result, user
from tests.ledger.test_compose import ledger, section

EMPTY = "ERROR! Your Patch is empty. Please provide a patch that fixes the problem."
RISKS = "Open risks or blockers"


@pytest.mark.parametrize(
    "said",
    [
        EMPTY,
        "still broken",
        "It still doesn't work :(",
        "nope, same error",
        "no, that's not what I asked for",
        "hm, this is still not it",
        "that did not work",
        "you forgot the tests",
        "Add a test, it still does not work when the file is empty.",
        "Find out why it still does not work.",
        "Note that it does not work on Windows.",
        "Check that it works, it does not work for me.",
        "写个测试，还是报错",
        "不行",
        "还是报错",
        "仍然没有解决",
        "又失败了，再看看",
        "まだ動かない",
        "아직 안 돼요",
        "das geht immer noch nicht",
        "ça ne marche toujours pas",
        "sigue sin funcionar",
        "всё ещё не работает",
    ],
)
def test_a_few_words_refuse_what_was_done_in_any_of_the_languages(said: str) -> None:
    """CMP-8: a user's "still broken" stood nowhere under what failed."""
    assert refuses(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "ok",
        "great, it works now",
        "Now add a test for the error path.",
        "Please fix the failing build.",
        "continue",
        "继续",
        "还是用 SQLite 吧",
        "What is still to do?",
        "Yes, please go ahead with all the downgrades.",
        "I changed my mind: use tabs. " + "And more of it. " * 40,
        "Add a test that it does not work when the file is empty.",
        "Please write a test which shows that the login doesn't work without a password.",
        "Make sure that it does not work for guests.",
        "Document that it does not work on Windows.",
        "Check that the same error is raised.",
        "添加一个测试，空文件时报错",
        "写个测试，没有权限时不能用",
    ],
)
def test_consent_a_new_wish_and_a_long_message_refuse_nothing(said: str) -> None:
    """CMP-8: what was accepted does not stand as refused."""
    assert not refuses(said)


def host(said: str) -> Message:
    """A text with role user that no user wrote."""
    return Message(role="user", parts=(Text(text=said),), meta=Meta(injected=True))


def ended(n: int, *answers: Message) -> list[Message]:
    """The agent says that it is done."""
    return [
        assistant(call("task_done", f"d{n}", message=f"## Patch {n}\nAll is verified.")),
        result(f"d{n}", "## Patch"),
        *answers,
    ]


def test_a_call_that_ends_the_work_is_refused_where_the_next_words_say_so() -> None:
    """CMP-8: a recorded session (trae) called `task_done` 23 times, and 23 times was told that its patch is empty: `task_done → ok ×22`."""
    text = ledger([*ended(1, host(EMPTY)), *ended(2, host(EMPTY))], [assistant("x")]).text
    assert section(text, RISKS) == f"- `task_done` → refused at m5: {EMPTY} (m3 tool ×2)"
    assert "Workspace mutations" not in text


def test_a_user_who_says_that_it_is_right_after_all_refuses_it_no_more() -> None:
    """CMP-8: `task_done → refused` stood as an open risk after "perfect", and in every ledger behind it."""
    refused = [*ended(1, user("still broken")), assistant("Now it is.")]
    told = ledger([*refused, user("perfect")]).text
    assert "refused" not in told
    assert "`task_done` → " in section(told, "Workspace mutations")
    before = ledger(refused).text
    assert "`task_done` → refused at m2" in section(before, RISKS)
    again = ledger([user("perfect"), assistant("Good.")], earlier=before, start=6).text
    assert "refused" not in again
    assert "`task_done` → ok" in section(again, "Workspace mutations")
    still = ledger([user("perfect"), *ended(2, user("no, still broken"))], earlier=before, start=6).text
    assert "`task_done` → refused" in section(still, RISKS)


def test_the_words_that_refuse_it_may_stay_in_the_view() -> None:
    """CMP-8: what stays says of a call that leaves what came of it."""
    told = ledger(ended(1), [user("不行")]).text
    assert section(told, RISKS) == "- `task_done` → refused at m2: 不行 (m0 tool)"


def test_what_brings_values_or_is_answered_by_another_wish_is_not_refused() -> None:
    """CMP-8: a mail was sent, whatever its reader complains about next."""
    mail = [
        assistant(call("send_mail", "c", to="a@b.org")),
        result("c", "sent"),
        user("The export still fails."),
    ]
    assert "`send_mail to=a@b.org` → ok: sent" in ledger(mail).text
    for answer in (user("great, it works now"), host("Please continue with the next step.")):
        assert "`task_done` → " in section(ledger([*ended(1, answer)]).text, "Workspace mutations")


def test_a_user_who_refuses_twice_is_the_first_line_under_what_failed() -> None:
    """CMP-8: a complaint that was made three times stood behind a list of error lines, or nowhere."""
    messages = [
        user("Make the login work."),
        assistant("Fixed."),
        user("still broken"),
        *failing(),
        assistant("Fixed now."),
    ]
    messages += [
        user("ok"),
        user("nope, same error"),
        assistant("Now it is."),
        user("it still does not work"),
    ]
    told = section(ledger([*messages, assistant("Hm.")], budget=400).text, RISKS)
    assert told.split("\n")[0] == '- refused by the user: "it still does not work" (m9 user ×3)'


def failing() -> list[Message]:
    """A tool that fails."""
    return [assistant(call("deploy", "p")), result("p", "Error: no such host", is_error=True)]


def test_the_same_words_said_again_are_told_in_any_script() -> None:
    """CMP-8: a script whose words are in no table."""
    again = complaint([(0, "Tengeneza kitufe"), (2, "hapana bado"), (4, "hapana bado!!"), (5, "ok")], None)
    assert again is not None
    assert (again.text, again.times, again.seq) == ('said again by the user: "hapana bado!!"', 2, 4)
    assert complaint([(0, "run the tests"), (2, "run the tests")], None) is None
    assert complaint([(0, "continue"), (2, "continue"), (4, "继续"), (6, "继续")], None) is None


@pytest.mark.parametrize(
    "said",
    [
        "next",
        "Next!",
        "next one please",
        "one more",
        "again",
        "run it again",
        "go on",
        "下一个",
        "再来一个",
        "weiter",
        "дальше",
        "次",
    ],
)
def test_who_only_asks_for_the_next_twice_complains_of_nothing(said: str) -> None:
    """CMP-8: "next", "next" stood under what failed, as something that the user had to say again."""
    assert complaint([(0, said), (2, said)], None) is None
    assert complaint([(0, "still broken"), (2, "still broken"), (4, said)], None) is not None


def test_a_user_who_goes_on_to_something_else_refuses_no_more() -> None:
    """CMP-8: what was got over is no open risk."""
    run = [(0, "still broken"), (2, "still broken")]
    assert complaint([*run, (4, "look into /tmp/x.log")], None) is not None
    assert complaint([*run, (4, "it works, thank you!"), (6, "Add a page for prices.")], None) is None


@pytest.mark.parametrize(
    "said",
    [
        "perfect",
        "works",
        "lgtm",
        "looks good",
        "great!",
        "yes!",
        "ok, good",
        "thank you",
        "Great, that works. Now add docs.",
        "it's working now",
        "danke",
        "funktioniert jetzt",
        "ça marche, merci",
        "ya funciona",
        "спасибо, работает",
        "可以了",
        "可以了，现在改页脚",
        "太好了，谢谢你",
        "great job, thanks a lot!",
        "nice work",
        "well done!",
        "thank you for all your help",
        "ありがとうございます",
        "Perfect, it works now",
        "thanks, fixed",
        "works, now add the footer",
        "super, danke",
        "génial, ça marche",
        "動きました。ありがとう",
        "잘 돼요",
    ],
)
def test_a_user_who_says_that_it_works_refuses_no_more(said: str) -> None:
    """CMP-8: "it does not work" stood as an open risk after "perfect", since an answer in a word was passed over."""
    assert is_over(said)
    run = [(0, "it does not work"), (2, "it still does not work")]
    assert complaint([*run, (4, said)], None) is None
    assert complaint([(4, said)], complaint(run, None)) is None


@pytest.mark.parametrize(
    "said",
    [
        "great, but it still fails",
        "thanks, the error is still there",
        "thank you for trying, no luck",
        "works?",
        "it works only on my machine",
        "works if I restart",
        "nice try",
        "Nice, now the header overlaps",
        "Great! Now the page is blank",
        "thanks, now the header overlaps",
        "cool it down",
        "Well",
        "good that you mention it",
        "super, jetzt überlappt der Kopf",
        "génial, maintenant la page est vide",
        "perfecto, ahora la página está vacía",
        "отлично, теперь страница пустая",
        "太好了，现在页眉重叠了",
        "太好了，现在改页脚",
        "不错，现在页面是空白的",
        "最高、今度は真っ白です",
        "great idea, do it",
        "no thanks",
        "go on please",
        "super langsam",
        "不错，但是还报错",
        "现在可以了吗",
        "可以了解一下原因",
        "動いたら教えて",
    ],
)
def test_praise_with_a_doubt_a_question_and_praise_of_a_plan_settle_nothing(said: str) -> None:
    """CMP-8: a complaint falls only where it is plainly over."""
    assert not is_over(said)
    assert complaint([(0, "it does not work"), (2, "it still does not work"), (4, said)], None) is not None


@pytest.mark.parametrize(
    "said",
    [
        "OK thanks, here is the stack trace you wanted.",
        "Thank you. The log is in /tmp/a.log.",
        "Good, keep looking.",
        "That's good, keep looking.",
        "Nice, look at the log.",
        "Nice, now the header overlaps",
        "Cool, dig deeper into that.",
        "Cool. Here is the log: x=1",
        "cool it down",
        "Skip that, use the debugger to find it.",
        "Never mind the lint, find the cause.",
        "Next, look at the log to find it.",
        "never mind, write the docs",
        "Let's move on to the footer.",
        "谢谢，继续查",
        "没问题，你再试试",
        "好了，先看日志",
        "太好了，现在改页脚",
        "算了，先做别的",
    ],
)
def test_politeness_before_a_further_step_settles_nothing_at_once(said: str) -> None:
    """CMP-8: "Thank you. The log is in /tmp/a.log." took the complaint away that the log was sent for."""
    run = [(0, "it does not work"), (2, "it still does not work"), (4, said)]
    assert complaint(run, None) is not None
    assert complaint([*run, (6, "Add a page for prices.")], None) is None


def test_a_mere_yes_settles_nothing_until_the_user_goes_on() -> None:
    """CMP-8: "ok" may be said of what was done and of what the agent is about to do."""
    run = [(0, "still broken"), (2, "still broken")]
    for yes in ("ok", "yes", "好的", "ja", "네"):
        assert complaint([*run, (4, yes), (6, yes)], None) is not None
        assert complaint([*run, (4, yes), (6, "Add a page for prices.")], None) is None


def test_a_word_that_only_drives_on_leaves_an_earlier_ledgers_complaint() -> None:
    """CMP-25: "continue" after a compaction took what the user had refused from the ledger."""
    first = complaint([(0, "still broken"), (2, "still broken")], None)
    assert complaint([(4, "continue")], first) == first


def test_an_earlier_ledgers_complaint_is_counted_further_or_over() -> None:
    """CMP-25: whatever is carried on is as new as the view."""
    first = ledger([user("still broken"), assistant("a"), user("still broken"), assistant("b")]).text
    assert '- refused by the user: "still broken" (m2 user ×2)' in first
    again = ledger([user("不行"), assistant("c")], earlier=first, start=4).text
    assert section(again, RISKS) == '- refused by the user: "不行" (m4 user ×3)'
    over = ledger(
        [user("good, that works"), user("now the footer"), assistant("c")], earlier=first, start=4
    ).text
    assert RISKS not in over
    kept = ledger([assistant("c")], earlier=first, start=4).text
    assert '- refused by the user: "still broken" (m2 user ×2)' in kept
