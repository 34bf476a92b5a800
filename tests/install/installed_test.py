#!/usr/bin/env python3
"""What is installed, as another project meets it: from another folder, with gcc alone.

usage: installed_test.py PREFIX SOURCE_FOLDER CMAKE
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PREFIX, SOURCE, CMAKE = (Path(argument).resolve() for argument in sys.argv[1:4])
LIBRARIES = PREFIX / "lib"
# Neither the build's compilers nor its tools.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(LIBRARIES / "pkgconfig"), "LD_LIBRARY_PATH": str(LIBRARIES)}


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def ok(self, *command, environment=None, **more):
        done = subprocess.run([str(word) for word in command], cwd=self.dir, env=environment or ENVIRONMENT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600, check=False,
                              **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def compiled(self):
        self.ok(PREFIX / "bin/sluice", "compile", SOURCE / "tools/digits/digits.onnx", "--target", "c2b8",
                "-o", "digits.sluice", environment={"PATH": "/usr/bin:/bin"})

    def runs(self, binary, environment=None):
        """The binary does the same on both engines; returns what it prints."""
        vm, rtl = (self.ok(self.dir / binary, "digits.sluice", engine, 5, environment=environment)
                   for engine in ("vm", "rtl"))
        self.assertEqual(vm, rtl)
        self.assertRegex(vm, r"^5 inferences in \d+ cycles, sum of all outputs \S+\n$")
        return vm

    def test_a_c_project_by_pkg_config(self):
        self.compiled()
        source = PREFIX / "share/sluice/examples/asynchronous-jobs/jobs.c"
        flags = self.ok("pkg-config", "--cflags", "--libs", "sluice").split()
        self.ok("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", "jobs")
        shared = self.runs("jobs")
        flags = self.ok("pkg-config", "--static", "--cflags", "--libs", "sluice").split()
        flags = ["-l:libsluice_rt.a" if flag == "-lsluice_rt" else flag for flag in flags]
        self.ok("gcc", "-std=c11", source, *flags, "-o", "static")
        self.assertEqual(self.runs("static", {"PATH": "/usr/bin"}), shared)

    def test_a_cmake_project(self):
        self.compiled()
        self.ok(CMAKE, "-S", PREFIX / "share/sluice/examples/asynchronous-jobs", "-B", "build", "-DCMAKE_C_COMPILER=gcc",
                f"-DCMAKE_PREFIX_PATH={PREFIX}")
        self.ok(CMAKE, "--build", "build")
        without = {"PATH": "/usr/bin:/bin"} # CMake's binaries know where the library is
        self.assertEqual(self.runs("build/jobs", without), self.runs("build/jobs-static", without))

    def test_libraries_show_the_c_api_alone(self):
        shared = LIBRARIES / "libsluice_rt.so.2"
        header = (PREFIX / "include/sluice/sluice_rt.h").read_text()
        for flags, library in ((["-D"], shared), (["-g"], LIBRARIES / "libsluice_rt.a")):
            symbols = {line.split()[-1].split("@")[0]
                       for line in self.ok("nm", *flags, "--defined-only", "--extern-only", library).splitlines()
                       if len(line.split()) == 3}
            symbols.discard("SLUICE_RT_2")
            self.assertIn("sluice_rt_submit", symbols)
            self.assertEqual({name for name in symbols if f"{name}(" not in header}, set())
        self.assertIn("[libsluice_rt.so.2]", self.ok("readelf", "-d", shared))

    def test_nothing_knows_where_it_was_built(self):
        for path in PREFIX.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".pc", ".py", ".h"):
                for folder in (str(SOURCE / "build"), str(PREFIX.parent)):
                    self.assertNotIn(folder, path.read_text(), path)

    def test_the_language_server_answers(self):
        def message(**fields):
            text = json.dumps({"jsonrpc": "2.0", **fields})
            return f"Content-Length: {len(text)}\r\n\r\n{text}"
        capabilities = {"processId": None, "rootUri": None, "capabilities": {}}
        uri = "file:///m.mlir"
        text = "func.func @main(%x: !sluice.tensor<1x8>) -> !sluice.tensor<1x8> { return %z : !sluice.tensor<1x8> }"
        document = {"uri": uri, "languageId": "mlir", "version": 1, "text": text}
        out = self.ok(PREFIX / "bin/sluice-lsp", input=(
            message(id=1, method="initialize", params=capabilities)
            + message(method="textDocument/didOpen", params={"textDocument": document})
            + message(id=2, method="shutdown") + message(method="exit")))
        self.assertIn('"hoverProvider":true', out)
        self.assertIn("textDocument/publishDiagnostics", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
