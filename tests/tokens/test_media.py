"""What media cost: each provider's published rule at its edges, and flat values where nothing is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.core.message import Media
from foldline.tokens.lineage import media_of
from foldline.tokens.media import (
    ANTHROPIC,
    ANTHROPIC_HIGH,
    GEMINI,
    GEMINI_3,
    OPENAI,
    MediaRule,
    image_tokens,
    media_tokens,
    openai_patches,
    plain_text,
)
from tests.tokens import images

MINI = openai_patches("mini", factor=1.62)
RULES = (ANTHROPIC, ANTHROPIC_HIGH, OPENAI, MINI, GEMINI, GEMINI_3)


@pytest.mark.parametrize(
    ("rule", "size", "detail", "tokens"),
    [
        (ANTHROPIC, (1, 1), None, 1),
        (ANTHROPIC, (200, 200), None, 64),
        (ANTHROPIC, (1000, 1000), None, 1296),
        (ANTHROPIC, (1092, 1092), None, 1521),
        (ANTHROPIC, (3840, 2160), None, 1540),
        (ANTHROPIC, (60_000, 10), None, 56),
        (ANTHROPIC_HIGH, (1920, 1080), None, 2691),
        (ANTHROPIC_HIGH, (8000, 8000), None, 4761),
        (OPENAI, (1, 1), None, 255),
        (OPENAI, (1024, 1024), "high", 765),
        (OPENAI, (2048, 4096), "high", 1105),
        (OPENAI, (4096, 8192), "low", 85),
        (OPENAI, (1920, 1080), "auto", 1105),
        (MINI, (1024, 1024), None, 1659),
        (MINI, (4000, 1474), None, 2489),
        (MINI, (1024, 1024), "low", 415),
        (GEMINI, (384, 384), None, 258),
        (GEMINI, (385, 384), None, 258),
        (GEMINI, (1920, 1080), None, 258 * 6),
        (GEMINI_3, (9000, 9000), None, 1120),
    ],
)
def test_an_image_costs_what_its_provider_publishes(
    rule: MediaRule, size: tuple[int, int], detail: str | None, tokens: int
) -> None:
    """TOK-1: images by the provider's published rule; the figures of 1024², 2048×4096 and `low` are OpenAI's own
    examples, 1092² is Anthropic's largest square before it shrinks one."""
    assert image_tokens(rule.image, size, detail=detail) == pytest.approx(tokens, rel=0.02)


@given(
    st.integers(1, 65_535),
    st.integers(1, 65_535),
    st.sampled_from(RULES),
    st.sampled_from([None, "low", "high"]),
)
def test_no_image_is_free_and_none_is_without_a_bound(
    width: int, height: int, rule: MediaRule, detail: str | None
) -> None:
    """Never zero; and the largest is bounded by the provider's own shrinking (Gemini before 3 counts crops)."""
    tokens = image_tokens(rule.image, (width, height), detail=detail)
    assert tokens >= 1
    if rule is not GEMINI:
        assert tokens <= 5_000


@pytest.mark.parametrize("rule", RULES)
def test_an_image_of_unknown_size_costs_a_stated_flat_value(rule: MediaRule) -> None:
    """markusylisiurunen/tau#452: 2.5 MB of base64 that no header explains was counted as 800,000 text tokens."""
    for media in (
        Media(kind="image", mime="image/png", data="AAAA" * 830_000),
        Media(kind="image", url="https://example.com/a.png"),
        Media(kind="image", ref="file_123"),
        Media(kind="image", data=""),
        Media(kind="image", data="not base64 \ud800 at all"),
    ):
        assert media_tokens(media, rule) == rule.image_unknown


@pytest.mark.parametrize("rule", RULES)
def test_a_pasted_screenshot_is_not_counted_as_text(rule: MediaRule) -> None:
    """justrach/codegraff#260: a picture of 1.6 MB counted as 400,000 tokens compacted a new chat at once."""
    media = Media(kind="image", mime="image/png", data="iVBORw0KGgoAAAANSUhEUgAA" * 66_000)
    assert 1 <= media_tokens(media, rule) < 20_000


def test_a_data_url_is_read_like_data() -> None:
    """Codecs may leave a data URL whole."""
    url = f"data:image/png;base64,{images.png(512, 512, padding=3000)}"
    assert media_tokens(Media(kind="image", url=url, detail="high"), OPENAI) == 255


def test_a_pdf_costs_by_its_pages() -> None:
    """Pages where they can be seen, else by size; a bound at what a provider takes."""
    pages = b"%PDF-1.4\n" + b"<< /Type /Page /Parent 1 0 R >>\n" * 7 + b"<< /Type /Pages /Count 7 >>"
    assert media_tokens(Media(kind="document", data=images.text_of(pages)), ANTHROPIC) == 7 * ANTHROPIC.page
    packed = b"%PDF-1.7\n" + b"\x80" * (150_000)
    assert media_tokens(Media(kind="document", data=images.text_of(packed)), GEMINI_3) == 4 * GEMINI_3.page
    large = b"%PDF-1.4\n" + b"<</Type/Page>>" * 400_000
    assert media_tokens(Media(kind="document", data=images.text_of(large)), OPENAI) == 600 * OPENAI.page
    assert media_tokens(Media(kind="document", ref="file_1"), ANTHROPIC) == 5 * ANTHROPIC.page


def test_sound_and_video_cost_by_their_length() -> None:
    """Seconds from bytes at a stated rate; one minute where nothing is known."""
    sound = Media(kind="audio", mime="audio/mp3", data=images.text_of(b"\x00" * 160_000))
    assert media_tokens(sound, GEMINI) == 10 * 32
    assert media_tokens(sound, OPENAI) == 10 * 10
    assert media_tokens(Media(kind="video", url="https://example.com/v"), GEMINI) == 60 * 263
    assert media_tokens(Media(kind="audio", data=""), GEMINI) == 32


def test_a_file_is_what_its_type_says() -> None:
    """OpenAI's `input_file` and Gemini's `inlineData` carry anything."""
    shot = Media(kind="file", mime="image/png", data=images.png(384, 384))
    assert media_tokens(shot, GEMINI) == 258
    unknown = Media(kind="file", mime="application/zip", data="A" * 200_000)
    assert media_tokens(unknown, ANTHROPIC) == 3 * ANTHROPIC.page


def test_a_text_document_is_text_and_a_picture_never_is() -> None:
    """Anthropic sends text documents plain, Gemini sends them as base64; both are read by the model as text."""
    assert plain_text(Media(kind="document", mime="text/plain", data="two words")) == "two words"
    assert plain_text(Media(kind="document", mime="text/plain", data="word")) == "word"
    encoded = images.text_of("größer als gedacht\n".encode())
    assert plain_text(Media(kind="file", mime="text/markdown", data=encoded)) == "größer als gedacht\n"
    assert (
        plain_text(Media(kind="document", mime="application/pdf", data=images.text_of(b"%PDF-1.4"))) is None
    )
    assert plain_text(Media(kind="image", data="two words")) is None


@pytest.mark.parametrize(
    ("model", "wire", "rule"),
    [
        ("claude-sonnet-4-5", None, "anthropic"),
        ("claude-opus-4-8", "openai-chat", "anthropic-high"),
        (None, "anthropic", "anthropic-high"),
        (None, "gemini", "gemini-3"),
        ("gemini-2.5-pro", None, "gemini"),
        ("gemini/gemini-3.5-flash", None, "gemini-3"),
        ("gpt-4o-2024-08-06", "openai-chat", "openai"),
        ("gpt-4o-mini", None, "openai-4o-mini"),
        ("gpt-4.1-mini", None, "openai-mini"),
        ("gpt-5", None, "openai-5"),
        ("openai/gpt-5.1", None, "openai-5"),
        ("gpt-5-nano", None, "openai-nano"),
        ("gpt-5.4-mini", None, "openai-mini"),
        ("gpt-5.2", None, "openai-5.2"),
        ("gpt-6-sol", None, "openai-5.4"),
        ("o3", None, "openai-o"),
        ("o4-mini", None, "openai-o4-mini"),
        ("qwen3-max", "openai-chat", "openai"),
        (None, None, "openai"),
    ],
)
def test_the_rule_is_the_models_then_the_wires(model: str | None, wire: str | None, rule: str) -> None:
    """A Claude behind an OpenAI-shaped gateway is still charged as Claude."""
    assert media_of(model, wire).name == rule
