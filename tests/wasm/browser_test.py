# SPDX-License-Identifier: Apache-2.0
"""The npm package in a browser, main thread and worker: browser_test.py CHROMIUM PACKAGE DIGITS.qrt DIGITS_FOLDER."""
import functools
import http.server
import os
import shutil
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "web"))
from browser import Browser  # noqa: E402

CHROMIUM, PACKAGE, MODEL, DIGITS = sys.argv[1:5]

# JavaScript: how many of the logits of all images are ONNX Runtime's, by a module, in this thread or a worker.
COUNT = """(async () => {
  const qrt = await import('/qrt/qrt.mjs');
  const array = async (name, Type) => {
    const file = await (await fetch('/' + name)).arrayBuffer();
    return new Type(file.slice(10 + new DataView(file).getUint16(8, true)));
  };
  const images = await array('images.npy', Uint8Array), logits = await array('logits.npy', Float32Array);
  const model = await qrt.%s.load('/digits.qrt', {module: '%s'});
  const session = await model.session({batch: 360});
  const input = session.inputs[0];
  const values = input.dtype === 'float32' ? new Float32Array(images.buffer) : images;
  const results = (await session.run({[input.name]: values}))[model.outputs[0].name];
  await session.dispose();
  model.dispose();
  return [results.reduce((sum, value, i) => sum + (value === logits[i]), 0), logits.length];
})()"""


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".mjs": "text/javascript", ".wasm": "application/wasm", "": "application/octet-stream"}

    def log_message(self, *words):
        pass


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        shutil.copytree(PACKAGE, os.path.join(cls.folder.name, "qrt"))
        shutil.copy(MODEL, os.path.join(cls.folder.name, "digits.qrt"))
        for name in ("images.npy", "logits.npy"):
            shutil.copy(os.path.join(DIGITS, name), cls.folder.name)
        with open(os.path.join(cls.folder.name, "index.html"), "w") as page:
            page.write("<!doctype html><link rel=icon href=data:,><title>qrt</title>")
        cls.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=cls.folder.name))
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.browser = Browser(CHROMIUM)
        cls.browser.call("Page.navigate", url="http://127.0.0.1:%d/" % cls.server.server_port)
        while cls.browser.read().get("method") != "Page.loadEventFired":
            pass

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.shutdown()
        cls.folder.cleanup()

    def results(self, kind, module):
        right, count = self.browser.value(COUNT % (kind, module))
        self.assertEqual(right, count)

    def test_modules(self):
        best = self.browser.value("import('/qrt/qrt.mjs').then(qrt => qrt.bestModule())")
        for module in sorted({"wasm128", best}):
            with self.subTest(module=module):
                self.results("Model", module)

    def test_worker(self):
        self.results("QrtWorker", "wasm128")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
