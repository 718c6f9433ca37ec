# SPDX-License-Identifier: Apache-2.0
"""Open dimensions: sizes by name, reshaped sessions, and arrays of other sizes."""
import unittest

import qrt
from support import SIZED, SIZED_COUNTER


def pixels(h, w, batch=1):
    return shaped(bytes(i * 37 % 251 for i in range(batch * h * w * 4)), (batch, h, w, 4))


def shaped(data, shape):
    return memoryview(data).cast("B", shape)


def copied(outputs):
    return {name: (bytes(view), tuple(view.shape)) for name, view in outputs.items()}


class SizesTest(unittest.TestCase):

    def setUp(self):
        self.model = qrt.Model(SIZED)

    def test_dims(self):
        self.assertEqual(list(self.model.dims), ["batch", "h", "w"])
        self.assertEqual(self.model.dims["h"], qrt.Dim(8, 2, 64, 1))
        self.assertEqual(self.model.dims["batch"].default, 1)
        x = self.model.inputs["x"]
        self.assertEqual((x.shape, x.dim_names), ((-1, -1, -1, 4), ("batch", "h", "w", None)))

    def test_sessions_have_sizes(self):
        session = self.model.session(batch=2, h=13, w=9)
        self.assertEqual(session.dims, {"batch": 2, "h": 13, "w": 9})
        self.assertEqual(session.inputs["x"].shape, (2, 13, 9, 4))
        self.assertEqual(self.model.session(dims={"h": 13}).dims["h"], 13)
        with self.assertRaisesRegex(qrt.OutOfRangeError, "'h' is 65, expected 2 to 64"):
            self.model.session(h=65)
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "no open dimension 'seq': it has 'batch', 'h', 'w'"):
            self.model.session(seq=3)
        for wrong in (0, -1, 2**70):
            with self.assertRaises(ValueError):
                self.model.session(h=wrong)
        with self.assertRaises(TypeError):
            self.model.session(h="13")

    def test_reshape_gives_what_a_session_of_that_size_gives(self):
        session = self.model.session(max_dims={"h": 64, "w": 64})
        memory = session.memory
        for h, w in ((13, 9), (64, 33), (2, 3), (13, 9)):
            session.reshape(h=h, w=w)
            self.assertEqual(session.dims, {"batch": 1, "h": h, "w": w})
            x = pixels(h, w)
            expected = copied(self.model.session(h=h, w=w).run({"x": x}))
            self.assertEqual(copied(session.run({"x": x})), expected)
        self.assertLess(session.memory, 2 * memory)
        session.reshape({"batch": 3})
        self.assertEqual(session.inputs["x"].shape, (3, 13, 9, 4))

    def test_arrays_of_other_sizes_reshape(self):
        session = self.model.session()
        for h, w, batch in ((8, 7, 1), (31, 30, 1), (9, 9, 2), (8, 7, 1)):
            x = pixels(h, w, batch)
            expected = copied(self.model.session(h=h, w=w, batch=batch).run({"x": x}))
            self.assertEqual(copied(session.run({"x": x})), expected)
            self.assertEqual(session.dims, {"batch": batch, "h": h, "w": w})
        with self.assertRaisesRegex(ValueError, "takes uint8"):
            session.run({"x": shaped(bytes(8 * 7 * 5), (1, 8, 7, 5))})
        with self.assertRaises(qrt.OutOfRangeError):
            session.run({"x": pixels(65, 7)})
        self.assertEqual(session.dims["h"], 8)

    def test_views_that_are_left_are_told_of(self):
        session = self.model.session()
        view = session.run({"x": pixels(8, 7)}, copy=False)
        with self.assertRaisesRegex(BufferError, "still in use"):
            session.reshape(h=9)
        self.assertEqual(session.dims["h"], 8)
        before = copied(view)
        self.assertEqual(copied(session.run({"x": pixels(8, 7)})), before)
        del view
        session.reshape(h=9)
        self.assertEqual(session.dims["h"], 9)

    def test_a_failure_leaves_the_session(self):
        session = self.model.session(max_memory=200000)
        expected = copied(session.run({"x": pixels(8, 7)}))
        with self.assertRaises(qrt.OutOfMemoryError):
            session.reshape(h=64, w=64, batch=64)
        self.assertEqual(copied(session.run({"x": pixels(8, 7)})), expected)

    def test_inputs_share_a_dimension(self):
        session = qrt.Model(SIZED_COUNTER).session()
        one = shaped(bytes([1] * 4), (1, 4))
        for n, called in ((3, 1), (700, 2), (2, 3)):
            out = session.run({"x": shaped(bytes([2] * n), (1, n)), "one": one})
            self.assertEqual(bytes(out["y"]), bytes([5] * n))
            self.assertEqual(bytes(out["called"]), bytes([called] * 4))

    def test_bound_arrays_stay_where_their_size_does(self):
        model = qrt.Model(SIZED_COUNTER)
        one, called = qrt.empty((1, 4)), qrt.empty((1, 4))
        y = qrt.empty((1, 3))
        memoryview(one).cast("B")[:] = bytes([1] * 4)
        session = model.session(inputs={"one": one}, outputs={"called": called, "y": y})
        session.run({"x": shaped(bytes([2] * 3), (1, 3))})
        self.assertEqual(bytes(y), bytes([5] * 3))
        out = session.run({"x": shaped(bytes([2] * 9), (1, 9))})
        self.assertEqual(bytes(called), bytes([2] * 4))
        self.assertEqual(bytes(out["y"]), bytes([5] * 9))
        self.assertEqual(bytes(y), bytes([5] * 3))


if __name__ == "__main__":
    unittest.main()
