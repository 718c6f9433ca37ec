# SPDX-License-Identifier: Apache-2.0
"""The pages of qrt_inspect --html, qrt_bench --html and qrt_quantize --report in a browser: web_test.py CHROMIUM BIN_DIRECTORY WRITE_MODELS."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree
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


# JavaScript: the texts that are seen with too little contrast. Behind a text is the nearest element at its place that is painted.
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour, below) => {
    canvas.fillStyle = below ? `rgb(${below.join(' ')})` : 'white';
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (c) => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paint = (element) => {
    const style = getComputedStyle(element);
    if (element instanceof SVGElement && !(element instanceof SVGSVGElement)) {
      const opacity = parseFloat(style.fillOpacity);
      return style.fill === 'none' || element instanceof SVGTextElement || opacity < 0.5 ? null : style.fill;
    }
    return /, 0\\)$|transparent/.test(style.backgroundColor) ? null : style.backgroundColor;
  };
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.textContent.trim() === '' || element.closest('script, style, title, noscript, option, #tip')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    const style = getComputedStyle(element);
    if (box.width === 0 || style.visibility === 'hidden') continue;
    const stack = document.elementsFromPoint(x, y);
    const isSvg = element instanceof SVGElement;
    if (!isSvg && !stack.includes(element)) continue;  // scrolled away, or covered
    if (stack.length === 0) continue;
    if (isSvg && stack[0].closest('svg') !== element.ownerSVGElement) continue;
    const behind = stack.slice(isSvg ? 0 : stack.indexOf(element)).map(paint).find(p => p !== null) ?? 'white';
    const ground = rgb(behind), ink = rgb(isSvg ? style.fill : style.color, ground);
    const [a, b] = [light(ground), light(ink)].sort((a, b) => b - a);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) seen.push(`${node.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}, ${ink} on ${ground}`);
  }
  return seen;
})()"""


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

    def setUp(self):
        self.browser.resize(1280, 800)
        self.prefer("light")

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
        self.browser.click("#fold")  # one column
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
        self.browser.click("#graph .input rect")
        self.assertIn(model["tensors"][model["inputs"][0]]["name"], self.text("#panel"))

    def test_zoom_and_pan(self):
        self.inspect("digits")
        box = "(b => [b.x, b.y, b.width])(document.querySelector('#graph .operator').getBoundingClientRect())"
        width = self.browser.value(box)[2]
        self.browser.mouse("mouseWheel", 600, 400, deltaX=0, deltaY=-300)
        larger = self.browser.value(box)
        self.assertGreater(larger[2], 1.3 * width)
        self.browser.drag((100, 300), (180, 350))
        moved = self.browser.value(box)
        self.assertAlmostEqual(moved[0] - larger[0], 80, delta=1)
        self.assertAlmostEqual(moved[1] - larger[1], 50, delta=1)
        x, y = self.browser.place("[data-operator='1'] rect")
        self.browser.drag((x, y), (x + 30, y + 20))
        self.assertTrue(self.browser.value("document.getElementById('panel').hidden"))  # a drag is no click

    def test_two_fingers_zoom(self):
        self.inspect("digits")
        scale = "document.querySelector('#graph .scene').getCTM().a"
        before = self.browser.value(scale)
        def touch(kind, *points):
            self.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
        touch("touchStart", (500, 500))
        touch("touchStart", (500, 500), (600, 500))
        for step in range(1, 11):
            touch("touchMove", (500 - 10 * step, 500), (600 + 10 * step, 500))
        touch("touchEnd")
        self.assertAlmostEqual(self.browser.value(scale) / before, 3, delta=0.1)
        self.assertTrue(self.browser.value("document.getElementById('panel').hidden"))

    def expect_fits(self):
        """The whole graph lies within its picture."""
        self.browser.click("#fit")
        inside, outside = self.browser.value("""(() => {
          const frame = document.querySelector('#graph').getBoundingClientRect();
          const boxes = [...document.querySelectorAll('#graph .node, #graph .edge')].map(n => n.getBoundingClientRect());
          const isIn = b => b.left >= frame.left && b.right <= frame.right && b.top >= frame.top && b.bottom <= frame.bottom;
          return [boxes.filter(isIn).length, boxes.filter(b => !isIn(b)).length];
        })()""")
        self.assertGreater(inside, 3)
        self.assertEqual(outside, 0)

    def test_fit_shows_the_whole_graph(self):
        for name in ("digits", "deep", "large"):
            for width in (1280, 390):
                self.browser.resize(width, 844)
                self.inspect(name)
                self.expect_fits()
                self.browser.click("#fold")
                self.expect_fits()

    def test_fit_of_a_deep_network_can_be_read(self):
        self.inspect("deep")
        self.browser.click("#fit")
        self.expect_no_small_text()
        self.assertEqual(self.browser.value("[...document.querySelectorAll('#graph .node')].filter(n => n.querySelector('.large').getClientRects().length == 0).length"), 0)

    def expect_no_small_text(self):
        sizes = self.browser.value("""(m => [...document.querySelectorAll('#graph text')].filter(t => t.getClientRects().length > 0)
            .map(t => parseFloat(getComputedStyle(t).fontSize) * m.a))(document.querySelector('#graph .scene').getCTM())""")
        for size in sizes:
            self.assertGreaterEqual(size, 9)

    def test_no_text_is_small(self):
        """On any zoom, text is at least 9 pixels high or not there."""
        self.inspect("digits")
        for _ in range(12):
            self.expect_no_small_text()
            self.browser.key("-")

    def test_colours(self):
        self.inspect("digits")
        fills = "[...document.querySelectorAll('#graph .operator rect')].map(r => r.getAttribute('fill')).join(';')"
        seen = set()
        for name in self.browser.value("[...document.querySelectorAll('#colour option')].map(o => o.value)"):
            self.browser.value("(c => { c.value = '%s'; c.dispatchEvent(new Event('change')); })(document.getElementById('colour'))" % name)
            seen.add(self.browser.value(fills))
        self.assertEqual(len(seen), 2)  # level, memory

    def search(self, text):
        self.browser.value("(f => { f.value = %s; f.dispatchEvent(new Event('input')); })(document.getElementById('find'))" % json.dumps(text))

    def test_search(self):
        model = self.inspect("digits")
        self.browser.key("/")
        for letter in "conv2d":
            self.browser.key(letter)
        convolutions = [op["index"] for op in model["operators"] if "conv2d" in op["type"].lower()]
        self.assertEqual(self.text(".found"), "1 of %d" % len(convolutions))
        chosen = "document.querySelector('#graph .node.chosen').dataset.operator"
        matches = "[...document.querySelectorAll('#graph .node.match')].map(n => Number(n.dataset.operator))"
        self.assertEqual(self.browser.value(matches), convolutions)
        for expected in convolutions[1:] + convolutions[:1]:
            self.browser.key("Enter")
            self.assertEqual(self.browser.value(chosen), str(expected))
        self.browser.key("Enter", shift=True)
        self.assertEqual(self.browser.value(chosen), str(convolutions[-1]))
        self.browser.key("Escape")
        self.assertEqual(self.count("#graph .match"), 0)
        self.search("8x8x16")  # a shape
        self.assertGreater(self.count("#graph .match"), 1)
        self.search("nothing has this name")
        self.assertEqual(self.text(".found"), "none")

    def export(self, name):
        """The picture that the view's button saves, parsed."""
        path = self.path(name)
        if os.path.exists(path):
            os.remove(path)
        self.browser.call("Browser.setDownloadBehavior", of_page=False, behavior="allow", downloadPath=self.folder.name)
        self.browser.click("button.export")
        until = time.monotonic() + 30
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
            self.browser.value("1")
        return xml.etree.ElementTree.parse(path).getroot()

    def test_export(self):
        model = self.inspect("digits")
        texts = [t.text for t in self.export("graph.svg").iter("{http://www.w3.org/2000/svg}text")]
        for op in model["operators"]:
            self.assertIn(op["name"], texts)
            self.assertIn(op["type"], texts)
        self.assertIn("1×8×8×16", texts)
        with open(self.path("graph.svg")) as f:
            picture = f.read()
        self.assertNotIn("var(", picture)
        self.browser.open(self.path("graph.svg"))  # as a browser reads it
        self.assertGreater(self.count("rect"), len(model["operators"]))
        width, height = self.browser.value("(v => [v.width, v.height])(document.documentElement.viewBox.baseVal)")
        self.assertTrue(self.browser.value("""[...document.querySelectorAll('rect')].every(r => (b => b.left >= -1 && b.top >= -1 &&
            b.right <= %g && b.bottom <= %g)(r.getBoundingClientRect()))""" % (width + 1, height + 1)))
        self.inspect("digits")
        self.browser.click("[data-view=arena]")
        memory = self.export("memory.svg")
        self.assertIn("operators in the order in which they run", [t.text for t in memory.iter("{http://www.w3.org/2000/svg}text")])

    def test_keyboard(self):
        model = self.inspect("digits")
        self.assertEqual(self.count("#graph .node[tabindex='0']"), 1)
        self.browser.value("document.querySelector('#graph .node[tabindex=\"0\"]').focus()")
        focused = "document.activeElement.dataset.operator ?? document.activeElement.getAttribute('class')"
        self.assertIn("input", self.browser.value(focused))
        for index in range(3):
            self.browser.key("ArrowDown")
            self.assertEqual(self.browser.value(focused), str(index))
        self.browser.key("ArrowUp")
        self.assertEqual(self.browser.value(focused), "1")
        self.browser.key("Enter")
        self.assertIn(model["operators"][1]["name"], self.text("#panel"))
        self.browser.key("Escape")
        self.assertTrue(self.browser.value("document.getElementById('panel').hidden"))
        self.browser.key("2")
        self.assertEqual(self.text("[aria-selected=true]"), "Memory")
        self.browser.key("1")
        self.assertEqual(self.text("[aria-selected=true]"), "Graph")
        scale = "document.querySelector('#graph .scene').getCTM().a"
        before = self.browser.value(scale)
        self.browser.key("+")
        self.assertGreater(self.browser.value(scale), before)
        self.browser.key("f")
        self.assertEqual(self.count("#graph .scene"), 1)

    def test_shapes_stand_at_edges(self):
        model = self.inspect("digits")
        shapes = self.browser.value("[...document.querySelectorAll('#graph .shape')].map(t => t.textContent)")
        for op in model["operators"]:
            for t in op["outputs"]:
                self.assertIn("×".join(map(str, model["tensors"][t]["shape"])), shapes)

    def test_constants_have_histograms_and_scales(self):
        model = self.inspect("digits")
        op = next(op for op in model["operators"] if op["type"] == "Conv2D")
        weights = model["tensors"][op["inputs"][1]]
        self.browser.value("document.querySelector(\"[data-operator='%d']\").dispatchEvent(new MouseEvent('click'))" % op["index"])
        captions = self.browser.value("[...document.querySelectorAll('#panel figcaption')].map(c => c.textContent)")
        self.assertIn("Stored integers", captions[0])
        self.assertIn("Scales by channel", captions[1])
        self.assertEqual(self.count("#panel figure:nth-of-type(2) rect"), len(weights["scale"]))
        data = self.browser.value("JSON.parse(document.getElementById('data').textContent)[0].tensors[%d]" % weights["index"])
        elements = 1
        for dim in weights["shape"]:
            elements *= dim
        self.assertEqual(sum(data["histogram"]["counts"]), elements)  # without the zeros of the packing

    def prefer(self, scheme):
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def expect_legible(self, where):
        """All text that is seen has a contrast of 4.5 : 1 with what is behind it, and nothing is wider than the window."""
        poor = self.browser.value(CONTRAST)
        self.assertEqual(poor, [], where)
        self.assertLessEqual(self.browser.value("document.scrollingElement.scrollWidth - innerWidth"), 0, where)
        self.assertLessEqual(self.browser.value("(v => v ? v.scrollWidth - v.clientWidth : 0)(document.getElementById('view'))"), 0, where)

    def expect_views_legible(self, page):
        for scheme in ("light", "dark"):
            self.prefer(scheme)
            for width in (1280, 390):
                self.browser.resize(width, 844)
                self.browser.open(page)
                self.assertEqual(self.browser.value("document.documentElement.dataset.theme"), scheme)
                for view in self.browser.value("[...document.querySelectorAll('[data-view]')].map(b => b.dataset.view)"):
                    self.browser.click("[data-view=%s]" % view)
                    self.expect_legible((page, scheme, width, view))
                    if view in ("arena", "roofline"):  # as wide as the window
                        self.assertGreater(self.browser.value("document.querySelector('.plot').getBoundingClientRect().width"), width - 60)
                self.browser.click("[data-view=graph]")
                self.browser.value("document.querySelectorAll('#graph .operator')[3].dispatchEvent(new MouseEvent('click'))")
                self.expect_legible((page, scheme, width, "panel"))

    def test_text_is_legible_in_both_schemes_and_on_a_phone(self):
        self.inspect("digits")
        self.expect_views_legible(self.path("digits.html"))

    def test_the_reader_chooses_the_scheme(self):
        self.inspect("digits")
        theme, ground = "document.documentElement.dataset.theme", "getComputedStyle(document.body).backgroundColor"
        light = self.browser.value(ground)
        self.browser.value("(t => { t.value = 'dark'; t.dispatchEvent(new Event('change')); })(document.getElementById('theme'))")
        self.assertEqual(self.browser.value(theme), "dark")
        self.assertNotEqual(self.browser.value(ground), light)
        self.browser.value("(t => { t.value = 'auto'; t.dispatchEvent(new Event('change')); })(document.getElementById('theme'))")
        self.assertEqual(self.browser.value(theme), "light")

    def test_tooltips(self):
        model = self.inspect("digits")
        self.browser.click("[data-view=arena]")
        self.browser.mouse("mouseMoved", *self.browser.place("#arena .block"))
        self.assertFalse(self.browser.value("document.getElementById('tip').hidden"))
        self.assertIn(model["tensors"][model["inputs"][0]]["name"], self.text("#tip"))
        self.assertIn("operator 0 to", self.text("#tip"))
        self.browser.mouse("mouseMoved", 5, 5)
        self.assertTrue(self.browser.value("document.getElementById('tip').hidden"))

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
        self.search("script")
        exported = self.export("graph.svg")
        self.assertEqual([e for e in exported.iter() if e.tag.split("}")[1] not in ("svg", "style", "rect", "g", "defs", "marker", "path", "text", "title")], [])
        self.assertEqual(self.count("script"), 2)

    def test_open_dimensions_have_names(self):
        self.inspect("sized")
        self.assertIn("h 8 (2 to 64) · w 7 (3 to 64)", self.text("#summary"))
        self.assertIn("uint8 batch×h×w×4", self.browser.value("document.querySelector('#graph .input').dataset.tip"))
        self.browser.value("document.querySelector('#graph .operator').dispatchEvent(new MouseEvent('click'))")
        self.assertIn("uint8 [batch = 1, h = 8, w = 7, 4]", self.text("#panel"))

    def test_a_thousand_operators(self):
        model = self.inspect("large")
        self.assertEqual(len(model["operators"]), 1000)
        self.expect_nodes(model)
        self.expect_picture()
        self.search("op700")
        self.assertIn("op700", self.text("#panel"))
        self.assertIn("op700", self.text("#graph .node.chosen"))

    def expect_picture_of_the_profile(self):
        """What the profile's button saves holds every bar of the page, within the picture."""
        rows = self.count("#bars .bar")
        picture = self.export("profile.svg")
        self.assertEqual(self.count("#bars-picture"), 0)
        texts = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(len(texts), 2 + 3 * rows)
        for words in ("Time by type", "Time by operator", *self.browser.value("[...document.querySelectorAll('#bars .time')].map(t => t.textContent)")):
            self.assertIn(words, texts)
        width = float(picture.get("width"))
        boxes = [(float(r.get("x")), float(r.get("width")), r.get("class")) for r in picture.iter("{http://www.w3.org/2000/svg}rect")][1:]
        self.assertEqual(len(boxes), 2 * rows)
        for (track, length, _), (left, part, colour) in zip(boxes[::2], boxes[1::2]):
            self.assertEqual(track, left)
            self.assertTrue(0 < part <= length < width)
            self.assertIsNotNone(colour)
        with open(self.path("profile.svg"), encoding="utf-8") as f:
            self.assertNotIn("var(", f.read())

    def test_measurements(self):
        page = self.path("bench.html")
        tool("qrt_bench", self.path("digits.qrt"), "--threads", "1,2", "--runs", "20", "--seconds", "0.1", "--html", page)
        self.expect_views_legible(page)
        self.browser.resize(1280, 800)
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
        self.expect_picture_of_the_profile()
        self.browser.click("[data-view=roofline]")
        self.expect_picture()
        self.assertGreater(self.count("#roofline .point"), 1)
        self.assertGreater(self.count("#roofline .roof"), 1)
        self.browser.click("#roofline .point")
        self.assertIn("share of the limit", self.text("#panel"))
        self.browser.value("(m => { m.value = 1; m.dispatchEvent(new Event('change')); })(document.getElementById('model'))")
        self.assertIn("2 threads", self.text("#summary"))


    def test_report_of_a_quantisation(self):
        page = self.path("report.html")
        folder = os.path.dirname(DIGITS)
        tool("qrt_quantize", os.path.join(folder, "float.onnx"), "--calibration", os.path.join(folder, "calibration.npy"), "--report", page)
        tool("qrt_quantize", os.path.join(folder, "float.onnx"), "--calibration", os.path.join(folder, "calibration.npy"), "--report", self.path("report.json"))
        with open(self.path("report.json")) as f:
            report = json.load(f)
        self.browser.open(page)
        self.assertIn("Ready to use: on 20 held-out samples", self.text("#verdict"))
        self.assertEqual(self.count(".verdict.good"), 1)
        steps = self.browser.value("[...document.querySelectorAll('.step')].map(s => s.firstChild.textContent)")
        self.assertEqual(steps, [step["rung"] for step in report["ladder"]])
        self.assertEqual(self.count(".tensors tbody tr"), len(report["tensors"]))
        self.assertEqual(self.count(".tensors .histogram"), len(report["tensors"]))
        first = "document.querySelector('.tensors tbody tr b').textContent"
        self.assertEqual(self.browser.value(first), report["tensors"][0]["name"])
        self.browser.value("[...document.querySelectorAll('.tensors th button')].find(b => b.textContent === 'clipped').click()")
        self.assertEqual(self.browser.value(first), max(report["tensors"], key=lambda t: t["clipped"])["name"])
        self.search("conv2")
        self.assertEqual(self.count(".tensors tbody tr"), sum("conv2" in t["name"].lower() for t in report["tensors"]))
        text = self.text("body").lower()
        for term in ("squares", "rung", "in five"):
            self.assertNotIn(term, self.browser.value("document.querySelector('main').innerText").lower())
        self.assertIn("signal to quantisation noise ratio", text)
        self.assertEqual(self.count(".nodes tr"), 1 + len(report["nodes"]))
        for scheme in ("light", "dark"):
            self.prefer(scheme)
            for width in (1280, 390):
                self.browser.resize(width, 844)
                self.browser.open(page)
                height = self.browser.value("document.scrollingElement.scrollHeight")
                for y in range(0, height, 800):
                    self.browser.value("scrollTo(0, %d)" % y)
                    self.expect_legible((scheme, width, y))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
