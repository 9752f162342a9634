"""Exact counts: judged by tiktoken itself, through toktok's private call and through its public one."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.tokens.bpe import Encoding, Exact, load_toktok
from tests.tokens.sample import NASTY, SURROGATES, real_texts

ENCODINGS: tuple[Encoding, ...] = ("o200k_base", "cl100k_base")
VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings"


@pytest.fixture(scope="module")
def tiktoken(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """tiktoken with its vocabularies laid in its cache from bpe-openai's package: it checks their sha256 itself."""
    module = pytest.importorskip("tiktoken")
    spec = importlib.util.find_spec("bpe_openai")
    if spec is None or spec.origin is None:
        pytest.skip("bpe-openai, which brings the vocabularies, is not installed")
    folder = tmp_path_factory.mktemp("vocabularies")
    for encoding in ENCODINGS:
        packed = Path(spec.origin).parent / "data" / f"{encoding}.tiktoken.gz"
        key = hashlib.sha1(f"{VOCABULARIES}/{encoding}.tiktoken".encode()).hexdigest()
        (folder / key).write_bytes(gzip.decompress(packed.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return {encoding: module.get_encoding(encoding) for encoding in ENCODINGS}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_counts_are_those_of_tiktoken(encoding: Encoding, tiktoken: Any) -> None:
    """TOK-1: exact counts with the model's own tokenizer, over real transcripts and nasty strings."""
    counter, judge = Exact(encoding), tiktoken[encoding]
    texts = [*real_texts(), *NASTY]
    assert counter.many(texts) == [len(judge.encode_ordinary(text)) for text in texts]


@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_counts_of_any_text_are_those_of_tiktoken(tiktoken: Any, text: str) -> None:
    """TOK-1, by generated text of every script."""
    assert Exact("o200k_base").one(text) == len(tiktoken["o200k_base"].encode_ordinary(text))


@pytest.mark.parametrize("text", SURROGATES)
def test_lone_surrogates_count_as_the_replacement_character(tiktoken: Any, text: str) -> None:
    """JavaScript logs have them; tiktoken replaces them, toktok refuses them."""
    counter, judge = Exact("o200k_base"), tiktoken["o200k_base"]
    expected = len(judge.encode(text))
    assert counter.one(text) == expected
    assert counter.many(["é", text, "plain"]) == [counter.one("é"), expected, counter.one("plain")]


def test_the_public_call_stands_in_when_the_private_one_is_gone() -> None:
    """The private single count may go with any release of toktok; nothing may change but the speed."""
    toktok = load_toktok()
    public = Exact("o200k_base", load=lambda: SimpleNamespace(batch_count=toktok.batch_count))
    renamed = SimpleNamespace(batch_count=toktok.batch_count, _encoding=lambda name: SimpleNamespace())
    private = Exact("o200k_base")
    texts = [*real_texts()[:400], *NASTY, *SURROGATES]
    expected = [private.one(text) for text in texts]
    assert [public.one(text) for text in texts] == expected
    assert [Exact("o200k_base", load=lambda: renamed).one(text) for text in texts[:20]] == expected[:20]
    assert private.many(texts) == expected


def test_text_that_spells_a_control_token_counts_as_text() -> None:
    """Content cannot inject control tokens, nor shrink its own count by them."""
    assert Exact("o200k_base").one("<|endoftext|>") > 1


def test_the_vocabulary_is_loaded_at_the_first_count_and_not_before() -> None:
    """Loading holds the interpreter for a third of a second, so it waits until something is counted."""
    opened: list[str] = []
    toktok = load_toktok()

    def encoding(name: str) -> Any:
        opened.append(name)
        return toktok._encoding(name)

    counter = Exact("o200k_base", load=lambda: SimpleNamespace(_encoding=encoding))
    assert counter.one("") == 0
    assert opened == []
    counter.one("some")
    counter.one("more")
    assert opened == ["o200k_base"]


def test_a_missing_toktok_is_an_import_error_at_construction() -> None:
    """What `counter_for` falls back on."""

    def missing() -> Any:
        raise ImportError("no wheel for this platform")

    with pytest.raises(ImportError):
        Exact("o200k_base", load=missing)
