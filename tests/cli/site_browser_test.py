#!/usr/bin/env python3
"""The site of the documentation in a browser, from disk: navigation, search, accessibility and no errors in the console. Skips
without chromium.

usage: site_browser_test.py SITE SOURCE_FOLDER [unittest arguments]
"""
import importlib.util
import sys
import time
import unittest
from pathlib import Path

SITE, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from browser import HANG, MISSING, BrowserTest # noqa: E402 pylint: disable=wrong-import-position

if not MISSING:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

spec = importlib.util.spec_from_file_location("documentation_site", SOURCE / "tools/site.py")
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)

# One of each kind: with a drawing, with a wide table, long, made by the site, in another folder.
PAGES = ["index", "docs/gallery", "docs/machine", "docs/reference-python", "docs/errors/E0302", "examples/index"]


class Site(BrowserTest, unittest.TestCase):
    def open(self, page="index"):
        self.browser.get((SITE / f"{page}.html").as_uri())

    def type(self, text):
        """Types into the search and waits for its answer; returns what it says of it."""
        ActionChains(self.browser).send_keys(text).perform()
        return WebDriverWait(self.browser, HANG).until(lambda _: self.texts("#results [role=status]")[0])

    def test_pages(self):
        for page in PAGES:
            with self.subTest(page):
                self.open(page)
                self.no_errors()
                self.assertEqual(len(self.find("h1")), 1)
                self.check_accessibility(("dark", "light") if page == PAGES[0] else ("light",))
                self.assertLessEqual(self.script("return document.documentElement.scrollWidth - innerWidth"), 0)

    def test_the_checker_finds_faults(self):
        self.open()
        self.script("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"docs/drawings/overview.svg\">')")
        with self.assertRaisesRegex(AssertionError, "image-alt"):
            self.check_accessibility(("light",))

    def test_navigation(self):
        self.open("docs/machine")
        self.script("for (const one of document.querySelectorAll('#pages details:not([open])')) one.open = true")
        groups = site.entries(SOURCE)
        self.assertEqual(self.texts("#pages summary"), list(groups))
        for name, group in zip(groups, self.find("#pages details")):
            shown = [one.text for one in group.find_elements("css selector", "a")]
            wanted = [title for title, path in groups[name] if path.endswith(".md")]
            self.assertEqual(shown[:len(wanted)], wanted, name)
        self.assertEqual(self.texts("#pages [aria-current]"), ["The machine"])
        self.open("docs/machine")
        self.assertEqual(self.script("return [...document.querySelectorAll('#pages details[open] > summary')].map(e => e.textContent)"),
                         ["How it works"])
        self.assertIn("Sequencer", self.texts("#sections a"))

    def test_search(self):
        self.open("docs/views")
        begin = time.monotonic()
        self.assertIn("sections", self.type("/inbox rows"))
        print(f"first answer after {time.monotonic() - begin:.1f} s")
        self.assertEqual(self.script("return document.activeElement.id"), "query")
        links = self.find("#results a")
        self.assertEqual(len(links), 20)
        for found in self.texts("#results li"):
            self.assertRegex(found.lower(), "inbox|row")
        self.assertIn("inbox", [text.lower() for text in self.texts("#results mark")])
        self.assertTrue(any(one.get_attribute("href").endswith("docs/errors/E0402.html#e0402-the-inbox-rows-do-not-fit")
                            for one in links))
        self.check_accessibility(("light",))
        self.no_errors()
        first = links[0].get_attribute("href")
        ActionChains(self.browser).send_keys(Keys.ENTER).perform()
        self.assertEqual(self.browser.current_url, first)

    def test_search_knows_every_word(self):
        self.open()
        self.type("/rows")
        self.assertEqual(self.script("""return index.then(built => {
            const words = new Set(built.tokenSet.toArray()), indexed = built.invertedIndex;
            return [...words].filter(word => !(word in indexed)).concat(Object.keys(indexed).filter(word => !words.has(word)));
        })"""), [])

    def test_search_finds_every_page(self):
        """The title of a page in the search leads to it."""
        self.open()
        self.type("/ring")
        for title, page in (("Reporting a fault", "docs/reporting-a-fault.html"), ("E0514", "docs/errors/E0514.html"),
                            ("Target files", "docs/targets.html"), ("sluice_rt_device_open", "docs/reference-c.html")):
            ActionChains(self.browser).send_keys(Keys.ESCAPE).perform()
            self.type(title)
            WebDriverWait(self.browser, HANG).until(
                lambda _, page=page: any(page in one.get_attribute("href") for one in self.find("#results a")[:3]), title)

    def test_odd_searches(self):
        self.open()
        self.assertEqual(self.type("/zyxwvut"), "0 sections")
        for text in ("(c++ [", "\\", "*", "<img src=x onerror=document.title=1>", "^~ +-: "):
            ActionChains(self.browser).send_keys(Keys.ESCAPE + "/").perform()
            self.assertFalse(self.find("#results")[0].is_displayed())
            self.type(text)
        self.assertEqual(self.find("#results img"), [])
        self.assertNotEqual(self.browser.title, "1")
        self.no_errors()

    def test_narrow_and_dark(self):
        self.browser.set_window_size(500, 900) # chromium has no smaller windows
        self.addCleanup(self.browser.set_window_size, 1280, 1000)
        for page in PAGES:
            self.open(page)
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth - innerWidth"), 0, page)
        self.scheme("dark")
        self.addCleanup(self.scheme, "light")
        self.assertEqual(self.script("return getComputedStyle(document.body).backgroundColor"), "rgb(17, 22, 29)")


if __name__ == "__main__":
    if MISSING:
        print("skipped: not installed:", ", ".join(MISSING))
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
