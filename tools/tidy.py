#!/usr/bin/env python3
"""Runs clang-tidy-19 over the project's C++ sources and remembers what is clean.

usage: tidy.py [--build DIR] [--cache DIR] [--jobs N] [--budget SECONDS] [FOLDER...]

A source is checked again only if it, a header of the project or of the build
that it includes, its compile command or a .clang-tidy has changed: hashes of
what was found clean are kept in a cache, $XDG_CACHE_HOME/sluice-tidy if not
given, which all checkouts share. Sources that differ from the last commit come
first, then the product, then its tests. With a budget, no new source is begun
once it is used up, and what is left is counted; only findings make the run
fail. Needs a finished build, because the headers a source includes are those
ninja has recorded.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"


def ninja_dependencies(build):
    """The files of the project and of the build that each object depends on."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    result, current = {}, None
    for line in text.splitlines():
        if match := re.match(r"(\S+): #deps", line):
            current = result.setdefault(match[1], [])
        elif line.strip() and current is not None:
            path = pathlib.Path(build, line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
    return result


def tidy_command(command):
    """Without the header that another compiler run has precompiled for itself."""
    words, kept = shlex.split(command), []
    while words:
        if words[0] == "-Xclang" and len(words) > 3 and "cmake_pch" in words[3]:
            words = words[4:]  # -Xclang -include-pch -Xclang FILE
        else:
            kept.append(words.pop(0))
    return [word for word in kept if word != "-DNDEBUG"]  # assertions are facts


class Cache:
    def __init__(self, folder, seed):
        self.folder, self.seed, self.files = folder, seed, {}
        folder.mkdir(parents=True, exist_ok=True)

    def key(self, command, files):
        digest = hashlib.sha256(self.seed)
        digest.update("\0".join(command).encode())
        for path in sorted(set(files)):
            if path not in self.files:
                self.files[path] = hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + self.files[path])
        return digest.hexdigest()

    def clean(self, key):
        return (self.folder / key).exists()

    def remember(self, key):
        (self.folder / key).touch()


def main():
    parser = argparse.ArgumentParser()
    caches = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path(caches, "sluice-tidy"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget", type=float)
    parser.add_argument("folders", nargs="*", default=["compiler", "runtime", "sim", "tools", "tests"])
    options = parser.parse_args()
    os.chdir(ROOT)
    build = pathlib.Path(options.build).resolve()
    folders = [ROOT / folder for folder in options.folders]

    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    settings = b"".join(path.read_bytes() for path in (ROOT / ".clang-tidy", ROOT / "tests/.clang-tidy"))
    cache = Cache(options.cache.resolve(), version + settings)
    recorded = ninja_dependencies(build)
    changed = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], capture_output=True, text=True).stdout.split()

    todo, commands, seen = [], [], set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        wanted = any(path.is_relative_to(folder) for folder in folders) and not path.is_relative_to(build)
        if not wanted or path in seen:
            continue
        seen.add(path)
        command = tidy_command(entry["command"])
        output = command[command.index("-o") + 1]
        if output not in recorded:
            continue  # not built
        commands.append({"directory": entry["directory"], "file": entry["file"], "arguments": command})
        # The path of this checkout does not matter to what is found.
        key = cache.key([word.replace(str(ROOT), "") for word in command], recorded[output] + [path])
        if not cache.clean(key):
            name = str(path.relative_to(ROOT))
            todo.append((name not in changed, name.startswith("tests/"), path, key))
    todo.sort()
    database = tempfile.TemporaryDirectory()
    pathlib.Path(database.name, "compile_commands.json").write_text(json.dumps(commands))

    start = time.monotonic()

    def check(item):
        *_, path, key = item
        if options.budget is not None and time.monotonic() - start > options.budget:
            return None
        done = subprocess.run([TIDY, "-p", database.name, "--quiet", path], capture_output=True, text=True)
        if done.returncode == 0:
            cache.remember(key)
        return done

    found = left = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(check, todo):
            left += done is None
            if done and done.returncode != 0:
                found += 1
                print(done.stdout or done.stderr, flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"tidy: {len(seen)} sources, {len(todo)} to check, {found} with findings, {left} left for the next run, "
          f"{used.ru_utime + used.ru_stime:.0f} s of processor time")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
