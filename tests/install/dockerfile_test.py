#!/usr/bin/env python3
"""The Dockerfile runs the quickstart of the README with files that exist, without secrets, and with no network but
apt's. bare_root.py runs its instructions.

usage: dockerfile_test.py SOURCE_FOLDER [unittest arguments]
"""
import fnmatch
import json
import os
import re
import sys
import unittest
from pathlib import Path

from dockerfile import instructions

SOURCE = Path(sys.argv[1]).resolve()
DOCKERFILE = SOURCE / "tools/package/Dockerfile"
STEPS = instructions(DOCKERFILE)
NETWORK = re.compile(r"\b(curl|wget|aria2c|scp|rsync|pip3?|npm|conda|git (clone|fetch|pull|submodule))\b|\b(https?|ftp)://|"
                     r"FetchContent|ExternalProject|file\s*\(\s*DOWNLOAD|CPMAddPackage")


def arguments(instruction):
    return [rest for name, rest in STEPS if name == instruction]


def ignored(path):
    """Whether .dockerignore leaves a path, or a folder that it is in, out of the context."""
    patterns = (SOURCE / ".dockerignore").read_text().split()
    names = path.split("/")
    heads = ["/".join(names[:count]) for count in range(1, len(names) + 1)]
    return any(fnmatch.fnmatchcase(head, pattern) or pattern.startswith("**/") and fnmatch.fnmatchcase(head.split("/")[-1], pattern[3:])
               for pattern in patterns for head in heads)


def scripts(names):
    """Returns the scripts of tools/ that these run or source, and those of these."""
    found, left = set(), set(names)
    while left:
        found |= left
        left = {name for one in left for name in re.findall(r"^[^#\n]*?\b(tools/[\w/-]+\.(?:sh|py))", (SOURCE / one).read_text(),
                                                           re.MULTILINE)} - found
    return found


class Dockerfile(unittest.TestCase):
    def test_it_is_the_quickstart_of_the_readme(self):
        self.assertEqual([name for name, _ in STEPS], ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "CMD"])
        self.assertEqual(arguments("FROM"), ["debian:12"])
        readme = (SOURCE / "README.md").read_text()
        self.assertIn("Debian 12", readme)
        command, = arguments("RUN")
        self.assertIn(f"\n```sh\n{command}\n```\n", readme)
        self.assertTrue(os.access(SOURCE / command, os.X_OK))

    def test_the_command_is_on_the_path(self):
        folder, = re.findall(r"^bin=(\S+)$", (SOURCE / "tools/quickstart.sh").read_text(), re.MULTILINE)
        self.assertEqual(arguments("ENV"), [f"PATH={arguments('WORKDIR')[0]}/{folder}:$PATH"])
        self.assertEqual(json.loads(arguments("CMD")[0]), ["sluice", "--help"])

    def test_what_it_copies(self):
        self.assertEqual(arguments("COPY"), [". ."])
        for path in (".git/config", "build/release/bin/sluice", "tools/__pycache__/a.pyc", "__pycache__/b.pyc"):
            self.assertTrue(ignored(path), path)
        tops = [path for path in SOURCE.iterdir() if path.name not in ("build", ".git")]
        files = [str(path.relative_to(SOURCE)) for top in tops for path in (top, *top.rglob("*")) if "__pycache__" not in path.parts]
        self.assertGreater(len(files), 1000)
        self.assertEqual([path for path in files if ignored(path)], [])

    def test_no_secrets(self):
        self.assertNotRegex(DOCKERFILE.read_text(), r"(?i)secret|token|passw|credential|api.?key|private.?key|ssh")

    def test_no_network_but_apt(self):
        run = scripts(arguments("RUN"))
        self.assertLessEqual({"tools/quickstart.sh", "tools/install.sh", "tools/phase.sh"}, run)
        self.assertIn("apt-get update", (SOURCE / "tools/install.sh").read_text())
        rules = [path.relative_to(SOURCE) for folder in ("compiler", "runtime", "hw", "sim", "tools", "third_party")
                 for pattern in ("CMakeLists.txt", "*.cmake") for path in (SOURCE / folder).rglob(pattern)]
        self.assertGreater(len(rules), 20)
        for name in [DOCKERFILE.relative_to(SOURCE), Path("CMakeLists.txt"), *run, *rules]:
            code = re.sub(r"^\s*#.*", "", (SOURCE / name).read_text(), flags=re.MULTILINE)
            self.assertNotRegex(code, NETWORK, str(name))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
