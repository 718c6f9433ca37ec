# SPDX-License-Identifier: Apache-2.0
"""Classifies a folder of images on all cores of this machine, a process for each.

    python3 images_multiprocessing.py mobilenet.qrt photos --mean 127.5 --std 127.5

Prints a line per image: file, index of the greatest output, its value.
"""
import argparse
import multiprocessing

import qrt

import images

_classifier = None  # of this process


def start(model_path, mean, std):
    """In each worker: a session cannot be sent there, and one made before a fork has no threads there."""
    global _classifier
    _classifier = images.Classifier(qrt.Model(model_path), mean, std)


def classify(path):
    with open(path, "rb") as file:
        return path, _classifier(file.read())


def run(model_path, folder, mean=0.0, std=1.0, processes=None):
    """Yields (path, output) in the order of the files' names."""
    processes = processes or qrt.default_threads()
    with multiprocessing.Pool(processes, start, (model_path, mean, std)) as pool:
        yield from pool.imap(classify, images.files_of(folder), chunksize=8)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    images.add_arguments(parser)
    parser.add_argument("--processes", type=int, help="default: the CPUs this process may use")
    given = parser.parse_args()
    for path, output in run(given.model, given.folder, given.mean, given.std, given.processes):
        images.print_result(path, output)
