#!/usr/bin/env bash
# Runs tests/graphs/spellings.py as random_graphs.sh runs search.py.
#
# usage: tests/graphs/spellings.sh DRIVER [spellings.py arguments...]
set -euo pipefail
GRAPHS_SCRIPT=spellings.py exec "$(dirname "$0")/random_graphs.sh" "$@"
