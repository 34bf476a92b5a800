#!/usr/bin/env python3
"""The page of sluice report in a browser: its sections, the timeline by keyboard and wheel, filters, both colour schemes, no
errors in the console, and how long a page of 10,000 cycles and more loads. Skips without chromium.

usage: report_browser_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import Folder, main

SOURCE = Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests/support"))
from browser import HANG, MISSING, BrowserTest  # noqa: E402 pylint: disable=wrong-import-position

if not MISSING:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

SECTIONS = ["Summary", "Memories", "Tensor layouts", "Timeline", "Critical path", "Plans tried", "Profile by layer", "Accuracy"]
# WCAG 2: the contrast of two colours, of the text in an element and what is behind it.
CONTRAST = """
const light = text => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!c.endsWith(", 0)")) return c; } return "rgb(255, 255, 255)"; };
const found = [...document.querySelectorAll("h1, h2, p, li, dt, dd, th, td, caption, a, button, summary, label")]
  .filter(e => e.offsetParent && e.textContent.trim()).map(e => {
    const [a, b] = [getComputedStyle(e).color, ground(e)].map(light);
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName + " " + e.textContent.slice(0, 40)]; });
return found.reduce((least, one) => one[0] < least[0] ? one : least);
"""


class Browser(BrowserTest, Folder):
    def open(self, *args):
        """Opens the page of a report; returns the milliseconds until it is drawn."""
        code, _, err = self.sluice("report", *args, "-o", "r.html")
        self.assertEqual(code, 0, err)
        self.browser.get((self.dir / "r.html").as_uri())
        loaded = WebDriverWait(self.browser, HANG).until(lambda _: self.script("return document.documentElement.dataset.loaded"))
        self.no_errors()
        return float(loaded)

    def view(self):
        """The first and last cycle in view."""
        words = self.find("#timeline-range")[0].text.replace(",", "").split()
        return int(words[1]), int(words[3])

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()
        return self.view()


class Digits(Browser):
    def setUp(self):
        super().setUp()
        self.open(SOURCE / "tools/digits/digits.onnx", "--target", "c6b32")
        self.data = json.loads(self.script("return document.getElementById('data').textContent"))
        self.cycles = self.data["cycles"]

    def test_sections(self):
        self.assertEqual(self.browser.title, "digits on c6b32: Sluice report")
        self.assertEqual(self.texts("h1"), ["digits on c6b32"])
        self.assertEqual(self.texts("main section h2"), SECTIONS)
        self.assertEqual(self.texts("nav a"), SECTIONS)
        self.assertEqual(self.texts("#sentences li"), self.data["summary"])
        self.assertEqual(self.texts(".absent"), [])
        self.assertEqual(len(self.find("#memories tbody tr")), 7)
        self.assertEqual(len(self.find("#layouts tbody tr")), len(self.data["tensors"]))
        self.assertEqual(self.texts("#layouts tbody th")[0], "pixels")
        self.assertIn("the only data dimension that its uses allow", self.texts("#layouts tbody tr")[0])
        self.assertEqual(len(self.find("#plans tbody tr")), 1 + len(self.data["plan"]["losers"]))
        self.assertEqual(self.texts("#plans .badge"), ["chosen"])
        slowest = max((one for one in self.data["layers"] if one["operators"]), key=lambda one: one["cycles"])
        self.assertEqual(self.texts("#layers tbody th")[0], f"{slowest['title']}slowest")
        self.assertIn(self.data["accuracy"]["text"], self.texts("#accuracy .body p")[0])

    def test_tables_and_names(self):
        """What a screen reader needs."""
        for found in self.find("main table"):
            self.assertEqual(len(found.find_elements(By.CSS_SELECTOR, "caption")), 1)
        self.assertEqual(self.script("return [...document.querySelectorAll('th')].filter(e => !e.scope).length"), 0)
        drawing = self.find("#timeline svg")[0]
        self.assertEqual(drawing.get_attribute("role"), "img")
        self.assertEqual(drawing.accessible_name, f"Timeline of 13 units over {self.cycles} cycles; the table below has the same bars")
        for found in self.find("button, input"):
            if found.is_displayed():
                self.assertTrue(found.accessible_name, found.get_attribute("outerHTML"))
        self.script("arguments[0].click()", self.find("#timeline details summary")[0])
        self.frames()
        bars = sum(len(unit["spans"]) for unit in self.data["timeline"]["units"])
        self.assertEqual(self.script("return document.querySelectorAll('#timeline tbody tr').length"), min(bars, 50))
        self.assertIn("fc1 (Gemm), relu1 (Relu)", self.find("#timeline tbody")[0].text)

    def test_tab_order(self):
        """Every control is reached in the order of the page."""
        self.script("document.activeElement.blur(); window.scrollTo(0, 0)")
        seen = []
        for _ in range(60):
            ActionChains(self.browser).send_keys(Keys.TAB).perform()
            seen.append(self.script("const e = document.activeElement; return e.className || e.closest('section')?.id || e.tagName"))
        self.assertEqual(seen[0], "skip")
        order = [seen.index(name) for name in ("layouts", "timeline", "chart", "layers")]
        self.assertEqual(order, sorted(order))

    def test_keyboard(self):
        chart = self.find("#timeline .chart")[0]
        self.script("arguments[0].focus()", chart)
        self.assertEqual(self.view(), (0, self.cycles - 1))
        first, last = self.press("++")
        self.assertLess(last - first, self.cycles / 2)
        self.assertEqual(self.press(Keys.ARROW_LEFT * 30)[0], 0)
        moved = self.press(Keys.ARROW_RIGHT)
        self.assertGreater(moved[0], 0)
        first, last = self.press("-")
        self.assertGreater(last - first, moved[1] - moved[0])
        self.assertEqual(len(set(self.press("+" * 20))), 1)  # a single cycle
        self.assertEqual(self.press(Keys.ESCAPE), (0, self.cycles - 1))
        self.no_errors()

    def test_wheel_and_drag(self):
        chart = self.find("#timeline .chart")[0]
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart)
        ActionChains(self.browser).scroll_from_origin(ScrollOrigin.from_element(chart), 0, -400).perform()
        self.frames()
        first, last = self.view()
        self.assertLess(last - first, self.cycles - 2)
        ActionChains(self.browser).drag_and_drop_by_offset(chart, -200, 0).perform()
        self.frames()
        self.assertGreater(self.view()[0], first)
        self.script("arguments[0].click()", self.find("#timeline button[title='Show all cycles']")[0])
        self.assertEqual(self.view(), (0, self.cycles - 1))
        self.no_errors()

    def test_pointer_names_the_node(self):
        """Over every bar of the first unit, the text names its node and instruction."""
        chart = self.find("#timeline .chart")[0]
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart)
        box = self.script("const b = document.querySelector('#timeline .chart').getBoundingClientRect(); return [b.width, b.height]")
        unit = self.data["timeline"]["units"][0]
        first, cycles, _, instruction = next(span for span in unit["spans"] if span[2] == 0)
        scale = (box[0] - 2 - 150 - 10) / self.cycles
        x = 150 + (first + 0.5) * scale - box[0] / 2
        ActionChains(self.browser).move_to_element_with_offset(chart, int(x), int(26 + 8 - box[1] / 2)).perform()
        text = self.find("#timeline .readout")[0].text
        self.assertEqual(text, f"Cycle {first}, core 0 matrix unit: busy, layer fc1 (Gemm), relu1 (Relu) (cycles {first} to "
                               f"{first + cycles - 1}, instruction {instruction}: "
                               f"{self.data['timeline']['instructions'][0][instruction]['text']})")

    def test_drawing(self):
        """The canvas has the colour of the layer where the unit is busy, and none where it has no instruction."""
        def color(row, cycle):
            return self.script("""
              const canvas = document.querySelector("canvas"), ratio = devicePixelRatio, width = canvas.width / ratio;
              const x = 150 + (arguments[1] + 0.5) * (width - 160) / arguments[2], y = 26 + 24 * arguments[0] + 3;
              return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data];""", row, cycle, self.cycles)
        first = next(span for span in self.data["timeline"]["units"][0]["spans"] if span[2] == 0)[0]
        self.assertEqual(color(0, first), [0x1f, 0x6f, 0xb2, 255])
        self.assertEqual(color(2, 40), [0, 0, 0, 0])
        self.scheme("dark")
        self.frames()
        self.assertEqual(color(0, first), [0x6d, 0xb3, 0xf2, 255])

    def test_layer_in_the_timeline(self):
        button = next(one for one in self.find("#layers button") if one.accessible_name == "Show fc3 (Gemm) in the timeline")
        self.script("arguments[0].click()", button)
        layer = next(one for one in self.data["layers"] if one["names"] == ["fc3"])
        self.assertEqual(self.view(), (layer["first"], layer["last"]))
        self.assertEqual(self.texts("#timeline-range"), [
            f"Cycles {layer['first']} to {layer['last']} of {self.cycles}, only fc3 in colour"])
        self.assertEqual(self.press(Keys.ESCAPE), (0, self.cycles - 1))

    def test_filter_and_sort(self):
        for section, word, rows in (("layers", "FC2", 1), ("layouts", "relu", 2)):
            field = self.find(f"#{section} input[type=search]")[0]
            before = len(self.find(f"#{section} tbody tr"))
            field.send_keys(word)
            self.assertEqual(len(self.find(f"#{section} tbody tr")), rows)
            self.assertEqual(self.texts(f"#{section} [role=status]"), [f"{rows} of {before} rows"])
            field.send_keys(Keys.BACKSPACE * len(word))
            self.assertEqual(len(self.find(f"#{section} tbody tr")), before)
        heads = self.find("#layers thead th")
        self.assertEqual(heads[1].get_attribute("aria-sort"), "descending")
        self.script("arguments[0].click()", heads[1].find_element(By.TAG_NAME, "button"))
        self.assertEqual(heads[1].get_attribute("aria-sort"), "ascending")
        cycles = [int(row.split()[0].replace(",", "")) for row in self.texts("#layers tbody td:nth-child(2)")]
        self.assertEqual(cycles, sorted(one["cycles"] for one in self.data["layers"]))

    def test_accessibility(self):
        for found in self.find("details"):
            self.script("arguments[0].open = true", found)
        self.check_accessibility()

    def test_light_and_dark(self):
        grounds = {}
        for name in ("light", "dark"):
            self.scheme(name)
            grounds[name] = self.script("return getComputedStyle(document.body).backgroundColor")
            least, where = self.script(CONTRAST)
            self.assertGreaterEqual(least, 4.5, (name, where))
        self.assertEqual(grounds, {"light": "rgb(246, 247, 249)", "dark": "rgb(17, 22, 29)"})

    def tearDown(self):
        self.scheme("light")
        super().tearDown()


class Others(Browser):
    def test_program_alone(self):
        self.ok("compile", SOURCE / "tools/digits/digits.onnx", "--target", "c6b32", "-o", "p.sluice")
        self.open("p.sluice")
        self.assertEqual(self.texts("main section h2"), SECTIONS)
        self.assertEqual(self.texts(".absent"), 4 * ["This section needs the model: run sluice report with the ONNX file instead "
                                                    "of the program file."])
        self.assertEqual(self.find("#timeline input[type=checkbox]"), [])

    def test_hostile_names(self):
        name = "</script><img src=x onerror='document.title=1'><b>"
        model = models.dense()
        for node in model.graph.node:
            node.name = name
        onnx.save(model, self.dir / "m.onnx")
        self.open("m.onnx", "--target", "c2b8", "--model-name", name)
        self.assertEqual(self.texts("h1"), [f"{name} on c2b8"])
        self.assertEqual(self.find("img, b"), [])
        self.assertTrue(self.texts("#layers tbody th")[0].startswith(name))

    def test_injected_scripts_do_not_run(self):
        """The policy stops what a name could not bring in anyway."""
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.open("m.onnx", "--target", "c2b8")
        self.script("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
        self.frames()
        self.assertEqual(self.browser.title, "m on c2b8: Sluice report")
        self.assertTrue(self.errors())  # the policy says so

    def open_sequence(self, steps, *flags):
        """Opens the page of an LSTM over a sequence; returns its data and the milliseconds until it is drawn."""
        size, random = 24, np.random.default_rng(0)
        nodes = [helper.make_node("LSTM", ["x", "W", "R"], ["h"], name="lstm", hidden_size=size),
                 helper.make_node("Relu", ["h"], ["y"], name="act")]
        weights = [models.constant(name, 0.1 * random.normal(size=(1, 4 * size, width)).astype(np.float32))
                   for name, width in (("W", 8), ("R", size))]
        onnx.save(models.model(nodes, [models.tensor("x", steps, 1, 8)], [models.tensor("y", steps, 1, 1, size)], weights),
                  self.dir / "m.onnx")
        loaded = self.open("m.onnx", "--target", "c2b8", *flags)
        data = json.loads(self.script("return document.getElementById('data').textContent"))
        spans = sum(len(unit["spans"]) for unit in data["timeline"]["units"])
        print(f"{data['cycles']} cycles, {spans} bars: drawn after {loaded:.0f} ms")
        self.assertLess(loaded, 1000 * HANG)
        return data, spans

    def test_many_cycles(self):
        """Loads and zooms; the time is printed for the record."""
        data, _ = self.open_sequence(300)
        self.assertGreaterEqual(data["cycles"], 10_000)
        self.assertEqual(data["timeline"]["cycles"], data["cycles"])
        self.assertEqual(self.texts(".absent"), [])
        self.script("document.querySelector('#timeline .chart').focus()")
        self.assertEqual(len(set(self.press("+" * 40))), 1)
        self.assertEqual(self.press(Keys.ESCAPE), (0, data["cycles"] - 1))
        self.no_errors()

    def test_too_many_bars(self):
        """A timeline ends where there are more bars than a page holds, and says where."""
        data, spans = self.open_sequence(9000, "--effort", "fast")
        drawn = data["timeline"]["cycles"]
        self.assertLess(drawn, data["cycles"])
        self.assertLessEqual(spans, 500_000)
        self.assertGreater(spans, 400_000)
        self.assertEqual(max(span[0] + span[1] for unit in data["timeline"]["units"] for span in unit["spans"]), drawn)
        self.assertEqual(self.texts("#timeline .absent"), [f"The timeline ends after {drawn:,} of {data['cycles']:,} cycles: the rest "
                                                           "has too many bars for a page."])
        self.assertEqual(self.view(), (0, drawn - 1))


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: {', '.join(MISSING)} not installed")
        sys.exit(77)
    main(2)
