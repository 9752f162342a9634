"""Every content part of OpenAI's chat SDK: what it becomes, and that editing it keeps its other keys."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from msgspec.structs import replace

from foldline.core.message import Media, Opaque, Text
from foldline.wire.openai_chat_content import Piece, make_pieces, read_pieces, write_pieces

MARK = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}}
PNG, PDF = "data:image/png;base64,QUJD", "data:application/pdf;base64,QUJD"

PIECES: list[tuple[dict[str, Any], Piece]] = [
    ({"type": "text", "text": "a", **MARK}, Text(text="a")),
    ({"type": "refusal", "refusal": "no"}, Text(text="no")),
    (
        {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}, **MARK},
        Media(kind="image", mime="image/png", data="QUJD", detail="low"),
    ),
    (
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        Media(kind="image", url="https://example.com/a.png"),
    ),
    (
        {"type": "video_url", "video_url": {"url": "https://e.com/a.mp4"}},
        Media(kind="video", url="https://e.com/a.mp4"),
    ),
    (
        {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "mp3"}, **MARK},
        Media(kind="audio", mime="audio/mp3", data="QQ=="),
    ),
    ({"type": "file", "file": {"file_id": "file_1"}, **MARK}, Media(kind="file", ref="file_1")),
    (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
        Media(kind="document", mime="application/pdf", data="QUJD", name="a.pdf"),
    ),
]
IDS = [f"{index}-{item['type']}" for index, (item, _) in enumerate(PIECES)]


@pytest.mark.parametrize(("item", "piece"), PIECES, ids=IDS)
def test_each_part_is_read_and_an_edit_without_a_change_writes_it_back(
    item: dict[str, Any], piece: Piece
) -> None:
    """Sources: `types/chat/chat_completion_content_part_*_param.py` of `openai` 3.57.0; law LOSSLESS."""
    (read,) = read_pieces([item])
    assert read == replace(piece, slot=0)
    assert write_pieces([replace(read, edited=True)], [item]) == [item]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "never_seen_before", "x": 1},
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "file", "file": {}},
        {"type": "file", "file": None},
        {"type": "input_audio"},
        {"type": "image_url", "image_url": {"url": "data:text/plain;base64,/w=="}},
    ],
    ids=str,
)
def test_what_cannot_be_read_passes_through(item: dict[str, Any]) -> None:
    """An unknown wire part becomes `Opaque`; it never vanishes (`style.md`, 3)."""
    (read,) = read_pieces([item])
    assert isinstance(read, Opaque)
    assert read.type == item["type"]
    assert write_pieces([read, Text(text="new")], [item]) == [item, {"type": "text", "text": "new"}]
    assert write_pieces([replace(read, edited=True)], [item]) == [item]


def test_an_address_given_as_text_is_an_image() -> None:
    """Some clients leave the object out; the part still has its weight in tokens."""
    (read,) = read_pieces([{"type": "image_url", "image_url": "https://example.com/a.png"}])
    assert read == Media(kind="image", url="https://example.com/a.png", slot=0)


def test_every_part_type_of_the_installed_sdk_is_in_the_table() -> None:
    """An independent judge: the SDK's own union of content parts."""
    chat = pytest.importorskip("openai.types.chat")
    named = set()
    for member in typing.get_args(chat.ChatCompletionContentPartParam):
        named |= set(typing.get_args(typing.get_type_hints(member)["type"]))
    assert named <= {item["type"] for item, _ in PIECES}


def test_text_takes_the_slot_of_an_image() -> None:
    """A cleared image becomes a text part; its neighbours keep being the caller's own objects."""
    content = [PIECES[2][0], PIECES[0][0]]
    pieces = read_pieces(content)
    written = write_pieces([Text(text="[cleared]", slot=0, edited=True), pieces[1]], content)
    assert written[0] == {"type": "text", "text": "[cleared]"}
    assert written[1] is content[1]


@pytest.mark.parametrize(
    ("pieces", "content", "written"),
    [
        ([Text(text="b", slot=0, edited=True)], "a", "b"),
        ([Text(text="b")], None, "b"),
        ([], "a", ""),
        ([], "", ""),
        ([], None, None),
        ([], [{"type": "text", "text": "a"}], []),
        (
            [Text(text="a", slot=0), Text(text="b")],
            "a",
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
    ],
)
def test_content_keeps_its_shape(pieces: list[Piece], content: Any, written: Any) -> None:
    """Text stays text while it is one part; nothing is written where nothing was."""
    assert write_pieces(pieces, content) == written


@pytest.mark.parametrize("piece", [piece for _, piece in PIECES if piece != Text(text="no")], ids=repr)
def test_a_piece_made_here_reads_back_as_itself(piece: Piece) -> None:
    """Written and read again, a piece differs in its slot alone."""
    made = make_pieces([piece, Text(text="x")])
    assert replace(read_pieces(made)[0], slot=-1) == piece


def test_a_lone_text_is_a_string() -> None:
    """Many servers of this wire take nothing but strings for system and assistant messages."""
    assert make_pieces([Text(text="a")]) == "a"
    assert make_pieces([]) == ""


def test_content_of_another_type_is_refused_by_the_name_of_its_key() -> None:
    """`Codec.decode` says what is wrong with which key."""
    with pytest.raises(ValueError, match="content: expected text or a list of parts, got int"):
        read_pieces(5)
