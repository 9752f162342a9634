#!/usr/bin/env bash
# Compacts the bundled session and shows it before and after. Called by `make demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH=$PWD/${VENV:-.venv}/bin:$PATH

session=examples/session.jsonl
small=out/session.small.json
model=claude-opus-4-5 # the one that wrote it; decides how tokens are counted

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

mkdir -p out
echo "A real coding session ($(wc -c <"$session") bytes), compacted to a quarter. Offline, no key."
run foldline context "$session" --model "$model"
run foldline compact "$session" --to 25% --model "$model" --as anthropic -o "$small"
run foldline check "$small"
run foldline context "$small" --model "$model"

echo
echo "Nothing was lost: each address in $small opens the original in $session."
address=$(grep -o 'm[0-9][0-9.-]*@[0-9a-f]\{8\}' "$small" | head -n 1)
run foldline show "$session" "$address" --lines 1-5 | sed -E 's/^(.{99}).{2,}$/\1…/'
