"""Messages and parts: what counts as a call, a result, a blank, and as a person speaking."""

from __future__ import annotations

from foldline.core.message import (
    Media,
    Message,
    Meta,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    calls_of,
    holds_results,
    is_blank,
    is_native_compaction,
    is_text,
    may_open,
    result_text,
    results_of,
    speaks_for_user,
)
from foldline.testing.builders import assistant, call, image, result, system, user

SERVER_CALL = ToolCall(id="s", name="web_search", arguments="{}", server=True)
SERVER_RESULT = ToolResult(call_id="s", content=(Text(text="found"),), server=True)


def test_the_text_of_a_message_is_its_texts_line_by_line() -> None:
    """Calls, images and what else stands between add nothing."""
    assert assistant("one", call("read"), "two").text == "one\ntwo"


def test_calls_and_results_that_the_provider_answers_itself_are_no_pairs() -> None:
    """Server-side tools answer in the same message, so nobody waits for them (law PAIR)."""
    message = Message(role="assistant", parts=(SERVER_CALL, SERVER_RESULT, call("read")))
    assert [found.name for found in calls_of(message)] == ["read"]
    assert results_of(message) == ()
    assert not holds_results(message)
    assert holds_results(result("read", "x"))


def test_the_text_of_a_result_leaves_out_its_images() -> None:
    """Base64 is no text."""
    (part,) = results_of(result("read", "a", image(), "b"))
    assert result_text(part) == "a\nb"


def test_only_text_can_be_blank() -> None:
    """Every provider refuses a text of white space; an empty result is an answer."""
    assert is_blank(Text(text=" \n\t"))
    assert not is_blank(Text(text=" . "))
    assert not is_blank(ToolResult(call_id="a"))


def test_a_person_speaks_by_text_or_media_under_the_role_user() -> None:
    """Law TAIL protects the last message of a person, not what a host put under the user's name."""
    assert speaks_for_user(user("go"))
    assert speaks_for_user(user(image()))
    assert not speaks_for_user(user("  "))
    assert not speaks_for_user(assistant("go"))
    assert not speaks_for_user(system("go"))
    assert not speaks_for_user(Message(role="user", parts=(ToolResult(call_id="a"),)))
    assert not speaks_for_user(Message(role="user", parts=(Opaque(type="container_upload", raw=b"{}"),)))
    assert not speaks_for_user(Message(role="user", parts=(Text(text="go"),), synthetic="fold"))
    assert not speaks_for_user(Message(role="user", parts=(Text(text="go"),), meta=Meta(injected=True)))
    assert speaks_for_user(Message(role="user", parts=(Text(text="go"),), meta=Meta(id="7")))


def test_the_next_request_starts_from_the_larger_of_the_providers_own_sums() -> None:
    """TOK-3: max(total, input + output), and a missing total falls back to the sum."""
    assert Usage(tokens_input=90, tokens_output=10).tokens_context == 100
    assert Usage(tokens_input=90, tokens_output=10, tokens_total=120).tokens_context == 120
    assert Usage(tokens_input=90, tokens_output=40, tokens_total=120).tokens_context == 130


def test_pictures_and_what_is_not_known_are_no_text() -> None:
    """What they cost is a guess too often to find a server out by."""
    picture, odd = Media(kind="image", mime="image/png", data="x"), Opaque(type="file", raw=b"{}")
    result = ToolResult(call_id="c", content=(Text(text="x"), picture))
    parts = (Text(text="x"), ToolResult(call_id="c", content=(Text(text="x"),)), picture, odd, result)
    assert [is_text(Message(role="user", parts=(part,))) for part in parts] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_providers_own_compaction_may_open_a_history() -> None:
    """SDK types/beta/beta_compaction_block_param.py: it is sent back first, in the message it came in."""
    block = Opaque(type="compaction", raw=b'{"type":"compaction","content":"x","signature":"s"}', slot=0)
    native = Message(role="assistant", parts=(block,))
    users = frozenset({"user"})
    assert is_native_compaction(native)
    assert not is_native_compaction(Message(role="assistant", parts=(Opaque(type="container", raw=b"{}"),)))
    failed = Opaque(type="compaction", raw=b'{"type":"compaction","content":null,"encrypted_content":null}')
    assert not is_native_compaction(Message(role="assistant", parts=(failed,)))  # stands for nothing
    sealed = Opaque(type="compaction", raw=b'{"type":"compaction","encrypted_content":"x"}')
    assert is_native_compaction(Message(role="assistant", parts=(sealed,)))
    assert [may_open(message, users) for message in (native, assistant("x"), user("x"))] == [
        True,
        False,
        True,
    ]
