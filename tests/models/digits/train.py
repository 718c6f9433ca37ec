#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small CNN on scikit-learn's copy of the UCI digits, quantises it after training and writes
digits.onnx (QDQ, opset 13), images.npy, labels.npy and accuracy.json beside this file; and, for
qrt_quantize, the float model as PyTorch exports it and images to calibrate it on: float.onnx,
calibration.npy. README.md says how the results in the repository were made."""

import json
import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).parent
SEED = 7
HELD_OUT = 360
CALIBRATION = 200
EPOCHS = 60
BATCH = 64


class Layer(torch.nn.Sequential):
    """Convolution and batch normalisation, with or without a ReLU."""

    def __init__(self, inputs, outputs, kernel, groups=1, relu=True):
        layers = [
            torch.nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False),
            torch.nn.BatchNorm2d(outputs),
        ]
        super().__init__(*layers, *([torch.nn.ReLU()] if relu else []))

    def folded(self):
        """Weights and bias of the convolution with the normalisation folded in."""
        conv, norm = self[0], self[1]
        gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        weights = conv.weight * gain.reshape(-1, 1, 1, 1)
        return weights.detach().numpy(), (norm.bias - norm.running_mean * gain).detach().numpy()


class Digits(torch.nn.Module):
    """x: [n, 1, 8, 8], pixels 0 to 16."""

    def __init__(self):
        super().__init__()
        self.stem = Layer(1, 16, 3)
        self.depthwise1 = Layer(16, 16, 3, groups=16)
        self.pointwise1 = Layer(16, 16, 1, relu=False)
        self.conv2 = Layer(16, 32, 3)
        self.depthwise2 = Layer(32, 32, 3, groups=32)
        self.pointwise2 = Layer(32, 48, 1)
        self.fc = torch.nn.Linear(48, 10)

    def forward(self, x):
        return self.activations(x)["logits"]

    def activations(self, x):
        """Every tensor that is quantised, by name."""
        t = {"image": x}
        t["stem"] = self.stem(x)
        t["depthwise1"] = self.depthwise1(t["stem"])
        t["pointwise1"] = self.pointwise1(t["depthwise1"])
        t["residual"] = torch.relu(t["stem"] + t["pointwise1"])
        t["pool"] = torch.max_pool2d(t["residual"], 2)
        t["conv2"] = self.conv2(t["pool"])
        t["depthwise2"] = self.depthwise2(t["conv2"])
        t["pointwise2"] = self.pointwise2(t["depthwise2"])
        t["mean"] = t["pointwise2"].mean((2, 3), keepdim=True)
        t["logits"] = self.fc(t["mean"].flatten(1))
        return t


def train(images, labels):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = Digits()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
    steps = EPOCHS * -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=1e-2, total_steps=steps)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images)).split(BATCH):
            x = images[chosen]
            # Moved by up to one pixel in either direction.
            dy, dx = torch.randint(-1, 2, (2,)).tolist()
            x = torch.nn.functional.pad(x, (1, 1, 1, 1))[:, :, 1 + dy : 9 + dy, 1 + dx : 9 + dx]
            loss = torch.nn.functional.cross_entropy(model(x), labels[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return model.eval()


class Quantiser:
    """Writes a QDQ graph: uint8 activations per tensor, int8 weights per output channel, int32 biases."""

    def __init__(self, ranges):
        self.ranges = ranges
        self.nodes, self.constants = [], []
        self.scales = {}

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def activation(self, value, name, like=None):
        """value -> Q -> DQ, with the calibrated range of `name`, or the parameters of tensor `like`."""
        if like is None:
            low, high = self.ranges[name]
            low, high = min(low, 0.0), max(high, 0.0)
            scale = np.float32((high - low) / 255)
            zero_point = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
            parameters = [
                self.constant(f"{name}.scale", scale),
                self.constant(f"{name}.zero_point", zero_point),
            ]
            self.scales[name] = (scale, parameters)
        else:
            self.scales[name] = self.scales[like]
        parameters = self.scales[name][1]
        quantised = self.node("QuantizeLinear", [value, *parameters], f"{name}.q")
        return self.node("DequantizeLinear", [quantised, *parameters], f"{name}.dq")

    def weights(self, name, weights, bias, input_name):
        """The DQ nodes of a layer's weights [out, ...] and bias [out]."""
        reach = np.abs(weights.reshape(len(weights), -1)).max(axis=1)
        scale = (reach / 127).astype(np.float32)
        columns = scale.reshape(-1, *[1] * (weights.ndim - 1))
        q = np.clip(np.rint(weights / columns), -127, 127).astype(np.int8)
        bias_scale = (self.scales[input_name][0] * scale).astype(np.float32)
        q_bias = np.rint(bias.astype(np.float64) / bias_scale).astype(np.int32)
        outputs = []
        for part, values, s, dtype in (
            ("weights", q, scale, np.int8),
            ("bias", q_bias, bias_scale, np.int32),
        ):
            inputs = [
                self.constant(f"{name}.{part}", values),
                self.constant(f"{name}.{part}.scale", s),
                self.constant(f"{name}.{part}.zero_point", np.zeros(len(s), dtype)),
            ]
            outputs.append(self.node("DequantizeLinear", inputs, f"{name}.{part}.dq", axis=0))
        return outputs

    def conv(self, layer, name, x, input_name, relu=True):
        weights, bias = layer.folded()
        kernel = weights.shape[2]
        y = self.node(
            "Conv",
            [x, *self.weights(name, weights, bias, input_name)],
            f"{name}.conv",
            kernel_shape=[kernel, kernel],
            pads=[kernel // 2] * 4,
            group=layer[0].groups,
        )
        if relu:
            y = self.node("Relu", [y], f"{name}.relu")
        return self.activation(y, name)


def quantise(model, calibration):
    with torch.no_grad():
        ranges = {
            name: (float(t.min()), float(t.max()))
            for name, t in model.activations(calibration).items()
        }
    q = Quantiser(ranges)
    image = q.activation("image", "image")
    stem = q.conv(model.stem, "stem", image, "image")
    x = q.conv(model.depthwise1, "depthwise1", stem, "stem")
    x = q.conv(model.pointwise1, "pointwise1", x, "depthwise1", relu=False)
    x = q.node("Add", [stem, x], "residual.add")
    x = q.activation(q.node("Relu", [x], "residual.relu"), "residual")
    x = q.node("MaxPool", [x], "pool.max", kernel_shape=[2, 2], strides=[2, 2])
    x = q.activation(x, "pool", like="residual")
    x = q.conv(model.conv2, "conv2", x, "pool")
    x = q.conv(model.depthwise2, "depthwise2", x, "conv2")
    x = q.conv(model.pointwise2, "pointwise2", x, "depthwise2")
    x = q.activation(q.node("GlobalAveragePool", [x], "mean.average"), "mean")
    x = q.activation(q.node("Flatten", [x], "features.flatten", axis=1), "features", like="mean")
    weights, bias = model.fc.weight.detach().numpy(), model.fc.bias.detach().numpy()
    x = q.node("Gemm", [x, *q.weights("fc", weights, bias, "features")], "fc.gemm", transB=1)
    logits = q.activation(x, "logits")
    q.nodes[-1].output[0] = "logits"
    q.nodes[-1].name = logits

    graph = helper.make_graph(
        q.nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        q.constants,
    )
    onnx_model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="qrt tests/models/digits"
    )
    onnx_model.ir_version = 7
    onnx.checker.check_model(onnx_model, full_check=True)
    return onnx_model


def export_float(model, image):
    torch.onnx.export(
        model,
        image,
        HERE / "float.onnx",
        opset_version=13,
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
    )


def main():
    data = load_digits()
    images = data.images.astype(np.float32).reshape(-1, 1, 8, 8)
    labels = data.target.astype(np.int64)
    images, held_images, labels, held_labels = train_test_split(
        images, labels, test_size=HELD_OUT, random_state=SEED, stratify=labels
    )
    images = torch.from_numpy(images)
    model = train(images, torch.from_numpy(labels))
    with torch.no_grad():
        predicted = model(torch.from_numpy(held_images)).argmax(1).numpy()
    correct = int((predicted == held_labels).sum())

    export_float(model, images[:1])
    np.save(HERE / "calibration.npy", images[:CALIBRATION].numpy())
    onnx.save(quantise(model, images), HERE / "digits.onnx")
    np.save(HERE / "images.npy", held_images)
    np.save(HERE / "labels.npy", held_labels.astype(np.uint8))
    summary = {"images": HELD_OUT, "float_correct": correct, "float_accuracy": correct / HELD_OUT}
    (HERE / "accuracy.json").write_text(json.dumps(summary, indent=2) + "\n")
    print(summary)


if __name__ == "__main__":
    main()
