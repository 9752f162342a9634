#!/usr/bin/env bash
# Writes requirements-dev.txt: every package of the environment, at the newest version that pyproject.toml allows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh/venv"
pip() { "$fresh/venv/bin/python" -m pip --quiet --quiet --disable-pip-version-check --no-input "$@"; }

pip install --upgrade 'pip>=25.1'
pip install --group dev .
{
    echo "# Every package of the development environment, exactly. Written by \`make lock\`; not edited by hand."
    pip freeze --exclude foldline
} >requirements-dev.txt
