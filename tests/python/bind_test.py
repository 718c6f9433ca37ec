# SPDX-License-Identifier: Apache-2.0
"""Arrays of the caller's as inputs and outputs, and a pool for several sessions."""
import gc
import pickle
import threading
import unittest

import qrt
from support import EVERY_OP, FRAMES, needs_numpy, numpy, python

WITHOUT_NUMPY = r"""
import sys
sys.modules["numpy"] = None
import qrt
model = qrt.Model(sys.argv[1])
frame = qrt.empty(model.inputs[0].shape)
frame[0, 4, 4, 1] = 200
bound = model.session(inputs={"frame": frame}).run()["map"]
copied = model.session().run({"frame": frame})["map"]
assert bound.tobytes() == copied.tobytes()
try:
    model.session(inputs={"frame": memoryview(bytes(243 + 64))[:243].cast("B", (1, 9, 9, 3))})
except TypeError as error:
    assert "cannot be written to" in str(error), error
else:
    raise AssertionError("bytes were bound")
"""


@needs_numpy
class BindTest(unittest.TestCase):

    def frame(self, seed, array=None):
        array = qrt.empty((1, 9, 9, 3)) if array is None else array
        array[...] = numpy.random.RandomState(seed).randint(0, 256, array.shape)
        return array

    def test_every_run_may_have_another_frame(self):
        model = qrt.Model(FRAMES)
        frames = [self.frame(i) for i in range(3)]
        session = model.session(inputs={"frame": frames[0]})
        self.assertLess(session.memory, model.session().memory)
        copying = model.session()
        for i in range(7):
            self.frame(i, frames[i % 3])
            session.bind({"frame": frames[i % 3]})
            expected = copying.run({"frame": frames[i % 3]})["map"]
            numpy.testing.assert_array_equal(session.run()["map"], expected)
        self.assertTrue(numpy.shares_memory(session.input("frame"), frames[0]))

    def test_outputs_are_written_to_the_array(self):
        model = qrt.Model(EVERY_OP)
        scores = qrt.empty((3, 10), "float32")
        session = model.session(batch=3, outputs={"probabilities": scores})
        inputs = {"image": numpy.full((3, 8, 8, 4), 1.5, numpy.float32), "gate": numpy.ones((3, 16), numpy.uint8)}
        expected = model.session(batch=3).run(inputs)
        views = session.run(inputs, copy=False)
        self.assertEqual(scores.tobytes(), expected["probabilities"].tobytes())
        self.assertTrue(numpy.shares_memory(views["probabilities"], scores))
        self.assertEqual(session.run()["flat"].tobytes(), expected["flat"].tobytes())
        # It has no memory of its own for what was bound from the start.
        with self.assertRaisesRegex(ValueError, "made without memory"):
            session.bind(outputs={"probabilities": None})
        session = model.session(batch=3)
        session.bind(outputs={"probabilities": scores})
        session.bind(outputs={"probabilities": None})
        scores[...] = 0
        self.assertEqual(session.run(inputs)["probabilities"].tobytes(), expected["probabilities"].tobytes())
        self.assertFalse(scores.any())

    def test_the_session_keeps_the_arrays(self):
        session = qrt.Model(FRAMES).session(inputs={"frame": self.frame(4)})
        expected = session.run()["map"].tobytes()
        gc.collect()
        [bytearray(b"\xa5" * 400) for _ in range(1000)]
        self.assertEqual(session.run()["map"].tobytes(), expected)

    def test_bound_inputs_are_not_given_again(self):
        session = qrt.Model(EVERY_OP).session()
        gate = qrt.empty((1, 16))
        session.bind({"gate": gate})
        image = numpy.linspace(-6, 6, 256, dtype=numpy.float32).reshape(1, 8, 8, 4)
        copying, seen = qrt.Model(EVERY_OP).session(), set()
        for value in (0, 100, 255):
            gate[...] = value
            scores = session.run({"image": image})["probabilities"].tobytes()
            self.assertEqual(scores, copying.run({"image": image, "gate": gate})["probabilities"].tobytes())
            seen.add(scores)
        self.assertGreater(len(seen), 1)
        with self.assertRaisesRegex(ValueError, "'gate' is bound"):
            session.run({"image": image, "gate": gate})
        with self.assertRaisesRegex(ValueError, "'image' is missing"):
            session.run({})

    def test_arrays_that_do_not_serve(self):
        session = qrt.Model(FRAMES).session()
        large = qrt.empty((4096,))
        for array, message, error in (
            (numpy.zeros((1, 9, 9, 3), numpy.int8), r"takes uint8 \[1, 9, 9, 3\], not int8", TypeError),
            (qrt.empty((1, 9, 9, 4)), r"not uint8 \[1, 9, 9, 4\]", ValueError),
            (large[1:244].reshape(1, 9, 9, 3), r"aligned to 64, this is 1 bytes behind such an address: qrt.empty\(\(1, 9, 9, 3\), 'uint8'\)", qrt.InvalidArgumentError),
            (large[:486:2].reshape(1, 9, 9, 3)[:, ::-1], "do not stand one after the other", ValueError),
            (qrt.empty((1, 9, 9, 3))[:, ::-1], "do not stand one after the other", ValueError),
        ):
            with self.assertRaisesRegex(error, message):
                session.bind({"frame": array})
        with self.assertRaisesRegex(ValueError, "no input 'x': the model's are 'frame'"):
            session.bind({"x": large})
        short = numpy.frombuffer(bytearray(243 + 63), numpy.uint8)
        begin = -short.__array_interface__["data"][0] % 64
        session.bind({"frame": short[begin:begin + 243].reshape(1, 9, 9, 3)})  # copied, for want of padding
        session.run()
        session.bind({"frame": large[64:64 + 243].reshape(1, 9, 9, 3)})  # a part of larger memory
        session.run()
        with self.assertRaisesRegex(ValueError, "no type 'int4'"):
            qrt.empty((8,), "int4")
        with self.assertRaisesRegex(ValueError, "dimension is -1"):
            qrt.empty((-1,))
        for dtype in (numpy.float32, numpy.dtype("float32")):
            self.assertEqual(qrt.empty((2, 3), dtype).dtype, numpy.float32)

    def test_what_overlaps_is_refused_by_the_run(self):
        memory = qrt.empty((4096,))
        session = qrt.Model(FRAMES).session(inputs={"frame": memory[:243].reshape(1, 9, 9, 3)})
        session.bind(outputs={"map": memory[192:392].reshape(1, 5, 5, 8)})
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "overlaps"):
            session.run()
        with self.assertRaisesRegex(ValueError, "made without memory"):
            session.bind({"frame": None})

    def test_without_numpy(self):
        python(WITHOUT_NUMPY, FRAMES)


class PoolTest(unittest.TestCase):

    def test_sessions_share_threads(self):
        pool = qrt.Pool(2)
        self.assertEqual(pool.threads, 2)
        model = qrt.Model(EVERY_OP)
        inputs = {"image": bytes(range(256)) * 4, "gate": bytes(16)}
        expected = model.session(threads=1).run(inputs)["flat"].tobytes()
        sessions = [model.session(pool=pool) for _ in range(3)]
        self.assertEqual([s.threads for s in sessions], [2, 2, 2])
        del pool
        wrong = []

        def work(session):
            for _ in range(50):
                if session.run(inputs)["flat"].tobytes() != expected:
                    wrong.append(session)

        threads = [threading.Thread(target=work, args=(s,)) for s in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_its_size(self):
        self.assertEqual(qrt.Pool().threads, qrt.default_threads())
        self.assertEqual(qrt.Pool(0).threads, qrt.default_threads())  # as of a session
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "1025 threads"):
            qrt.Pool(1025)
        with self.assertRaisesRegex(TypeError, "make one in each process"):
            pickle.dumps(qrt.Pool(1))


if __name__ == "__main__":
    unittest.main()
