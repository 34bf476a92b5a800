#!/usr/bin/env bash
# Fuzzes the program loader and the ONNX importer with sanitizers. The tests do the same for
# seconds; this script runs as long as you like, on rounds that no test has run (docs/fuzzing.md).
#
# usage: tools/fuzz.sh [MINUTES] [FIRST_ROUND]
#   MINUTES      minutes for each of the two fuzzers (10)
#   FIRST_ROUND  number of the first round (taken from the clock)
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
first=${2:-$(($(date +%s) * 1000))}
if ! [[ $minutes =~ ^[1-9][0-9]*$ && $first =~ ^[0-9]+$ ]]; then
  echo "usage: tools/fuzz.sh [MINUTES] [FIRST_ROUND], whole numbers; MINUTES is for each fuzzer (10)" >&2
  exit 2
fi
build=${SLUICE_FUZZ_BUILD:-build/asan}
if [[ $build == build/asan ]]; then
  cmake --preset asan >/dev/null
  cmake --build --preset asan --target program_fuzz model_fuzz
fi
# As in the tests with sanitizers (third_party/cmake/SluiceFlags.cmake).
export ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0
export SLUICE_FUZZ_SECONDS=$((minutes * 60)) SLUICE_FUZZ_ROUND=$first
echo "fuzzing for $minutes minutes per fuzzer, from round $first"
SLUICE_FUZZ_LOG=$(mktemp)
export SLUICE_FUZZ_LOG
trap 'rm -f "$SLUICE_FUZZ_LOG"' EXIT
status=0
for fuzzer in program_fuzz model_fuzz; do
  if ! "$build/tests/$fuzzer"; then
    echo "$fuzzer failed in round $(<"$SLUICE_FUZZ_LOG")" >&2
    status=1
  fi
done
exit "$status"
