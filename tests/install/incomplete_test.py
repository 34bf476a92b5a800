#!/usr/bin/env python3
"""Installs from a build folder that does not have everything: the rest is built first.

usage: incomplete_test.py CMAKE BUILD_FOLDER SOURCE_FOLDER [unittest arguments]
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD, SOURCE = sys.argv[1], *(Path(folder).resolve() for folder in sys.argv[2:4])
# A project with the install rules of Sluice, whose target `installed` makes both files, or fails.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
set(files ${PROJECT_BINARY_DIR}/one ${PROJECT_BINARY_DIR}/two)
add_custom_target(installed COMMAND ${CMAKE_COMMAND} -E COMMAND)
install(CODE "set(SLUICE_BUILD \\"${PROJECT_BINARY_DIR}\\")
set(SLUICE_FILES \\"${files}\\")
include(\\"COMPLETE\\")" ALL_COMPONENTS)
install(FILES ${files} DESTINATION share COMPONENT data)
"""


class Incomplete(unittest.TestCase):
    def install(self, command, made=(), *arguments):
        """Exit code, messages and installed files; `made` are the files that are built before."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source, build, prefix = (Path(folder.name) / name for name in ("source", "build", "prefix"))
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            PROJECT.replace("COMMAND)", f"{command})").replace("COMPLETE", str(SOURCE / "tools/package/complete.cmake")))
        subprocess.run([CMAKE, "-G", "Ninja", "-S", source, "-B", build], check=True, stdout=subprocess.DEVNULL)
        for name in made:
            (build / name).write_text("")
        done = subprocess.run([CMAKE, "--install", build, "--prefix", prefix, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout.replace(str(build), "BUILD"), sorted(p.name for p in prefix.rglob("*") if p.is_file())

    def test_builds_what_is_missing(self):
        for arguments in ((), ("--component", "data")):
            for made in ((), ("one",)):
                with self.subTest(arguments=arguments, made=made):
                    code, said, files = self.install("touch ${files}", made, *arguments)
                    self.assertEqual((code, files), (0, ["one", "two"]), said)
                    self.assertIn("-- Building what is missing: cmake --build BUILD --target installed\n", said)

    def test_builds_nothing_if_all_is_there(self):
        code, said, files = self.install("false", ("one", "two"))
        self.assertEqual((code, files), (0, ["one", "two"]), said)
        self.assertNotIn("Building", said)

    def test_a_build_that_fails(self):
        code, said, files = self.install("false")
        self.assertEqual((code, files), (1, []))
        self.assertIn("\n   cannot install, this command must succeed first: cmake --build BUILD --target installed\n", said)

    def test_every_built_file_is_checked(self):
        scripts = {path: path.read_text() for path in BUILD.glob("**/cmake_install.cmake")}
        files = re.search(r'set\(SLUICE_FILES "([^"]*)"\)', scripts[BUILD / "tools/package/cmake_install.cmake"])[1]
        checked = set(files.split(";"))
        installed = set(re.findall(rf'"({re.escape(str(BUILD))}/[^"]*)"', "".join(
            line for text in scripts.values() for line in text.splitlines() if "FILES" in line and "TYPE" in line)))
        self.assertIn(str(BUILD / "bin/sluice"), installed)
        made = {path for path in installed if not path.endswith(("/", ".cmake", ".pc", ".py"))}
        links = {re.sub(r"\.so(\.[0-9.]+)?$", ".so", path) for path in checked}
        self.assertEqual({path for path in made if re.sub(r"\.so(\.[0-9.]+)?$", ".so", path) not in links}, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
