# SPDX-License-Identifier: Apache-2.0
"""Threads and processes: default count, runs at the same time, forks."""
import os
import sys
import tempfile
import threading
import time
import unittest

import qrt
from qrt import _threads
from support import EVERY_OP, python


class DefaultThreadsTest(unittest.TestCase):

    def quota(self, cgroup, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            with open(os.path.join(root, "self"), "w", encoding="utf-8") as file:
                file.write(cgroup)
            return _threads.cgroup_quota(os.path.join(root, "self"), root)

    def test_cgroup_version_2(self):
        self.assertEqual(self.quota("0::/\n", {"cpu.max": "250000 100000\n"}), 2.5)
        self.assertIsNone(self.quota("0::/\n", {"cpu.max": "max 100000\n"}))
        # The least of the group and of those above it.
        files = {"a/cpu.max": "150000 100000", "a/b/cpu.max": "400000 100000"}
        self.assertEqual(self.quota("0::/a/b\n", files), 1.5)
        # The host's path, of which a container sees only its own root.
        self.assertEqual(self.quota("0::/kubepods/pod1/2\n", {"cpu.max": "300000 100000"}), 3)
        self.assertEqual(self.quota("0::/../..\n", {"cpu.max": "300000 100000"}), 3)

    def test_cgroup_version_1(self):
        files = {"cpu,cpuacct/docker/1/cpu.cfs_quota_us": "50000\n",
                 "cpu,cpuacct/docker/1/cpu.cfs_period_us": "100000\n"}
        self.assertEqual(self.quota("5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n", files), 0.5)
        files = {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}
        self.assertIsNone(self.quota("1:cpu:/\n", files))

    def test_nonsense_is_no_limit(self):
        for cgroup, text in (("", "1 1"), ("0::/\n", ""), ("0::/\n", "0 0"), ("0::/\n", "a b c"),
                             ("0:\n\n:::\n", "max")):
            self.assertIsNone(self.quota(cgroup, {"cpu.max": text}))
        self.assertIsNone(_threads.cgroup_quota("/nowhere", "/nowhere"))

    @unittest.skipUnless(hasattr(os, "sched_setaffinity"), "not Linux")
    def test_affinity(self):
        cpu = str(min(os.sched_getaffinity(0)))
        code = ("import os, sys; os.sched_setaffinity(0, [int(sys.argv[1])]); import qrt\n"
                "print(qrt.default_threads(), qrt.Model(sys.argv[2]).session().threads)")
        self.assertEqual(python(code, cpu, EVERY_OP), "1 1\n")
        self.assertLessEqual(qrt.default_threads(), len(os.sched_getaffinity(0)))


class ConcurrencyTest(unittest.TestCase):

    def test_threads_with_a_session_each(self):
        model = qrt.Model(EVERY_OP)
        inputs = {"image": bytes(range(256)) * 4, "gate": bytes(range(16))}
        expected = model.session(threads=1).run(inputs)["flat"].tobytes()
        wrong = []

        def work():
            session = model.session(threads=1)
            for _ in range(50):
                if session.run(inputs)["flat"].tobytes() != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_other_threads_run_python_during_a_run(self):
        """A long run, beside which Python counts; and a second thread may not run the same session meanwhile."""
        session = qrt.Model(EVERY_OP).session(batch=20000, threads=1, isa="scalar")
        refused, ends = [], []

        def run():
            try:
                session.run()
            except RuntimeError as error:
                refused.append(str(error))
            ends.append(True)

        counted = 0
        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(ends) < 2:
            counted += 1
            time.sleep(0.0005)
        for thread in threads:
            thread.join()
        self.assertGreater(counted, 1)
        self.assertEqual(len(refused), 1)
        self.assertRegex(refused[0], "another thread runs this session")


@unittest.skipUnless(hasattr(os, "fork"), "no fork")
class ForkTest(unittest.TestCase):

    def child(self, body):
        """Status of a child process that runs body(), 0 if it returns True; killed after a minute."""
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if body() else 1)
            except BaseException:
                os._exit(2)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            time.sleep(0.005)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        self.fail("the child hangs")

    def test_a_session_with_threads_goes_on_without_them_in_a_child(self):
        model = qrt.Model(EVERY_OP)
        pool = qrt.Pool(2)
        for options in {"threads": 2}, {"pool": pool}:
            session = model.session(**options)
            expected = session.run()["flat"].tobytes()

            def body():
                nonlocal session
                goes_on = session.threads == 1 and session.run()["flat"].tobytes() == expected
                session = None  # destroyed without waiting for threads that are not here
                made = model.session(threads=2)
                return goes_on and made.threads == 2 and made.run()["flat"].tobytes() == expected

            self.assertEqual(self.child(body), 0)
            self.assertEqual(session.threads, 2)
            self.assertEqual(session.run()["flat"].tobytes(), expected)

    def test_a_session_without_threads_goes_on_in_a_child(self):
        session = qrt.Model(EVERY_OP).session(threads=1)
        expected = session.run()["flat"].tobytes()
        self.assertEqual(self.child(lambda: session.run()["flat"].tobytes() == expected and
                                    session.run()["flat"].tobytes() == expected), 0)


if __name__ == "__main__":
    unittest.main()
