# SPDX-License-Identifier: Apache-2.0
"""Classifies a folder of images on many machines, by Dask (Debian: python3-distributed).

    dask-scheduler                                            # on one machine
    dask-worker tcp://scheduler:8786 --nthreads 1 --nworkers auto    # on every machine; qrt is installed there
    python3 images_dask.py mobilenet.qrt photos --scheduler tcp://scheduler:8786

Without --scheduler: on worker processes of this machine. Prints a line per image: file, index of the
greatest output, its value. Model and images travel to the workers: no shared folder is needed. The
bits of the outputs do not depend on which machine computed them.
"""
import argparse
import os

import qrt
from dask.distributed import Client, LocalCluster, get_worker

import images

CHUNK = 32  # images sent to a worker at once


def classify_chunk(chunk, model, mean, std):
    """On a worker. Bytes of image files -> outputs. The session stays for the next chunk."""
    worker = get_worker()
    key = (id(model), mean, std)
    kept_key, classifier = getattr(worker, "qrt_classifier", (None, None))
    if kept_key != key:
        classifier = images.Classifier(model, mean, std)
        worker.qrt_classifier = (key, classifier)
    return [classifier(data) for data in chunk]


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def run(client, model_path, folder, mean=0.0, std=1.0):
    """Yields (path, output) in the order of the files' names."""
    for module in (images.__file__, os.path.abspath(__file__)):
        client.upload_file(module)
    # A model of bytes is sent as it is; one of a path would be looked for on each machine.
    model = client.scatter(qrt.Model(read_file(model_path)), broadcast=True)
    paths = images.files_of(folder)
    chunks = [paths[i:i + CHUNK] for i in range(0, len(paths), CHUNK)]
    futures = [client.submit(classify_chunk, [read_file(path) for path in chunk], model, mean, std,
                             pure=False) for chunk in chunks]
    for chunk, future in zip(chunks, futures):
        yield from zip(chunk, future.result())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    images.add_arguments(parser)
    parser.add_argument("--scheduler", help="address; default: workers of this machine")
    parser.add_argument("--workers", type=int, help="of this machine; default: a process per CPU")
    given = parser.parse_args()
    cluster = given.scheduler or LocalCluster(n_workers=given.workers or qrt.default_threads(),
                                              threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        for path, output in run(client, given.model, given.folder, given.mean, given.std):
            images.print_result(path, output)
