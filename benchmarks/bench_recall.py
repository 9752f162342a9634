"""What recall costs: reading logs into the index, and searching 100,000 messages of them.

    python -m benchmarks.bench_recall [--quick]

Indexing is held against what SQLite alone takes for the same words, a search against one tenth of the messages: it has
to grow slower than the text. The queries are a model's: a word, two words, two words side by side, an identifier, and a Chinese
word of two characters, each out of what was said.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median, quantiles

from benchmarks.histories import SEED, Pieces
from benchmarks.measure import Bound, is_quick, milliseconds, verdict
from foldline.core.entry import Draft
from foldline.log.values import dumps
from foldline.recall.find import Recall
from foldline.recall.tables import INDEX
from foldline.recall.words import split
from foldline.stores.memory import MemoryStore
from foldline.tokens.choose import counter_for

SIZES = (10_000, 100_000)
SIZES_QUICK = (200, 1_000)
INDEX_RATIO_MAX = 3.0
"""Times what SQLite alone takes."""
INDEX_MB_S_MIN = 20
"""Megabytes of log that are read into the index in a second."""
GROWTH_MAX = 5.0
"""Of a search, where the text grows tenfold."""
QUERIES = 200
HAN = "数据库连接池大小超时错误缓存服务端口请求响应队列线程内存磁盘日志配置版本更新删除查询索引测试部署"


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    sizes = SIZES_QUICK if quick else SIZES
    took: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            store, texts = _session(size)
            recall = Recall(
                store, path=Path(folder) / f"{size}.sqlite", counter=counter_for(counter="length/4")
            )
            start = time.thread_time()
            recall.update("s")
            indexing = time.thread_time() - start
            took[size] = _searches(recall, _queries(texts))
            recall.close()
        alone = _alone(texts, Path(folder) / "alone.sqlite")
        log = sum(entry.size for entry in store.read("s").entries())
        file = (Path(folder) / f"{sizes[1]}.sqlite").stat().st_size
    print(f"{'log of ' + format(sizes[1], ',') + ' messages':<64} {log / 1e6:10.4g} MB")
    print(f"{'index, of the log':<64} {file / log:10.4g}")
    print(f"{'indexing':<64} {log / 1e6 / indexing:10.4g} MB/s")
    for size in sizes:
        slow = quantiles(took[size], n=20)[-1]
        milliseconds({f"search of {size:,} messages, p50": median(took[size]), "  p95": slow})
    growth = median(took[sizes[1]]) / median(took[sizes[0]])
    verdict(
        [
            Bound("indexing ÷ SQLite alone", indexing / alone, most=INDEX_RATIO_MAX),
            Bound(f"{INDEX_MB_S_MIN} MB/s ÷ indexing", INDEX_MB_S_MIN * indexing / (log / 1e6), most=1.0),
            Bound(f"search of {sizes[1]:,} ÷ of {sizes[0]:,} messages, p50", growth, most=GROWTH_MAX),
        ],
        quick=quick,
    )


def _session(size: int) -> tuple[MemoryStore, list[str]]:
    """A session of so many messages, of which each tenth is Chinese, and their texts."""
    random = Random(SEED)
    pieces = Pieces(random)
    texts = []
    for number in range(size):
        if number % 10 == 9:
            texts.append("".join(random.choice(HAN) for _ in range(random.randint(20, 200))))
        elif number % 2:
            texts.append(pieces.output(int(100 * 40 ** (random.random() ** 1.6))))
        else:
            texts.append(pieces.prose(random.randint(40, 600)))
    store = MemoryStore()
    journal = store.create("s", format="anthropic", about=b"{}")
    for first in range(0, size, 1_000):
        journal.append([_draft(number, texts[number]) for number in range(first, min(size, first + 1_000))])
    journal.close()
    return store, texts


def _draft(number: int, text: str) -> Draft:
    wire = {"role": "assistant" if number % 2 else "user", "content": text}
    return Draft(kind="message", body=dumps({"format": "anthropic", "wire": wire}))


def _queries(texts: list[str]) -> list[str]:
    random = Random(SEED + 1)
    made: list[str] = []
    while len(made) < QUERIES:
        text = random.choice(texts)
        words = text.split()
        at = random.randrange(max(1, len(words) - 1))
        match len(made) % 5:
            case 0:
                made.append(words[at])
            case 1:
                made.append(f"{random.choice(words)} {random.choice(words)}")
            case 2:
                made.append(f'"{" ".join(words[at : at + 2])}"')
            case 3:
                made.append(f"{random.choice(text.split())} {random.choice(HAN[:10])}")
            case _:
                at = random.randrange(len(HAN) - 1)
                made.append(HAN[at : at + 2])
    return made


def _searches(recall: Recall, queries: list[str]) -> list[float]:
    took = []
    for query in queries:
        start = time.thread_time()
        recall.search(query, session="s")
        took.append(time.thread_time() - start)
    return took


def _alone(texts: list[str], path: Path) -> float:
    """CPU seconds of SQLite for the same words, cut before."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    for statement in INDEX.tables.split(";"):
        connection.execute(statement)
    rows = [(number, split(text), "roleuser kindtext") for number, text in enumerate(texts)]
    start = time.thread_time()
    for first in range(0, len(rows), 5_000):
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO words (rowid, text, marks) VALUES (?,?,?)", rows[first : first + 5_000]
        )
        connection.execute("COMMIT")
    took = time.thread_time() - start
    connection.close()
    return took


if __name__ == "__main__":
    main()
