#!/usr/bin/env bash
# Damaged programs and models for as long as one likes, with sanitizers; what a test
# run does for seconds, on rounds that no test run has seen (docs/fuzzing.md).
#
# usage: tools/fuzz.sh [MINUTES per fuzzer (10)] [FIRST ROUND (from the clock)]
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
first=${2:-$(($(date +%s) * 1000))}
if ! [[ $minutes =~ ^[1-9][0-9]*$ && $first =~ ^[0-9]+$ ]]; then
  echo "usage: tools/fuzz.sh [MINUTES] [FIRST ROUND]" >&2
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
echo "rounds from $first on, $minutes minutes each"
SLUICE_FUZZ_LOG=$(mktemp)
export SLUICE_FUZZ_LOG
trap 'rm -f "$SLUICE_FUZZ_LOG"' EXIT
status=0
for fuzzer in program_fuzz model_fuzz; do
  if ! "$build/tests/$fuzzer"; then
    echo "$fuzzer failed, the last round begun was $(<"$SLUICE_FUZZ_LOG")" >&2
    status=1
  fi
done
exit "$status"
