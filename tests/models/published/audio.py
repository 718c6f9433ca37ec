# SPDX-License-Identifier: Apache-2.0
"""Small networks for sound, in float: voice activity with If and LSTM states, and speaker segmentation with LSTMs."""

import numpy as np
from onnx import helper

from graph import FLOAT, INT64, Graph

WIDTH = 16


def branch(rate, window, stride):
    """One sample rate of Silero VAD, as a graph of its own names: a Fourier transform as Conv, an encoder, an LSTM step, a head."""
    g = Graph(16, seed=rate, quantised=())
    g.scopes.append(f'rate{rate}')
    bins = window // 2 + 1
    x = g.op('Pad', g.unsqueeze('input', 1), g.const([0, 0, 0, 0, 0, window // 4]), mode='reflect')
    x = g.conv(x, 'stft', g.normal(2 * bins, 1, window), bias=False, dilations=[1], group=1, pads=[0, 0], strides=[stride])
    real, imaginary = g.slice(x, 0, bins, 1), g.slice(x, bins, 2 ** 63 - 1, 1)
    x = g.op('Sqrt', g.op('Add', g.op('Pow', real, g.const(2.0)), g.op('Pow', imaginary, g.const(2.0))))
    for i, step in enumerate((1, 2, 2)):
        x = g.op('Relu', g.conv(x, f'encoder.{i}', g.normal(WIDTH, WIDTH if i else bins, 3), dilations=[1], group=1, pads=[1, 1], strides=[step]))
    x = g.op('Transpose', x, perm=[2, 0, 1])
    h, c = g.op('Split', 'state', g.const([1, 1]), axis=0, outputs=2)
    y, h, c = g.op('LSTM', x, g.init('W', g.normal(1, 4 * WIDTH, WIDTH, scale=0.3)), g.init('R', g.normal(1, 4 * WIDTH, WIDTH, scale=0.3)),
                   g.init('B', g.normal(1, 8 * WIDTH, scale=0.1)), '', h, c, hidden_size=WIDTH, outputs=3)
    y = g.op('Transpose', g.op('Relu', g.squeeze(y, 1)), perm=[1, 2, 0])
    y = g.op('Sigmoid', g.conv(y, 'decoder', g.normal(1, WIDTH, 1), dilations=[1], group=1, pads=[0, 0], strides=[1]))
    results = [g.op('ReduceMean', y, axes=[2], keepdims=0), g.op('Concat', h, c, axis=0)]
    outputs = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in zip(results, (['batch', 1], [2, 'batch', WIDTH]))]
    return helper.make_graph(g.nodes, f'branch{rate}', [], outputs, g.initializers)


def silero():
    """Silero VAD's form: the sample rate of the run chooses a branch."""
    g = Graph(16, quantised=())
    g.input('input', FLOAT, ['batch', 'sequence'])
    g.input('state', FLOAT, [2, 'batch', WIDTH])
    rate = g.input('sr', INT64, [])
    y, state = g.op('If', g.op('Equal', rate, g.const(16000)), then_branch=branch(16000, 64, 32), else_branch=branch(8000, 32, 16), outputs=2)
    g.output('output', y, FLOAT, ['batch', 1])
    g.output('stateN', state, FLOAT, [2, 'batch', WIDTH])
    random = np.random.RandomState(1)
    return g.model(), [{'input': random.standard_normal((b, n)).astype(np.float32), 'state': random.standard_normal((2, b, WIDTH)).astype(np.float32),
                        'sr': np.array(rate)} for b, n, rate in ((1, 512, 16000), (1, 512, 8000))]


def pyannote(quantised=()):
    """Segmentation 3.0: filters of sound by their size, InstanceNormalization, two LSTMs of both directions, classes by LogSoftmax."""
    g = Graph(13, weights='uint8', quantised=quantised, seed=90)
    x = g.input('x', FLOAT, ['N', 1, 'T'])
    with g.scope('sincnet'):
        x = g.op('InstanceNormalization', x, g.init('weight', np.ones(1, np.float32)), g.init('bias', np.zeros(1, np.float32)), epsilon=1e-5)
        for i, (a, b, size, stride) in enumerate(((1, 16, 31, 10), (16, 12, 5, 1), (12, 12, 5, 1))):
            x = g.conv(x, f'conv1d.{i}', g.normal(b, a, size), bias=bool(i), dilations=[1], group=1, pads=[0, 0], strides=[stride])
            x = g.op('MaxPool', x if i else g.op('Abs', x), kernel_shape=[3], strides=[3], pads=[0, 0])
            x = g.op('InstanceNormalization', x, g.init('weight', np.ones(b, np.float32)), g.init('bias', np.zeros(b, np.float32)), epsilon=1e-5)
            x = g.op('LeakyRelu', x, alpha=0.01)
    x = g.op('Transpose', x, perm=[2, 0, 1])
    for i in range(2):
        inputs = 12 if not i else 2 * WIDTH
        with g.scope(f'lstm.{i}'):
            x = g.op('LSTM', x, g.init('W', g.normal(2, 4 * WIDTH, inputs, scale=0.3)), g.init('R', g.normal(2, 4 * WIDTH, WIDTH, scale=0.3)),
                     g.init('B', g.normal(2, 8 * WIDTH, scale=0.1)), hidden_size=WIDTH, direction='bidirectional', outputs=3)[0]
            x = g.op('Reshape', g.op('Transpose', x, perm=[0, 2, 1, 3]), g.const([0, 0, -1]))
    x = g.op('Transpose', x, perm=[1, 0, 2])
    for i in range(2):
        x = g.op('LeakyRelu', g.linear(x, 2 * WIDTH, 2 * WIDTH, f'linear.{i}'), alpha=0.01)
    g.output('y', g.op('LogSoftmax', g.linear(x, 2 * WIDTH, 7, 'classifier'), axis=-1), FLOAT, ['N', 'frames', 7])
    random = np.random.RandomState(3)
    return g.model(), [{'x': random.standard_normal((b, 1, n)).astype(np.float32)} for b, n in ((1, 4000), (1, 4000))]


def pyannote_int8():
    return pyannote(('MatMul', 'Conv'))


MODELS = {'silero': silero, 'pyannote': pyannote, 'pyannote_int8': pyannote_int8}
FLAGS = {'silero': ['--allow-float', '--input-shape', 'input=1x512', '--input-shape', f'state=2x1x{WIDTH}'],
         'pyannote': ['--allow-float', '--input-shape', 'x=1x1x4000'], 'pyannote_int8': ['--input-shape', 'x=1x1x4000']}
