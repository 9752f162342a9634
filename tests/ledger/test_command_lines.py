"""Whether the status that a host states is that of every command of a line."""

from __future__ import annotations

import pytest

from foldline.ledger.command_lines import (
    hides_status,
    moves_on,
    names_folder,
    only_looks,
    only_reads,
    reaches_out,
    says_anyway,
    script_in,
    shows_end,
    unwrapped,
)
from tests.linear import slowness


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
        "version=$(cat VERSION)",
        "cd $(git rev-parse --show-toplevel) && pytest",
        "export PATH=$(npm bin):$PATH; pytest",
        "echo '$(pytest)'; pytest",
        "echo $((1 + 2)) && pytest",
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
        "diff <(sort a) <(sort b)",
        "find . -name '*.py' -exec pytest {} +",
        "nix-shell --run 'make lint && make test'",
        "script -q log",
        "version=$(pytest --version)",
        "python -c 'import subprocess; subprocess.run([\"pytest\"], check=True)'",
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
        "echo $(pytest)",
        'echo "tests: $(pytest -q)"',
        "echo `pytest`",
        "echo $(pytest); ruff check",
        "$(pytest) true",
        '"$(pytest)"',
        "`pytest`",
        "OUT=$(pytest) true",
        "export OUT=$(pytest)",
        "[ $(pytest) ]",
        "printf '%s' \"$(pytest)\"",
        "x=$(pytest); echo $x",
        "x=`pytest`; ls",
        "diff <(pytest) <(true)",
        "script -c 'pytest' out",
        "script -qc 'pytest' out",
        "nix-shell --run 'pytest; true'",
        "find . -name '*.py' -exec pytest {} \\;",
        "powershell -Command 'pytest; exit 0'",
        'cmd /c "pytest & exit 0"',
        "at now <<< pytest",
        "python -c \"import os; os.system('pytest')\"",
        "python - <<'E'\nimport subprocess\nsubprocess.run('pytest')\nE",
    ],
)
def test_a_status_of_0_may_hide_that_a_command_failed(line: str) -> None:
    """`pytest; echo done` ends with 0 whatever the tests did."""
    assert hides_status(line)


@pytest.mark.parametrize("piece", ["<<A\n", "$(", "'", '"', "`", "&&", "\\", "# ", "bash -c '"])
def test_a_long_line_takes_linear_time(piece: str) -> None:
    """Whatever stands in it."""
    assert slowness(hides_status, piece, size=20_000, scans_max=100) == ""


@pytest.mark.parametrize(
    "line",
    [
        "tail deploy.log", "cat a | grep b | head -3", "cd logs && tail -n 50 x.log", "sudo journalctl -u app",
        "docker logs web", "git log --oneline", "sed -n 1,20p a.py; echo done", "kubectl logs pod/x | tail",
    ],
)  # fmt: skip
def test_a_line_that_only_shows_what_stands_somewhere_is_known(line: str) -> None:
    """A status in its output is of a time before."""
    assert only_reads(line)


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "cat a && make",
        "tail -f log & pytest",
        "git commit",
        "docker run x",
        "echo hi",
        "",
        "make | tail",
    ],
)
def test_a_line_that_does_more_is_none_of_them(line: str) -> None:
    """The status of what it does may be among what it shows."""
    assert not only_reads(line)


@pytest.mark.parametrize(
    "line",
    [
        "sudo -b npm test",
        "ssh -f host npm test",
        "docker exec -d app npm test",
        "docker compose run -d app npm test",
        "mvn -fn test",
        "mvn test -Dmaven.test.failure.ignore=true",
        "gdb -batch -ex run ./t",
        "perl -e 'system \"npm test\"'",
        "node -e \"require('child_process').exec('npm test')\"",
        "python - <<'X'\nimport subprocess\nsubprocess.getoutput('npm test')\nX",
        "fish -c 'npm test; true'",
    ],
)
def test_what_goes_on_by_itself_or_never_fails_hides_its_status(line: str) -> None:
    """CMP-8: status 0 of these says nothing of the tests."""
    assert hides_status(line)


@pytest.mark.parametrize(
    "line",
    [
        "sudo npm test",
        "ssh host npm test",
        "docker exec app npm test",
        "docker compose run app npm test",
        "mvn -fae test",
    ],
)
def test_what_waits_for_its_command_tells_its_status(line: str) -> None:
    """CMP-8: the counterpart."""
    assert not hides_status(line)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bash", "-lc", "cat a.py"], "cat a.py"),
        (["/bin/sh", "-c", "make test"], "make test"),
        (["zsh", "-ilc", "ls"], "ls"),
        (["git", "status"], "git status"),
        (["bash", "-n", "run.sh"], "bash -n run.sh"),
        (["bash", "-lc", "a", "b"], "bash -lc a b"),
        ([], ""),
    ],
)
def test_a_list_of_words_is_the_line_that_it_runs(words: list[str], line: str) -> None:
    """CMP-8: each file that Codex looked at was told as a verification."""
    assert script_in(words) == line


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("env CI=1 nice -n 5 make", "make"),
        ("env -u X -i PATH=/x make deploy", "make deploy"),
        ("/usr/bin/env python x.py", "python x.py"),
        ("sudo -nu bob -- rm x", "rm x"),
        ("timeout -k 5 --signal KILL 60s pytest", "pytest"),
        ("time -p nohup stdbuf -oL make", "make"),
        ("A='a b' B=\"$A c\" pytest", "pytest"),
        ("command rm x", "rm x"),
        ("command -v x", "command -v x"),
        ("A=$(make cat) ls", "A=$(make cat) ls"),
        ("A=1", "A=1"),
        ("env", "env"),
    ],
)
def test_a_command_is_known_without_what_runs_it(command: str, run: str) -> None:
    """CMP-8: `env` prints the environment only where nothing stands behind it."""
    assert unwrapped(command).strip() == run


@pytest.mark.parametrize(
    "line",
    [
        "env",
        "FOO=1 ls",
        "sudo -u bob cat a",
        "git branch",
        "git branch -vv",
        "git branch --list 'x*' 2>/dev/null",
        "git branch --sort=-committerdate | head",
        "git remote -v; git remote show origin",
        "git -C /a/b status --porcelain",
        "git -C '/a b' --no-pager diff && git -c core.pager=cat log -3",
        "/usr/bin/git --git-dir=/a/.git --work-tree /a rev-parse HEAD",
        "sort -k2 -t, f",
        "awk '$3 > 5' f",
    ],
)
def test_a_line_that_only_looks_needs_no_outcome(line: str) -> None:
    """CMP-8: what looks at something changes nothing."""
    assert only_looks(line)


@pytest.mark.parametrize(
    "line",
    [
        "env CI=1 pytest",
        "env -u X make deploy",
        "nice cat a && env CI=1 rm -rf build",
        "git branch new",
        "git branch -D old",
        "git -C /a branch -D old",
        "git -C status push",
        "git branch -m a b",
        "git branch --set-upstream-to=o/x",
        "git remote add o u",
        "git remote remove o",
        "git log -p --output=f",
        "sort -uo f f",
        "sort --output=f f",
        "sed s/a/b/ -i f",
        "awk -i inplace 1 f",
        "awk '{print > \"o\"}' f",
        "find . -fprint o",
    ],
)
def test_what_looks_by_name_but_acts_has_an_outcome(line: str) -> None:
    """CMP-8: a branch that was deleted and tests that `env` ran had no line, so that only their failures stood."""
    assert not only_looks(line)


@pytest.mark.parametrize("piece", ["env ", "A=1 ", "sudo -u ", "timeout -k ", "A='"])
def test_a_command_in_many_wraps_takes_linear_time(piece: str) -> None:
    """Whatever stands in it."""
    assert slowness(unwrapped, piece, size=20_000, scans_max=100) == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('rm *.html 2>/dev/null; echo "done"', {"done"}),
        ("sed -i s/a/b/ *.ts\necho all done", {"all done"}),
        ('make && echo "BUILD OK"', set()),
        ("make || echo failed", set()),
        ('echo "exit $?"; echo `date`', set()),
        ("make", set()),
    ],
)
def test_what_a_line_says_whatever_came_before_is_known(line: str, said: set[str]) -> None:
    """CMP-8: `rm … ; echo "done"` came to `printed: done`."""
    assert says_anyway(line) == said


@pytest.mark.parametrize(
    "line",
    [
        "npm test",
        "npm test 2>&1 | tail -5",
        "cd /p && make 2>&1 | tee a.log | tail -3",
        "npm test > a.log; tail -5 a.log",
    ],
)
def test_the_end_of_an_output_is_shown(line: str) -> None:
    """CMP-8: what stands there may say how all of it went."""
    assert shows_end(line)


@pytest.mark.parametrize(
    "line",
    [
        "npm test | head -8",
        "make 2>&1 | tail -20 | head -3",
        "go test ./... | grep ok",
        "npm test 2>&1 | sed -n 1,5p",
        "npm test > a.log; head -5 a.log",
        "x" * 30_000,
    ],
)
def test_the_beginning_of_an_output_and_chosen_lines_are_not_its_end(line: str) -> None:
    """CMP-8: `go test ./... | head -1` settled the failure that stood behind its first line."""
    assert not shows_end(line)


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("cd web", "shell"),
        ("cd web && ls -la", "shell"),
        ("pushd web", "shell"),
        ("popd", "shell"),
        ("export NODE_ENV=test", "all"),
        ("source .venv/bin/activate", "all"),
        (". venv/bin/activate && which python", "all"),
        ("nvm use 20", "all"),
        ("conda activate dev", "all"),
        ("git checkout main", "all"),
        ("git switch feature && npm ci", "all"),
        ("git checkout -b fix", ""),
        ("git checkout -- a.py", ""),
        ("git checkout .", ""),
        ("cd web && npm test", ""),
        ("source .venv/bin/activate && pytest", ""),
        ("pytest tests/test_cd.py", ""),
        ("echo checkout", ""),
        (f"cd {'x' * 30_000}", ""),
    ],
)
def test_what_follows_runs_elsewhere(line: str, how: str) -> None:
    """CMP-8: `cd web` alone changes where all that follows runs; before a command of its own line, it is a part of that."""
    assert moves_on(line) == how


def test_who_goes_where_the_shell_stands_moves_nothing_on() -> None:
    """CMP-8: as far as its host says where that is."""
    assert moves_on("cd /p && ls", folder="/p") == ""
    assert moves_on("cd /p/web", folder="/p") == "shell"
    assert moves_on("cd /p && source env", folder="/p") == "all"


def test_a_line_may_name_its_own_folder() -> None:
    """CMP-8: such a line runs there wherever the shell stands."""
    assert all(map(names_folder, ("cd /p && make", "cd ~/p && make", 'cd "$HOME" && make')))
    assert not any(map(names_folder, ("cd web && make", "make", "make -C /p")))


@pytest.mark.parametrize(
    "line",
    [
        "cd /w && git commit -qam x && git push -f",
        "git -C /w push origin main",
        "gh pr create --base develop --title x",
        "sudo npm publish",
        "docker build -t x . && docker push x",
        "kubectl -n prod apply -f k8s/",
        "kubectl rollout restart deployment/x",
        "terraform apply -auto-approve",
        "aws s3 cp a s3://b/c",
        "alembic upgrade head",
        "python manage.py migrate",
        "npx prisma migrate deploy",
        "bin/rails db:migrate",
        "curl -s -X DELETE http://h/users/3",
        "curl http://h/users -d 'name=x'",
        "systemctl restart nginx",
    ],
)
def test_what_others_see_is_told_from_what_only_this_machine_has(line: str) -> None:
    """CMP-8: `gh pr create` left a ledger before the names of files that were read."""
    assert reaches_out(line)


@pytest.mark.parametrize(
    "line",
    [
        "git pull",
        "git stash push -m x",
        "gh pr view 12",
        "npm install",
        "docker build .",
        "kubectl get pods",
        "terraform plan",
        "aws s3 ls",
        "alembic current",
        "python manage.py runserver",
        "curl http://h/users",
        "systemctl status nginx",
        "echo git push",
    ],
)
def test_what_only_this_machine_has_reaches_nobody(line: str) -> None:
    assert not reaches_out(line)
