#!/usr/bin/env python3
"""docs/README.md lists every page of docs/ once, in one of five groups, and pages name only files that exist.

usage: docs_index_test.py SOURCE_FOLDER
"""
import importlib.util
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1)).resolve()
# By its path, because Python has a module of the same name.
spec = importlib.util.spec_from_file_location("documentation_site", SOURCE / "tools/site.py")
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)

GROUPS = ["Start", "Use", "Understand errors", "How it works", "Contribute"]
MADE_BY_SITE = {"docs/errors/README.md"}
PATH = re.compile(r"`((?:compiler|docs|examples|hw|runtime|sim|tests|tools)/[\w./*-]+)`")


def missing_paths(source):
    """Returns "PAGE: PATH" for every path in code font that does not exist; `*` stands for any text."""
    pages = [source / "README.md", *sorted(source.glob("docs/**/*.md"))]
    named = [(page.relative_to(source), path.rstrip("/")) for page in pages for path in PATH.findall(page.read_text())]
    return [f"{page}: {path}" for page, path in named if not any(True for _ in source.glob(path))]


class Index(unittest.TestCase):
    def test_the_quickstart_installs_what_the_readme_runs(self):
        """The scripts of README.md import nothing that tools/install.sh build does not install."""
        scripts = re.findall(r"^python3 (\S+\.py)", (SOURCE / "README.md").read_text(), re.MULTILINE)
        self.assertIn("examples/layout-error/sensors.py", scripts)
        imported = {name for script in scripts
                    for name in re.findall(r"^(?:import|from) (\w+)", (SOURCE / script).read_text(), re.MULTILINE)}
        build = (SOURCE / "third_party/debian-packages.txt").read_text().split("[build]\n")[1].split("\n[")[0].splitlines()
        self.assertEqual({f"python3-{name}" for name in imported - sys.stdlib_module_names} - set(build), set())

    def test_groups(self):
        self.assertEqual(list(site.groups(SOURCE)), GROUPS)

    def test_every_page_is_in_a_group(self):
        self.assertEqual(site.not_listed(SOURCE), [], "add these pages to a group of docs/README.md")

    def test_no_page_is_listed_twice(self):
        listed = [path for group in site.groups(SOURCE).values() for path in group]
        self.assertEqual(sorted(set(listed)), sorted(listed))

    def test_every_listed_page_exists(self):
        for path in (path for group in site.groups(SOURCE).values() for path in group):
            self.assertTrue(path in MADE_BY_SITE or (SOURCE / path).is_file(), path)

    def test_paths_exist(self):
        self.assertEqual(missing_paths(SOURCE), [])

    def test_finds_a_missing_path(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            (copy / "docs").mkdir()
            (copy / "tools").mkdir()
            (copy / "README.md").write_text("`tools`, `tools/`, `docs/*.md`, `tools/gone.py`, `sluice docs/none`\n")
            (copy / "docs/page.md").write_text("`docs/page.md` and `docs/other.md`\n")
            self.assertEqual(missing_paths(copy), ["README.md: tools/gone.py", "docs/page.md: docs/other.md"])

    def test_finds_a_page_in_no_group(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            shutil.copytree(SOURCE / "docs", copy / "docs")
            (copy / "docs/new.md").write_text("# New\n")
            (copy / "docs/more").mkdir()
            (copy / "docs/more/README.md").write_text("# More\n")
            self.assertEqual(site.not_listed(copy), ["docs/more/README.md", "docs/new.md"])


if __name__ == "__main__":
    unittest.main()
