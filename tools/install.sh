#!/usr/bin/env bash
# Installs the Debian packages the project needs and does not find. Uses sudo
# when not root; without it, says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < third_party/debian-packages.txt
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

echo "installing ${#missing[@]} packages: ${missing[*]}" >&2
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: not root, and there is no sudo; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
