# SPDX-License-Identifier: Apache-2.0
"""Networks for images: static quantisation with QuantizeLinear and DequantizeLinear pairs, QLinear operators, and dynamic quantisation."""

import numpy as np
from onnx import numpy_helper

from graph import FLOAT, INT64, Graph


class Pairs(Graph):
    """A graph as quantize_static writes it: a pair behind each activation, uint8; weights int8 per channel, biases int32."""

    def scales(self, low, high):
        scale = np.float32((high - low) / 255)
        return self.init('scale', scale), self.init('zero_point', np.uint8(np.rint(-low / scale)))

    def pair(self, value, low=-4.0, high=4.0):
        scale, zero = self.scales(low, high)
        self.last = float(numpy_helper.to_array(self.initializers[-2]))
        return self.op('DequantizeLinear', self.op('QuantizeLinear', value, scale, zero), scale, zero)

    def layer(self, value, kind, array, name, low=-4.0, high=4.0, activation=None, axis=0, **attributes):
        """A convolution or Gemm of dequantised weights and bias, its activation, and a pair."""
        with self.scope(name):
            source = self.last
            scale = (np.abs(array).max(axis=tuple(i for i in range(array.ndim) if i != axis)) / 127).astype(np.float32)
            shape = [-1 if i == axis else 1 for i in range(array.ndim)]
            quantised = np.clip(np.rint(array / scale.reshape(shape)), -127, 127).astype(np.int8)
            weights = self.op('DequantizeLinear', self.init('weight_quantized', quantised), self.init('weight_scale', scale),
                              self.init('weight_zero_point', np.zeros(len(scale), np.int8)), axis=axis)
            bias_scale = scale * np.float32(source)
            bias = np.rint(self.normal(len(scale), scale=0.1) / bias_scale).astype(np.int32)
            bias = self.op('DequantizeLinear', self.init('bias_quantized', bias), self.init('bias_scale', bias_scale),
                           self.init('bias_zero_point', np.zeros(len(scale), np.int32)), axis=0)
            value = self.op(kind, value, weights, bias, **attributes)
            if activation:
                value = self.op(activation, value)
            return self.pair(value, low, high)


def window(size, stride=1, group=1):
    return {'kernel_shape': [size, size], 'strides': [stride, stride], 'pads': [size // 2] * 4, 'dilations': [1, 1], 'group': group}


def images(*shapes, name='input'):
    random = np.random.RandomState(5)
    return [{name: random.uniform(-1, 1, shape).astype(np.float32)} for shape in shapes]


def resnet():
    """ResNet-50's stem, a bottleneck with a shortcut of its own, one without, and its head."""
    g = Pairs(13, seed=60)
    x = g.pair(g.input('data', FLOAT, ['N', 3, 32, 32]), -1.0, 1.0)
    x = g.layer(x, 'Conv', g.normal(8, 3, 7, 7), 'conv0', 0.0, 4.0, 'Relu', **window(7, 2))
    x = g.op('MaxPool', x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = g.pair(x, 0.0, 4.0)
    for i, stride in enumerate((2, 1)):
        with g.scope(f'stage{i}'):
            first, scale = x, g.last
            y = g.layer(x, 'Conv', g.normal(8, 16 if i else 8, 1, 1), 'conv0', 0.0, 3.0, 'Relu', **window(1))
            y = g.layer(y, 'Conv', g.normal(8, 8, 3, 3), 'conv1', 0.0, 3.0, 'Relu', **window(3, stride))
            y = g.layer(y, 'Conv', g.normal(16, 8, 1, 1), 'conv2', -3.0, 3.0, **window(1))
            if not i:
                g.last = scale
                first = g.layer(first, 'Conv', g.normal(16, 8, 1, 1), 'conv3', -3.0, 3.0, **window(1, stride))
            x = g.pair(g.op('Relu', g.op('Add', y, first)), 0.0, 4.0)
    x = g.pair(g.op('GlobalAveragePool', x), 0.0, 4.0)
    x = g.pair(g.op('Flatten', x, axis=1), 0.0, 4.0)
    x = g.layer(x, 'Gemm', g.normal(10, 16), 'dense0', alpha=1.0, beta=1.0, transB=1)
    g.output('output', x, FLOAT, ['N', 10])
    return g.model(), images((1, 3, 32, 32), (3, 3, 32, 32), name='data')


def mobilenet():
    """Expansion, depthwise convolution and projection, with ReLU6 as Clip."""
    g = Pairs(13, seed=61)
    x = g.pair(g.input('input', FLOAT, ['batch_size', 3, 32, 32]), -1.0, 1.0)

    def clipped(x, array, name, **attributes):
        return g.layer(x, 'Conv', array, name, 0.0, 6.0, 'Relu', **attributes)
    x = clipped(x, g.normal(8, 3, 3, 3), 'features.0', **window(3, 2))
    for i in range(2):
        first = x
        y = clipped(x, g.normal(24, 8, 1, 1), f'features.{i + 1}.conv.0', **window(1))
        y = clipped(y, g.normal(24, 1, 3, 3), f'features.{i + 1}.conv.1', **window(3, 1, 24))
        y = g.layer(y, 'Conv', g.normal(8, 24, 1, 1), f'features.{i + 1}.conv.2', **window(1))
        x = g.pair(g.op('Add', first, y), -4.0, 8.0)
    x = g.pair(g.reduce('ReduceMean', x, [2, 3], keepdims=0), -4.0, 8.0)
    x = g.layer(x, 'Gemm', g.normal(10, 8), 'classifier.1', alpha=1.0, beta=1.0, transB=1)
    g.output('output', x, FLOAT, ['batch_size', 10])
    return g.model(), images((1, 3, 32, 32), (2, 3, 32, 32))


def detector_head(g, x, name, boxes, outputs):
    """[batch, outputs * boxes, height, width] as [batch, positions, outputs]"""
    y = g.layer(x, 'Conv', g.normal(outputs * boxes, 8, 3, 3), name, **window(3))
    y = g.op('Transpose', y, perm=[0, 2, 3, 1])
    return g.op('Reshape', y, g.const([1, -1, outputs]))


def ultraface():
    """RFB-320's form: depthwise pairs, two heads, a Softmax of scores and boxes decoded against constants."""
    g = Pairs(13, seed=62)
    x = g.pair(g.input('input', FLOAT, [1, 3, 24, 32]), -1.0, 1.0)
    x = g.layer(x, 'Conv', g.normal(8, 3, 3, 3), 'base_net.0', 0.0, 4.0, 'Relu', **window(3, 2))
    x = g.layer(x, 'Conv', g.normal(8, 1, 3, 3), 'base_net.1', 0.0, 4.0, 'Relu', **window(3, 2, 8))
    x = g.layer(x, 'Conv', g.normal(8, 8, 1, 1), 'base_net.2', 0.0, 4.0, 'Relu', **window(1))
    scores = g.pair(g.op('Softmax', detector_head(g, x, 'classification_headers.0', 3, 2), axis=2), 0.0, 1.0)
    places = detector_head(g, x, 'regression_headers.0', 3, 4)
    priors = g.normal(1, 6 * 8 * 3, 4, scale=0.5)
    centres = g.op('Add', g.op('Mul', g.slice(places, 0, 2, 2), g.init('sizes', np.abs(priors[..., 2:]) * np.float32(0.1))), g.init('centres', priors[..., :2]))
    sizes = g.op('Mul', g.op('Exp', g.op('Mul', g.slice(places, 2, 4, 2), g.const(0.2))), g.init('sizes', np.abs(priors[..., 2:])))
    halves = g.op('Div', sizes, g.const(2.0))
    g.output('scores', scores, FLOAT, [1, 144, 2])
    g.output('boxes', g.op('Concat', g.op('Sub', centres, halves), g.op('Add', centres, halves), axis=2), FLOAT, [1, 144, 4])
    return g.model(), images((1, 3, 24, 32))


def yunet():
    """Heads of three strides beside each other: scores through Sigmoid, boxes and points as they are; Resize by 2 and Add."""
    g = Pairs(13, seed=63)
    x = g.pair(g.input('input', FLOAT, [1, 3, 'height', 'width']), -1.0, 1.0)
    x = g.layer(x, 'Conv', g.normal(8, 3, 3, 3), 'backbone.0', 0.0, 4.0, 'Relu', **window(3, 2))
    fine = g.layer(x, 'Conv', g.normal(8, 1, 3, 3), 'backbone.1', 0.0, 4.0, 'Relu', **window(3, 2, 8))
    scale = g.last
    coarse = g.op('MaxPool', fine, kernel_shape=[2, 2], strides=[2, 2])
    coarse = g.layer(g.pair(coarse, 0.0, 4.0), 'Conv', g.normal(8, 8, 1, 1), 'backbone.2', 0.0, 4.0, 'Relu', **window(1))
    up = g.op('Resize', coarse, '', g.const(np.float32([1, 1, 2, 2])), mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    fine = g.pair(g.op('Add', g.pair(up, 0.0, 4.0), fine), 0.0, 8.0)
    scale = g.last
    for stride, x in ((8, fine), (16, coarse)):
        for name, width in (('cls', 1), ('obj', 1), ('bbox', 4), ('kps', 10)):
            g.last = scale if stride == 8 else float(np.float32(4 / 255))
            y = detector_head(g, x, f'{name}_{stride}_head', 1, width)
            if width == 1:
                y = g.pair(g.op('Sigmoid', y), 0.0, 1.0)
            g.output(f'{name}_{stride}', y, FLOAT, [1, 'positions', width])
    return g.model(), images((1, 3, 32, 32), (1, 3, 48, 80))


def text_detector():
    """PP-OCR's detector: a pyramid joined at the size of its finest map, then two transposed convolutions up to the image's size."""
    g = Pairs(13, seed=64)
    x = g.pair(g.input('x', FLOAT, [1, 3, 'height', 'width']), -1.0, 1.0)
    fine = g.layer(x, 'Conv', g.normal(8, 3, 3, 3), 'conv2d_0', 0.0, 4.0, 'Relu', **window(3, 2))
    fine = g.layer(fine, 'Conv', g.normal(8, 8, 3, 3), 'conv2d_1', 0.0, 4.0, 'Relu', **window(3, 2))
    coarse = g.layer(fine, 'Conv', g.normal(8, 8, 3, 3), 'conv2d_2', 0.0, 4.0, 'Relu', **window(3, 2))
    up = g.op('Resize', coarse, '', g.const(np.float32([1, 1, 2, 2])), mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    x = g.pair(g.op('Concat', g.pair(up, 0.0, 4.0), fine, axis=1), 0.0, 4.0)
    x = g.layer(x, 'Conv', g.normal(8, 16, 3, 3), 'conv2d_3', 0.0, 4.0, 'Relu', **window(3))
    x = g.layer(x, 'ConvTranspose', g.normal(8, 8, 2, 2, scale=0.3), 'conv2d_transpose_0', 0.0, 4.0, 'Relu', axis=1, kernel_shape=[2, 2], strides=[2, 2])
    x = g.layer(x, 'ConvTranspose', g.normal(8, 1, 2, 2, scale=0.3), 'conv2d_transpose_1', axis=1, kernel_shape=[2, 2], strides=[2, 2])
    g.output('sigmoid_0.tmp_0', g.pair(g.op('Sigmoid', x), 0.0, 1.0), FLOAT, [1, 1, 'height', 'width'])
    return g.model(), images((1, 3, 32, 64), (1, 3, 64, 96), name='x')


def crnn(quantised=('MatMul', 'Conv')):
    """Convolutions down to one row of features, two LSTMs of both directions, a product for each step."""
    g = Graph(14, weights='uint8', quantised=quantised, seed=65)
    x = g.input('input', FLOAT, [1, 1, 16, 'width'])
    for i, (a, b) in enumerate(((1, 8), (8, 16))):
        x = g.op('Relu', g.conv(x, f'cnn/conv{i}', g.normal(b, a, 3, 3), **window(3)))
        x = g.op('MaxPool', x, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0])
    x = g.op('MaxPool', x, kernel_shape=[4, 1], strides=[4, 1])
    x = g.op('Transpose', g.squeeze(x, 2), perm=[2, 0, 1])
    for i in range(2):
        size, inputs = 12, 16 if not i else 24
        x = g.op('LSTM', x, g.init('W', g.normal(2, 4 * size, inputs, scale=0.3)), g.init('R', g.normal(2, 4 * size, size, scale=0.3)),
                 g.init('B', g.normal(2, 8 * size, scale=0.1)), hidden_size=size, direction='bidirectional', outputs=3)[0]
        x = g.op('Reshape', g.op('Transpose', x, perm=[0, 2, 1, 3]), g.const([0, 0, -1]))
    g.output('output', g.linear(x, 24, 20, 'rnn/embedding'), FLOAT, ['width // 4', 1, 20])
    return g.model(), images((1, 1, 16, 32), (1, 1, 16, 100))


def yolo():
    """YOLOv8n: C2f blocks, SPPF, an upsampling neck, boxes by a Softmax over 16 distances, anchors that the run computes."""
    g = Graph(17, weights='uint8', quantised=('MatMul', 'Conv'), seed=66)
    x = g.input('images', FLOAT, ['batch', 3, 'height', 'width'])
    count = [0]

    def conv(x, a, b, size=3, stride=1, act=True):
        count[0] += 1
        y = g.conv(x, f'model.{count[0]}/conv', g.normal(b, a, size, size), **window(size, stride))
        return g.silu(y) if act else y

    def c2f(x, width):
        y = conv(x, width, width, 1)
        left, right = g.op('Split', y, g.const([width // 2] * 2), axis=1, outputs=2)
        z = g.op('Add', right, conv(conv(right, width // 2, width // 2), width // 2, width // 2))
        return conv(g.op('Concat', left, right, z, axis=1), width // 2 * 3, width, 1)
    x = conv(conv(x, 3, 8, 3, 2), 8, 16, 3, 2)
    fine = c2f(x, 16)
    x = conv(conv(fine, 16, 16, 3, 2), 16, 8, 1)
    parts = [x]
    for _ in range(3):
        parts.append(g.op('MaxPool', parts[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    coarse = conv(g.op('Concat', *parts, axis=1), 32, 16, 1)
    up = g.op('Resize', coarse, '', g.const(np.float32([1, 1, 2, 2])), mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    fine = c2f(conv(g.op('Concat', up, fine, axis=1), 32, 16, 1), 16)
    classes, maps, anchors, strides = 5, [], [], []
    for stride, y in ((4, fine), (8, coarse)):
        boxes, scores = conv(y, 16, 64, 1, act=False), conv(y, 16, classes, 1, act=False)
        both = g.op('Concat', boxes, scores, axis=1)
        maps.append(g.reshape(both, g.size(both, 0), 64 + classes, -1))
        high, wide = g.size(y, 2), g.size(y, 3)
        columns, rows = (g.op('Add', g.op('Cast', g.range(n), to=FLOAT), g.const(0.5)) for n in (wide, high))
        grid = [g.op('Expand', g.op('Reshape', part, g.const(shape)), g.dims(high, wide)) for part, shape in ((columns, [1, -1]), (rows, [-1, 1]))]
        grid = g.op('Concat', *[g.unsqueeze(part, -1) for part in grid], axis=-1)
        anchors.append(g.op('Reshape', grid, g.const([-1, 2])))
        strides.append(g.op('Expand', g.const([[float(stride)]]), g.dims(g.op('Mul', high, wide), 1)))
    joined = g.op('Concat', *maps, axis=2)
    boxes, scores = g.op('Split', joined, g.const([64, classes]), axis=1, outputs=2)
    anchors = g.unsqueeze(g.op('Transpose', g.op('Concat', *anchors, axis=0), perm=[1, 0]), 0)
    strides = g.op('Transpose', g.op('Concat', *strides, axis=0), perm=[1, 0])
    y = g.op('Transpose', g.reshape(boxes, g.size(boxes, 0), 4, 16, g.size(boxes, 2)), perm=[0, 2, 1, 3])
    with g.scope('dfl'):
        y = g.conv(g.op('Softmax', y, axis=1), 'conv', np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1), bias=False, **window(1))
    y = g.reshape(y, g.size(boxes, 0), 4, g.size(boxes, 2))
    near, far = g.slice(y, 0, 2, 1), g.slice(y, 2, 4, 1)
    near, far = g.op('Sub', anchors, near), g.op('Add', anchors, far)
    box = g.op('Concat', g.op('Div', g.op('Add', near, far), g.const(2.0)), g.op('Sub', far, near), axis=1)
    y = g.op('Concat', g.op('Mul', box, strides), g.op('Sigmoid', scores), axis=1)
    g.output('output0', y, FLOAT, ['batch', 4 + classes, 'anchors'])
    return g.model(), images((1, 3, 32, 32), (2, 3, 48, 64), name='images')


MODELS = {'resnet': resnet, 'mobilenet': mobilenet, 'ultraface': ultraface, 'yunet': yunet, 'text_detector': text_detector, 'crnn': crnn, 'yolo': yolo}
FLAGS = {'ultraface': ['--allow-float']}
DECIBELS = 30  # A rounding of a pair that falls to the other side is one step of 255.
