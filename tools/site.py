#!/usr/bin/env python3
"""Builds the documentation as a site and checks every link of it. The site has README.md, docs/, examples/
and references made from the C header and the Python package. The groups of docs/README.md are its navigation.
The search works from disk: its index is a script.

usage: site.py SOURCE_FOLDER PYTHON_FOLDER VERSION OUTPUT_FOLDER
"""
import html.parser
import importlib
import inspect
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path


THEME = Path(__file__).resolve().parent / "site_theme"
LUNR = Path("/usr/share/javascript/lunr/lunr.js") # mkdocs depends on it


def signature(value):
    """Returns the signature as a user would write it: types without quotes and without their modules."""
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", str(inspect.signature(value)))
    text = re.sub(r"(: |-> )(['\"])(.*?)\2(?=[,)=\s]|$)", r"\1\3", text)
    return re.sub(r"\b[a-z_]+\.(?=\w)", "", text).replace("'PathLike[str]'", "PathLike[str]")


def python_reference(version):
    """Returns the page of everything that the package exports: functions first, then classes."""
    package = importlib.import_module("sluice")
    text = f"# Python reference\n\nThe package `sluice`, version {version}; [Python](python.md) is the introduction.\n"
    names = [name for name in package.__all__ if not name.startswith("_")]
    names.sort(key=lambda name: (inspect.isclass(getattr(package, name)), name))
    for name in names:
        one = getattr(package, name)
        takes = "" if inspect.isclass(one) and issubclass(one, Exception) else signature(one)
        text += f"\n## {name}\n\n```python\n{name}{takes}\n```\n\n{described(one)}\n"
        if not inspect.isclass(one):
            continue
        for member, value in vars(one).items():
            value = value.__func__ if isinstance(value, classmethod) else value
            if member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
                continue
            title = member if isinstance(value, property) else member + signature(value)
            text += f"\n### {name}.{member}\n\n```python\n{title}\n```\n\n{described(value)}\n"
    return text


def described(value):
    """Returns the docstring, with its doctest examples as code blocks."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"((?:^>>> .*\n?(?:^(?!>>>).+\n?)*)+)", r"```python\n\1\n```\n", text, flags=re.MULTILINE)


def c_reference(source, version):
    header = (source / "runtime/api/sluice_rt.h").read_text()
    abi = re.search(r"SLUICE_RT_API_VERSION (\d+)", header).group(1)
    return (f"# C reference\n\n`<sluice/sluice_rt.h>` of Sluice {version}, C API {abi}; [Installing](installing.md#from-c) says how "
            f"to link it.\n\n```c\n{header}```\n")


def stage(source, pages, version):
    """Copies the files of the site to the places that they have in the repository; returns the navigation."""
    for name in ("README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(source / name, pages)
    for folder in ("docs", "examples"):
        shutil.copytree(source / folder, pages / folder)
    errors = sorted((pages / "docs/errors").glob("E*.md"))
    (pages / "docs/errors/README.md").write_text("# Error codes\n\n" + "".join(
        f"* [{page.read_text().splitlines()[0].lstrip('# ')}]({page.name})\n" for page in errors))
    (pages / "docs/reference-c.md").write_text(c_reference(source, version))
    (pages / "docs/reference-python.md").write_text(python_reference(version))
    index = entries(pages)
    index["Use"] += [("Python reference", "docs/reference-python.md"), ("C reference", "docs/reference-c.md")]
    return [{"Overview": "README.md"}, {"All pages": "docs/README.md"},
            *({group: [{title: path} for title, path in listed if path.endswith(".md")]} for group, listed in index.items())]


def groups(source):
    """Returns the paths that each group of docs/README.md lists, by the title of the group."""
    return {group: [path for _, path in listed] for group, listed in entries(source).items()}


def entries(source):
    """Returns the titles and paths that each group of docs/README.md lists, by the title of the group."""
    index, listed = {}, []
    for line in (source / "docs/README.md").read_text().splitlines():
        if line.startswith("## "):
            listed = index.setdefault(line[3:], [])
        elif found := re.match(r"\| \[([^\]]*)\]\(([^)#]+)\) \|", line):
            path = posixpath.normpath(posixpath.join("docs", found[2]))
            listed.append((found[1], f"{path}/README.md" if found[2].endswith("/") else path))
    return index


def not_listed(source):
    """Returns the pages of docs/ that no group of docs/README.md lists."""
    listed = {path for group in groups(source).values() for path in group}
    pages = [*source.glob("docs/*.md"), *source.glob("docs/*/README.md")]
    return sorted({str(page.relative_to(source)) for page in pages} - listed - {"docs/README.md"})


def make_accessible(site):
    """Lets the keyboard reach what scrolls, and makes an empty head of a table a plain cell."""
    for path in site.rglob("*.html"):
        text = path.read_text().replace("<pre>", '<pre tabindex="0">').replace("<th></th>", "<td></td>")
        text = re.sub(r"<table>.*?</table>", r'<div class="scroll" role="group" aria-label="table" tabindex="0">\g<0></div>', text,
                      flags=re.DOTALL)
        path.write_text(text)


def write_search(site):
    """Makes a script of the index that mkdocs wrote: [location, title of the page, title of the section, text] of each section."""
    index = site / "search/search_index.json"
    docs = json.loads(index.read_text())["docs"]
    titles = {one["location"]: one["title"] for one in docs if "#" not in one["location"]}
    sections = [(one["location"], titles[one["location"].split("#")[0]], one["title"], " ".join(one["text"].split()))
                for one in docs if "#" in one["location"]] # the text of a page is that of its sections
    # "var": the page loads the script again if the first time failed.
    (site / "search/index.js").write_text(f"var SECTIONS = {json.dumps(sections)};\n")
    index.unlink()
    shutil.copy(LUNR, site / "search/lunr.js")


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


def broken_links(site):
    """Yields "PAGE: LINK" for every link within the site that leads nowhere."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists() or parts.fragment and to in pages and parts.fragment not in pages[to].anchors:
                yield f"{path.relative_to(site)}: {link}"


def main():
    source, package, version, output = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3], Path(sys.argv[4]).resolve()
    sys.path.insert(0, package)
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        pages.mkdir()
        nav = stage(source, pages, version)
        config = {"site_name": f"Sluice {version}", "docs_dir": str(pages), "site_dir": str(output), "nav": nav,
                  "use_directory_urls": False, "plugins": ["search"],
                  "theme": {"name": None, "custom_dir": str(THEME), "search_index_only": True, "include_search_page": False},
                  "markdown_extensions": ["tables", "fenced_code", {"toc": {"toc_depth": 3}}]}
        (Path(folder) / "mkdocs.yml").write_text(json.dumps(config)) # JSON is YAML
        subprocess.run(["/usr/bin/mkdocs", "build", "--quiet", "--strict", "--clean", "--config-file", f"{folder}/mkdocs.yml"],
                       check=True)
    make_accessible(output)
    write_search(output)
    broken = list(broken_links(output))
    print(f"{len(list(output.rglob('*.html')))} pages, {len(broken)} broken links", *broken, sep="\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
