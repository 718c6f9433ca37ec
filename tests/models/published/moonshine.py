# SPDX-License-Identifier: Apache-2.0
"""Moonshine in the parts that sherpa-onnx publishes: audio to features, encoder, first decoder step, step with caches."""

import numpy as np

from graph import FLOAT, INT32, INT64, Graph
from text import rotary_tables, rotate

WIDTH, HEADS, WORDS = 32, 4, 80
EACH = WIDTH // HEADS


def preprocess():
    """Three convolutions over samples; GroupNorm of one group as Reshape and InstanceNormalization."""
    g = Graph(16, weights='uint8', seed=70)
    x = g.unsqueeze(g.input('audio', FLOAT, ['batch', 'samples']), 1)
    x = g.op('Tanh', g.conv(x, 'conv1', g.normal(WIDTH, 1, 31), bias=False, dilations=[1], group=1, pads=[0, 0], strides=[16]))
    y = g.op('Reshape', x, g.const([0, 1, -1]))
    y = g.op('InstanceNormalization', y, g.init('ones', np.ones(1, np.float32)), g.init('zeros', np.zeros(1, np.float32)), epsilon=1e-5)
    y = g.op('Reshape', y, g.op('Shape', x))
    y = g.op('Add', g.op('Mul', y, g.init('weight', 1 + g.normal(WIDTH, 1, scale=0.1))), g.init('bias', g.normal(WIDTH, 1, scale=0.1)))
    y = g.gelu(g.conv(y, 'conv2', g.normal(2 * WIDTH, WIDTH, 7), dilations=[1], group=1, pads=[0, 0], strides=[3]))
    y = g.gelu(g.conv(y, 'conv3', g.normal(WIDTH, 2 * WIDTH, 3), dilations=[1], group=1, pads=[0, 0], strides=[2]))
    g.output('features', g.op('Transpose', y, perm=[0, 2, 1]), FLOAT, ['batch', 'frames', WIDTH])
    random = np.random.RandomState(1)
    return g.model(), [{'audio': random.standard_normal((1, n)).astype(np.float32)} for n in (1600, 2401)]


def attend(g, x, q, k, v):
    scores = g.op('MatMul', g.op('Mul', q, g.const(EACH ** -0.5)), g.op('Transpose', k, perm=[0, 1, 3, 2]))
    y = g.op('MatMul', g.op('Softmax', scores, axis=-1), v)
    return g.op('Add', x, g.linear(g.unheads(y, WIDTH), WIDTH, WIDTH, 'to_out', bias=False))


def project(g, x, names):
    return [g.heads(g.linear(x, WIDTH, WIDTH, name, bias=False), HEADS, EACH, g.size(x, 0)) for name in names]


def encode():
    g = Graph(16, weights='uint8', seed=71)
    x = g.input('features', FLOAT, ['batch', 'frames', WIDTH])
    g.input('features_len', INT32, [1])
    cos, sin = rotary_tables(g, g.size(x, 1), EACH)
    for i in range(2):
        with g.scope(f'layers.{i}'):
            q, k, v = project(g, g.layer_norm(x, WIDTH, 'norm1', 1e-5, bias=False), ('to_q', 'to_k', 'to_v'))
            x = attend(g, x, rotate(g, q, cos, sin, EACH), rotate(g, k, cos, sin, EACH), v)
            y = g.layer_norm(x, WIDTH, 'norm2', 1e-5, bias=False)
            x = g.op('Add', x, g.linear(g.gelu(g.linear(y, WIDTH, 2 * WIDTH, 'ff.0')), 2 * WIDTH, WIDTH, 'ff.2'))
    g.output('context', g.layer_norm(x, WIDTH, 'final_norm', 1e-5, bias=False), FLOAT, ['batch', 'frames', WIDTH])
    random = np.random.RandomState(2)
    return g.model(), [{'features': random.standard_normal((1, n, WIDTH)).astype(np.float32), 'features_len': np.array([n], np.int32)} for n in (7, 40)]


def decode(cached=False):
    g = Graph(16, weights='uint8', seed=72)
    tokens = g.input('token', INT32, ['batch', 'tokens'])
    context = None if cached else g.input('context', FLOAT, ['batch', 'frames', WIDTH])
    caches = [[g.input(f'{side}_{part}_{i}', FLOAT, ['batch', HEADS, length, EACH]) for side, length in (('self', 'past'), ('cross', 'frames'))
               for part in 'kv'] for i in range(2)] if cached else None
    x = g.embedding('token_embedding', WORDS, WIDTH, tokens)
    length, results = g.size(tokens, 1), []
    past = g.size(caches[0][0], 2) if cached else None
    turned = rotary_tables(g, length, EACH, past=past)
    for i in range(2):
        with g.scope(f'layers.{i}'):
            q, k, v = project(g, g.layer_norm(x, WIDTH, 'norm1', 1e-5, bias=False), ('to_q', 'to_k', 'to_v'))
            q, k = rotate(g, q, *turned, EACH), rotate(g, k, *turned, EACH)
            if cached:
                k, v = (g.op('Concat', old, new, axis=2) for old, new in zip(caches[i], (k, v)))
            results += [(f'out_self_k_{i}', k), (f'out_self_v_{i}', v)]
            x = attend(g, x, q, k, v)
            y = g.layer_norm(x, WIDTH, 'norm2', 1e-5, bias=False)
            with g.scope('cross'):
                q = project(g, y, ['to_q'])[0]
                k, v = caches[i][2:] if cached else project(g, context, ('to_k', 'to_v'))
                x = attend(g, x, q, k, v)
                if not cached:
                    results += [(f'out_cross_k_{i}', k), (f'out_cross_v_{i}', v)]
            y = g.linear(g.layer_norm(x, WIDTH, 'norm3', 1e-5, bias=False), WIDTH, 4 * WIDTH, 'ff.proj')
            value, gate = g.op('Split', y, g.const([2 * WIDTH] * 2), axis=-1, outputs=2)
            x = g.op('Add', x, g.linear(g.op('Mul', value, g.silu(gate)), 2 * WIDTH, WIDTH, 'ff.out'))
    x = g.layer_norm(x, WIDTH, 'final_norm', 1e-5, bias=False)
    g.output('logits', g.matmul(x, g.normal(WIDTH, WORDS)), FLOAT, ['batch', 'tokens', WORDS])
    for name, value in results:
        g.output(name, value, FLOAT, ['batch', HEADS, name + '_length', EACH])
    random, cases = np.random.RandomState(3), []
    for n, frames in ((1, 9), (5, 30)):
        case = {'token': random.randint(0, WORDS, (1, 1)).astype(np.int32)}
        if not cached:
            case['context'] = random.standard_normal((1, frames, WIDTH)).astype(np.float32)
        for value in g.inputs[1:] if cached else []:
            case[value.name] = random.standard_normal((1, HEADS, n if 'self' in value.name else frames, EACH)).astype(np.float32)
        cases.append(case)
    return g.model(), cases


def cached_decode():
    return decode(True)


MODELS = {'preprocess': preprocess, 'encode': encode, 'uncached_decode': decode, 'cached_decode': cached_decode}
