"""Session files through the engine: what one door writes, the next reads.

The command line over the same functions is tested in `tests/cli`; every reader and writer in `tests/transcripts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from foldline import files, memory, reading
from foldline.cli.main import main
from foldline.core.errors import UnknownFormat
from foldline.core.message import Message, Text, calls_of, result_text, results_of, speaks_for_user
from foldline.core.view import Item
from foldline.distribution import distribution
from foldline.files import CompactOptions
from foldline.log.lines import write_log
from foldline.lookup import show
from foldline.outgoing import joined
from foldline.testing.builders import user
from foldline.tokens.choose import counter_for
from foldline.transcript_history import history_for
from foldline.transcripts import detect
from foldline.transcripts.transcript import Transcript
from foldline.wire.codec import Codec
from foldline.wire.formats import CODECS

ADDRESS = re.compile(r"m\d+(?:-\d+)?(?:\.\d+)?@[0-9a-f]{8}")

DATA = Path(__file__).parent / "data"
SESSIONS = sorted(
    path
    for path in DATA.glob("*/*")
    if path.parent.name not in ("bugs", "LICENSES")
    and path.suffix != ".md"
    and path.stat().st_size <= 150_000
)
NAMED = pytest.mark.parametrize("path", SESSIONS, ids=lambda path: f"{path.parent.name}/{path.name}")
AS = pytest.mark.parametrize("target", sorted(detect.WRITERS))
LANGGRAPH = DATA / "langgraph" / "deerflow-5aa47db1-cjk.json"
MANY = DATA / "tau-bench" / "gpt-4o-airline-first3.json"
LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
QUICK = "length/4"


def squeezed(text: str) -> str:
    return "".join(text.split())


def said(transcript: Transcript) -> list[str]:
    """What people said, white space apart."""
    return [
        squeezed(part.text)
        for message in transcript.messages
        if speaks_for_user(message)
        for part in message.parts
        if isinstance(part, Text) and part.text.strip() and not part.text.startswith("[foldline:")
    ]


def called(transcript: Transcript) -> list[str]:
    return [call.name for message in transcript.messages for call in calls_of(message)]


def answered(transcript: Transcript) -> list[str]:
    return sorted(
        squeezed(result_text(result)) for message in transcript.messages for result in results_of(message)
    )


def whole(transcript: Transcript) -> str:
    """Every word of a history in one string, whatever the parts it stands in."""
    parts = [part for message in transcript.messages for part in message.parts]
    texts = [part.text for part in parts if isinstance(part, Text)]
    texts += [result_text(result) for message in transcript.messages for result in results_of(message)]
    return squeezed(" ".join(texts))


@NAMED
@AS
def test_a_converted_session_is_read_back_with_all_its_words_calls_and_results(
    path: Path, target: str
) -> None:
    """Written data is read again by the reader of its format, and says the same."""
    for transcript in reading.read(str(path)):
        data = files.convert([transcript], as_format=target).data
        (back,) = detect.read(data, format=target)
        text = whole(back)
        assert [words for words in said(transcript) if words not in text] == []
        history = history_for(transcript, counter_for(counter=QUICK), wire=back.wire)
        mended = Transcript(
            format=transcript.format, wire=back.wire, messages=tuple(i.message for i in history.view)
        )
        names = called(mended)  # one that a wire refuses goes by another on it
        pairs = zip(called(back), names, strict=True)
        assert [new if LEGAL.fullmatch(old) else old for new, old in pairs] == names
        assert answered(back) == answered(mended)


@NAMED
@AS
def test_a_compacted_session_is_read_back_at_its_size(path: Path, target: str) -> None:
    """Laws END and PAIR: what was written is valid, small enough, and holds the last words of the user."""
    for transcript in reading.read(str(path))[:1]:
        (made,) = files.compact([transcript], CompactOptions(to=0.3, as_format=target, counter=QUICK)).results
        assert made.format == target
        assert made.report.valid
        assert made.report.outcome in ("compacted", "unreachable")
        if made.report.outcome == "compacted":
            assert made.report.tokens_after <= (made.report.tokens_target or 0)
        (back,) = detect.read(made.data, format=target)
        assert said(transcript)[-1:] == [words for words in said(transcript)[-1:] if words in whole(back)]
        # A log keeps what came in, and repairs it whenever it is projected: it is as sound as its source.
        source = files.check(transcript)["violations"] if target == "foldline" else []
        assert len(files.check(back)["violations"]) <= len(source)


@NAMED
def test_every_address_of_a_result_opens_on_the_file_it_came_from(path: Path) -> None:
    """TRACE: `foldline show FILE ADDRESS`."""
    transcripts = reading.read(str(path))
    for made in files.compact(transcripts, CompactOptions(to=0.2, counter=QUICK)).results:
        for address in made.report.covers.addresses:
            assert show(transcripts, address).title


def test_many_conversations_give_a_list_and_one_report_each() -> None:
    """interface.md: `foldline.reports/1`, with totals that add up."""
    done = files.compact(reading.read(str(MANY)), CompactOptions(to=0.5, counter=QUICK))
    document = done.report_document
    assert document["schema"] == "foldline.reports/1"
    assert len(document["sessions"]) == document["totals"]["sessions"] == 3
    for key in ("messages_before", "messages_after", "tokens_before", "tokens_after"):
        assert document["totals"][key] == sum(report[key] for report in document["sessions"])
    assert sum(document["totals"]["outcomes"].values()) == 3
    assert len(json.loads(done.data)) == 3
    one = files.compact(reading.read(str(LANGGRAPH)), CompactOptions(to=0.5, counter=QUICK))
    assert one.report_document["schema"] == "foldline.report/1"
    assert one.data == one.results[0].data


def test_who_waits_for_a_compaction_is_told_its_stages() -> None:
    """interface.md: of one conversation and of each of several; nobody is told any more when it is done."""
    told: list[tuple[str, float | None]] = []
    options = CompactOptions(to=0.3, counter=QUICK)
    memory.forget()
    files.compact(reading.read(str(LANGGRAPH)), options, progress=lambda *stage: told.append(stage))
    assert list(dict.fromkeys(stage for stage, _ in told)) == [
        "counting tokens",
        "looking for what may leave",
        "writing what stands for the rest",
        "checking what comes out",
    ]
    assert memory._idle[-1]["facts"].heard is None
    told.clear()
    files.compact(reading.read(str(MANY)), options, progress=lambda *stage: told.append(stage))
    assert {stage.partition(",")[0] for stage, _ in told} == {"1 of 3", "2 of 3", "3 of 3"}


def test_the_share_of_a_history_that_was_looked_through_is_told() -> None:
    """A long one, piece by piece."""
    said = [user(f"step {number}: src/part{number}.py " + "word " * 900) for number in range(200)]
    told: list[tuple[str, float | None]] = []
    memory.forget()
    transcript = Transcript(format="openai-chat", wire="openai-chat", messages=tuple(said))
    options = CompactOptions(to=2_000, counter=QUICK)
    files.compact([transcript], options, progress=lambda *stage: told.append(stage))
    shares = [share for stage, share in told if stage == "looking for facts" and share is not None]
    assert len(shares) >= 2
    assert shares == sorted(shares)
    assert shares[-1] < 1


def test_a_result_is_told_in_the_size_that_the_model_of_its_file_has() -> None:
    """interface.md: counted with `model`'s counter where one is given, else with o200k_base, and a file's own model decides only in
    `context`; so the report says what `context` will, and does not where both count alike or a counter was asked for."""
    given = reading.read("examples/session.jsonl")
    made = files.compact(given, CompactOptions(to=20_000, as_format="anthropic")).results[0]
    [told] = [note for note in made.report.notes if "which the file names" in note]
    again = distribution(detect.read(made.data)[0], model="claude-opus-4-5")["tokens_total"]
    about = int(told.partition("about ")[2].partition(" tokens")[0].replace(",", ""))
    assert told.startswith("for claude-opus-4-5, ")
    assert abs(about - again) <= 50
    assert about > 20_000 >= made.report.tokens_after
    for options in (CompactOptions(to=0.5, model="claude-opus-4-5"), CompactOptions(to=0.5, counter=QUICK)):
        notes = files.compact(given, options).results[0].report.notes
        assert not any("which the file names" in note for note in notes)
    alike = [replace(given[0], model="gpt-5")]
    notes = files.compact(alike, CompactOptions(to=20_000)).results[0].report.notes
    assert not any("which the file names" in note for note in notes)


def test_a_file_keeps_its_format_where_that_can_be_written() -> None:
    """Else it comes in the wire format its messages are nearest to."""
    (claude,) = files.compact(
        reading.read(str(DATA / "claude-code" / "cc-viewer-1af7fc5e.jsonl")),
        CompactOptions(to=0.5, counter=QUICK),
    ).results
    assert claude.format == "claude-code"
    (graph,) = files.compact(reading.read(str(LANGGRAPH)), CompactOptions(to=0.5, counter=QUICK)).results
    assert graph.format in CODECS
    with pytest.raises(UnknownFormat):
        files.compact(reading.read(str(LANGGRAPH)), CompactOptions(to=0.5, as_format="pi"))


def test_what_a_person_should_know_stands_in_the_notes() -> None:
    """Records that were left out, and options without an effect."""
    transcripts = reading.read(str(DATA / "claude-code" / "cc-viewer-5c0375b4-cjk.jsonl"))
    (made,) = files.compact(transcripts, CompactOptions(to=0.5, counter=QUICK, focus="tests")).results
    assert any("left out, no part of the conversation: " in note for note in made.report.notes)
    assert any("focus has no effect" in note for note in made.report.notes)


def test_a_conversion_tells_its_repairs() -> None:
    """Nothing is mended in silence."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    body = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "user", "content": "and?"},
        ]
    }
    done = files.convert(detect.read(json.dumps(body).encode()), as_format="anthropic")
    assert [note for note in done.notes if "interrupted-call" in note] != []
    assert b"tool_result" in done.data


def test_check_judges_a_history_as_it_stands() -> None:
    """`foldline.check/1`: broken is broken, whatever a repair could do."""
    body: dict[str, Any] = {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "?"}]}
        ]
    }
    (broken,) = detect.read(json.dumps(body).encode(), format="anthropic")
    told = files.check(broken)
    assert (told["schema"], told["format"], told["valid"]) == ("foldline.check/1", "anthropic", False)
    assert [v["law"] for v in told["violations"]] == ["PAIR"]
    (sound,) = reading.read(str(LANGGRAPH))
    for target in CODECS:
        other = files.check(sound, as_format=target)
        assert (other["format"], other["valid"]) == (target, True)
        assert other["messages"] > 0


def noted(count: int) -> tuple[Transcript, ...]:
    """A chat with a system message in every turn, which Anthropic's wire can only carry in more words."""
    messages: list[Any] = [{"role": "user", "content": "start"}]
    for n in range(count):
        messages += [
            {"role": "assistant", "content": f"answer {n} " + "text " * 20},
            {"role": "system", "content": "x"},
            {"role": "user", "content": f"question {n} " + "word " * 20},
        ]
    return detect.read(json.dumps({"messages": messages}).encode(), format="openai-chat")


@pytest.mark.parametrize("to", [0.3, 0.5, 0.8, 500, 1_000, 1_340, 1_400])
def test_a_target_is_met_in_the_format_that_is_written(to: float) -> None:
    """Law END: what conversion adds is counted, and the report keeps the target that was asked for."""
    (made,) = files.compact(noted(20), CompactOptions(to=to, as_format="anthropic", counter=QUICK)).results
    report = made.report
    asked = to if isinstance(to, int) else int(report.tokens_before * to)
    assert (report.outcome, report.tokens_target) == ("compacted", asked)
    assert report.tokens_after <= asked
    (back,) = detect.read(made.data, format="anthropic")
    assert report.tokens_after == sum(map(counter_for(counter=QUICK).message, back.messages))


def test_a_target_that_the_other_format_cannot_meet_is_unreachable() -> None:
    """Law END: the smallest history that was found, its size, and why; never a report of success."""
    (made,) = files.compact(noted(60), CompactOptions(to=500, as_format="anthropic", counter=QUICK)).results
    assert made.report.outcome == "unreachable"
    assert made.report.tokens_target == 500 < made.report.tokens_after
    assert made.report.reason


def test_a_result_that_breaks_a_law_is_reported_and_never_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Law PAIR, judged on what is about to be written: a fault of ours ends with 70 and leaves the old file as it was."""

    def without_calls(items: Sequence[Item], codec: Codec, **more: Any) -> list[Message]:
        messages = joined(items, codec, **more)
        return [message for message in messages if not calls_of(message)]

    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    body = [
        {"role": "user", "content": "go " * 40},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "user", "content": "and now?"},
    ]
    source, out = tmp_path / "session.json", tmp_path / "out.json"
    source.write_text(json.dumps({"messages": body}))
    out.write_bytes(b"old")
    ask = ["compact", str(source), "--to", "100000", "-o", str(out), "--json"]
    assert CliRunner().invoke(main, [*ask, "--dry-run"]).exit_code == 0
    monkeypatch.setattr(files, "joined", without_calls)
    (made,) = files.compact(reading.read(str(source)), CompactOptions(to=100_000)).results
    assert not made.report.valid
    assert [violation.law for violation in made.report.violations] == ["PAIR"]
    done = CliRunner().invoke(main, ask)
    assert done.exit_code == 70
    assert json.loads(done.stdout)["valid"] is False
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "session.json"]


@pytest.mark.parametrize(("target", "kept"), [("openai-responses", 2), ("foldline", 2), ("anthropic", 0)])
def test_reasoning_that_stands_in_items_of_its_own_is_no_fault_of_a_session(target: str, kept: int) -> None:
    """Codex keeps each item on a line: what the target cannot carry is named as such, and nothing is mended."""
    payloads: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "c2ln"},
        {"type": "function_call", "call_id": "c", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "c2ln"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    lines: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s"}}]
    lines += [{"type": "response_item", "payload": payload} for payload in payloads]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    (session,) = detect.read(data, format="codex")
    made = files.convert([session], as_format=target)
    assert made.data.count(b"encrypted_content") == kept
    assert (
        history_for(
            session, counter_for(counter=QUICK), wire=target if target in CODECS else session.wire
        ).repairs
        == ()
    )


def test_a_result_that_would_be_read_as_another_format_says_how_to_read_it() -> None:
    """Anthropic messages of plain text, without a system prompt, are OpenAI's too."""
    plain = b'{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]}'
    marked = plain[:-1] + b',"system":"Be brief."}'
    for data, said in ((plain, True), (marked, False)):
        transcripts = detect.read(data, format="anthropic")
        (result,) = files.compact(transcripts, CompactOptions(as_format="anthropic")).results
        notes = files.convert(transcripts, as_format="anthropic").notes
        for told in (result.report.notes, notes):
            assert any("--from anthropic" in note for note in told) is said
        (read_again,) = detect.read(result.data)
        assert (read_again.format == "anthropic") is not said


def test_the_addresses_of_a_log_that_is_compacted_again_open_in_the_log_that_is_written() -> None:
    """TRACE: a message has one number in a log, however often it is compacted; an address that opens nowhere is a fact lost."""
    path = Path(__file__).parent / "data/pi/before-compaction-excerpt.jsonl"
    (made,) = files.compact(reading.read(str(path)), CompactOptions(to=0.5, as_format="foldline")).results
    for to in (0.7, 0.7):
        log = detect.read(made.data)
        (again,) = files.compact(log, CompactOptions(to=to)).results
        assert again.report.outcome == "compacted"
        (read_again,) = detect.read(again.data)
        assert read_again.history == log[0].history
        assert len(read_again.messages) == again.report.messages_after
        shown = "\n".join(message.text for message in read_again.messages)
        for address in {*again.report.covers.addresses, *ADDRESS.findall(shown)}:
            assert show([read_again], address).title == show(log, address).title
        made = again


@pytest.mark.parametrize("target", [*CODECS, "foldline", "atif", "claude-code"])
def test_a_system_prompt_and_tools_are_kept_or_named_as_left_out(target: str, tmp_path: Path) -> None:
    """Whatever a target has no place for is said; nothing leaves in silence."""
    body = {
        "system": "Never push.",
        "tools": [{"name": "bash", "description": "run", "input_schema": {"type": "object"}}],
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
    }
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    made = files.convert(reading.read(str(path)), as_format=target)
    if target == "claude-code":
        assert any("system prompt and tools" in note and "left out" in note for note in made.notes)
    else:
        assert b"Never push." in made.data
        assert b"bash" in made.data
        assert made.notes == ()


def test_a_system_message_in_mid_conversation_is_judged_where_it_is_sent(tmp_path: Path) -> None:
    """Law ROLE: a log keeps what was said in neutral messages; what a request makes of them is what is judged."""
    said = [
        {"role": "user", "content": "Say yes."},
        {"role": "system", "content": "The tools are these."},
        {"role": "user", "content": "Go on."},
        *({"role": role, "content": "yes " * 200} for role in ("assistant", "user", "assistant")),
        {"role": "user", "content": "And now?"},
    ]
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "messages": said}), encoding="utf-8")
    options = CompactOptions(to=0.6, as_format="foldline")
    (result,) = files.compact(reading.read(str(path), format="anthropic"), options).results
    assert result.report.valid, result.report.violations


@pytest.mark.parametrize("format", ["claude-code", "anthropic", "openai-chat", "atif"])
def test_a_file_compacted_again_keeps_the_entries_of_its_ledger(format: str, tmp_path: Path) -> None:
    """CMP-16: carried forward as they are. Claude Code keeps summaries of its own, and what we wrote as one was summed up as
    a stranger's: cut at 600 characters, its headings gone."""
    first, second = tmp_path / "first", tmp_path / "second"
    options = files.CompactOptions(to=0.25, as_format=format)
    source = Path(__file__).parent / "data/claude-code/cc-viewer-5c0375b4-cjk.jsonl"
    first.write_bytes(files.compact(reading.read(str(source)), options).data)
    again = files.CompactOptions(to=0.75, as_format=format)
    second.write_bytes(files.compact(reading.read(str(first)), again).data)
    edited = "CLAUDE.md edited, +"
    assert edited in first.read_text()
    assert edited in second.read_text()
    assert "earlier summary" not in second.read_text()


def test_a_session_that_holds_no_message_is_written_as_one() -> None:
    """A log may have been started alone; nothing in it says which wire it is of."""
    log = write_log(format="neutral", body=b"{}", entries=[])
    made = files.convert(detect.read(log), as_format="openai-chat")
    assert json.loads(made.data) == {"messages": []}
    assert made.notes == ()
