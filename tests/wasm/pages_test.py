# SPDX-License-Identifier: Apache-2.0
"""The pages of runtime/examples/web in a browser: pages_test.py CHROMIUM PAGES DIGITS_FOLDER [SCREENSHOTS]. PAGES is what `assemble` made."""
import base64
import functools
import http.server
import json
import os
import struct
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "web"))
from browser import Browser  # noqa: E402

CHROMIUM, PAGES, DIGITS = sys.argv[1:4]
SCREENSHOTS = sys.argv[4] if len(sys.argv) > 4 else None


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".css": "text/css", ".mjs": "text/javascript", ".wasm": "application/wasm",
                      "": "application/octet-stream"}

    def log_message(self, *words):
        pass


def floats(name):
    with open(os.path.join(DIGITS, name), "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack("<%df" % ((len(data) - start) // 4), data[start:])


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=PAGES))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.root = "http://127.0.0.1:%d/" % cls.server.server_port
        cls.browser = Browser(CHROMIUM)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.shutdown()

    def show(self, page, width):
        self.browser.resize(width, 844)
        self.browser.errors = []
        self.browser.call("Page.navigate", url="%s%s.html" % (self.root, page))
        while self.browser.read().get("method") != "Page.loadEventFired":
            pass
        self.wait("document.querySelectorAll('#operators li').length > 3")

    def wait(self, condition):
        until = time.monotonic() + 60
        while not self.browser.value(condition):
            self.assertLess(time.monotonic(), until, self.text("summary"))
            time.sleep(0.05)

    def text(self, name):
        return self.browser.value("document.getElementById('%s').innerText" % name)

    def check(self, page, width):
        """No error, no file from elsewhere, nothing wider than the window, the same bits; pictures in both colour schemes."""
        self.assertIn("Same bits as native", self.text("check"))
        own = "network: " + self.root
        self.assertEqual([], [error for error in self.browser.errors if not error.startswith((own, "network: blob:" + self.root))])
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
        for theme in ("light", "dark"):
            self.browser.value("(picker => {picker.value = '%s'; picker.dispatchEvent(new Event('change'))})"
                               "(document.getElementById('theme'))" % theme)
            self.assertEqual(theme, self.browser.value("document.documentElement.dataset.theme"))
            if SCREENSHOTS:
                clip = {"x": 0, "y": 0, "width": width, "height": self.browser.value("document.documentElement.scrollHeight"), "scale": 1}
                png = self.browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
                with open(os.path.join(SCREENSHOTS, "%s-%d-%s.png" % (page, width, theme)), "wb") as file:
                    file.write(base64.b64decode(png))

    def drop(self, name, kind, script):
        """Drops a file that a script makes, a promise of what a Blob is made of."""
        self.browser.value("""(async () => {
          const files = new DataTransfer();
          files.items.add(new File([await %s], %s, {type: %s}));
          document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true}));
        })()""" % (script, json.dumps(name), json.dumps(kind)))

    def test_pictures(self):
        logits = floats("logits.npy")
        for width in (1280, 390):
            self.show("classify", width)
            self.check("classify", width)
        for i in range(10):
            row = logits[10 * i:10 * i + 10]
            self.browser.value("document.querySelectorAll('#samples button')[%d].click()" % i)
            self.assertEqual(str(row.index(max(row))), self.text("answers").split()[0])

    def test_dropped_picture(self):
        self.show("classify", 390)
        # A large 1 in dark ink on paper.
        self.drop("one.png", "image/png", """(() => {
          const canvas = new OffscreenCanvas(400, 300), context = canvas.getContext('2d');
          context.fillStyle = '#f4f0e6';
          context.fillRect(0, 0, 400, 300);
          context.fillStyle = '#222';
          context.fillRect(180, 8, 56, 284);
          return canvas.convertToBlob();
        })()""")
        self.wait("document.querySelector('#answers li').innerText.startsWith('1')")
        self.drop("broken.qrt", "", "new Blob(['nothing'])")
        self.wait("document.getElementById('summary').innerText.includes('byte')")
        self.assertTrue(self.text("answers").startswith("1"))

    def test_dropped_tflite(self):
        self.show("classify", 390)
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "picture.tflite"), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        self.drop("picture.tflite", "", "Uint8Array.from(atob('%s'), (byte) => byte.charCodeAt(0))" % data)
        self.wait("document.getElementById('answers').innerText.includes('class ')")
        self.assertIn("picture.tflite", self.text("summary"))
        self.drop("broken.tflite", "", "new Blob(['nothing'])")
        self.wait("document.getElementById('summary').innerText.includes('TFL3')")

    def test_sentences(self):
        for width in (1280, 390):
            self.show("sentences", width)
            self.check("sentences", width)
        cells = "[...document.querySelectorAll('#matrix span:not(.name)')].slice(1).map((cell) => Number(cell.innerText))"
        matrix = self.browser.value(cells)
        self.assertEqual(36, len(matrix))
        self.assertEqual(1, matrix[0])
        self.assertGreater(matrix[1], matrix[2])  # two sentences of the weather, and one of bread
        self.browser.value("(text => {text.value = 'dog and cat\\nfox\\n'; text.dispatchEvent(new Event('input'))})(document.getElementById('text'))")
        self.wait("%s.length === 4" % cells)
        self.assertIn("and", self.text("unknown"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
