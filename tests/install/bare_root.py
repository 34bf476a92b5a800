#!/usr/bin/env python3
"""Installs a release on bare roots of Debian 12, as its users do, with the packages that apt finds for it. Each part has a
new root:

    deb     apt-get installs the Debian package; a network runs on both engines; a purge removes every file
    wheel   pip installs the wheel beside Debian's libraries; a network runs from Python
    source  the source archive, built as the Dockerfile says (minutes: it builds the compiler)

Needs root, mmdebstrap and a mirror of Debian; ends with 77 and the reason where one is missing.

usage: bare_root.py RELEASE_FOLDER PART...
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dockerfile import instructions

SOURCE = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive", **{key: os.environ[key] for key in ("http_proxy",) if key in os.environ}}
SCRIPT = """
import numpy as np, sluice
program = sluice.compile("/tmp/digits.onnx", target="c2b8")
x = np.random.default_rng(1).random((1, 64), np.float32)
scores = []
for name in ("vm", "rtl"):
    with program.open(name) as engine:
        scores.append(engine.run(pixels=x)[program.outputs[0].name])
assert np.array_equal(*scores)
print(sluice.__version__, scores[0].shape)
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Root:
    """A copy of the bare root, with a release's files in /tmp and /proc as long as it is used."""

    def __init__(self, bare, folder, *files):
        self.path = folder
        self.variables = {}
        run("cp", "-a", bare, folder)
        for file in files:
            shutil.copy(file, folder / "tmp")

    def __enter__(self):
        run("mount", "-t", "proc", "proc", self.path / "proc")
        return self

    def __exit__(self, *_):
        run("umount", "--lazy", self.path / "proc")
        shutil.rmtree(self.path)

    def run(self, *command, folder="/"):
        place = ("sh", "-c", 'cd "$0" && exec "$@"', folder)
        return run("chroot", self.path, *place, *command, env=ENVIRONMENT | self.variables)

    def apt(self, *words):
        self.run("apt-get", "update", "-qq")
        self.run("apt-get", "-qq", "-y", "--no-install-recommends", *words)

    def files(self):
        """Returns the files and folders but temporary ones and those of apt and dpkg."""
        names = run("find", self.path, "-xdev", "-printf", "%P\\n").splitlines()
        return {name for name in names if not name.startswith(("tmp/", "var/", "etc/ld.so.cache"))}


def deb(release, root):
    package, = release.glob("*.deb")
    digits = SOURCE / "tools/digits/digits.onnx"
    with root(package, digits) as bare:
        # First what it depends on: a purge does not remove that.
        bare.apt("satisfy", run("dpkg-deb", "--field", package, "Depends").strip())
        before = bare.files()
        bare.apt("install", f"/tmp/{package.name}")
        installed = bare.files() - before
        assert "usr/bin/sluice" in installed, installed
        bare.run("sluice", "compile", "/tmp/digits.onnx", "--target", "c6b32", "-o", "/tmp/d.sluice")
        said = bare.run("sluice", "run", "/tmp/d.sluice", "--engine", "both", "--input", "pixels=random:1")
        assert "engines agree: equal bits, equal cycles" in said, said
        bare.apt("purge", "sluice")
        assert bare.files() == before, sorted(bare.files() ^ before)
        return f"{len(installed)} files installed, run and purged"


def wheel(release, root):
    package, = release.glob("*.whl")
    debian, = release.glob("*.deb")
    with root(package, SOURCE / "tools/digits/digits.onnx") as bare:
        # The command needs Debian's libraries, those that the Debian package names.
        needed = run("dpkg-deb", "--field", debian, "Depends").strip()
        bare.apt("satisfy", f"{needed}, python3-venv, python3-numpy")
        bare.run("python3", "-m", "venv", "--system-site-packages", "/opt/sluice")
        bare.run("/opt/sluice/bin/pip", "install", "--quiet", "--no-index", f"/tmp/{package.name}")
        return f"sluice {bare.run('/opt/sluice/bin/python', '-c', SCRIPT).strip()}"


def source(release, root):
    archive, = release.glob("*.tar.gz")
    with root() as bare:
        folder = "/"
        for name, rest in instructions(SOURCE / "tools/package/Dockerfile"):
            if name == "WORKDIR":
                folder = rest
                (bare.path / folder.lstrip("/")).mkdir(parents=True)
            elif name == "COPY": # the context is the archive
                run("tar", "-x", "--no-same-owner", "--strip-components=1", "-C", bare.path / folder.lstrip("/"), "-f", archive)
            elif name == "RUN":
                said = bare.run("sh", "-c", rest, folder=folder)
                assert "images right" in said, said
                print(said)
            elif name == "ENV":
                key, _, value = rest.partition("=")
                bare.variables[key] = value.replace(f"${key}", ENVIRONMENT[key])
            elif name == "CMD":
                said = bare.run(*json.loads(rest), folder=folder)
                assert "Subcommands:" in said, said
        return bare.run("sluice", "version").splitlines()[0]


PARTS = {"deb": deb, "wheel": wheel, "source": source}


def main():
    release, parts = Path(sys.argv[1]).resolve(), sys.argv[2:]
    if not parts or not set(parts) <= set(PARTS):
        sys.exit(f"usage: bare_root.py RELEASE_FOLDER PART...   parts: {', '.join(PARTS)}")
    if os.geteuid() != 0:
        skip("only root can change the root")
    if shutil.which("mmdebstrap") is None:
        skip("mmdebstrap is not here; tools/install.sh check installs it")
    if "SLUICE_OWN_MOUNTS" not in os.environ: # what is mounted ends with this process
        if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            skip("this machine allows no mounts of one's own")
        os.environ["SLUICE_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, "-B", *sys.argv])
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        made = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", bare], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode:
            skip(f"no bare root of Debian 12: {(made.stdout.strip().splitlines() or ['no reason given'])[-1]}")
        for part in parts:
            began = time.monotonic()
            said = PARTS[part](release, lambda *files, place=Path(folder) / part: Root(bare, place, *files))
            print(f"{part}: {said}, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
