#!/usr/bin/env python3
"""Runs every command shown in README.md, docs/*.md and the pages of layout errors,
and compares what it prints with the output shown.

usage: docs_test.py SLUICE SOURCE_FOLDER [page...]

The convention, in Markdown:
* A ```sh block is a script. It runs in a copy of the project root that is thrown
  away, with SLUICE on the PATH and as build/release/bin/sluice, and with the
  Python package and the C library of its prefix. All blocks of a page run in the
  same folder, in their order.
* A ``` block without a language that follows it, with nothing between, is what
  the script prints (both streams). A line `...` stands for any lines, `...` in a
  line for any text, and a time in seconds ("0.01 s") for any other.
* <!-- exit 3 --> on the line before: the script ends with this code, not with 0.
* <!-- not run: REASON --> on the line before: the block is skipped.
* <!-- file: NAME --> before a block of any language: its text is written to NAME.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"(?:^<!-- (?P<mark>not run|exit|file):? ?(?P<value>.*?) -->\n)?"
                   r"^```(?P<language>\w*)\n(?P<body>.*?)^```$"
                   r"(?:\s*^```\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)


def pattern(expected):
    """A regular expression for what the shown output allows."""
    lines = []
    for line in expected.splitlines():
        if line == "...":
            lines.append("(?:.*\n)*?")
            continue
        text = ".*".join(re.escape(part) for part in line.split("..."))
        lines.append(re.sub(r"\b\d+\\\.\d+(\\ )s\b", r"[0-9.]+\1s", text) + "\n")
    return "".join(lines)


class Page:
    def __init__(self, path, sluice, source):
        self.path, self.commands, self.errors = path, 0, []
        self.text = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            self.root = Path(folder)
            self.prepare(sluice, source)
            for block in FENCE.finditer(self.text):
                self.run(block)

    def prepare(self, sluice, source):
        for entry in source.iterdir():
            if entry.name != "build" and not entry.name.startswith("."):
                (self.root / entry.name).symlink_to(entry)
        tools = self.root / "build/release/bin"
        tools.mkdir(parents=True)
        for tool in Path(sluice).parent.iterdir():
            (tools / tool.name).symlink_to(tool)
        (tools / "python3").symlink_to(sys.executable)
        prefix = Path(sluice).parent.parent
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
                            "PYTHONPATH": str(prefix / "lib/python3/dist-packages"),
                            "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib")}

    def run(self, block):
        mark, value, body = block["mark"], block["value"], block["body"]
        line = self.text[:block.start("body")].count("\n")
        if mark == "file":
            (self.root / value).write_text(body)
        if block["language"] != "sh" or mark == "not run":
            return
        allowed = int(value) if mark == "exit" else 0
        self.commands += 1
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=self.root, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=3600, check=False)
        if done.returncode != allowed:
            self.errors.append(f"{self.path}:{line}: exit code {done.returncode}, not {allowed}\n{body}{done.stdout}")
        elif block["output"] is not None and not re.fullmatch(pattern(block["output"]), done.stdout):
            difference = difflib.unified_diff(block["output"].splitlines(True), done.stdout.splitlines(True),
                                              "shown", "printed")
            self.errors.append(f"{self.path}:{line}: prints something else\n{''.join(difference)}")


def main():
    sluice, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pages = [Path(p).resolve() for p in sys.argv[3:]] or [source / "README.md", *sorted((source / "docs").glob("*.md")),
                                                          *sorted((source / "docs/errors").glob("E03*.md"))]
    failed = False
    for path in pages:
        page = Page(path, sluice, source)
        print(f"{path.relative_to(source)}: {page.commands} blocks run, {len(page.errors)} wrong")
        print(*page.errors, sep="\n", end="\n" if page.errors else "")
        failed |= bool(page.errors)
    return failed


if __name__ == "__main__":
    sys.exit(main())
