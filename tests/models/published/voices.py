# SPDX-License-Identifier: Apache-2.0
"""Text to speech: networks that decide in the run how long the sound is. Only the part up to that decision, and what follows it."""

import numpy as np

from graph import FLOAT, INT64, Graph

WIDTH, WORDS = 32, 40


def samples():
    return {'input': np.arange(1, 8)[None], 'input_lengths': np.array([7]), 'scales': np.float32([0.667, 1.0, 0.8])}


def piper():
    """VITS: durations are Ceil of Exp, their sum is the length, a path of comparisons repeats the states; noise is drawn in the run."""
    g = Graph(15, quantised=(), seed=100)
    ids = g.input('input', INT64, ['batch_size', 'phonemes'])
    g.input('input_lengths', INT64, ['batch_size'])
    scales = g.input('scales', FLOAT, [3])
    x = g.op('Mul', g.embedding('enc_p/emb', WORDS, WIDTH, ids), g.const(WIDTH ** 0.5))
    x = g.op('Transpose', x, perm=[0, 2, 1])
    x = g.op('Relu', g.conv(x, 'enc_p/ffn', g.normal(WIDTH, WIDTH, 3), dilations=[1], group=1, pads=[1, 1], strides=[1]))
    noise = g.op('RandomNormalLike', x)
    x = g.op('Add', x, g.op('Mul', noise, g.op('Gather', scales, g.const(0), axis=0)))
    durations = g.conv(x, 'dp/proj', g.normal(1, WIDTH, 1), dilations=[1], group=1, pads=[0, 0], strides=[1])
    durations = g.op('Ceil', g.op('Mul', g.op('Exp', durations), g.op('Gather', scales, g.const(1), axis=0)))
    ends = g.op('CumSum', durations, g.const(2))
    total = g.op('Cast', g.op('ReduceMax', ends, keepdims=0), to=INT64)
    path = g.op('Cast', g.op('Less', g.op('Cast', g.unsqueeze(g.range(total), 0), to=FLOAT), g.op('Transpose', ends, perm=[0, 2, 1])), to=FLOAT)
    y = g.op('MatMul', x, path)
    y = g.op('ConvTranspose', y, g.init('dec.ups.0.weight', g.normal(WIDTH, 1, 8)), kernel_shape=[8], strides=[4], pads=[2, 2], dilations=[1], group=1)
    g.output('output', g.unsqueeze(g.op('Tanh', y), 1), FLOAT, ['batch_size', 1, 1, 'time'])
    return g.model(), [samples()]


def kokoro():
    """StyleTTS 2: an LSTM tells durations, and every state is repeated as often (Loop of Tile and Concat on a sequence of tensors)."""
    g = Graph(17, weights='uint8', seed=101)
    ids = g.input('tokens', INT64, ['batch', 'length'])
    style = g.input('style', FLOAT, ['batch', WIDTH])
    x = g.op('Add', g.embedding('bert/word_embeddings', WORDS, WIDTH, ids), g.unsqueeze(style, 1))
    y = g.op('LSTM', g.op('Transpose', x, perm=[1, 0, 2]), g.init('W', g.normal(2, 2 * WIDTH, WIDTH)), g.init('R', g.normal(2, 2 * WIDTH, WIDTH // 2)),
             g.init('B', g.normal(2, 4 * WIDTH)), hidden_size=WIDTH // 2, direction='bidirectional', outputs=3)[0]
    y = g.op('Reshape', g.op('Transpose', y, perm=[2, 0, 1, 3]), g.const([0, 0, -1]))
    durations = g.reduce('ReduceSum', g.op('Sigmoid', g.linear(y, WIDTH, 10, 'duration_proj')), [-1], keepdims=0)
    durations = g.op('Cast', g.op('Clip', g.op('Round', durations), g.const(1.0)), to=INT64)
    ends = g.op('CumSum', g.squeeze(durations, 0), g.const(0))
    total = g.op('Gather', ends, g.const(-1), axis=0)
    index = g.op('Cast', g.op('GreaterOrEqual', g.unsqueeze(g.range(total), 1), g.unsqueeze(ends, 0)), to=INT64)
    index = g.reduce('ReduceSum', index, [1], keepdims=0)
    g.output('audio', g.op('Gather', y, index, axis=1), FLOAT, ['batch', 'samples', WIDTH])
    return g.model(), [{'tokens': np.arange(1, 8)[None], 'style': np.zeros((1, WIDTH), np.float32)}]


MODELS = {'piper': piper, 'kokoro': kokoro}
FLAGS = {'piper': ['--allow-float'], 'kokoro': ['--input-shape', 'tokens=1x61', '--input-shape', f'style=1x{WIDTH}']}
