#!/usr/bin/env python3
"""A release: its files, made of a commit with the files of this tree and of the build of this tree; and the trees,
versions and builds of which none is made.

usage: release_test.py BUILD_FOLDER SOURCE_FOLDER PREFIX RELEASE_FOLDER [unittest arguments]

PREFIX is what `cmake --install` installed. RELEASE_FOLDER is where the release goes and stays for other tests.
"""
import gzip
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

BUILD, SOURCE, PREFIX, RELEASE = (Path(one).resolve() for one in sys.argv[1:5])
VERSION = re.search(r"^project\(sluice VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
NAME = f"sluice-{VERSION}"
FOLDER = tempfile.TemporaryDirectory()
DIR = Path(FOLDER.name).resolve()
TREE = DIR / "tree"
COMMITTED = 1_700_000_000
# No settings of the user: of names, of line ends, of permissions in archives.
ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
               **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                  for what, value in (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", f"{COMMITTED} +0000"))}}
USAGE = "usage: tools/release.sh VERSION|--version-from-changelog -o FOLDER [--build FOLDER] [--source-only]\n"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=3600, check=False, **{"env": ENVIRONMENT, **more})
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def committed(tree):
    """Makes a repository of one commit with the files of this tree, whatever git knows of them."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(SOURCE, tree, symlinks=True, ignore=lambda folder, names: ignored(folder, names) |
                    (set(names) & {"build", ".git"} if Path(folder) == SOURCE else set()))
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "a release")):
        run("git", *command, cwd=tree)


def setUpModule():
    committed(TREE)


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(RELEASE, ignore_errors=True)
        RELEASE.parent.mkdir(parents=True, exist_ok=True)
        cls.said = run(TREE / "tools/release.sh", "--version-from-changelog", "-o", RELEASE, "--build", BUILD)
        cls.deb, = RELEASE.glob("*.deb")
        cls.wheel, = RELEASE.glob("*.whl")
        cls.source = RELEASE / f"{NAME}.tar.gz"

    def test_files(self):
        machine = run("dpkg", "--print-architecture").strip()
        names = ["SHA256SUMS", "release-notes.md", self.wheel.name, f"{NAME}.tar.gz", f"sluice_{VERSION}_{machine}.deb"]
        self.assertEqual(sorted(path.name for path in RELEASE.iterdir()), names)
        self.assertRegex(self.wheel.name, rf"^{NAME}-py3-none-linux_\w+\.whl$")
        self.assertEqual({stat.S_IMODE(path.stat().st_mode) for path in RELEASE.iterdir()}, {0o644})
        commit = run("git", "rev-parse", "--short=12", "HEAD", cwd=TREE).strip()
        listed = "".join(f"  {(RELEASE / name).stat().st_size:>12} bytes  {name}\n" for name in names)
        self.assertIn(f"\nwrote {RELEASE}, version {VERSION} of commit {commit}:\n{listed}", self.said)
        unfinished = f"## {VERSION}, not released yet"
        note = f"note: CHANGELOG.md has '{unfinished}'; put the date there before you publish\n"
        self.assertEqual(note in self.said, unfinished in (SOURCE / "CHANGELOG.md").read_text().splitlines())

    def test_checksums(self):
        lines = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                        for path in sorted(RELEASE.iterdir()) if path.name != "SHA256SUMS")
        self.assertEqual((RELEASE / "SHA256SUMS").read_text(), lines)
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=RELEASE)

    def test_notes(self):
        text = (SOURCE / "CHANGELOG.md").read_text()
        section = re.split(r"^## .*\n", text[re.search(rf"^## {re.escape(VERSION)}\b", text, re.MULTILINE).start():],
                           flags=re.MULTILINE)[1]
        self.assertIn("### Added", section)
        self.assertEqual((RELEASE / "release-notes.md").read_text(), f"# Sluice {VERSION}\n{section}")

    def test_source_archive(self):
        tracked = run("git", "ls-files", cwd=TREE).splitlines()
        with tarfile.open(self.source) as archive:
            members = archive.getmembers()
            files = [one.name for one in members if not one.isdir()]
            self.assertEqual(files, [f"{NAME}/{name}" for name in tracked])
            for one in members:
                self.assertEqual((one.mtime, one.uid, one.gid, one.uname), (COMMITTED, 0, 0, "root"), one.name)
                if one.isfile():
                    path = TREE / one.name.removeprefix(f"{NAME}/")
                    self.assertEqual(archive.extractfile(one).read(), path.read_bytes(), one.name)
                    self.assertEqual(one.mode, 0o755 if os.access(path, os.X_OK) else 0o644, one.name)
        # Every file of the tree that the configuration, a rule or a compilation of this build reads.
        rules = (BUILD / "build.ninja").read_text() + run("ninja", "-C", BUILD, "-t", "deps")
        named = re.findall(rf"(?<!\S)(?:{re.escape(str(SOURCE))}|(?:\.\./)+)[^\s:|;'\"$]+", rules)
        paths = {Path(os.path.normpath(BUILD / word)) for word in named}
        read = {f"{NAME}/{path.relative_to(SOURCE)}" for path in paths
                if SOURCE in path.parents and BUILD.parent not in path.parents and path.is_file()}
        for name in ("CMakeLists.txt", "tools/package/exports.map.in", "tools/sluice.cpp", "compiler/support/problem.h", "hw/rtl/core.sv"):
            self.assertIn(f"{NAME}/{name}", read)
        self.assertEqual(read - set(files), set())

    def test_the_source_archive_depends_on_the_commit_alone(self):
        other, out = DIR / "another place", DIR / "again"
        TREE.rename(other)
        self.addCleanup(other.rename, TREE)
        for path in other.rglob("*"):
            os.utime(path, (1, 1), follow_symlinks=False)
        run("git", "config", "tar.umask", "0077", cwd=other)
        run("sh", "-c", 'umask 077; exec "$@"', "sh", other / "tools/release.sh", VERSION, "-o", out, "--source-only",
            env={**ENVIRONMENT, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "GZIP": "-1"})
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["SHA256SUMS", "release-notes.md", f"{NAME}.tar.gz"])
        for name in ("release-notes.md", f"{NAME}.tar.gz"):
            self.assertEqual((out / name).read_bytes(), (RELEASE / name).read_bytes(), name)

    def test_debian_package(self):
        fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "--field", self.deb), re.MULTILINE))
        self.assertEqual([fields[key] for key in ("Package", "Version", "Architecture", "Section", "Priority", "Recommends")],
                         ["sluice", VERSION, run("dpkg", "--print-architecture").strip(), "science", "optional",
                          "python3-numpy, python3-onnx, python3-yaml"])
        self.assertRegex(fields["Maintainer"], r"^.+ <\S+@\S+>$")
        self.assertEqual({word.split()[0] for word in fields["Depends"].split(",")},
                         {"libc6", "libfmt9", "libgcc-s1", "libjemalloc2", "libllvm19", "libmlir-19", "libonnx1", "libprotobuf32", "libssl3",
                          "libstdc++6", "zlib1g"})
        with tarfile.open(fileobj=io.BytesIO(run_bytes("dpkg-deb", "--fsys-tarfile", self.deb))) as archive:
            members = {one.name.removeprefix("./"): one for one in archive.getmembers()}
        for name, one in members.items():
            self.assertEqual((one.uid, one.gid, one.mtime), (0, 0, COMMITTED), name)
            if not one.issym():
                self.assertIn(one.mode & 0o777, (0o755,) if one.isdir() else (0o644, 0o755), name)
        packed = {name for name, one in members.items() if not one.isdir()}
        self.assertEqual(packed, {f"usr/{path.relative_to(PREFIX)}" for path in PREFIX.rglob("*") if not path.is_dir()})
        self.assertEqual(members["usr/bin/sluice"].mode, 0o755)
        # In KiB; CPack counts the library once more for each of its two links.
        size = sum(one.size for one in members.values()) + 2 * next(
            one.size for name, one in members.items() if "libsluice_rt.so." in name and one.isfile())
        self.assertAlmostEqual(int(fields["Installed-Size"]), size / 1024, delta=0.01 * size / 1024)

    def test_wheel_in_a_new_environment(self):
        venv = DIR / "venv"
        # NumPy is Debian's: nothing comes from a network.
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", venv)
        run(venv / "bin/pip", "install", "--quiet", "--no-index", self.wheel)
        clean = {"PATH": "/usr/bin:/bin"}
        script = ("import numpy as np, sluice, sys\n"
                  "p = sluice.compile(sys.argv[1], target='c2b8')\n"
                  "print(sluice.__file__, sluice.__version__, p.run(pixels=np.zeros((1, 64)))[p.outputs[0].name].shape)\n")
        said = run(venv / "bin/python", "-B", "-c", script, TREE / "tools/digits/digits.onnx", cwd=DIR, env=clean)
        place, = venv.glob("lib/python3.*/site-packages/sluice")
        self.assertEqual(said, f"{place}/__init__.py {VERSION} (1, 10)\n")
        self.assertIn(f"sluice {VERSION}", run(venv / "bin/sluice", "version", env=clean))


def run_bytes(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=True).stdout


class Refusals(unittest.TestCase):
    def refused(self, message, *arguments, code=1, tree=TREE, path=""):
        """No release, and nothing of one beside it; the message is the whole of the standard error."""
        place = DIR / "place"
        place.mkdir(exist_ok=True)
        before = sorted(place.rglob("*"))
        done = subprocess.run([tree / "tools/release.sh", *map(str, arguments)], cwd=place, text=True, timeout=3600,
                              env={**ENVIRONMENT, "PATH": f"{path}{os.environ['PATH']}"}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (code, message), done.stdout)
        self.assertNotIn("wrote", done.stdout)
        self.assertEqual(sorted(place.rglob("*")), before)

    def change(self, name, text, commit=True):
        """Writes a file of the tree until the end of the test, as a commit or not."""
        path = TREE / name
        self.addCleanup(run, "git", "clean", "-fdq", cwd=TREE)
        self.addCleanup(run, "git", "reset", "-q", "--hard", run("git", "rev-parse", "HEAD", cwd=TREE).strip(), cwd=TREE)
        path.write_text(text)
        if commit:
            run("git", "add", "-A", cwd=TREE)
            run("git", "commit", "-q", "-m", "a change", cwd=TREE)

    def test_commands(self):
        for message, *arguments in (
                ("no version; ",), ("no folder to make; ", VERSION), ("-o needs a folder; ", VERSION, "-o"),
                ("--build needs a folder; ", VERSION, "-o", "out", "--build", ""), ("unknown argument 'new'; ", "new", "-o", "out"),
                (f"two versions, '{VERSION}' and '0.2.0'; ", VERSION, "0.2.0", "-o", "out")):
            self.refused(f"error: {message}{USAGE}", *arguments, code=2)

    def test_folders(self):
        (DIR / "place/there").mkdir(parents=True)
        self.addCleanup(shutil.rmtree, DIR / "place")
        self.refused(f"error: '{DIR}/place/there' exists; name a new folder\n", VERSION, "-o", "there")
        self.refused(f"error: no folder '{DIR}/place/a' to make 'b' in\n", VERSION, "-o", "a/b")

    def test_trees(self):
        self.change("README.md", "changed", commit=False)
        self.change("new.txt", "new", commit=False)
        self.refused("error: the tree differs from HEAD; commit, stash or remove:\n M README.md\n?? new.txt\n", VERSION, "-o", "out")
        unpacked = DIR / "unpacked"
        (unpacked / "tools").mkdir(parents=True)
        for name in ("release.sh", "phase.sh"):
            shutil.copy2(TREE / "tools" / name, unpacked / "tools")
        self.refused(f"error: '{unpacked}' is no git checkout; a release is made of a commit\n", VERSION, "-o", "out", tree=unpacked)

    def test_versions(self):
        self.refused(f"error: CHANGELOG.md has no section '## 9.9.9'; it has: {VERSION}\n", "9.9.9", "-o", "out")
        self.refused(f"error: CHANGELOG.md has no section '## 0'; it has: {VERSION}\n", "0", "-o", "out")
        self.change("CHANGELOG.md", "# Changes\n\n## 0.2.0, 2030-01-01\n\n- b\n\n## 0.0.9, 2020-01-01\n\n- a\n")
        self.refused("error: CHANGELOG.md has no section '## 0.3.0'; it has: 0.2.0 0.0.9\n", "0.3.0", "-o", "out")
        for version, argument in (("0.2.0", "--version-from-changelog"), ("0.0.9", "0.0.9")):
            self.refused(f"error: CMakeLists.txt has version {VERSION}, not {version}; set it in project()\n", argument, "-o", "out")
        self.change("CHANGELOG.md", "# Changes\n")
        self.refused("error: CHANGELOG.md has no section '## VERSION'\n", VERSION, "-o", "out")

    def test_builds(self):
        build = DIR / "build"
        command = VERSION, "-o", "out", "--build", build
        self.refused(f"error: '{build}' is no build folder; it has no CMakeCache.txt\n", *command)
        build.mkdir()
        cache = (BUILD / "CMakeCache.txt").read_text()
        for option in ("CMAKE_BUILD_TYPE=Release", "SLUICE_ASAN=OFF", "SLUICE_RTL_TARGETS=c1b4;c2b8;c6b32", "SLUICE_RTL_WAVES=c2b8"):
            name = option.partition("=")[0]
            (build / "CMakeCache.txt").write_text(re.sub(rf"^({name}:\w+)=.*$", r"\1=other", cache, flags=re.MULTILINE))
            self.refused(f"error: '{build}' is not configured for a release; type: cmake -D'{option}' '{build}'\n", *command)
        self.change("tools/sluice.cpp", "// other\n")
        self.change("tools/new.cpp", "// new\n")
        self.refused(f"error: '{BUILD}' is a build of files that differ from HEAD:\n D tools/new.cpp\n M tools/sluice.cpp\n",
                     VERSION, "-o", "out", "--build", BUILD)

    def test_a_tool_that_fails(self):
        shims = DIR / "shims"
        shims.mkdir()
        for tool, text, message, code in (
                ("cpack", 'echo half a package; touch "${6#*=}/half.deb"; exit 3',
                 "error: cpack failed, nothing is written:\nhalf a package\n", 1),
                ("cmake", "kill -TERM $PPID", "", -15)): # the script ends as by Ctrl-C
            (shims / tool).write_text(f"#!/bin/sh\n{text}\n")
            (shims / tool).chmod(0o755)
            self.refused(message, VERSION, "-o", "out", "--build", BUILD, path=f"{shims}:", code=code)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
