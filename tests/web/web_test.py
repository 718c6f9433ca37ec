"""The pages of qrt_inspect --html and qrt_bench --html in a browser: web_test.py CHROMIUM BIN_DIRECTORY WRITE_MODELS."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from browser import Browser

CHROMIUM, BIN, WRITE_MODELS = sys.argv[1:4]
DIGITS = os.path.join(os.path.dirname(__file__), "..", "models", "digits", "digits.onnx")


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=600).stdout


def tool(name, *words):
    return run(os.path.join(BIN, name), *words)


def colours(png):
    """How many different lines of pixels a PNG has: an empty page has one."""
    at, data, height = 8, b"", 0
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            height = struct.unpack(">I", png[at + 12:at + 16])[0]
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += 12 + size
    rows = zlib.decompress(data)
    width = len(rows) // height
    return len({rows[i * width:(i + 1) * width] for i in range(height)})


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run(WRITE_MODELS, cls.folder.name)
        tool("qrt_convert", DIGITS, "-o", cls.path("digits.qrt"))
        cls.browser = Browser(CHROMIUM)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def inspect(self, name):
        """Opens the page of a model; its description."""
        page = self.path(name + ".html")
        tool("qrt_inspect", self.path(name + ".qrt"), "--html", page)
        self.browser.open(page)
        return json.loads(tool("qrt_inspect", self.path(name + ".qrt"), "--format", "json"))

    def count(self, selector):
        return self.browser.value("document.querySelectorAll(%s).length" % json.dumps(selector))

    def text(self, selector):
        return self.browser.value("document.querySelector(%s).textContent" % json.dumps(selector))

    def expect_nodes(self, model):
        self.assertEqual(self.count("#graph .operator"), len(model["operators"]))
        self.assertEqual(self.count("#graph .input"), len(model["inputs"]))
        self.assertEqual(self.count("#graph .output"), len(model["outputs"]))

    def expect_picture(self):
        self.assertGreater(colours(self.browser.screenshot()), 20)

    def test_graph(self):
        model = self.inspect("digits")
        self.expect_nodes(model)
        self.expect_picture()
        # every node below what it reads, and none upon another
        boxes = self.browser.value(
            "[...document.querySelectorAll('#graph .node')].map(n => (b => [b.x, b.y, b.right, b.bottom])(n.getBoundingClientRect()))")
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                self.assertTrue(a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b))
        tops = self.browser.value("[...document.querySelectorAll('#graph .operator')].map(n => n.getBoundingClientRect().y)")
        self.assertEqual(tops, sorted(tops))

    def test_a_click_opens_the_panel(self):
        model = self.inspect("digits")
        self.assertTrue(self.browser.value("document.getElementById('panel').hidden"))
        self.browser.click("[data-operator='1'] rect")
        self.assertFalse(self.browser.value("document.getElementById('panel').hidden"))
        op = model["operators"][1]
        for part in (op["type"], op["name"], op["kernel"], op["arithmetic"], op["level"], model["tensors"][op["outputs"][0]]["name"]):
            self.assertIn(part, self.text("#panel"))
        self.assertEqual(self.count("#graph .node.chosen"), 1)
        self.browser.click("#panel .close")
        self.assertTrue(self.browser.value("document.getElementById('panel').hidden"))
        self.browser.click("#graph .input ellipse")
        self.assertIn(model["tensors"][model["inputs"][0]]["name"], self.text("#panel"))

    def test_zoom_and_pan(self):
        self.inspect("digits")
        box = "(b => [b.x, b.y, b.width])(document.querySelector('#graph .operator').getBoundingClientRect())"
        x, y, width = self.browser.value(box)
        self.browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-300)
        larger = self.browser.value(box)
        self.assertGreater(larger[2], 1.3 * width)
        self.browser.drag((100, 300), (180, 350))
        moved = self.browser.value(box)
        self.assertAlmostEqual(moved[0] - larger[0], 80, delta=1)
        self.assertAlmostEqual(moved[1] - larger[1], 50, delta=1)
        self.browser.value("[...document.querySelectorAll('.tools button')].find(b => b.textContent === 'fit').click()")
        for now, before in zip(self.browser.value(box), (x, y, width)):
            self.assertAlmostEqual(now, before, delta=1)

    def test_colours(self):
        self.inspect("digits")
        fills = "[...document.querySelectorAll('#graph .operator rect')].map(r => r.getAttribute('fill')).join(';')"
        seen = set()
        for name in self.browser.value("[...document.querySelectorAll('#colour option')].map(o => o.value)"):
            self.browser.value("(c => { c.value = '%s'; c.dispatchEvent(new Event('change')); })(document.getElementById('colour'))" % name)
            seen.add(self.browser.value(fills))
        self.assertEqual(len(seen), 2)  # level, memory

    def test_memory_over_time(self):
        model = self.inspect("digits")
        self.browser.click("[data-view=arena]")
        self.expect_picture()
        self.assertEqual(self.count("#arena .block"), sum(t["place"] == "arena" for t in model["tensors"]))
        self.browser.click("#arena .block:last-of-type")
        self.assertFalse(self.browser.value("document.getElementById('panel').hidden"))

    def test_names_are_only_text(self):
        model = self.inspect("hostile")
        self.expect_nodes(model)
        self.browser.click("[data-operator='0'] rect")
        self.assertIn("<!--</script><b>__proto__ ${broken()} \\u003c", self.text("#panel"))
        self.assertEqual(self.text("#title"), "</script><script>broken()</script>")
        self.assertEqual(self.count("img, b, #panel svg"), 0)
        self.assertIn("\\x1b[31m\\xff", self.text("#panel"))
        self.assertEqual(self.count("script"), 2)

    def test_a_thousand_operators(self):
        model = self.inspect("large")
        self.assertEqual(len(model["operators"]), 1000)
        self.expect_nodes(model)
        self.expect_picture()
        self.browser.value("(f => { f.value = 'op700'; f.dispatchEvent(new Event('change')); })(document.getElementById('find'))")
        self.assertIn("op700", self.text("#panel"))
        self.assertIn("op700", self.text("#graph .node.chosen"))

    def test_measurements(self):
        page = self.path("bench.html")
        tool("qrt_bench", self.path("digits.qrt"), "--threads", "1,2", "--runs", "20", "--seconds", "0.1", "--html", page)
        self.browser.open(page)
        self.assertEqual(self.count("#model option"), 2)
        colourings = self.browser.value("[...document.querySelectorAll('#colour option')].map(o => o.value)")
        self.assertEqual(colourings, ["level", "memory", "time", "limit"])
        operators = self.count("#graph .operator")
        self.browser.click("#graph .operator:nth-of-type(3) rect")
        self.assertIn("share of all", self.text("#panel"))
        self.browser.click("[data-view=profile]")
        self.expect_picture()
        self.assertGreater(self.count("#bars .bar"), 2)
        self.assertLessEqual(self.count("#bars .bar"), 2 * operators)
        self.browser.click("[data-view=roofline]")
        self.expect_picture()
        self.assertGreater(self.count("#roofline .point"), 1)
        self.assertGreater(self.count("#roofline .roof"), 1)
        self.browser.click("#roofline .point")
        self.assertIn("share of the limit", self.text("#panel"))
        self.browser.value("(m => { m.value = 1; m.dispatchEvent(new Event('change')); })(document.getElementById('model'))")
        self.assertIn("2 threads", self.text("#summary"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
