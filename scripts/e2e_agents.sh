#!/usr/bin/env bash
# Installs Claude Code and Codex into a folder, at the versions named here, and runs scripts/e2e_agents.py where there is no network.
#   scripts/e2e_agents.sh FOLDER [claude] [codex]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:?a folder for the agents}
shift
mkdir -p "$folder"
if [[ ! -x $folder/node_modules/.bin/claude || ! -x $folder/node_modules/.bin/codex ]]; then
    echo "e2e-agents: installing the agents" >&2
    npm install --silent --no-audit --no-fund --save-exact --prefix "$folder" \
        @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0 >&2
fi
export PYTHONPATH=src
python=${VENV:-.venv}/bin/python
exec unshare -n bash -c 'ip link set lo up && exec "$@"' -- "$python" scripts/e2e_agents.py "$folder/node_modules/.bin" "$@"
