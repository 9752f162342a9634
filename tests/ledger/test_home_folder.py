"""The folder that most commands change to is said once, and every line has it again when it is read back."""

from __future__ import annotations

import pytest

from foldline.core.message import Message
from foldline.ledger.home_folder import home_in, home_of, said_of, shortened, whole
from foldline.ledger.render import read
from foldline.testing.builders import assistant, call, result
from tests.ledger.test_compose import ledger, section

HOME = "/home/ann/work/shop"
LINES = [
    f"- `cd {HOME} && make test` → ok (m1 tool)",
    f"- `cd {HOME}/api && make` → ok (m3 tool)",
    f"- `cd {HOME} && cat a | grep x` → shows: x (m5 tool)",
    f"- `cd {HOME}s && make` → ok (m7 tool)",
    "- `make` → ok (m9 tool)",
    f"- edit of `{HOME}/a.py` → failed: no match (m11 tool)",
]


def test_most_commands_decide_and_what_is_below_goes_with_them() -> None:
    """CMP-8: of a recorded session (trae) each of forty lines began with the same 110 characters, and hid what had been run."""
    home = home_of(LINES)
    assert home == HOME
    short = [shortened(line, home) for line in LINES]
    assert short == [
        "- `cd . && make test` → ok (m1 tool)",
        "- `cd ./api && make` → ok (m3 tool)",
        "- `cd . && cat a | grep x` → shows: x (m5 tool)",
        *LINES[3:],
    ]
    assert [whole(line[2:], home_in(said_of(home))) for line in short] == [line[2:] for line in LINES]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        LINES[:2],
        [line.replace(HOME, "/srv") for line in LINES],
        [*LINES, "- `cd . && make` → ok (m13 tool)"],
        [*LINES, "- `cd ./api && make` → ok (m13 tool)"],
        [line.replace(f"cd {HOME}", "cd 'a b'") for line in LINES],
    ],
)
def test_few_commands_a_short_folder_and_another_meaning_of_the_dot_leave_all_as_it_is(
    lines: list[str],
) -> None:
    """CMP-8: a line that reads back as another command would be worse than a long one."""
    assert home_of(lines) == ""
    assert [shortened(line, "") for line in lines] == lines


def test_a_ledger_says_the_folder_once_and_carries_every_command_on_with_it() -> None:
    """CMP-25: a later run of the same command takes the place of an earlier one, whichever folder that ledger is at home in."""

    def ran(n: int, folder: str, output: str) -> list[Message]:
        return [
            assistant("", call("bash", f"c{n}", command=f"cd {folder} && make t{n}")),
            result(f"c{n}", output),
        ]

    failed = "FAIL a\nExit code: 1"
    gone = [message for n in range(4) for message in ran(n, HOME, failed)]
    first = ledger(gone).text
    told = section(first, "Verification evidence").split("\n")
    assert told[0] == f"(in commands, `.` is {HOME})"
    assert told[1] == "- `cd . && make t0` → failed (exit 1): FAIL a (m0 tool)"
    assert first.count(HOME) == 1
    assert read(first)[0][0].key == f"cd {HOME} && make t0"
    later = [
        *ran(0, HOME, "9 passed\nexit code: 0"),
        *(m for n in range(9, 15) for m in ran(n, "/srv/other/place", "x")),
    ]
    again = ledger(later, earlier=first, start=len(gone)).text
    assert "(in commands, `.` is /srv/other/place)" in again
    assert f"- `cd {HOME} && make t0` → ok; failed at m0 (m8 tool ×2)" in again


def test_a_long_command_shows_what_it_runs_however_long_its_folder_is() -> None:
    """CMP-8: the folder took all that a line may take."""
    folder = f"/home/{'x' * 100}/shop"
    run = f"python -m pytest tests/test_login.py -k {'upper ' * 30}--tb=short"
    text = ledger(
        [assistant("", call("bash", "c", command=f"cd {folder} && {run}")), result("c", "1 failed")]
    ).text
    assert f"- `cd {folder} && python -m pytest tests/test_login.py -k upper" in text
    assert "--tb=short #" in text
