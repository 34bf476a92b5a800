#!/usr/bin/env python3
"""Manual pages and completions say what the commands say, and the shells take them.

usage: pages_test.py PREFIX
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PREFIX = Path(sys.argv[1]).resolve()
SHARE = PREFIX / "share"
HOME = tempfile.TemporaryDirectory() # shells write there
ENVIRONMENT = {**os.environ, "PATH": f"{PREFIX / 'bin'}:/usr/bin:/bin", "HOME": HOME.name}


def said(*command):
    done = subprocess.run(list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=3600, check=True)
    return done.stdout


def commands():
    help_text = said("sluice", "--help")
    return re.findall(r"^  (\w+) ", help_text[help_text.index("Subcommands:"):], re.MULTILINE)


def flags(command):
    return re.findall(r"^ +(?:-\w,)?(--[\w-]+)", said("sluice", command, "--help"), re.MULTILINE)


class Pages(unittest.TestCase):
    def test_manuals(self):
        self.assertGreater(len(commands()), 8)
        for command in commands():
            page = SHARE / f"man/man1/sluice-{command}.1"
            self.assertEqual(said("groff", "-man", "-Tutf8", "-ww", "-z", page), "")
            for flag in flags(command):
                self.assertIn(flag.replace("-", "\\-"), page.read_text())
        self.assertEqual(said("groff", "-man", "-Tutf8", "-ww", "-z", SHARE / "man/man1/sluice.1"), "")

    def bash(self, line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        return said("bash", "-c", f"source {SHARE}/bash-completion/completions/sluice; COMP_WORDS=({quoted}); "
                    f"COMP_CWORD={len(words) - 1}; cd {SHARE}; _sluice; printf '%s\\n' \"${{COMPREPLY[@]}}\"").split()

    def test_bash(self):
        self.assertEqual(self.bash("sluice compi"), ["compile"])
        self.assertEqual(self.bash("sluice compile --eff"), ["--effort"])
        self.assertEqual(self.bash("sluice compile --effort "), ["fast", "default", "high"])
        self.assertEqual(self.bash("sluice compile m.onnx --target c6"), ["c6b32", "c6b32-deep"])
        self.assertEqual(self.bash("sluice compile ma"), ["man"])
        for command in commands():
            self.assertLessEqual(set(flags(command)), set(self.bash(f"sluice {command} --")))

    def test_zsh(self):
        script = SHARE / "zsh/vendor-completions/_sluice"
        said("zsh", "-n", script)
        for command in commands():
            for flag in flags(command):
                self.assertRegex(script.read_text(), rf"'\*?{flag}\[")

    def test_fish(self):
        script = SHARE / "fish/vendor_completions.d/sluice.fish"
        completed = lambda line: {one.split("\t")[0] for one in
                                  said("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'").splitlines()}
        self.assertEqual(completed("sluice compi"), {"compile"})
        self.assertEqual(completed("sluice compile --effort "), {"fast", "default", "high"})
        for command in commands():
            self.assertLessEqual(set(flags(command)) - {"--help"}, completed(f"sluice {command} --"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
