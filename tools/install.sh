#!/usr/bin/env bash
# Installs the Debian packages that the project needs and does not find. Uses sudo where it does
# not run as root, and prints the command to run where there is no sudo.
#
# usage: tools/install.sh [build|test|check]   what the packages are for; test by default
set -euo pipefail
cd "$(dirname "$0")/.."
group=${1:-test}
case $group in
  build | test | check) ;;
  *) echo "usage: tools/install.sh [build|test|check]" >&2; exit 2 ;;
esac

missing=()
while read -r line; do
  case $line in
    '#'* | '') continue ;;
    '['*) [[ ${last:-} == "$group" ]] && break; last=${line:1:-1}; continue ;;
  esac
  dpkg-query -W -f='${Status}' "$line" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$line")
done < third_party/debian-packages.txt
if ((${#missing[@]} == 0)); then
  exit 0
fi

echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: installing packages needs root, and sudo is not here; run as root: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --download-only --no-install-recommends "${missing[@]}" >/dev/null
echo "downloaded after $SECONDS s" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
