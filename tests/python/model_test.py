# SPDX-License-Identifier: Apache-2.0
"""Models and sessions, with and without numpy."""
import array
import ctypes
import gc
import os
import pickle
import tempfile
import unittest

import qrt
from qrt import _library
from support import DIGITS, EVERY_OP, digits, needs_numpy, numpy, python


class ModelTest(unittest.TestCase):

    def test_tells_inputs_and_outputs(self):
        model = qrt.Model(EVERY_OP)
        self.assertEqual(model.inputs.names(), ["image", "gate"])
        image = model.inputs["image"]
        self.assertIs(image, model.inputs[0])
        self.assertEqual((image.name, image.dtype, image.shape), ("image", "float32", (-1, 8, 8, 4)))
        self.assertEqual(image.nbytes, 8 * 8 * 4 * 4 * model.default_batch)
        self.assertEqual([(t.dtype, t.shape) for t in model.outputs],
                         [("uint8", (-1, 16, 16)), ("float32", (-1, 10))])
        with self.assertRaisesRegex(KeyError, "no tensor 'img': there are 'image', 'gate'"):
            model.inputs["img"]

    def test_tells_metadata_and_level(self):
        model = qrt.Model(EVERY_OP)
        self.assertEqual(model.metadata["producer"], "qrt tests")
        self.assertEqual(model.metadata["name"], "test")
        self.assertEqual(model.metadata["reference"], model.reference)
        self.assertNotIn("nothing", model.metadata)
        self.assertIn(model.level, (qrt.Level.I1, qrt.Level.F))
        self.assertGreater(model.level, qrt.Level.I0)

    def test_shows_itself_in_notebooks(self):
        model = qrt.Model(EVERY_OP)
        session = model.session(threads=1)
        for thing, texts in ((model, ("image", "[-1, 8, 8, 4]", "ort-x64-fma")), (session, ("[1, 8, 8, 4]", "bytes")),
                             (model.inputs, ("gate", "uint8"))):
            html = thing._repr_html_()
            self.assertEqual(html.count("<table>"), html.count("</table>"))
            for text in texts:
                self.assertIn(text, html)
        session.close()
        self.assertIn("closed", session._repr_html_())
        from qrt import _html
        self.assertIn("&lt;b&gt;&amp;&quot;", _html.table("<b>&\"", [("<b>&\"",)]))
        self.assertNotIn("<b>", _html.table("<b>", [("<b>",)]))

    def test_elements_as_real_numbers(self):
        session = qrt.Model(EVERY_OP).session()
        outputs = session.run({"image": bytes(1024), "gate": bytes(16)})
        scores = session.outputs["probabilities"]
        self.assertEqual(list(memoryview(scores.dequantize(outputs["probabilities"])).cast("B")),
                         list(memoryview(outputs["probabilities"]).cast("B")))  # float32 as it is
        info = _library.TensorInfo()
        info.dtype, info.rank = 0, 2
        scales, zeros = (ctypes.c_float * 3)(0.5, 0.25, 0.1), (ctypes.c_int32 * 3)(0, 128, 255)
        quantization = _library.Quantization(scales, zeros, 3, 1)
        info.dims, info.quantization = (ctypes.c_int64 * 2)(2, 3), ctypes.pointer(quantization)
        tensor = qrt.TensorInfo("x", info)
        data = array.array("B", [1, 0, 0, 200, 255, 254])
        given = memoryview(data).cast("B", (2, 3)) if numpy is None else numpy.array(data, numpy.uint8).reshape(2, 3)
        real = memoryview(tensor.dequantize(given))
        self.assertEqual((real.shape, real.format), ((2, 3), "f"))
        tenth = scales[2]
        self.assertEqual(list(real.cast("B").cast("f")),
                         list(array.array("f", [0.5, -32, -255 * tenth, 100, 31.75, -tenth])))

    def test_bytes_and_paths_give_the_same(self):
        with open(EVERY_OP, "rb") as file:
            data = file.read()
        for source in (data, bytearray(data), memoryview(data)):
            self.assertEqual(repr(qrt.Model(source).inputs), repr(qrt.Model(EVERY_OP).inputs))

    def test_damaged_and_missing_files_are_errors_with_the_librarys_message(self):
        with self.assertRaises(qrt.FileError) as raised:
            qrt.Model("/nowhere/model.qrt")
        self.assertIsInstance(raised.exception, FileNotFoundError)
        self.assertEqual((raised.exception.errno, raised.exception.filename), (2, "/nowhere/model.qrt"))
        with self.assertRaises(qrt.FileError) as folder:
            qrt.Model("/tmp")
        self.assertIsInstance(folder.exception, IsADirectoryError)
        with self.assertRaises(FileNotFoundError):
            qrt.Model("/nowhere/model.qrt")
        self.assertRegex(str(raised.exception), "/nowhere/model.qrt.*No such file")
        with open(EVERY_OP, "rb") as file:
            data = file.read()
        for broken in (b"", b"x", b"not a model at all" * 10, data[:len(data) // 2]):
            with self.assertRaises(qrt.InvalidModelError) as raised:
                qrt.Model(broken)
            self.assertGreater(len(str(raised.exception)), 10)
            self.assertIsInstance(raised.exception, ValueError)
            self.assertIsInstance(raised.exception, qrt.Error)

    def test_compares_the_checksum_where_that_is_asked_for(self):
        data = bytearray(qrt.convert(os.path.join(DIGITS, "digits.onnx")))
        self.assertEqual(qrt.Model(data, check=True).inputs.names(), ["image"])
        mark = data.rindex(b"QRTSUM1\0")
        # A byte of a weight, of which the file alone cannot tell that it is wrong.
        found = 0
        for at in range(mark // 2, mark, 97):
            damaged = bytearray(data)
            damaged[at] ^= 1
            with self.assertRaisesRegex(qrt.InvalidModelError, "damaged: .* the checksum at its end"):
                qrt.Model(damaged, check=True)
            try:
                qrt.Model(damaged)
            except qrt.InvalidModelError:
                continue
            found += 1
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "damaged.qrt")
                with open(path, "wb") as file:
                    file.write(damaged)
                model = qrt.Model(path)
                with self.assertRaises(qrt.InvalidModelError):
                    qrt.Model(path, check=True)
                self.assertFalse(pickle.loads(pickle.dumps(model))._check)
        self.assertGreater(found, 0)
        self.assertTrue(pickle.loads(pickle.dumps(qrt.Model(data, check=True)))._check)
        data[mark:mark + 16] = bytes(16)  # as older converters wrote it
        self.assertEqual(qrt.Model(data, check=True).inputs.names(), ["image"])

    def test_pickles_load_the_file_again(self):
        model = pickle.loads(pickle.dumps(qrt.Model(EVERY_OP)))
        self.assertEqual(model.inputs.names(), ["image", "gate"])
        with open(EVERY_OP, "rb") as file:
            copied = pickle.loads(pickle.dumps(qrt.Model(file.read())))
        self.assertEqual(copied.outputs.names(), ["flat", "probabilities"])
        with self.assertRaisesRegex(TypeError, "send the model"):
            pickle.dumps(model.session())

    def test_the_library_tells_versions_and_instruction_sets(self):
        self.assertTrue(qrt.version().startswith(qrt.__version__))
        self.assertEqual(qrt.isas()[0], "scalar")
        self.assertTrue(os.path.exists(qrt.library_path()))


class SessionTest(unittest.TestCase):

    def setUp(self):
        self.model = qrt.Model(EVERY_OP)

    def run_bytes(self, **options):
        session = self.model.session(**options)
        image = array.array("f", [(i * 7 % 23 - 11) / 4 for i in range(session.inputs[0].nbytes // 4)])
        gate = bytes(i * 5 % 256 for i in range(session.inputs[1].nbytes))
        return {name: bytes(memoryview(value).cast("B") if numpy is None else value.tobytes())
                for name, value in session.run({"image": image, "gate": gate}).items()}

    def test_every_instruction_set_and_number_of_threads_gives_the_same_bytes(self):
        expected = self.run_bytes(isa="scalar", threads=1)
        self.assertEqual(set(expected), {"flat", "probabilities"})
        self.assertGreater(len(set(expected["probabilities"])), 2)
        for isa in qrt.isas():
            for threads in (0, 1, 3):
                self.assertEqual(self.run_bytes(isa=isa, threads=threads), expected, (isa, threads))

    def test_batch(self):
        session = self.model.session(batch=3)
        self.assertEqual(session.inputs["image"].shape, (3, 8, 8, 4))
        self.assertEqual(session.outputs["probabilities"].shape, (3, 10))
        # Three times the same sample gives three times the result of one.
        one = self.model.session(batch=1)
        image = bytes(range(256)) * 3 + bytes(256)
        self.assertEqual(len(image), one.inputs["image"].nbytes)
        gate = bytes(range(16))
        single = one.run({"image": image, "gate": gate})["flat"].tobytes()
        triple = session.run({"image": image * 3, "gate": gate * 3})["flat"].tobytes()
        self.assertEqual(triple, single * 3)

    def test_options_that_the_library_refuses(self):
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "no-such-isa"):
            self.model.session(isa="no-such-isa")
        with self.assertRaisesRegex(ValueError, "batch is -1"):
            self.model.session(batch=-1)
        for batch, kind, message in ((2**64 + 1, ValueError, "too large"),  # ctypes would make it 1
                                     (1.5, TypeError, "batch is 1.5"), ("2", TypeError, "batch is '2'")):
            with self.assertRaisesRegex(kind, message):
                self.model.session(batch=batch)
        self.assertEqual(self.model.session(threads=0).threads, self.model.session().threads)
        with self.assertRaisesRegex(MemoryError, "at batch 1000000000.*'image'"):
            self.model.session(batch=10**9)
        self.assertEqual(python("""if True:
            import qrt, resource, sys
            model = qrt.Model(sys.argv[1])
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            try:
                model.session(batch=1000000, threads=1)
            except MemoryError as error:
                print(type(error).__name__, "bytes of a session at batch 1000000" in str(error))
            """, EVERY_OP), "OutOfMemoryError True\n")

    def test_wrong_inputs_are_named(self):
        session = self.model.session()
        gate = bytes(16)
        for inputs, kind, message in (
            ({"gate": gate}, ValueError, "input 'image' is missing"),
            ({"gate": gate, "img": b""}, ValueError, "no input 'img': the model's are 'image', 'gate'"),
            ({"image": bytes(1024), "gate": gate, "x": b""}, ValueError,
             "no input 'x': the model's are 'image', 'gate'"),
            ({"image": b"123", "gate": gate}, ValueError, "input 'image' has 1024 bytes, not 3"),
            ({"image": [0.0] * 256, "gate": gate}, TypeError, r"float32 \[1, 8, 8, 4\], not list"),
            ({"image": array.array("d", [0] * 256), "gate": gate}, TypeError,
             r"takes float32 \[1, 8, 8, 4\], not .*"),
            ({"image": array.array("f", [0] * 255), "gate": gate}, ValueError,
             r"takes float32 \[1, 8, 8, 4\], not .* \[255\]"),
            ({0: bytes(1024), "gate": gate}, ValueError, "no input 0: the model's are 'image', 'gate'"),
            ([bytes(1024), gate], TypeError, "a dict of arrays by name, {'image': array, 'gate': array}"),
        ):
            with self.assertRaisesRegex(kind, message):
                session.run(inputs)
        session.run({"image": bytes(1024), "gate": gate})  # and then it runs

    def test_profile(self):
        session = self.model.session(profile=True)
        session.run()
        session.run()
        operators = session.profile()
        self.assertEqual(operators[1]["type"], "Conv2D")
        self.assertRegex(operators[1]["kernel"], "^gemm_")
        self.assertEqual(operators[1]["runs"], 2)
        self.assertGreater(sum(op["total_ns"] for op in operators), 0)
        self.assertEqual(operators[1]["macs"], 8 * 8 * 8 * 9 * 4)
        session.profile_reset()
        self.assertEqual(session.profile()[1]["runs"], 0)
        self.assertGreater(session.memory, 0)

    def test_keep_all_gives_every_tensor(self):
        session = self.model.session(keep_all=True)
        result = session.run()["flat"]
        tensors = session.tensors()
        self.assertGreater(len(tensors), len(session.profile()) - 1)
        self.assertEqual(tensors["conv"].shape, (1, 8, 8, 8))
        self.assertEqual(tensors["flat"].memoryview().tobytes(), result.tobytes())
        with self.assertRaisesRegex(ValueError, "keep_all"):
            self.model.session().tensors()

    def test_states_are_parked(self):
        session, other = self.model.session(threads=1), self.model.session(threads=2)
        self.assertEqual(session.states.names(), ["past", "hidden", "cell"])
        self.assertEqual((session.states["past"].dtype, session.states["past"].shape), ("int16", (1, 10, 3)))
        start = session.get_state()
        self.assertEqual({name: len(state) for name, state in start.items()}, {"past": 60, "hidden": 6, "cell": 12})
        session.run()
        parked = session.get_state()
        self.assertNotEqual(parked, start)
        session.run()
        other.set_state(parked)
        self.assertEqual(other.get_state(), parked)
        other.run()
        self.assertEqual(other.get_state(), session.get_state())
        session.reset()
        self.assertEqual(session.get_state(), start)
        session.set_state({"cell": bytearray(parked["cell"])})
        self.assertEqual(session.get_state(), {**start, "cell": parked["cell"]})
        for wrong, message in (({"cell": parked["cell"], "past": b"1"}, "state 'past' takes 60 bytes, not 1"),
                               ({"cell": bytes(12), "none": b""}, "no state 'none': the model's are 'past', 'hidden', 'cell'")):
            with self.assertRaisesRegex(ValueError, message):
                session.set_state(wrong)
            self.assertEqual(session.get_state()["cell"], parked["cell"])
        session.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            session.get_state()

    def test_close(self):
        with self.model.session() as session:
            view = session.input("gate")
            session.run()
        for use in (session.run, session.reset, lambda: session.input("gate"), session.profile):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        view[0, 0] = 7  # still there
        self.assertEqual(view[0, 0], 7)
        session.close()

    def test_views_outlive_session_and_model(self):
        session = self.model.session()
        inside, outside = session.input("image"), session.output("flat")
        raw, kept = session.inputs["image"].memoryview(), session.outputs["flat"]
        session.run()
        before = outside.tobytes()
        self.model = None
        del session
        gc.collect()
        others = [qrt.Model(EVERY_OP).session() for _ in range(20)]  # would take the memory again
        for other in others:
            other.inputs["image"].assign(b"\x7f" * other.inputs["image"].nbytes)
            other.run()
        self.assertEqual(outside.tobytes(), before)
        raw[0, 0, 0, 0] = 3.5
        self.assertEqual(inside[0, 0, 0, 0], 3.5)
        self.assertEqual(kept.memoryview().tobytes(), before)

    def test_outputs_are_copies_unless_asked(self):
        session = self.model.session()
        views = session.run(copy=False)
        copies = session.run()
        first = copies["flat"].tobytes()
        session.run({"image": bytes(range(256)) * 4, "gate": bytes(range(16))})
        self.assertEqual(copies["flat"].tobytes(), first)
        self.assertEqual(views["flat"].tobytes(), session.output("flat").tobytes())
        self.assertNotEqual(views["flat"].tobytes(), first)
        copies["flat"][0, 0, 0] = 5  # the caller's
        with self.assertRaises((ValueError, TypeError)):
            views["flat"][0, 0, 0] = 5  # read-only

    def test_without_numpy(self):
        """The same bytes through memoryviews, in an interpreter where numpy cannot be imported."""
        code = """if True:
            import sys
            sys.modules["numpy"] = None
            import array, qrt
            session = qrt.Model(sys.argv[1]).session(batch=2)
            view = session.input("gate")
            assert type(view) is memoryview and view.shape == (2, 16) and view.format == "B", view
            image = array.array("f", [(i % 9 - 4) / 8 for i in range(2 * 256)])
            shaped = memoryview(image).cast("B").cast("f", (2, 8, 8, 4))
            gate = bytes(range(32))
            results = [session.run({"image": i, "gate": gate}) for i in (image, shaped, image.tobytes())]
            session.input("image")[1, 0, 0, 0] = 6.0
            results.append(session.run(copy=False))
            for value in (array.array("d", range(512)), array.array("f", range(511)), shaped[:1], [1]):
                try:
                    session.run({"image": value, "gate": gate})
                except (TypeError, ValueError) as error:
                    assert "'image'" in str(error), error
                else:
                    raise AssertionError(value)
            assert results[0]["probabilities"].format == "f"
            print(*((r["flat"].tobytes() + r["probabilities"].tobytes()).hex() for r in results))
            """
        hexes = python(code, EVERY_OP).split()
        self.assertEqual(len(set(hexes)), 2)
        self.assertEqual(hexes[0], hexes[2])
        session = self.model.session(batch=2)
        image = array.array("f", [(i % 9 - 4) / 8 for i in range(2 * 256)])
        result = session.run({"image": image, "gate": bytes(range(32))})
        self.assertEqual((result["flat"].tobytes() + result["probabilities"].tobytes()).hex(), hexes[0])


@needs_numpy
class NumpyTest(unittest.TestCase):

    def test_digits_have_the_bits_of_onnx_runtime(self):
        model, images, logits = digits()
        self.assertEqual(model.reference, "ort-x64-fma")
        session = model.session(batch=360)
        self.assertEqual(session.run({"image": images})["logits"].tobytes(), logits.tobytes())
        session.input("image")[:] = images[::-1]
        self.assertTrue(numpy.array_equal(session.run(copy=False)["logits"], logits[::-1]))

    def test_any_layout_of_an_input(self):
        model, images, logits = digits()
        session = model.session(batch=4)
        wide = numpy.zeros((4, 1, 8, 16), numpy.float32)
        wide[..., ::2] = images[:4]
        fortran = numpy.asfortranarray(images[:4])
        read_only = images[:4].copy()
        read_only.flags.writeable = False
        for value in (wide[..., ::2], fortran, read_only, images[:4][::-1][::-1]):
            self.assertTrue(numpy.array_equal(session.run({"image": value})["logits"], logits[:4]))

    def test_nothing_is_converted_silently(self):
        model, images, _ = digits()
        session = model.session(batch=4)
        with self.assertRaisesRegex(TypeError, r"float32 \[4, 1, 8, 8\], not float64 \[4, 1, 8, 8\]"):
            session.run({"image": images[:4].astype(float)})
        with self.assertRaisesRegex(TypeError, "not >f4"):  # of the other byte order
            session.run({"image": images[:4].astype(">f4")})
        with self.assertRaisesRegex(ValueError, r"not float32 \[5, .*model.session\(batch=5\)"):
            session.run({"image": images[:5]})

    def test_views_are_the_memory_itself(self):
        session = qrt.Model(EVERY_OP).session()
        view = session.input("image")
        self.assertIs(session.input("image"), view)
        self.assertEqual((view.dtype, view.shape), (numpy.float32, (1, 8, 8, 4)))
        self.assertEqual(view.ctypes.data % 64, 0)
        self.assertTrue(numpy.shares_memory(view, session.inputs["image"].memoryview()))
        self.assertFalse(session.output("flat").flags.writeable)
        self.assertTrue(numpy.shares_memory(session.run(copy=False)["flat"], session.output("flat")))


@needs_numpy
class DLPackTest(unittest.TestCase):

    def setUp(self):
        try:
            import ctypes
            ctypes.pythonapi.PyCapsule_New
        except AttributeError:
            self.skipTest("this Python has no capsules")

    def test_shares_the_memory_and_keeps_it(self):
        from qrt import _dlpack
        session = qrt.Model(EVERY_OP).session()
        array_ = numpy.from_dlpack(session.inputs["image"])
        self.assertEqual(array_.ctypes.data, session.input("image").ctypes.data)
        self.assertEqual((array_.shape, array_.dtype), ((1, 8, 8, 4), numpy.float32))
        session.input("image")[0, 1, 2, 3] = 8.5
        del session
        gc.collect()
        self.assertEqual(array_[0, 1, 2, 3], 8.5)
        self.assertEqual(len(_dlpack._exported), 1)
        del array_
        gc.collect()
        self.assertEqual(len(_dlpack._exported), 0)

    def test_capsules_that_nobody_takes_are_released(self):
        from qrt import _dlpack
        tensor = qrt.Model(EVERY_OP).session().outputs["flat"]
        for version in (None, (0, 8), (1, 0)):
            capsule = tensor.__dlpack__(max_version=version)
            self.assertIn("versioned" if version == (1, 0) else '"dltensor"', repr(capsule))
            self.assertEqual(len(_dlpack._exported), 1)
            del capsule
            self.assertEqual(len(_dlpack._exported), 0)
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        with self.assertRaises(BufferError):
            tensor.__dlpack__(dl_device=(2, 0))

    def test_the_end_of_the_interpreter(self):
        """Arrays that live until the end are released then, without a crash."""
        code = ("import numpy, qrt, sys, builtins\n"
                "s = qrt.Model(sys.argv[1]).session(threads=2)\n"
                "builtins.kept = [numpy.from_dlpack(s.inputs[0]), s.output('flat'), "
                "s.inputs[0].__dlpack__()]\n"
                "s.run(); print('end')")
        self.assertEqual(python(code, EVERY_OP), "end\n")


class OverheadTest(unittest.TestCase):

    def test_import_does_not_import_numpy(self):
        # The interpreter's own start may (a .pth file of its packages).
        code = ("import sys; before = set(sys.modules); import qrt;"
                "print({'numpy', 'subprocess', 'typing'} & (set(sys.modules) - before))")
        self.assertEqual(python(code), "set()\n")

    def test_nothing_is_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(python("import qrt, sys; qrt.Model(sys.argv[1]).session().run()", EVERY_OP,
                                    TMPDIR=folder), "")
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
