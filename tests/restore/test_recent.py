"""Which files are recent: those of the calls and of an earlier restoration, in the order in which they were last touched."""

from __future__ import annotations

from pathlib import Path

from foldline.restore import Restorer, Touched
from foldline.restore.recent import TRIES_MAX, Passed, Recent, recent_files, touched_in
from foldline.stores.beneath import Beneath
from foldline.testing.builders import assistant, call, result, user, view_from
from foldline.testing.counting import CharacterCounter

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: src/b.py\n*** End Patch"


def test_calls_of_every_spelling_name_their_files() -> None:
    """RST-5: reads, edits and writes; several files of one patch; searches and shells name none."""
    items = view_from(
        [
            user("go"),
            assistant(call("mcp__fs__read_file", "1", path="r.py"), call("apply_patch", "2", input=PATCH)),
            result("1", "x"),
            result("2", "ok"),
            assistant(call("grep", "3", path="g.py"), call("edit", "4", file_path="r.py")),
            result("3", "x"),
            result("4", "ok"),
            assistant(call("amend_source", "6", path="q.py", old_string="x", new_string="y")),
            result("6", "ok"),
            assistant(call("write_file", "5", path="open.py")),
        ]
    ).items()
    assert [one.path for one in touched_in(items)] == ["src/a.py", "src/b.py", "r.py", "q.py", "open.py"]


def test_an_earlier_restoration_counts_with_its_order(tmp_path: Path) -> None:
    """RST-5: the list outlives the compaction; what was left out is older than what was restored."""
    for name in "abc":
        (tmp_path / name).write_text(name)
    files = view_from(
        [user("go"), *(m for n in "abcd" for m in (assistant(call("read", n, path=n)), result(n, "x")))]
    )
    first = Restorer(workspace=str(tmp_path)).restored(files.items(), room=10_000, counter=CharacterCounter())
    assert first.message is not None
    later = view_from(
        [user("go on"), first.message, assistant(call("read", "z", path="z")), result("z", "x")]
    )
    assert [one.path for one in touched_in(later.items())] == ["d", "a", "b", "c", "z"]


def test_looking_is_bounded(tmp_path: Path) -> None:
    """A thousand files that are gone are not all looked for; those of elsewhere cost no look."""
    touched = [Touched(path=f"gone{n}") for n in range(1_000)] + [Touched(path="a/../b")] * 3
    with Beneath(tmp_path) as below:
        found = list(recent_files(touched, below=below, session="", files_max=5))
    assert not any(isinstance(one, Recent) for one in found)
    assert sum(isinstance(one, Passed) and not one.is_outside for one in found) == TRIES_MAX
