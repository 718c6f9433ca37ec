# SPDX-License-Identifier: Apache-2.0
"""icefall's zipformer as its export-onnx scripts write it: streaming with states in and out, and offline with lengths."""

import numpy as np

from graph import BOOL, FLOAT, INT64, Graph

BINS, WIDTH, HEADS, LEFT, KERNEL, CHANNELS = 16, 32, 4, 8, 5, 8
EACH = WIDTH // HEADS


def swoosh(g, x, shift, slope, offset):
    """log(1 + exp(x - shift)) - slope * x - offset, by max and log of sums as logaddexp_onnx has it"""
    y = g.op('Sub', x, g.const(shift))
    zero = g.const(0.0)
    distance = g.op('Sub', zero, y)
    sums = g.op('Log', g.op('Add', g.op('Exp', g.op('Neg', g.op('Abs', distance))), g.const(1.0)))
    y = g.op('Add', g.op('Max', zero, y), sums)
    return g.op('Sub', g.op('Sub', y, g.op('Mul', x, g.const(slope))), g.const(offset))


def swoosh_l(g, x):
    return swoosh(g, x, 4.0, 0.08, 0.035)


def swoosh_r(g, x):
    return swoosh(g, x, 1.0, 0.08, 0.313261687)


def bias_norm(g, x):
    """x times exp(scale) over the root of the mean square of x less a bias"""
    with g.scope('norm'):
        centred = g.op('Sub', x, g.init('bias', g.normal(WIDTH, scale=0.1)))
        power = g.reduce('ReduceMean', g.op('Pow', centred, g.const(2.0)), [-1])
        scale = g.op('Mul', g.op('Pow', power, g.const(-0.5)), g.init('log_scale_exp', np.float32([1.2])))
        return g.op('Mul', x, scale)


def front_end(g, x):
    """Two convolutions over frames and bins; frames are halved, bins quartered. [batch, frames, WIDTH]"""
    with g.scope('encoder_embed'):
        y = g.unsqueeze(x, 1)
        y = swoosh_r(g, g.conv(y, 'conv.0', g.normal(CHANNELS, 1, 3, 3), dilations=[1, 1], group=1, pads=[0, 1, 0, 1], strides=[1, 1]))
        y = swoosh_r(g, g.conv(y, 'conv.4', g.normal(CHANNELS, CHANNELS, 3, 3), dilations=[1, 1], group=1, pads=[0, 1, 0, 1], strides=[2, 4]))
        y = g.op('Transpose', y, perm=[0, 2, 1, 3])
        y = g.reshape(y, g.size(y, 0), g.size(y, 1), CHANNELS * BINS // 4)
        return bias_norm(g, g.linear(y, CHANNELS * BINS // 4, WIDTH, 'out'))


def attention_weights(g, x, past, frames, known, mask):
    """Scores of products and of relative positions, picked from a table of distances by GatherElements; [heads, batch, frames, known]"""
    with g.scope('self_attn_weights'):
        y = g.linear(x, WIDTH, 2 * WIDTH + 2 * HEADS, 'in_proj')
        q, k, p = (g.slice(y, a, b, 2) for a, b in ((0, WIDTH), (WIDTH, 2 * WIDTH), (2 * WIDTH, 2 * WIDTH + 2 * HEADS)))
        keys = g.op('Concat', past, k, axis=0) if past else k
        batch = g.size(x, 1)
        q = g.op('Transpose', g.reshape(q, frames, batch, HEADS, EACH), perm=[2, 1, 0, 3])
        k = g.op('Transpose', g.reshape(keys, known, batch, HEADS, EACH), perm=[2, 1, 3, 0])
        p = g.op('Transpose', g.reshape(p, frames, batch, HEADS, 2), perm=[2, 1, 0, 3])
        scores = g.op('MatMul', q, k)
        distances = g.op('Cast', g.range(g.op('Sub', g.op('Add', known, frames), g.const(1))), to=FLOAT)
        turns = g.op('Mul', distances, g.const(0.03))
        table = g.op('Concat', g.unsqueeze(g.op('Cos', turns), 0), g.unsqueeze(g.op('Sin', turns), 0), axis=0)
        relative = g.op('MatMul', p, table)
        rows = g.op('Range', g.op('Sub', frames, g.const(1)), g.const(-1), g.const(-1))
        index = g.op('Add', g.unsqueeze(rows, 1), g.unsqueeze(g.range(known), 0))
        index = g.op('Expand', g.unsqueeze(g.unsqueeze(index, 0), 0), g.dims(HEADS, batch, frames, known))
        scores = g.op('Add', scores, g.op('GatherElements', relative, index, axis=3))
        scores = g.op('Where', mask, g.const(-1000.0), scores)
        return keys, g.op('Softmax', scores, axis=-1)


def attend(g, x, past, weights, known, frames):
    with g.scope('self_attn1'):
        values = g.linear(x, WIDTH, WIDTH, 'in_proj')
        values = g.op('Concat', past, values, axis=0) if past else values
        batch = g.size(x, 1)
        v = g.op('Transpose', g.reshape(values, known, batch, HEADS, EACH), perm=[2, 1, 0, 3])
        y = g.op('Transpose', g.op('MatMul', weights, v), perm=[2, 1, 0, 3])
        return values, g.linear(g.reshape(y, frames, batch, WIDTH), WIDTH, WIDTH, 'out_proj')


def convolution(g, x, past, mask=None):
    """A gate, then a depthwise convolution over frames, behind the frames that the state keeps"""
    with g.scope('conv_module1'):
        y = g.linear(x, WIDTH, 2 * WIDTH, 'in_proj')
        y, gate = g.op('Split', y, g.const([WIDTH, WIDTH]), axis=2, outputs=2)
        y = g.op('Transpose', g.op('Mul', y, g.op('Sigmoid', gate)), perm=[1, 2, 0])
        if mask:
            y = g.op('Where', g.unsqueeze(mask, 1), g.const(0.0), y)
        side = [KERNEL // 2] * 2
        if past:
            y = g.op('Concat', past, y, axis=2)
            kept = g.op('Slice', y, g.const([-(KERNEL - 1)]), g.const([2 ** 63 - 1]), g.const([2]), g.const([1]))
            side = [0, 0]
        y = g.conv(y, 'depthwise_conv', g.normal(WIDTH, 1, KERNEL), dilations=[1], group=WIDTH, pads=side, strides=[1])
        y = swoosh_r(g, g.op('Transpose', y, perm=[2, 0, 1]))
        return kept if past else None, g.linear(y, WIDTH, WIDTH, 'out_proj')


def layer(g, index, x, frames, known, mask, states=(None, None, None), conv_mask=None):
    """One layer; gives what its states become."""
    with g.scope(f'encoders.0/layers.{index}'):
        first = x
        keys, weights = attention_weights(g, x, states[0], frames, known, mask)
        x = g.op('Add', x, g.linear(swoosh_l(g, g.linear(x, WIDTH, WIDTH, 'feed_forward1/in_proj')), WIDTH, WIDTH, 'feed_forward1/out_proj'))
        values, y = attend(g, x, states[1], weights, known, frames)
        x = g.op('Add', x, y)
        kept, y = convolution(g, x, states[2], conv_mask)
        x = g.op('Add', x, y)
        x = bias_norm(g, x)
        x = g.op('Add', first, g.op('Mul', g.op('Sub', x, first), g.init('bypass_scale', g.normal(WIDTH, scale=0.3))))
        return x, (keys, values, kept)


def streaming():
    """A chunk of frames; each state keeps LEFT frames; processed_lens tells how many of them are real yet."""
    g = Graph(13, seed=40)
    x = g.input('x', FLOAT, ['N', 20, BINS])
    inputs = []
    for i in range(2):
        inputs.append([g.input(f'cached_key_{i}', FLOAT, [LEFT, 'N', WIDTH]), g.input(f'cached_val1_{i}', FLOAT, [LEFT, 'N', WIDTH]),
                       g.input(f'cached_conv1_{i}', FLOAT, ['N', WIDTH, KERNEL - 1])])
    lens = g.input('processed_lens', INT64, ['N'])
    y = g.op('Transpose', front_end(g, x), perm=[1, 0, 2])
    frames, known = g.const(8), g.const(8 + LEFT)
    real = g.op('LessOrEqual', g.unsqueeze(lens, 1), g.init('steps', np.arange(LEFT - 1, -1, -1)[None]))
    fresh = g.op('Expand', g.const(np.zeros((1, 1), bool)), g.dims(g.size(lens, 0), 8))
    mask = g.unsqueeze(g.unsqueeze(g.op('Concat', real, fresh, axis=1), 0), 2)
    results = []
    for i in range(2):
        y, states = layer(g, i, y, frames, known, mask, inputs[i])
        for name, state in zip((f'new_cached_key_{i}', f'new_cached_val1_{i}'), states):
            results.append((name, g.op('Slice', state, g.const([-LEFT]), g.const([2 ** 63 - 1]), g.const([0]), g.const([1])), [LEFT, 'N', WIDTH]))
        results.append((f'new_cached_conv1_{i}', states[2], ['N', WIDTH, KERNEL - 1]))
    g.output('encoder_out', g.op('Transpose', y, perm=[1, 0, 2]), FLOAT, ['N', 8, WIDTH])
    for name, value, shape in results:
        g.output(name, value, FLOAT, shape)
    g.output('new_processed_lens', g.op('Add', lens, g.const(8)), INT64, ['N'])
    random, cases = np.random.RandomState(1), []
    for n in (1, 3):
        case = {value.name: random.standard_normal([d.dim_value or n for d in value.type.tensor_type.shape.dim]).astype(np.float32) for value in g.inputs}
        case['processed_lens'] = np.arange(n) * 4
        cases.append(case)
    return g.model(), cases


def offline():
    """Any number of frames; a mask hides those behind each length."""
    g = Graph(13, seed=41)
    x = g.input('x', FLOAT, ['N', 'T', BINS])
    lens = g.input('x_lens', INT64, ['N'])
    y = g.op('Transpose', front_end(g, x), perm=[1, 0, 2])
    lens = g.op('Div', g.op('Sub', lens, g.const(3)), g.const(2))
    frames = g.size(y, 0)
    behind = g.op('GreaterOrEqual', g.op('Expand', g.unsqueeze(g.range(frames), 0), g.dims(g.size(y, 1), frames)), g.unsqueeze(lens, -1))
    mask = g.unsqueeze(g.unsqueeze(behind, 0), 2)
    for i in range(2):
        y, _ = layer(g, i, y, frames, frames, mask, conv_mask=behind)
    g.output('encoder_out', g.op('Transpose', y, perm=[1, 0, 2]), FLOAT, ['N', '(T - 3)//2', WIDTH])
    g.output('encoder_out_lens', lens, INT64, ['N'])
    random = np.random.RandomState(2)
    return g.model(), [{'x': random.standard_normal((b, n, BINS)).astype(np.float32), 'x_lens': np.arange(n, n - 8 * b, -8)[:b]} for b, n in ((1, 17), (2, 42))]


MODELS = {'streaming': streaming, 'offline': offline}
