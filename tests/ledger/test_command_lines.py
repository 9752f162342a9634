"""Whether the status that a host states is that of every command of a line."""

from __future__ import annotations

import pytest

from foldline.ledger.command_lines import hides_status


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q",
        "make lint && make test",
        "cd src; pytest",
        "cd src\npytest",
        "export A=1; source .venv/bin/activate; pytest -q",
        "A=1 pytest",
        "pytest > out.txt 2>&1",
        "pytest &> out.txt",
        "grep -q 'a;b|c&' file",
        'echo "x; y" && pytest',
        "echo a\\;b && pytest",
        "pytest $(git ls-files | grep test; true)",
        "pytest `ls | head -1`",
        "pytest # then; rest | of it",
        "set -e\npytest\nruff check",
        "set -euo pipefail; pytest | tee log; ruff check",
        "pytest || exit 1",
        "pytest;",
        "pytest\n",
        "(cd src && pytest)",
        "python - <<'EOF'\nimport os; print(1 | 2)\nprint(3)\nEOF",
        "cat > a.py <<EOF\na; b || c &\nEOF",
        "cat <<EOF > a.py && python a.py\nx = 1; y = 2\nEOF",
        "bash -lc 'make lint && make test'",
        "diff <(echo a) b",
        "cat <<< 'a; b'",
        "set -e\ncd src && pytest\nruff check",
        "set -e; pytest && ruff check",
        "ssh host 'make lint && make test'",
        "eval 'pytest -q'",
        "make install",
        "docker run --rm img pytest",
        "cat > a.js <<EOF\nfunction f() {\n}\nEOF",
        "",
    ],
)
def test_a_status_of_0_speaks_for_every_command_of_the_line(line: str) -> None:
    """OBS-3: commands with their outcome."""
    assert not hides_status(line)


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q | tail -3",
        "pytest |& tee log",
        "pytest; echo done",
        "set +e\npytest tests/c.py\nset -e",
        "pytest; set -e",
        "pytest; true; set -e",
        "set -e; set +e; pytest; true",
        "set -e; pytest; set +e; npm test; true",
        "set -e; pytest && ruff check; true",
        "eval 'pytest || true'",
        "ssh host 'pytest; true'",
        'ssh host "pytest; true"',
        "bash <<'E'\npytest\ntrue\nE",
        "ssh host <<E\npytest\ntrue\nE",
        "make -k -i test",
        "docker run -d img pytest",
        "tmux new -d 'pytest'",
        "setsid -f pytest",
        "coproc pytest",
        "pytest(){ true; }; pytest",
        "pytest\necho done",
        "pytest ; ruff check",
        "pytest || true",
        "pytest || echo failed",
        "make lint && pytest || true",
        "pytest &",
        "server & pytest; kill %1",
        "nohup pytest > out 2>&1 &",
        "! pytest",
        "for f in *.py; do pytest $f; done",
        "if pytest; then echo ok; fi",
        "while read f; do pytest $f; done < list",
        "(pytest; echo done)",
        "{ pytest; echo done; }",
        "bash -lc 'pytest; echo done'",
        'sh -c "pytest | tail"',
        "bash -lc pytest; echo done",
        "cat > a.py <<EOF\na\nEOF\npython a.py",
        "python - <<'EOF'; echo done\nprint(1)\nEOF",
        "pytest; rc=$?; echo $rc",
        "x " * 20_000,
    ],
)
def test_a_status_of_0_may_hide_that_a_command_failed(line: str) -> None:
    """`pytest; echo done` ends with 0 whatever the tests did."""
    assert hides_status(line)


@pytest.mark.parametrize("piece", ["<<A\n", "$(", "'", '"', "`", "&&", "\\", "# ", "bash -c '"])
def test_a_long_line_takes_linear_time(piece: str) -> None:
    """Whatever stands in it."""
    hides_status(piece * (20_000 // len(piece)))
