"""Debian's chromium through its driver, without a display: for tests of pages and for pictures of them.

MISSING lists what is not installed; a test then ends with 77. Import nothing else of this file in that case.
"""
import os
import shutil
import subprocess
from pathlib import Path

MISSING = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    MISSING.append("python3-selenium")

ROOT = Path(__file__).resolve().parents[2]
HANG = 60 # seconds
# Everything that axe calls a violation; axe does not fetch files, which a page from disk cannot.
AXE = """
const done = arguments[arguments.length - 1];
axe.run({preload: false, resultTypes: ["violations"]}).then(found => done(found.violations.map(
  one => `${one.id}: ${one.help}: ${one.nodes.length} times, first ${one.nodes[0].html.slice(0, 200)}`)), error => done([String(error)]));
"""


def start(width=1280, height=1000):
    """A browser; the caller ends it with quit()."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--force-prefers-reduced-motion", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--window-size={width},{height}"):
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox") # chromium refuses to start as root otherwise
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    browser.set_page_load_timeout(HANG)
    browser.set_script_timeout(HANG)
    return browser


def set_scheme(browser, name):
    """What the page is told that the user prefers: light or dark."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def skip_without_axe(test):
    """Skips a test, with the reason, where axe cannot be had."""
    done = subprocess.run([ROOT / "tools/axe.sh", ROOT / "build/axe"], capture_output=True, text=True, check=False)
    if done.returncode:
        test.skipTest(done.stderr.strip())
    return done.stdout.strip()


class BrowserTest:
    """For tests beside unittest.TestCase: one browser for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = start()
        cls.addClassCleanup(cls.browser.quit)

    def errors(self):
        """What the console said of errors, and exceptions, since the last call."""
        return [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    def no_errors(self):
        self.assertEqual(self.errors(), [])

    def script(self, text, *args):
        return self.browser.execute_script(text, *args)

    def find(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return [found.text for found in self.find(selector)]

    def frames(self):
        """Waits until the page has drawn what an event changed."""
        self.browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def scheme(self, name):
        set_scheme(self.browser, name)

    def check_accessibility(self, schemes=("dark", "light")):
        """The page that is open passes axe with these colours."""
        source = Path(skip_without_axe(self)).read_text()
        for name in schemes:
            self.scheme(name)
            self.browser.execute_cdp_cmd("Runtime.evaluate", {"expression": source}) # the page's policy does not stop it
            self.assertEqual(self.browser.execute_async_script(AXE), [], name)
        self.scheme("light")
