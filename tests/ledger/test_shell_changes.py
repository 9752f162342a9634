"""What a shell's line does to files is read from it where it says so in plain words, and only there."""

from __future__ import annotations

import pytest

from foldline.ledger.command_lines import CHARS_MAX
from foldline.ledger.shell_changes import PATHS_MAX, changes_in


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("rm -rf build old.py", ["removed build", "removed old.py"]),
        ("rmdir theme", ["removed theme"]),
        ("mv a.py b.py", ["moved a.py b.py"]),
        ("mv a.py b.py lib/", ["moved a.py lib/a.py", "moved b.py lib/b.py"]),
        ("mv src/a.py .", ["moved src/a.py ./a.py"]),
        ("cp -r a b", ["copied b a"]),
        ("mkdir -p x/y", ["made x/y/"]),
        ("sed -i '' 's|a|b|g' f.ts", ["edited f.ts"]),
        ("sed -i.bak -e s/a/b/ f.ts g.ts", ["edited f.ts", "edited g.ts"]),
        ("sed -n 1,5p f.ts", []),
        ("echo x > a; echo y >> b 2>&1", ["written a", "appended b"]),
        ("make 2>/dev/null >/dev/null", []),
        ("cat < a 2> err.txt", []),
        ("x | tee -a log", ["appended log"]),
        ("git mv a b && git rm c", ["moved a b", "removed c"]),
        ("git rm --cached c", []),
        ("git checkout -- a b", ["restored a", "restored b"]),
        ("git checkout main", []),
        ("git checkout .", ["restored ./"]),
        ("cd /r/docs && git checkout HEAD .", ["restored /r/docs/"]),
        ("git restore -s HEAD~1 a", ["restored a"]),
        ("git restore -p a", []),
        ("git mv -n a b; git rm --dry-run c; git clean -nfd", []),
        ("git -C /r/lib mv a b", ["moved /r/lib/a /r/lib/b"]),
        ("git -C lib -c x=y rm a; rm b", ["removed a", "removed b"]),
        ("mv -n a b; cp -u c d; rm -i e; cp --no-clobber f g", []),
        ("sed --silent -n 5p f", []),
        ("env CI=1 rm a; sudo -u x rm b; timeout 5 mv c d", ["removed a", "removed b", "moved c d"]),
        ("git restore a", ["restored a"]),
        ("git restore --staged a", []),
        ("git -C /r reset --hard HEAD~1", ["reset /r HEAD~1"]),
        ("git reset -q a", []),
        ("git clean -fd", ["cleaned"]),
        ("git stash", ["stashed"]),
        ("git stash pop", ["stashed pop"]),
        ("cd /r && git stash push -m 'x y' b.py 'c d'", ["stashed /r push b.py 'c d'"]),
        ("git stash -- b.py", ["stashed push b.py"]),
        ("git stash save all of it", ["stashed"]),
        ("git stash -p", []),
        ("git stash list", []),
        ("cd /r/src && rm a ../b && cd ..; rm c", ["removed /r/src/a", "removed /r/b", "removed /r/c"]),
        ('D=/r; rm "$D/a" $E/b', ["removed /r/a"]),
        ("cd $(pwd) && rm a", ["removed a"]),
        ("test -f a || rm a", []),
        ("for f in *.ts; do\n mv $f x\n rm y\ndone\nrm z", ["removed z"]),
        ("if true; then rm a; fi", []),
        ("rm *.pyc 'a b'", ["removed a b"]),
        ("# a -> b\nrm c # not d", ["removed c"]),
        ("cat > a <<'EOF'\nrm b\nEOF\nrm c", ["written a", "removed c"]),
        ("ls -la", []),
        ("rm -f d && git show HEAD > d", ["written d"]),
        ('R=/r\ncd $R; git rm -f ./d || true\nmake > "$R/d" || true', ["written /r/d"]),
        ("rm d; echo x >> d", ["written d"]),
        ("rm d; make | tee d", ["written d"]),
        ("echo x > d; rm d", ["removed d"]),
        ("echo x > d; sed -i s/x/y/ d; echo z >> d", ["written d"]),
        ("rm d; mv c ./d", ["moved c ./d"]),
        ("rm d; cp c d", ["copied d c"]),
        ("mv d d.bak; echo x > d", ["copied d.bak d", "written d"]),
        ("sed -i s/a/b/ d; git checkout -- d", ["restored d"]),
        ("rm -rf x; mkdir x", ["made x/"]),
        ("rm -f out.db && ./make --to=lib/out.db", []),
        ("rm -f out.db && git add out.db && ls out.db", ["removed out.db"]),
        ("cd /r && mv theme/* ui/theme/ && rmdir theme", ["moved /r/theme /r/ui/theme"]),
        ("mv theme/* ui && cd /r && rmdir theme", ["removed /r/theme"]),
    ],
)
def test_what_a_line_does_to_files_is_read_from_its_words(script: str, found: list[str]) -> None:
    """CMP-8: moves, removals and resets stood as evidence, and the files that they took away as edited."""
    told = changes_in(script).found
    assert [" ".join(filter(None, (change.kind, change.path, change.to))) for change in told] == found


def test_what_a_line_writes_and_with_what_it_edits_is_told() -> None:
    """CMP-8: a heredoc brings its text, `sed` its script."""
    written, edited = changes_in("cat > a <<'EOF'\nx = 1\ny = 2\nEOF\nsed -i s/x/z/ b").found
    assert (written.text, edited.by) == ("x = 1\ny = 2", "s/x/z/")


@pytest.mark.parametrize(
    ("script", "is_all"),
    [
        ("cd /r && rm a && ls", True),
        ("git add -A && git commit -m x", True),
        ("rm a && npm test", False),
        ("rm *.pyc a", False),
        ("for f in a; do rm $f; done", False),
        ("npm test > out", False),
        ("git diff > out; echo x > y", True),
        ("make", False),
    ],
)
def test_a_line_that_does_nothing_else_needs_no_other_outcome(script: str, *, is_all: bool) -> None:
    """CMP-8: `mkdir` verifies nothing."""
    assert changes_in(script).is_all is is_all


def test_a_change_is_early_where_nothing_unknown_went_before() -> None:
    """CMP-8: a line that failed may have ended before it."""
    assert [change.is_early for change in changes_in("rm a && npm test && rm b").found] == [True, False]


@pytest.mark.parametrize(
    ("script", "is_reached", "is_seen"),
    [
        ("make; rm a", True, True),
        ("make && rm a", False, True),
        ("set -e\nmake\nrm a", False, True),
        ("set -e\nset +e\nmake\nrm a", True, True),
        ("make || true; rm a", True, True),
        ("make || exit 1; rm a", False, True),
        ("[ -f a ] && rm a", False, False),
        ("git diff --quiet || exit; rm a", False, False),
        ("echo x && cd /r && rm a", True, True),
        ("rm a 2>/dev/null", True, False),
    ],
)
def test_a_line_says_whether_a_change_is_reached_and_whether_its_failure_is_seen(
    script: str, *, is_reached: bool, is_seen: bool
) -> None:
    """CMP-8: silence speaks for a change only where a failure would have been heard."""
    *_, change = changes_in(script).found
    assert (change.is_reached, change.is_seen) == (is_reached, is_seen)


@pytest.mark.parametrize(
    ("script", "is_silent"),
    [
        ("cd /r && rm a && mv b c; mkdir d", True),
        ("echo x > a; cat > b <<E\nE", True),
        ("sed -i s/a/b/ f; git mv a b", True),
        ("rm -v a", False),
        ("rm a; ls", False),
        ("make > out; rm a", False),
        ("echo x | tee a", False),
    ],
)
def test_a_line_of_silent_commands_prints_nothing_that_goes_well(script: str, *, is_silent: bool) -> None:
    """CMP-8: whatever else answers such a line is no sign that it ran."""
    assert changes_in(script).is_silent is is_silent


def test_folders_and_long_lines_are_bounded() -> None:
    """SAME: a relative path stands in the folder that the host names; what is too long is not read."""
    [change] = changes_in("rm a", folder="/testbed").found
    assert change.path == "/testbed/a"
    assert not changes_in("rm a " * CHARS_MAX).found
    assert len(changes_in("rm " + " ".join(f"f{n}" for n in range(99))).found) == PATHS_MAX
