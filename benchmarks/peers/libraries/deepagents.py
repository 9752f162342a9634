"""deepagents: its `SummarizationMiddleware`, which writes the old history to a file and keeps messages in the state.

As `create_deep_agent` builds it, with the old history whole in the summary request; the file goes to a temporary folder.
"""

from __future__ import annotations

import tempfile
from typing import Any

from benchmarks.peers.libraries.langchain import Held
from benchmarks.peers.peer import NOTHING_DUE, Limits


class Summarization(Held):
    """`SummarizationMiddleware(backend=…, trigger=("tokens", …), keep=("tokens", …), trim_tokens_to_summarize=None)`."""

    def __init__(self) -> None:
        super().__init__()
        from deepagents.backends import FilesystemBackend

        self._folder = tempfile.TemporaryDirectory()
        self._backend = FilesystemBackend(root_dir=self._folder.name, virtual_mode=True)
        self._idle = self._middleware(NOTHING_DUE)

    def _middleware(self, limits: Limits) -> Any:
        from deepagents.middleware.summarization import SummarizationMiddleware

        return SummarizationMiddleware(
            model=self.model,
            backend=self._backend,
            trigger=("tokens", limits.due),
            keep=("tokens", max(1, limits.keep)),
            trim_tokens_to_summarize=None,
        )

    def _call(self, middleware: Any, history: Any) -> Any:
        from langchain.agents.middleware.types import ModelRequest, ModelResponse
        from langchain_core.messages import AIMessage

        seen: list[Any] = []

        def answer(changed: Any) -> Any:
            seen.append(changed.messages)
            return ModelResponse(result=[AIMessage("ok")])

        request = ModelRequest(model=self.model, messages=history, state={"messages": history})
        middleware.wrap_model_call(request, answer)
        return seen[0]

    def check(self, history: Any) -> None:
        self._call(self._idle, history)

    def compact(self, history: Any, limits: Limits) -> Any:
        return self._call(self._middleware(limits), history)
