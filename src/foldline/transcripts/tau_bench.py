"""tau-bench results (format `tau-bench`): one file, many conversations.

Owns the list of results: each element's `traj` is an OpenAI chat history, its id is `TASK.TRIAL`. Rewards and ground
truth are left unread; there is no usage and no boundary.

Shapes: sierra-research/tau-bench `historical_trajectories/`; read only.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from foldline.transcripts import document
from foldline.transcripts.chat import decode_all
from foldline.transcripts.source import Source, keys
from foldline.transcripts.transcript import Transcript

WIRE: Final = "openai-chat"


class _Result(Struct, frozen=True, kw_only=True):
    """One element, copied out of the document."""

    id: str
    place: str
    slices: list[bytes]


class _TauBench:
    name = "tau-bench"

    def recognise(self, head: bytes) -> int:
        """100 for the keys of one result; its `traj` stands behind a long `info`."""
        found = keys(head)
        return 100 if "task_id" in found and ("traj" in found or {"reward", "info"} <= found.keys()) else 0

    def read(self, source: Source) -> tuple[Transcript, ...]:
        """All conversations, in the file's order; results without a history are left out."""
        results = _results(source)
        return tuple(
            Transcript(
                format=self.name,
                wire=WIRE,
                messages=decode_all(source, result.slices, wire=WIRE, at=result.place),
                id=result.id,
            )
            for result in results
            if result.slices
        )


READER: Final = _TauBench()


def _results(source: Source) -> list[_Result]:
    """Copies of all histories; the document is let go when this returns."""
    root = document.open_document(source)
    elements = document.items(root) or [root]
    results = []
    for index, element in enumerate(elements):
        members = document.unique_fields(source, element, at=f"[{index}]")
        place = f"[{index}].traj"
        task = document.read(source, members.get("task_id"), at=f"[{index}].task_id")
        trial = document.read(source, members.get("trial"), at=f"[{index}].trial")
        name = str(index if task is None else task)
        results.append(
            _Result(
                id=name if trial is None else f"{name}.{trial}",
                place=place,
                slices=document.copies(members.get("traj")),
            )
        )
    return results
