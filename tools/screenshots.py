#!/usr/bin/env python3
"""Takes the pictures of docs/screenshots: the page of a report, the page of a sweep, the gallery and the site, in Debian's chromium.

usage: screenshots.py SLUICE SITE [FOLDER]

SITE is the folder that tools/site.py wrote. Ends with 1 if a picture is not one of a page: too small a file, or other extents; with 77
without chromium. Pixels differ between versions of chromium and of fonts, so no test compares them.
"""
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from browser import MISSING, start # noqa: E402 pylint: disable=wrong-import-position

WIDTH, HEIGHT = 1280, 1000
LEAST, MOST = 20_000, 400_000 # bytes: an empty page has 6,000
SWEEP = """
models: ds_cnn.onnx
targets: [c6b32, c3b64, small.json, wide.json]
"""


def run(sluice, folder, *words):
    done = subprocess.run([sluice, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"sluice {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def pages(sluice, site, folder):
    """The pages by the names of their pictures, each with the element at its top."""
    for name in ("ds_cnn", "policy"):
        subprocess.run([sys.executable, ROOT / f"examples/gallery/{name}.py", folder / f"{name}.onnx"], check=True)
    run(sluice, folder, "report", "policy.onnx", "--target", "c6b32", "-o", "report.html")
    preset = (ROOT / "hw/targets/c6b32.json").read_text()
    for name, cores in (("small", 3), ("wide", 8)):
        text = preset.replace('"name": "c6b32"', f'"name": "c{cores}b32"').replace('"cores": 6', f'"cores": {cores}')
        (folder / f"{name}.json").write_text(text)
    (folder / "sweep.yaml").write_text(SWEEP)
    run(sluice, folder, "sweep", "sweep.yaml", "-o", "results")
    return {"report": (folder / "report.html", "body"), "timeline": (folder / "report.html", "#timeline"),
            "sweep": (folder / "results/sweep.html", "body"), "gallery": (site / "docs/gallery.html", ".scroll ~ .scroll"),
            "site": (site / "index.html", "body")}


def extents(picture):
    """Width and height, from the header of a PNG file."""
    head = picture.read_bytes()[:24]
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        return None
    return struct.unpack(">II", head[16:24])


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sluice, site = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    target = Path(sys.argv[3]) if len(sys.argv) == 4 else ROOT / "docs/screenshots"
    target.mkdir(parents=True, exist_ok=True)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        shown = pages(sluice, site, Path(folder))
        browser = start(WIDTH, HEIGHT)
        try:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
            for name, (page, top) in shown.items():
                browser.get(page.as_uri())
                browser.execute_script("document.querySelector(arguments[0]).scrollIntoView({behavior: 'instant'})", top)
                browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
                picture = target / f"{name}.png"
                browser.save_screenshot(str(picture))
                size, errors = picture.stat().st_size, [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
                good = extents(picture) == (WIDTH, HEIGHT) and LEAST <= size <= MOST and not errors
                print(f"{picture}: {size:,} bytes, {extents(picture)}{'' if good else '  WRONG'}", *errors)
                failed |= not good
        finally:
            browser.quit()
    return failed


if __name__ == "__main__":
    if MISSING:
        print("skipped: not installed:", ", ".join(MISSING))
        sys.exit(77)
    sys.exit(main())
