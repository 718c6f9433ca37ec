#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""integer_outputs.py QRT_RUN MODEL.qrt IN.npy OUT.npy: the first output, row by row (the recogniser's batch is fixed)."""
import pathlib
import subprocess
import sys
import tempfile

import numpy

if len(sys.argv) != 5:
    sys.exit(__doc__)
program, model, rows, to = sys.argv[1:]
outputs = []
with tempfile.TemporaryDirectory() as folder:
    row_file = pathlib.Path(folder) / "row.npy"
    for row in numpy.load(rows, mmap_mode="r"):
        numpy.save(row_file, row[None])
        subprocess.run([program, model, row_file, "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
        outputs.append(numpy.load(pathlib.Path(folder) / "output_0.npy")[0])
numpy.save(to, numpy.stack(outputs))
