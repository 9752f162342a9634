"""How fast a history of a million tokens is counted: this project's counter ÷ tiktoken, in one run.

    python -m benchmarks.bench_recount [--quick]

Makes a history of 2,000 messages out of the sessions in tests/data, counts it part by part with the exact counter and
with Claude's correction, and counts the same texts with tiktoken (its vocabulary out of bpe-openai's package, so
that nothing is fetched). Prints CPU times and ratios; fails when the exact count is less than `RATIO_MIN` times as
fast, or when the two disagree.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.measure import Bound, cpu_medians, is_quick, milliseconds, verdict
from foldline.core.message import Message, Text, ToolCall, ToolResult
from foldline.tokens.choose import counter_for

RATIO_MIN = 6.0
MESSAGES, MESSAGES_QUICK = 2_000, 60
RESULT_CHARS = 4_200
VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
SAMPLE = Path(__file__).parent.parent / "tests" / "data"


def main() -> None:
    """Print the figures; exit 1 when the ratio is not met."""
    quick = is_quick()
    history = make_history(MESSAGES_QUICK if quick else MESSAGES)
    texts = [text for message in history for text in texts_in(message)]
    exact, claude, judge = counter_for(), counter_for("claude-sonnet-5"), tiktoken_o200k()
    tokens = sum(overhead + sum(parts) for parts, overhead in exact.weights_of(history))
    assert sum(exact.texts(texts)) == sum(len(judge.encode_ordinary(text)) for text in texts)
    print(
        f"{len(history):,} messages, {tokens:,} tokens, {sum(map(len, texts)) / 1e6:.1f} million characters"
    )
    seconds = cpu_medians(
        {
            "exact, by part": lambda: exact.weights_of(history),
            "Claude, by part": lambda: claude.weights_of(history),
            "tiktoken": lambda: [len(judge.encode_ordinary(text)) for text in texts],
        },
        quick=quick,
    )
    milliseconds(seconds)
    ratio = seconds["tiktoken"] / seconds["exact, by part"]
    verdict([Bound("tiktoken ÷ the exact count", ratio, least=RATIO_MIN)], quick=quick)


def make_history(messages: int) -> list[Message]:
    """Calls and results with real text."""
    text = "\n".join(
        file.read_text(encoding="utf-8", errors="replace") for file in sorted(SAMPLE.glob("*/*.json"))
    )
    chunks = [text[at : at + RESULT_CHARS] for at in range(0, len(text), RESULT_CHARS)]
    history: list[Message] = []
    for number, chunk in enumerate(islice(cycle(chunks), messages // 2)):
        call = ToolCall(id=f"c{number}", name="bash", arguments='{"command":"ls -la src"}')
        result = ToolResult(call_id=call.id, content=(Text(text=chunk),))
        history += [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))]
    return history


def texts_in(message: Message) -> list[str]:
    """The texts a counter counts in the messages made here."""
    found = []
    for part in message.parts:
        match part:
            case ToolCall():
                found.append(f"{part.name}\n{part.arguments}")
            case ToolResult():
                found += [inner.text for inner in part.content if isinstance(inner, Text)]
            case _:
                pass
    return found


def tiktoken_o200k() -> Any:
    """tiktoken's encoding, offline; tiktoken checks the vocabulary's sha256 itself."""
    spec = importlib.util.find_spec("bpe_openai")
    if spec is None or spec.origin is None:
        sys.exit("install bpe-openai: it brings the vocabulary")
    packed = Path(spec.origin).parent / "data" / "o200k_base.tiktoken.gz"
    with tempfile.TemporaryDirectory() as folder:
        key = hashlib.sha1(VOCABULARY.encode()).hexdigest()
        (Path(folder) / key).write_bytes(gzip.decompress(packed.read_bytes()))
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        return importlib.import_module("tiktoken").get_encoding("o200k_base")


if __name__ == "__main__":
    main()
