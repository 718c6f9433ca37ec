# SPDX-License-Identifier: Apache-2.0
"""NeMo's FastConformer with a transducer: the encoder, and prediction network and joint in one file."""

import numpy as np

from graph import FLOAT, INT32, INT64, Graph

BINS, WIDTH, HEADS, KERNEL, WORDS, LONGEST = 16, 32, 4, 5, 40, 200
EACH = WIDTH // HEADS


def halve(g, lengths):
    """Frames behind a convolution of 3 taps and stride 2, computed in float and rounded down by Cast"""
    value = g.op('Div', g.op('Add', g.op('Cast', lengths, to=FLOAT), g.const(-1.0)), g.const(2.0))
    return g.op('Cast', g.op('Floor', g.op('Add', value, g.const(1.0))), to=INT64)


def relative_attention(g, x, table, hidden):
    """Transformer-XL's: scores of positions are shifted row by row by Pad, Reshape and Slice."""
    with g.scope('self_attn'):
        batch = g.size(x, 0)
        q, k, v = (g.reshape(g.linear(x, WIDTH, WIDTH, name), batch, -1, HEADS, EACH) for name in ('linear_q', 'linear_k', 'linear_v'))
        k, v = (g.op('Transpose', value, perm=[0, 2, 1, 3]) for value in (k, v))
        p = g.op('Transpose', g.reshape(g.linear(table, WIDTH, WIDTH, 'linear_pos', bias=False), 1, -1, HEADS, EACH), perm=[0, 2, 1, 3])
        u, w = (g.op('Transpose', g.op('Add', q, g.init(name, g.normal(HEADS, EACH, scale=0.1))), perm=[0, 2, 1, 3]) for name in ('pos_bias_u', 'pos_bias_v'))
        shifted = g.op('Pad', g.op('MatMul', w, g.op('Transpose', p, perm=[0, 1, 3, 2])), g.const([0, 0, 0, 1, 0, 0, 0, 0]), g.const(0.0), mode='constant')
        rows, columns = g.size(shifted, 2), g.size(shifted, 3)
        shifted = g.slice(g.reshape(shifted, batch, HEADS, -1, rows), 1, 2 ** 63 - 1, 2)
        shifted = g.reshape(shifted, batch, HEADS, rows, g.op('Sub', columns, g.const(1)))
        scores = g.op('MatMul', u, g.op('Transpose', k, perm=[0, 1, 3, 2]))
        scores = g.op('Div', g.op('Add', scores, g.slice(shifted, 0, g.size(scores, 3), 3)), g.const(EACH ** 0.5))
        weights = g.op('Softmax', g.op('Where', hidden, g.const(-10000.0), scores), axis=-1)
        weights = g.op('Where', hidden, g.const(0.0), weights)
        return g.linear(g.unheads(g.op('MatMul', weights, v), WIDTH), WIDTH, WIDTH, 'linear_out')


def convolution(g, x, behind):
    with g.scope('conv'):
        y = g.op('Transpose', x, perm=[0, 2, 1])
        y = g.conv(y, 'pointwise_conv1', g.normal(2 * WIDTH, WIDTH, 1), dilations=[1], group=1, pads=[0, 0], strides=[1])
        y, gate = g.op('Split', y, g.const([WIDTH] * 2), axis=1, outputs=2)
        y = g.op('Mul', y, g.op('Sigmoid', gate))
        y = g.op('Where', g.unsqueeze(behind, 1), g.const(0.0), y)
        y = g.silu(g.conv(y, 'depthwise_conv', g.normal(WIDTH, 1, KERNEL), dilations=[1], group=WIDTH, pads=[KERNEL // 2] * 2, strides=[1]))
        y = g.conv(y, 'pointwise_conv2', g.normal(WIDTH, WIDTH, 1), dilations=[1], group=1, pads=[0, 0], strides=[1])
        return g.op('Transpose', y, perm=[0, 2, 1])


def feed_forward(g, x, name):
    with g.scope(name):
        y = g.silu(g.linear(g.layer_norm(x, WIDTH, 'norm', 1e-5), WIDTH, 2 * WIDTH, 'linear1'))
        return g.op('Add', x, g.op('Mul', g.linear(y, 2 * WIDTH, WIDTH, 'linear2'), g.const(0.5)))


def encoder():
    g = Graph(17, seed=80)
    x = g.input('audio_signal', FLOAT, ['batch', BINS, 'time'])
    lengths = g.input('length', INT64, ['batch'])
    with g.scope('pre_encode'):
        y = g.unsqueeze(g.op('Transpose', x, perm=[0, 2, 1]), 1)
        for i in range(2):
            y = g.op('Relu', g.conv(y, f'conv.{i}', g.normal(8, 8 if i else 1, 3, 3), dilations=[1, 1], group=1, pads=[1] * 4, strides=[2, 2]))
            lengths = halve(g, lengths)
        y = g.op('Transpose', y, perm=[0, 2, 1, 3])
        x = g.linear(g.reshape(y, g.size(y, 0), g.size(y, 1), -1), 8 * BINS // 4, WIDTH, 'out')
    frames = g.size(x, 1)
    middle = g.const(LONGEST)
    table = g.slice(g.init('pe', g.normal(1, 2 * LONGEST - 1, WIDTH, scale=1)), g.op('Sub', middle, frames), g.op('Sub', g.op('Add', middle, frames), g.const(1)), 1)
    inside = g.op('Less', g.op('Expand', g.unsqueeze(g.range(frames), 0), g.dims(g.size(x, 0), frames)), g.unsqueeze(lengths, -1))
    behind = g.op('Not', inside)
    hidden = g.op('Not', g.op('And', g.unsqueeze(inside, 1), g.unsqueeze(inside, 2)))
    hidden = g.unsqueeze(hidden, 1)
    for i in range(2):
        with g.scope(f'layers.{i}'):
            x = feed_forward(g, x, 'feed_forward1')
            x = g.op('Add', x, relative_attention(g, g.layer_norm(x, WIDTH, 'norm_self_att', 1e-5), table, hidden))
            x = g.op('Add', x, convolution(g, g.layer_norm(x, WIDTH, 'norm_conv', 1e-5), behind))
            x = g.layer_norm(feed_forward(g, x, 'feed_forward2'), WIDTH, 'norm_out', 1e-5)
    g.output('outputs', g.op('Transpose', x, perm=[0, 2, 1]), FLOAT, ['batch', WIDTH, 'frames'])
    g.output('encoded_lengths', lengths, INT64, ['batch'])
    random = np.random.RandomState(1)
    return g.model(), [{'audio_signal': random.standard_normal((b, BINS, n)).astype(np.float32), 'length': np.arange(n, n - 16 * b, -16)[:b]} for b, n in ((1, 32), (2, 67))]


def decoder_joint():
    """Ids through an embedding and an LSTM with states in and out, every pair with a frame of the encoder; the LSTM stays float."""
    g = Graph(17, seed=81)
    frames = g.input('encoder_outputs', FLOAT, ['batch', WIDTH, 'frames'])
    targets = g.input('targets', INT32, ['batch', 'tokens'])
    g.input('target_length', INT32, ['batch'])
    states = [g.input(f'input_states_{i}', FLOAT, [1, 'batch', WIDTH]) for i in (1, 2)]
    x = g.op('Transpose', g.embedding('decoder/embed', WORDS, WIDTH, targets), perm=[1, 0, 2])
    y, *after = g.op('LSTM', x, g.init('W', g.normal(1, 4 * WIDTH, WIDTH, scale=0.2)), g.init('R', g.normal(1, 4 * WIDTH, WIDTH, scale=0.2)),
                     g.init('B', g.normal(1, 8 * WIDTH, scale=0.1)), '', *states, hidden_size=WIDTH, outputs=3)
    y = g.op('Transpose', g.squeeze(y, 1), perm=[1, 0, 2])
    f = g.linear(g.op('Transpose', frames, perm=[0, 2, 1]), WIDTH, WIDTH, 'joint/enc')
    y = g.linear(y, WIDTH, WIDTH, 'joint/pred')
    y = g.op('Relu', g.op('Add', g.unsqueeze(f, 2), g.unsqueeze(y, 1)))
    g.output('outputs', g.linear(y, WIDTH, WORDS, 'joint/joint_net'), FLOAT, ['batch', 'frames', 'tokens', WORDS])
    for i in (1, 2):
        g.output(f'output_states_{i}', after[i - 1], FLOAT, [1, 'batch', WIDTH])
    random, cases = np.random.RandomState(2), []
    for b, n, t in ((1, 1, 1), (2, 6, 3)):
        cases.append({'encoder_outputs': random.standard_normal((b, WIDTH, n)).astype(np.float32), 'targets': random.randint(0, WORDS, (b, t)).astype(np.int32),
                      'target_length': np.full(b, t, np.int32), **{f'input_states_{i}': random.standard_normal((1, b, WIDTH)).astype(np.float32) for i in (1, 2)}})
    return g.model(), cases


MODELS = {'encoder': encoder, 'decoder_joint': decoder_joint}
