"""What the agent needs to go on, behind the summary and in the same commit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import foldline
from foldline.presets import POLICIES
from foldline.restore import BackgroundTask, PlanMode, PlanSteps, Restorer, Skill, Sources, Touched
from foldline.session.hosting import Host
from foldline.session.session import Session
from foldline.stores.memory import MemoryStore
from foldline.testing.completers import ScriptedCompleter
from tests.judges.panel import violations
from tests.session.making import answer, opened, worked
from tests.session.modelling import asks, due
from tests.session.test_conversation import narrow
from tests.session.test_presets import FIRST, driven, said, talk
from tests.session.test_presets import asks as model
from tests.session.test_session_machine import small

SUMMARY = "The files were read."


def planning(path: Path) -> Restorer:
    """Of an agent in plan mode, in a folder."""
    plan = PlanMode(path=str(path / "plan.md"), exists=False)
    return Restorer(workspace=str(path), sources=Sources(cwd=lambda: str(path), plan_mode=lambda: plan))


def texts(session: Session) -> str:
    """What the view says."""
    return "\n".join(item.message.text for item in session._view().view)


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_what_is_restored_stands_behind_the_summary_after_a_restart_too(
    tmp_path: Path, *, is_async: bool
) -> None:
    """RST-1, RST-3, RST-6 and CMP-40: a user message, valid, within the target, in the same commit."""
    store = MemoryStore()
    session = due(store, completer=ScriptedCompleter(SUMMARY), restore=planning(tmp_path))
    request = asyncio.run(session.aprepare()) if is_async else session.prepare()
    assert request.report.outcome == "compacted"
    assert violations(request.body, format="anthropic") == []
    said = request.data.decode()
    assert said.index(SUMMARY) < said.index("plan.md") < said.index("what it says")
    assert "You are in plan mode" in said
    assert request.report.tokens_after <= (request.report.tokens_target or 0)
    assert any(note.startswith("restored: plan mode") for note in request.report.notes)
    live = texts(session)
    session.close()
    again = opened(store, policy=asks())
    assert texts(again) == live


def test_the_next_compaction_restores_anew_and_keeps_one_copy(tmp_path: Path) -> None:
    """RST-1 and CMP-16: what was restored leaves with the summary that it stood behind."""
    session = narrow(opened(policy=small("balanced"), host=due(completer=None)._known.host))
    session._known.host = replace(session._known.host, restore=planning(tmp_path))
    session.user("look at everything")
    worked(session, 12)
    session.user("go on")
    session.compact(to=0.5)
    worked(session, 12, start=40)
    session.user("go on and on")
    report = session.compact(to=0.5)
    assert report.outcome == "compacted"
    assert texts(session).count("You are in plan mode") == 1
    assert session.prepare().report.valid


def test_a_callback_that_fails_is_a_note_and_no_failure(tmp_path: Path) -> None:
    """Restoring never fails a compaction."""

    def broken() -> Any:
        raise RuntimeError("no such folder")

    restorer = Restorer(workspace=str(tmp_path), sources=Sources(cwd=broken))
    session = due(completer=ScriptedCompleter(SUMMARY), restore=restorer)
    report = session.prepare().report
    assert report.outcome == "compacted"
    assert any("no such folder" in note for note in report.notes)


# ── everything at once, in the presets that restore ──────────────────────────────────────────────────────────────


def full(folder: Path) -> Restorer:
    """A restorer to which each source says something, over a workspace with files, a link that leads out, and a skill."""
    work, skill = folder / "ws", folder / "skill"
    work.mkdir()
    skill.mkdir()
    (folder / "outside.py").write_text("SECRET OUTSIDE")
    (work / "link.py").symlink_to(folder / "outside.py")
    for n in range(8):
        (work / f"f{n}.py").write_text(f"now {n}\n" + f"code of {n}\n" * 40)
    text = (
        "---\nname: review\ndescription: Reviews code.\n---\nRead ${CLAUDE_SKILL_DIR}/list.md. "
        + "Look twice. " * 900
    )
    (skill / "SKILL.md").write_text(text)
    touched = [Touched(path=f"f{n}.py", session="other" if n == 7 else "s") for n in range(8)]
    touched += [Touched(path="link.py", session="s"), Touched(path=str(folder / "outside.py"), session="s")]
    sources = Sources(
        files=lambda: touched,
        cwd=lambda: str(work / "sub"),
        plan_mode=lambda: PlanMode(path="/plans/p.md", exists=True),
        plan=lambda: PlanSteps(current="write the test", next="run it"),
        tasks=lambda: ["mend the login", "tell the user"],
        skills=lambda: [Skill(name="review", folder=str(skill))],
        background=lambda: [BackgroundTask(description="dev server", status="listening on 8080")],
    )
    return Restorer(workspace=str(work), session="s", sources=sources)


def worked_and_talked(session: Session) -> None:
    """A list of things to do, a rule, a failed command, and talk that no tier but the last can take."""
    session.user("Mend the login. Never push to main.")
    session.record(answer("I plan", ("todo", "TodoWrite")))
    session.tool_result("todo", "ok")
    ran = answer("I run the tests", ("run", "bash"))
    ran["content"][-1]["input"] = {"command": "pytest"}
    session.record(ran)
    session.tool_result("run", "Exit code 1\nValueError: port 8123 is in use", is_error=True)
    talk(*[8_900] * 56)(session)


@pytest.mark.parametrize("has_model", [True, False], ids=["with a model", "without"])
@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "ladder-minimal"])
def test_each_preset_restores_what_the_agent_needs_to_go_on(
    tmp_path: Path, policy: str, *, has_model: bool
) -> None:
    """RST-1, RST-2, RST-5, RST-6, RST-7, RST-8, RST-9, RST-10, in one session each: behind the summary, in one user message
    that its provider takes, within the target; of files the newest five of this session and workspace."""
    host = replace(model() if has_model else Host(), restore=full(tmp_path))
    session = driven(policy, worked_and_talked, tokens=FIRST[policy], host=host)
    if policy == "reserve" and not has_model:
        assert session.prepare().report.passes == ()
        return
    report = session.compact(to=60_000)
    request = session.prepare()
    assert violations(request.body, format="anthropic") == []
    assert report.tokens_after <= 60_000
    assert report.tokens_after == session.context_use()["tokens_total"]
    text = "\n".join(part["text"] for m in request.messages for part in m["content"] if "text" in part)
    shown = [n for n in range(8) if f"file: f{n}.py" in text]
    assert shown == [2, 3, 4, 5, 6], "the newest five; f7 is another session's"
    assert "SECRET OUTSIDE" not in text
    for words in (
        f"working folder: {tmp_path}/ws/sub",
        "plan mode: on; plan file /plans/p.md (it exists)",
        "You are in plan mode",
        "current step: write the test\nnext step: run it",
        "- mend the login\n- tell the user",
        "- dev server: listening on 8080",
    ):
        assert text.count(words) == 1, words
    if "snip" in [
        step.name for step in report.passes
    ]:  # a notice is no summary, and leaves no room for more than the target does
        assert any("not restored: skill review: no room" in note for note in report.notes)
        return
    assert (
        text.count(f"Base directory for this skill: {tmp_path}/skill\n\nRead {tmp_path}/skill/list.md.") == 1
    )
    assert "CLAUDE_SKILL_DIR" not in text
    assert "name: review" not in text
    tokens = 4 * text.count("Look twice.") * 12 // 16
    most = 1_500 if policy.startswith("ladder") else 5_000
    assert tokens <= most
    assert tokens >= min(most, 2_700) * 0.8


@pytest.mark.parametrize("has_model", [True, False], ids=["with a model", "without"])
def test_a_handoff_replacement_has_its_four_parts_and_four_kinds_of_evidence(
    tmp_path: Path, *, has_model: bool
) -> None:
    """CMP-9 and RST-4: summary, newest fifth, files and the checkpoint of the active task; exact records, the task, recent files
    and whole units apart, each with a budget of its own; counted by the counter, of one format with a model and without."""
    host = replace(model() if has_model else Host(), restore=full(tmp_path))
    session = driven("handoff", worked_and_talked, tokens=144_000, host=host)
    request = session.prepare()
    assert request.report.tokens_after == session.context_use()["tokens_total"]
    assert request.report.tokens_after <= (request.report.tokens_target or 0)
    [parts] = [m["content"] for m in request.messages if "<foldline-fold" in str(m["content"])]
    fold, *rest = [part["text"] for part in parts]
    assert ("the slow path was found" in fold) is has_model
    assert "Objective and constraints" in fold
    assert "Never push to main." in request.data.decode()
    assert "port 8123 is in use" in fold, "an exact record"
    assert not any(f"file: f{n}.py" in fold for n in range(8)), "files are blocks of their own"
    assert sum("\nfile: f" in piece for piece in rest) == 5
    assert any("- mend the login" in piece for piece in rest)
    whole = [n for n in range(56) if said(f"we talk of {n} and more ", 8_900) in request.data.decode()]
    if has_model:
        assert whole == list(range(whole[0], 56)), "whole units, the newest"
        assert len(whole) >= 11, "a fifth of 61"
    else:  # the fallback keeps the user's own words for longer than the model's (CMP-12)
        answers = [n for n in whole if n % 2]
        assert answers == list(range(answers[0], 56, 2))


def test_nodes_that_run_are_named_by_the_session_itself(tmp_path: Path) -> None:
    """RST-1 and RST-9: a host that says nothing of them loses none."""
    session = due(completer=ScriptedCompleter(SUMMARY), restore=planning(tmp_path))
    with session.node("search for callers", input="find them", expose="io"):
        report = session.prepare().report
        assert report.outcome == "compacted"
        assert "search for callers" in texts(session)


def at_work(
    where: Path,
    *,
    home: Path,
    policy: str = "balanced",
    workspace: Path | None = None,
    restore: Restorer | None = None,
) -> Session:
    """A session of a host that registers nothing: files are read and changed, a list of things to do is kept, a sub-agent runs."""
    (where / "app.py").write_text("def login(): return 'as it is now'\n")
    (where / "link.py").symlink_to(home.parent / "secret.txt")
    (home.parent / "secret.txt").write_text("SECRET OUTSIDE")
    session = foldline.open(
        "s",
        model="claude-sonnet-4-5",
        home=home,
        policy=policy,
        workspace=workspace or where,
        restore=restore,
    )
    narrow(session, 12_000)
    session.user("mend the login")
    calls = [
        ("read_file", {"path": "app.py"}, "def login(): return 'as it was'"),
        ("read_file", {"path": str(home.parent / "secret.txt")}, "no"),
        ("read_file", {"path": "link.py"}, "no"),
        ("todo_write", {"todos": [{"content": "write the test", "status": "in_progress"}]}, "ok"),
    ]
    for n, (name, given, result) in enumerate(calls):
        block = {"type": "tool_use", "id": f"c{n}", "name": name, "input": given}
        session.record({"role": "assistant", "content": [block]})
        session.tool_result(f"c{n}", result)
    for n in range(24):
        session.record(answer(f"look {n}", (f"t{n}", "bash")))
        session.tool_result(f"t{n}", f"line {n} " * 180)
    return session


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
def test_a_host_that_registers_nothing_has_what_the_log_and_its_folder_say(
    tmp_path: Path, *, is_async: bool
) -> None:
    """RST-1: a mandatory step after each compaction, not an option: the working folder, the agent's own list, sub-agents that run and
    the files of its calls, read again by the safe opener, below the workspace alone."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home") as session, session.node("search for callers", input="x"):
        request = asyncio.run(session.aprepare()) if is_async else session.prepare()
        assert request.report.outcome == "compacted"
        assert violations(request.body, format="anthropic") == []
        assert request.report.tokens_after <= (request.report.tokens_target or 0)
        said = texts(session)
        for words in (f"working folder: {where}", "write the test", "search for callers", "as it is now"):
            assert words in said, words
        assert "SECRET OUTSIDE" not in said
        notes = [note for note in request.report.notes if note.startswith("not restored: file link.py")]
        assert notes, request.report.notes


@pytest.mark.parametrize("is_async", [False, True], ids=["waiting", "awaiting"])
@pytest.mark.parametrize("is_now", [True, False])
def test_a_file_that_stands_in_what_stays_of_the_view_is_not_said_again(
    tmp_path: Path, *, is_now: bool, is_async: bool
) -> None:
    """RST-5: of a file that the agent has just read, as it is, one copy; another reading of it is no copy."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home") as session:
        read = {"type": "tool_use", "id": "z", "name": "read_file", "input": {"path": "app.py"}}
        session.record({"role": "assistant", "content": [read]})
        session.tool_result("z", f"1\tdef login(): return 'as it is {'now' if is_now else 'not'}'\n")
        request = asyncio.run(session.aprepare()) if is_async else session.prepare()
        assert request.report.outcome == "compacted"
        assert request.data.decode().count("as it is now") == 1
        note = "not restored: file app.py: it stands in view as it is now"
        assert (note in request.report.notes) is is_now


def test_a_preview_holds_what_would_be_restored(tmp_path: Path) -> None:
    """UIX-1: what is shown is what is made."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home") as session:
        shown = session.preview(to=6_000)
        made = session.compact(to=6_000)
        assert (shown.tokens_after, shown.outcome) == (made.tokens_after, made.outcome)
        assert any(note.startswith("restored: file app.py") for note in shown.notes)


def test_a_policy_without_the_step_restores_nothing(tmp_path: Path) -> None:
    """PRE-3: the document of `ladder-minimal` has none."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home", policy="ladder-minimal") as session:
        session.compact(to=5_000)
        assert "working folder" not in texts(session)
        assert "as it is now" not in texts(session)


def test_a_host_may_say_that_no_file_is_read(tmp_path: Path) -> None:
    """A restorer without a folder; what the log says is restored all the same."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home", restore=Restorer()) as session:
        session.compact(to=5_000)
        said = texts(session)
        assert "working folder" not in said
        assert "as it is now" not in said
        assert "write the test" in said


def test_of_a_whole_disk_no_file_is_read(tmp_path: Path) -> None:
    """A workspace that nobody chose may be `/`, and a transcript may name any file; what the log says is restored all the same."""
    (where := tmp_path / "ws").mkdir()
    with at_work(where, home=tmp_path / "home", workspace=Path("/")) as session:
        session.compact(to=5_000)
        said = texts(session)
        assert "working folder" not in said
        assert "SECRET OUTSIDE" not in said
        assert "write the test" in said
