#!/usr/bin/env python3
"""Runs clang-tidy-19 over the project's C++ sources and remembers which are clean.

usage: tidy.py [--build DIR] [--commands DIR] [--cache DIR] [--jobs N] [--budget SECONDS] [FOLDER...]

A source is checked again only when it, a header that it includes, its compile command or a
.clang-tidy file changes. Hashes of clean sources are kept in a cache that all checkouts share
($XDG_CACHE_HOME/sluice-tidy by default).

With a budget, no new source is started once the budget is used up. Sources that the last commit
changed come first. The others come in an order that starts elsewhere with every commit, so that
runs with an empty cache check other shares. Without a budget, all sources are checked. Only
findings make the run fail.

The release build joins sources (CMAKE_UNITY_BUILD), so the compile commands come from a tree that
is configured for this purpose and never built; the generated headers come from the release build.
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


def included_files(path, folders, known):
    """The project's and the build's files that `path` includes, directly or not; `known` remembers."""
    if path not in known:
        known[path] = set()  # a file that includes itself ends here
        text = path.read_text(errors="replace") if path.is_file() else ""
        for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.MULTILINE):
            for folder in (path.parent, *folders):
                if (folder / name).is_file():
                    found = (folder / name).resolve()
                    known[path] |= {found} | included_files(found, folders, known)
                    break
    return known[path]


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
    parser.add_argument("--commands", default="build/tidy")
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
    commands_of = pathlib.Path(options.commands).resolve()
    subprocess.run(["cmake", "--preset", "tidy", "-B", commands_of], check=True, stdout=subprocess.DEVNULL)
    commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], capture_output=True, text=True).stdout.strip()
    known = {}
    changed = subprocess.run(["git", "diff", "--name-only", "HEAD~1"], capture_output=True, text=True).stdout.split()

    todo, commands, seen = [], [], set()
    for entry in json.loads((commands_of / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"].replace(str(commands_of), str(build)))
        wanted = any(path.is_relative_to(folder) for folder in folders) and not path.is_relative_to(build)
        if not wanted or path in seen:
            continue
        seen.add(path)
        command = tidy_command(entry["command"].replace(str(commands_of), str(build)))
        commands.append({"directory": str(build), "file": str(path), "arguments": command})
        # The path of this checkout does not matter to what is found.
        key = cache.key([word.replace(str(ROOT), "") for word in command], included_files(path, (ROOT, build), known) | {path})
        if not cache.clean(key):
            name = str(path.relative_to(ROOT))
            turn = hashlib.sha256(f"{commits} {name}".encode()).digest()
            todo.append((name not in changed, turn, path, key))
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
    clean = len(seen) - len(todo)
    print(f"tidy: {len(todo) - left} of {len(seen)} sources checked now, {clean} known to be clean, {left} left out "
          f"({100 * left // max(len(seen), 1)} %), {found} with findings, {used.ru_utime + used.ru_stime:.0f} s of processor time")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
