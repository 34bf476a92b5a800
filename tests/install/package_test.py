#!/usr/bin/env python3
"""The Debian package: made, installed in an empty root, used there, and purged without a trace.

usage: package_test.py CPACK BUILD_FOLDER SOURCE_FOLDER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CPACK, BUILD, SOURCE = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=3600, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def clean_root(root, binary):
    """A root with a shell, ldconfig, and the libraries of the binary; nothing else."""
    for name in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in ("etc", "tmp", "var/cache/ldconfig"):
        (root / name).mkdir(parents=True)
    (root / "etc/ld.so.conf").write_text("/usr/lib\n/usr/lib/x86_64-linux-gnu\n")
    needed = {"/usr/bin/dash", "/usr/sbin/ldconfig"}
    for one in (binary, "/usr/bin/dash"):
        needed |= set(re.findall(r"(/\S+) \(0x", run("ldd", one)))
    for path in map(Path, needed):
        place = root / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path.resolve(), place)
        except OSError: # of another file system
            shutil.copy2(path, place)
    (root / "usr/bin/sh").symlink_to("dash")
    run("chroot", root, "/sbin/ldconfig")


def files(root):
    """Everything in a root but dpkg's own notes."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if "var/lib/dpkg" not in str(path)}


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = Path(folder.name)
        run(CPACK, "-B", cls.dir, "-D", f"CPACK_OUTPUT_FILE_PREFIX={cls.dir}", cwd=BUILD)
        cls.package, = cls.dir.glob("*.deb")

    def test_what_it_says(self):
        fields = run("dpkg-deb", "--field", self.package)
        for needed in ("Package: sluice\n", "libllvm19", "libmlir-19", "libprotobuf", "libc6", "Recommends: python3-numpy"):
            self.assertIn(needed, fields)

    @unittest.skipUnless(os.geteuid() == 0, "only root can change the root")
    def test_from_installed_to_purged(self):
        root = self.dir / "root"
        clean_root(root, BUILD / "bin/sluice")
        before = files(root)
        # The libraries are there, the packages that bring them are not.
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--log=/dev/null"]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        run(*dpkg, "--install", self.package, env=path)
        installed = files(root) - before
        for name in ("bin/sluice", "bin/sluice-opt", "bin/sluice-lsp", "include/sluice/sluice_rt.h", "lib/libsluice_rt.so.2",
                     "share/man/man1/sluice-compile.1", "share/bash-completion/completions/sluice", "share/doc/sluice/copyright",
                     "lib/python3/dist-packages/sluice/__init__.py"):
            self.assertIn(f"usr/{name}", installed)
        shutil.copy(SOURCE / "tools/digits/digits.onnx", root / "tmp")
        sluice = ["chroot", root, "/usr/bin/sluice"]
        run(*sluice, "compile", "/tmp/digits.onnx", "--target", "c2b8", "-o", "/tmp/d.sluice", env=path)
        said = run(*sluice, "run", "/tmp/d.sluice", "--engine", "both", "--input", "pixels=random:1", env=path)
        self.assertIn("engines agree: equal bits, equal cycles", said)
        for name in ("digits.onnx", "d.sluice"):
            (root / "tmp" / name).unlink()
        script = ("import numpy as np, sluice; p = sluice.compile('tools/digits/digits.onnx', target='c2b8');"
                  "print(p.run(pixels=np.zeros((1, 64)))[p.outputs[0].name].shape, sluice.tool.executable())")
        said = run(sys.executable, "-B", "-c", script, cwd=SOURCE,
                   env={**path, "PYTHONPATH": str(root / "usr/lib/python3/dist-packages")})
        self.assertEqual(said, f"(1, 10) {root / 'usr/bin/sluice'}\n")
        run(*dpkg, "--purge", "sluice", env=path)
        self.assertEqual(files(root), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
