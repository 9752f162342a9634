"""A skill is restored as the model saw it: its folder first, no placeholder, no front matter (RST-8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.restore.skills import FILE_BYTES_MAX, Unusable, rendered
from foldline.restore.sources import Skill

FRONT = """---
name: review
description: >-
  Looks a change
  through twice.
tools: [read]
---

Run `${CLAUDE_SKILL_DIR}/check.sh $ARGUMENTS`, read ${SKILL_DIR}/notes.md; `${HOME}` stays.
"""


def test_a_skill_is_rendered_again_from_its_file(tmp_path: Path) -> None:
    """RST-8: description from the front matter, folded lines joined; what is no placeholder of ours stays."""
    (tmp_path / "SKILL.md").write_text(FRONT)
    skill = Skill(name="review", folder=str(tmp_path), values={"$ARGUMENTS": "src"})
    assert rendered(skill) == (
        "Looks a change through twice.",
        f"Base directory for this skill: {tmp_path}\n\nRun `{tmp_path}/check.sh src`, read {tmp_path}/notes.md; `${{HOME}}` stays.",
    )


@pytest.mark.parametrize(
    "head", ["", "Base directory for this skill: /s\n", "Base directory for this skill: /s\n\n", "\n"]
)
def test_what_the_model_saw_goes_before_the_file_and_is_made_whole(head: str) -> None:
    """RST-8: recorded text with or without its first line, with or without front matter, comes to the same."""
    for front in ("", "---\nname: x\n---\n"):
        skill = Skill(
            name="x", folder="/s", description="d", text=f"{head}{front}Look at ${{WAVE_SKILL_DIR}}/a."
        )
        assert rendered(skill) == ("d", "Base directory for this skill: /s\n\nLook at /s/a.")
    again = Skill(name="x", folder="/s", text=rendered(Skill(name="x", folder="/s", text=f"{head}Text."))[1])
    assert rendered(again)[1] == "Base directory for this skill: /s\n\nText."


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ("description: Plain.", "Plain."),
        ('description: "Quoted."', "Quoted."),
        ("description: |\n  One\n  two\nname: x", "One two"),
        ("description: >\n\n  One\n", "One"),
        ("description: a: b", "a: b"),
        ("name: x", ""),
    ],
)
def test_a_description_is_read_as_skills_write_it(head: str, description: str) -> None:
    """RST-8: never a `>-` in its place."""
    assert rendered(Skill(name="x", folder="/s", text=f"---\n{head}\n---\nText."))[0] == description


def test_a_rule_in_the_text_is_no_front_matter() -> None:
    """Only what opens the text is."""
    text = "Text.\n---\nname: x\n---\nMore."
    assert rendered(Skill(name="x", folder="/s", text=text))[1].endswith(text)
    assert rendered(Skill(name="x", folder="/s", text="---\nno end"))[1].endswith("---\nno end")
    assert rendered(Skill(name="x", folder="/s", text="---\n---\nText."))[1].endswith("\n\nText.")


def test_what_cannot_be_rendered_says_why(tmp_path: Path) -> None:
    """S8: the file is read through the one opener, below the skill's folder."""
    (tmp_path / "secret").write_text("SECRET")
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to("../secret")
    (folder / "large.md").write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    for skill, why in (
        (Skill(name="x", folder="relative"), "no absolute path"),
        (Skill(name="x", folder=str(tmp_path / "gone")), "cannot be opened"),
        (Skill(name="x", folder=str(folder)), "symbolic link"),
        (Skill(name="x", folder=str(folder), file="../secret"), "outside"),
        (Skill(name="x", folder=str(folder), file="large.md"), "more than"),
        (Skill(name="x", folder=str(folder), file="none.md"), "no such file"),
    ):
        with pytest.raises(Unusable, match=why):
            rendered(skill)
