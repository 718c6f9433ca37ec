# SPDX-License-Identifier: Apache-2.0
"""Runs that end early: Session.cancel(), Ctrl-C, tasks of asyncio."""
import asyncio
import os
import signal
import threading
import time
import unittest

import qrt
from support import EVERY_OP, python

# Images of which a run takes a tenth of a second or more on any machine.
BATCH = 4000


def long_session():
    session = qrt.Model(EVERY_OP).session(batch=BATCH, threads=1, profile=True)
    begin = time.perf_counter()
    session.run()
    return session, time.perf_counter() - begin


def soon(session):
    """Seconds after which a cancelled run has ended: that of the operator that it was at, thrice on a busy
    machine, and the 50 ms that are promised beside it."""
    return 0.05 + 3e-9 * max(op["total_ns"] / op["runs"] for op in session.profile())


class CancelTest(unittest.TestCase):

    def test_from_another_thread(self):
        session, whole = long_session()
        expected = session.run()["probabilities"][0] if hasattr(session.output("flat"), "dtype") else None
        late = []
        for _ in range(5):
            cancelled = []
            timer = threading.Timer(whole / 4, lambda: (session.cancel(), cancelled.append(time.perf_counter())))
            timer.start()
            with self.assertRaises(qrt.CancelledError):
                session.run()
            late.append(time.perf_counter() - cancelled[0])
            timer.join()
        self.assertLess(min(late), soon(session))
        again = session.run()["probabilities"]  # the next one does all
        if expected is not None:
            self.assertEqual(again[0].tobytes(), expected.tobytes())
        session.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            session.cancel()

    def test_before_a_run(self):
        session = qrt.Model(EVERY_OP).session()
        session.cancel()
        with self.assertRaises(qrt.CancelledError):
            session.run()
        session.run()

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timers")
    def test_ctrl_c(self):
        for slow_first in (True, False):
            done = python(CTRL_C, EVERY_OP, str(BATCH), str(slow_first))
            self.assertEqual(done, "interrupted in time\n")

    def test_other_signals_and_exceptions_of_their_handlers(self):
        self.assertEqual(python(HANDLER, EVERY_OP, str(BATCH)), "counted 1, then the handler's own\n")


CTRL_C = r"""
import signal, sys, threading, time, qrt
session = qrt.Model(sys.argv[1]).session(batch=int(sys.argv[2]), threads=1, profile=True)
begin = time.perf_counter()
session.run()
whole = time.perf_counter() - begin
soon = 0.05 + 3e-9 * max(op["total_ns"] for op in session.profile())
if sys.argv[3] == "True":
    session = qrt.Model(sys.argv[1]).session(batch=int(sys.argv[2]), threads=1)
# The signal's own time is measured, not that of a busy machine: the least of some.
late = []
for _ in range(5):
    sent = []
    def alarm(number, frame):
        sent.append(time.perf_counter())
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, whole / 4)
    begin = time.perf_counter()
    try:
        session.run()
        print("it ran to its end")
    except KeyboardInterrupt:
        late.append(time.perf_counter() - begin - whole / 4)
session.run()
print("interrupted in time" if min(late) < soon else "late by %s of %g" % (late, whole))
"""

HANDLER = r"""
import signal, sys, time, qrt
session = qrt.Model(sys.argv[1]).session(batch=int(sys.argv[2]), threads=1)
begin = time.perf_counter()
expected = session.run()["flat"]
whole = time.perf_counter() - begin
count = []
signal.signal(signal.SIGALRM, lambda *_: count.append(1))
signal.setitimer(signal.ITIMER_REAL, whole / 4)
assert bytes(session.run()["flat"]) == bytes(expected)
def fail(*_):
    raise LookupError
signal.signal(signal.SIGALRM, fail)
signal.setitimer(signal.ITIMER_REAL, whole / 4)
try:
    session.run()
except LookupError:
    print("counted %d, then the handler's own" % len(count))
session.run()
"""


class AsyncTest(unittest.TestCase):

    def test_the_same_results(self):
        model = qrt.Model(EVERY_OP)
        sessions = [model.session() for _ in range(3)]

        async def all_of_them():
            return await asyncio.gather(*(s.run_async() for s in sessions))

        expected = bytes(model.session().run()["probabilities"])
        for outputs in asyncio.run(all_of_them()):
            self.assertEqual(bytes(outputs["probabilities"]), expected)

    def test_the_loop_goes_on(self):
        session, whole = long_session()

        async def count():
            run = asyncio.ensure_future(session.run_async(copy=False))
            ticks = 0
            while not run.done():
                await asyncio.sleep(whole / 50)
                ticks += 1
            await run
            return ticks

        self.assertGreater(asyncio.run(count()), 3)

    def test_a_cancelled_task_cancels_the_run(self):
        session, whole = long_session()

        async def cancel():
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(session.run_async(), whole / 4)
            begin = time.perf_counter()
            await session.run_async()  # nothing is left of the other
            return time.perf_counter() - begin

        self.assertGreater(asyncio.run(cancel()), 0)
        session.run()

    def test_errors_arrive(self):
        async def run(inputs):
            await qrt.Model(EVERY_OP).session().run_async(inputs)

        with self.assertRaisesRegex(ValueError, "no input 'x'|is missing"):
            asyncio.run(run({"x": b"", "gate": b"\0" * 16}))


if __name__ == "__main__":
    unittest.main()
