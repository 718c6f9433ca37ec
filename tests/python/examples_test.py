# SPDX-License-Identifier: Apache-2.0
"""The examples of runtime/examples: other processes and other machines give the bytes of a loop."""
import os
import sys
import tempfile
import unittest

import qrt
from support import DIGITS, ROOT, needs_numpy, numpy

EXAMPLES = os.path.join(ROOT, "runtime", "examples")
sys.path.insert(0, EXAMPLES)
COUNT = 100
STD = 15.0  # pixels 0..16 of digits as 0..240 of PNG


def missing(module):
    try:
        __import__(module)
    except ImportError:
        return True
    return False


@needs_numpy
@unittest.skipIf(missing("PIL"), "Pillow is not installed (Debian: python3-pil)")
class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        from PIL import Image
        cls.folder_object = tempfile.TemporaryDirectory()
        cls.folder = cls.folder_object.name
        cls.model = os.path.join(cls.folder, "digits.qrt")
        qrt.convert(os.path.join(DIGITS, "digits.onnx"), cls.model)
        images = numpy.load(os.path.join(DIGITS, "images.npy"))[:COUNT]
        for i, image in enumerate(images):
            pixels = (image[0] * STD).astype(numpy.uint8)
            Image.fromarray(pixels).save(os.path.join(cls.folder, f"{i:03}.png"))
        cls.expected = numpy.load(os.path.join(DIGITS, "logits.npy"))[:COUNT]

    @classmethod
    def tearDownClass(cls):
        cls.folder_object.cleanup()

    def loop(self):
        import images
        classifier = images.Classifier(qrt.Model(self.model), std=STD)
        result = []
        for path in images.files_of(self.folder):
            with open(path, "rb") as file:
                result.append((path, classifier(file.read())))
        return result

    def check(self, found):
        self.assertEqual([path for path, _ in found],
                         [os.path.join(self.folder, f"{i:03}.png") for i in range(COUNT)])
        bytes_ = [output.tobytes() for _, output in found]
        self.assertEqual(bytes_, [output.tobytes() for _, output in self.loop()])
        self.assertEqual(b"".join(bytes_), self.expected.tobytes())  # and of ONNX Runtime

    def test_multiprocessing(self):
        import images_multiprocessing
        self.check(list(images_multiprocessing.run(self.model, self.folder, std=STD, processes=2)))

    @unittest.skipIf(missing("dask.distributed"),
                     "Dask is not installed (Debian: python3-distributed)")
    def test_dask_with_two_workers(self):
        import images_dask
        from dask.distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                self.check(list(images_dask.run(client, self.model, self.folder, std=STD)))
                self.assertEqual(len(client.scheduler_info()["workers"]), 2)


if __name__ == "__main__":
    unittest.main()
