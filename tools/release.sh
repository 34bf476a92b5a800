#!/usr/bin/env bash
# Makes a release of HEAD in a new folder: source archive, Debian package, wheel, release notes and
# SHA256SUMS. The folder appears when all of it is complete, or not at all.
#
# usage: tools/release.sh VERSION|--version-from-changelog -o FOLDER [--build FOLDER] [--source-only]
#   VERSION                   a version that has a section in CHANGELOG.md
#   --version-from-changelog  the version of the first section
#   -o FOLDER                 folder to make
#   --build FOLDER            packs this build of the same sources; build/release if not given
#   --source-only             makes no Debian package and no wheel
set -euo pipefail
umask 022 # the packages have folders that others may read
usage="usage: tools/release.sh VERSION|--version-from-changelog -o FOLDER [--build FOLDER] [--source-only]"
# What a release contains: both engines, and waves of the small accelerator.
targets="c1b4;c2b8;c6b32"
waves="c2b8"

# fail MESSAGE [CODE]: code 1 for what the tree or the build lacks, 2 for a wrong command.
fail() {
  printf 'error: %s\n' "$1" >&2
  exit "${2:-1}"
}

version="" output="" build="" source_only=false
while (($#)); do
  case $1 in
    -o | --build)
      (($# >= 2)) && [[ -n $2 ]] || fail "$1 needs a folder; $usage" 2
      if [[ $1 == -o ]]; then output=$(realpath -m "$2"); else build=$(realpath -m "$2"); fi
      shift
      ;;
    --source-only) source_only=true ;;
    --version-from-changelog | [0-9]*)
      [[ -z $version ]] || fail "two versions, '$version' and '$1'; $usage" 2
      version=$1
      ;;
    *) fail "unknown argument '$1'; $usage" 2 ;;
  esac
  shift
done
[[ -n $version ]] || fail "no version; $usage" 2
[[ -n $output ]] || fail "no folder to make; $usage" 2

cd "$(dirname "$0")/.."
source tools/phase.sh
[[ ! -e $output ]] || fail "'$output' exists; name a new folder"
[[ -d $(dirname "$output") ]] || fail "no folder '$(dirname "$output")' to make '$(basename "$output")' in"
[[ $(git rev-parse --show-toplevel 2>/dev/null) -ef . ]] || fail "'$PWD' is no git checkout; a release is made of a commit"
changed=$(git status --porcelain)
[[ -z $changed ]] || fail "the tree differs from HEAD; commit, stash or remove:"$'\n'"$changed"

mapfile -t versions < <(sed -nE 's/^## ([^ ,]+).*/\1/p' CHANGELOG.md)
((${#versions[@]})) || fail "CHANGELOG.md has no section '## VERSION'"
[[ $version != --version-from-changelog ]] || version=${versions[0]}
[[ " ${versions[*]} " == *" $version "* ]] || fail "CHANGELOG.md has no section '## $version'; it has: ${versions[*]}"
project=$(sed -nE 's/^project\(sluice VERSION ([^ ]+).*/\1/p' CMakeLists.txt)
[[ $project == "$version" ]] || fail "CMakeLists.txt has version $project, not $version; set it in project()"

work=$(mktemp -d "$(dirname "$output")/.release.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
name=sluice-$version

# quietly COMMAND...: shows what a command printed only if it fails.
quietly() {
  "$@" >"$work/log" 2>&1 || fail "$1 failed, nothing is written:"$'\n'"$(tail -n 20 "$work/log")"
}

# In the order of their names, owned by root, with the time of the commit.
quietly git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="$name/" -o "$work/source.tar" HEAD

# Whether the build is one of a release, and of HEAD: its sources are those of the archive.
check_build() {
  local cache=$build/CMakeCache.txt home option other
  [[ -f $cache ]] || fail "'$build' is no build folder; it has no CMakeCache.txt"
  for option in CMAKE_BUILD_TYPE=Release SLUICE_ASAN=OFF SLUICE_TSAN=OFF "SLUICE_RTL_TARGETS=$targets" "SLUICE_RTL_WAVES=$waves"; do
    grep -qE "^${option%%=*}:[A-Z]+=${option#*=}\$" "$cache" ||
      fail "'$build' is not configured for a release; type: cmake -D'$option' '$build'"
  done
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  export GIT_INDEX_FILE=$work/index
  quietly git read-tree HEAD
  quietly git --git-dir="$PWD/.git" --work-tree="$home" -C "$home" status --porcelain
  unset GIT_INDEX_FILE
  other=$(grep -vxF "?? ${work##*/}/" "$work/log" || true)
  [[ -z $other ]] || fail "'$build' is a build of files that differ from HEAD:"$'\n'"$other"
}

if ! $source_only; then
  phase "build"
  if [[ -z $build ]]; then
    build=$PWD/build/release
    quietly tools/install.sh test
    quietly cmake --preset release -DSLUICE_RTL_TARGETS="$targets" -DSLUICE_RTL_WAVES="$waves"
  fi
  check_build
  quietly cmake --build "$build" --target installed

  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  phase "wheel"
  quietly /usr/bin/python3 -B tools/python/wheel.py cmake "$build" "$version" "$work/files"
  phase "Debian package"
  quietly cpack --config "$build/CPackConfig.cmake" -B "$work/cpack" -D CPACK_OUTPUT_FILE_PREFIX="$work/files"
fi

phase "source archive and notes"
gzip -9 --no-name <"$work/source.tar" >"$work/files/$name.tar.gz"
{
  printf '# Sluice %s\n' "$version"
  awk -v version="$version" '/^## / { inside = $2 == version || $2 == version ","; next } inside' CHANGELOG.md
} >"$work/files/release-notes.md"
unfinished=$(grep -E "^## ${version//./\\.}, not released" CHANGELOG.md || true)
(cd "$work/files" && LC_ALL=C && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$work/files/"
mv -T "$work/files" "$output"
phases_done

printf '\nwrote %s, version %s of commit %s:\n' "$output" "$version" "$(git rev-parse --short=12 HEAD)"
(cd "$output" && stat -c '  %12s bytes  %n' -- *)
[[ -z $unfinished ]] || printf "note: CHANGELOG.md has '%s'; put the date there before you publish\n" "$unfinished"
