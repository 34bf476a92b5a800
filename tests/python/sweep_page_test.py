#!/usr/bin/env python3
"""The page of sluice sweep in a browser: its charts, its table and no errors in the console. Skips without chromium.

usage: sweep_page_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import sys
import unittest
from pathlib import Path

from sweep_base import SWEEP, SweepTest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from browser import MISSING, BrowserTest # noqa: E402 pylint: disable=wrong-import-position

if not MISSING:
    from selenium.webdriver.common.by import By


class Page(BrowserTest, SweepTest):
    def test_page(self):
        self.write("s.yaml", SWEEP.replace("c6b32]", "c6b32, c3b64]"))
        self.sweep("s.yaml", "-o", "out", "--retries", "0")
        rows = self.rows("out")
        self.browser.get((self.dir / "out/sweep.html").as_uri())
        self.assertEqual(self.browser.get_log("browser"), [])
        models = list(dict.fromkeys(row["model"] for row in rows))
        self.assertEqual([one.text for one in self.find("h2")], [*(f"Pareto front of {name}" for name in models), "Points"])
        for name, section in zip(models, self.find("section.model")):
            shown = [row for row in rows if row["model"] == name and row["state"] == "compiled"]
            self.assertEqual(len(section.find_elements(By.CSS_SELECTOR, "circle")), len(shown))
            self.assertEqual(len(section.find_elements(By.CSS_SELECTOR, "circle.best")), sum(row["pareto"] for row in shown))
            if shown:
                line = section.find_element(By.CSS_SELECTOR, "path.front").get_attribute("d")
                front = {row["macs_per_cycle"] for row in shown if row["pareto"]}
                self.assertEqual(line.count("L"), 2 * (len(front) - 1), line) # along and down, from one to the next
            else:
                self.assertIn("No point of this model compiled.", section.text)
        self.check_table(rows)
        self.check_accessibility()

    def check_table(self, rows):
        def column(number):
            return [one.text for one in self.find(f"#points tbody tr > :nth-child({number})")]
        self.assertEqual(column(1), [row["model"] for row in rows])
        self.assertEqual(column(5), ["" if row["cycles"] is None else str(row["cycles"]) for row in rows])
        states = [row["state"] if row["fits"] else f"{row['state']}: {row['code'] + ' ' if row['code'] else ''}{row['reason']}"
                  for row in rows]
        self.assertEqual(column(4), states)
        cycles = sorted(row["cycles"] for row in rows if row["cycles"] is not None)
        for order in (cycles, cycles[::-1]): # rows without cycles are last, then first
            self.find("#points thead button")[4].click()
            self.assertEqual([int(text) for text in column(5) if text], order)
        figures = {one.find_element(By.TAG_NAME, "dt").text: int(one.find_element(By.TAG_NAME, "dd").text)
                   for one in self.find("#figures div")}
        self.assertEqual(figures["points"], len(rows))
        self.assertEqual(figures["failed"], sum(row["state"] == "failed" for row in rows))


if __name__ == "__main__":
    if MISSING:
        print("skipped: not installed:", ", ".join(MISSING))
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
