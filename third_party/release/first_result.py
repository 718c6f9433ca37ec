# SPDX-License-Identifier: Apache-2.0
"""Runs the 360 images in the folder by the installed package qrt, and compares the results with ONNX Runtime's. Converts the model by
the package, too, where digits.qrt is not there."""
import os

import qrt

if not os.path.exists("digits.qrt"):
    qrt.convert("digits.onnx", "digits.qrt")
with open("images.npy", "rb") as images, open("logits.npy", "rb") as logits:
    scores = qrt.Model("digits.qrt").session(batch=360).run({"image": images.read()[-92160:]})["logits"]
    assert bytes(scores) == logits.read()[-14400:]
