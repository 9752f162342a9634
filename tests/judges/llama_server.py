"""A llama.cpp server with a small real model, on a free port of loopback: run by the Python of `.venv-doubles`, not by the tests'.

    python llama_server.py MODEL.gguf TOKENS_WINDOW

Writes its address, and ends when its standard input does. Knows nothing of foldline.
"""

from __future__ import annotations

import sys


def serve(model: str, tokens_window: int) -> None:
    """Serves until standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = tokens_window
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # with two, a busy second core stalls every token
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
