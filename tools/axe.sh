#!/usr/bin/env bash
# Fetches the accessibility checker axe from npm, unless it is there. Prints the path of its script.
#
# usage: tools/axe.sh [FOLDER]
#
# Ends with 1 and the reason where it cannot be had; the tests are then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/axe}
version=4.10.2
script=$folder/node_modules/axe-core/axe.min.js

mkdir -p "$folder"
exec 9>"$folder.lock" # tests run side by side
flock 9
if [[ "$(cat "$folder/version" 2>/dev/null)" != "$version" ]]; then
  if ! command -v npm >/dev/null; then
    echo "no axe: npm is not installed" >&2
    exit 1
  fi
  if ! timeout 120 npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 \
    "axe-core@$version" >"$folder.log" 2>&1; then
    echo "no axe: $(grep -v -e 'A complete log' -e '^$' "$folder.log" | tail -n 1)" >&2
    exit 1
  fi
  echo "$version" >"$folder/version"
fi
echo "$script"
