# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its DevTools protocol through two pipes: nothing but Python is needed."""
import base64
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time


class Browser:
    """Messages are JSON with a NUL behind: the browser reads them from its descriptor 3 and writes to its 4."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.source, to_write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]  # away from 3 and 4
        for end in (to_read, to_write):
            os.close(end)
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$0" "$@" 3<&%d 4>&%d' % tuple(ends), program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", "--user-data-dir=" + self.profile.name],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self.count = 0
        self.buffer = b""
        self.errors = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(1280, 800)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        try:
            self.call("Browser.close", of_page=False)
        except (EOFError, RuntimeError):
            pass
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.profile.cleanup()

    def read(self):
        """The next message; what went wrong in the page is kept."""
        until = time.monotonic() + 120
        while b"\0" not in self.buffer:
            if not select.select([self.source], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.source, 1 << 20)
            if not part:
                raise EOFError("the browser ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:", "about:")):
            self.errors.append("network: " + parameters["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("dialog: " + parameters["message"])
        return message

    def call(self, method, of_page=True, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if of_page and self.session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]

    def open(self, path):
        self.errors = []
        self.call("Page.navigate", url="file://" + path)
        while self.read().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression):
        """Of JavaScript in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def place(self, selector):
        """The middle of the first such element, in the window."""
        box = self.value("(b => [b.x + b.width / 2, b.y + b.height / 2])(document.querySelector(%s).getBoundingClientRect())"
                         % json.dumps(selector))
        return box

    def click(self, selector):
        x, y = self.place(selector)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, start, end):
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", *end, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def key(self, key, shift=False):
        """Presses and releases a key: "a", "Enter", "ArrowDown"."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=8 if shift else 0, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=8 if shift else 0)

    def screenshot(self):
        """PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
