"""What taking secrets out costs: every byte of a session goes through it before the log is written.

    python -m benchmarks.bench_redaction [--quick]

Over the real sessions in `tests/data`, as bodies of entries, against reading the same JSON with the standard library; with no
secret, as they are, and with one in every body.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from benchmarks.measure import Bound, cpu_medians, is_quick, verdict
from foldline.log.secrets import Redactor
from tests.log.secret_samples import FAMILIES

DATA = Path(__file__).parent.parent / "tests" / "data"
RATIO_MAX = 5.0
"""Times what reading the JSON takes."""
BYTES, BYTES_QUICK = 20_000_000, 500_000


def main() -> None:
    """Print the figures; exit 1 when a ratio is broken."""
    quick = is_quick()
    bodies = _bodies(BYTES_QUICK if quick else BYTES)
    size = sum(map(len, bodies)) / 1e6
    with_secrets = _with_secrets(bodies)
    redact, redact_more = Redactor(b"k" * 32).body, Redactor(b"k" * 32).body
    took = cpu_medians(
        {
            "read": lambda: [json.loads(body) for body in bodies],
            "redact": lambda: [redact(body) for body in bodies],
            "found": lambda: [redact_more(body) for body in with_secrets],
        },
        quick=quick,
    )
    print(f"{'bodies':<64} {size:10.4g} MB")
    print(f"{'redaction':<64} {size / took['redact']:10.4g} MB/s")
    print(f"{'redaction, a secret in every body':<64} {size / took['found']:10.4g} MB/s")
    print(f"{'reading the JSON':<64} {size / took['read']:10.4g} MB/s")
    ratio = took["redact"] / took["read"]
    verdict([Bound("redaction ÷ reading the JSON", ratio, most=RATIO_MAX)], quick=quick)


def _bodies(size: int) -> list[bytes]:
    """Lines of real sessions that are JSON, over and over."""
    lines: list[bytes] = []
    for path in sorted(path for path in DATA.rglob("*.json*") if path.is_file()):
        for line in path.read_bytes().split(b"\n"):
            try:
                json.loads(line)
            except ValueError:
                continue
            lines.append(line)
    out: list[bytes] = []
    while size > 0:
        for line in lines:
            out.append(line)
            size -= len(line)
            if size <= 0:
                break
    return out


def _with_secrets(bodies: list[bytes]) -> list[bytes]:
    random = Random(1)
    makers = list(FAMILIES.values())
    return [
        b'{"secret":%b,"body":%b}' % (json.dumps(random.choice(makers)(random)[0]).encode(), body)
        for body in bodies
    ]


if __name__ == "__main__":
    main()
