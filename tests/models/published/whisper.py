# SPDX-License-Identifier: Apache-2.0
"""Whisper as optimum exports it: an encoder, a decoder for the first tokens, and one with the keys and values of what came before;
and as sherpa-onnx exports it, with caches of a constant capacity that are written at an offset."""

import numpy as np
from onnx import numpy_helper

from graph import FLOAT, INT64, LOWEST, Graph

WIDTH, HEADS, WORDS, BINS, LONGEST = 32, 4, 120, 20, 448
EACH = WIDTH // HEADS


def project(g, x, source, batch, scale=True):
    """Query of x, key and value of the source, as [batch * heads ...]; the query is scaled before its heads part."""
    q = g.linear(x, WIDTH, WIDTH, 'q_proj')
    if scale:
        q = g.op('Mul', q, g.const(EACH ** -0.5))
    k = g.linear(source, WIDTH, WIDTH, 'k_proj', bias=False)
    v = g.linear(source, WIDTH, WIDTH, 'v_proj')
    return [g.op('Transpose', g.reshape(value, batch, -1, HEADS, EACH), perm=[0, 2, 1, 3]) for value in (q, k, v)]


def attend(g, q, k, v, batch, mask=None):
    """Heads are merged with the batch for the products, as transformers wrote attention before scaled_dot_product_attention."""
    flat = [g.op('Reshape', value, g.op('Concat', g.op('Mul', g.unsqueeze(batch, 0), g.const([HEADS])), g.const([-1]), g.const([EACH]), axis=0))
            for value in (q, k, v)]
    scores = g.op('MatMul', flat[0], g.op('Transpose', flat[1], perm=[0, 2, 1]))
    length, source = g.size(flat[0], 1), g.size(flat[1], 1)
    if mask:
        scores = g.op('Add', g.reshape(scores, batch, HEADS, length, source), mask)
        scores = g.op('Reshape', scores, g.op('Concat', g.op('Mul', g.unsqueeze(batch, 0), g.const([HEADS])),
                                              g.unsqueeze(length, 0), g.unsqueeze(source, 0), axis=0))
    y = g.op('MatMul', g.op('Softmax', scores, axis=-1), flat[2])
    y = g.op('Transpose', g.reshape(y, batch, HEADS, length, EACH), perm=[0, 2, 1, 3])
    return g.linear(g.reshape(y, batch, length, WIDTH), WIDTH, WIDTH, 'out_proj')


def feed_forward(g, x):
    y = g.gelu(g.linear(g.layer_norm(x, WIDTH, 'final_layer_norm', 1e-5), WIDTH, 2 * WIDTH, 'fc1'))
    return g.op('Add', x, g.linear(y, 2 * WIDTH, WIDTH, 'fc2'))


def encoder():
    g = Graph(14, weights='uint8', seed=20)
    x = g.input('input_features', FLOAT, ['batch_size', BINS, 'encoder_sequence_length'])
    x = g.gelu(g.conv(x, 'conv1', g.normal(WIDTH, BINS, 3), dilations=[1], group=1, pads=[1, 1], strides=[1]))
    x = g.gelu(g.conv(x, 'conv2', g.normal(WIDTH, WIDTH, 3), dilations=[1], group=1, pads=[1, 1], strides=[2]))
    x = g.op('Transpose', x, perm=[0, 2, 1])
    x = g.op('Add', x, g.slice(g.init('embed_positions', g.normal(LONGEST, WIDTH, scale=1)), 0, g.size(x, 1), 0))
    for i in range(2):
        with g.scope(f'layers.{i}'):
            batch = g.size(x, 0)
            y = g.layer_norm(x, WIDTH, 'self_attn_layer_norm', 1e-5)
            with g.scope('self_attn'):
                x = g.op('Add', x, attend(g, *project(g, y, y, batch), batch))
            x = feed_forward(g, x)
    g.output('last_hidden_state', g.layer_norm(x, WIDTH, 'layer_norm', 1e-5), FLOAT, ['batch_size', 'floor', WIDTH])
    random = np.random.RandomState(1)
    return g.model(), [{'input_features': random.standard_normal((b, BINS, n)).astype(np.float32)} for b, n in ((1, 24), (2, 61))]


def causal_mask(g, length, past):
    """Ones above the diagonal, by comparing ranges, become the lowest number; [1, 1, length, past + length]"""
    total = g.op('Add', length, past) if past else length
    columns = g.range(total)
    rows = g.range(length)
    if past:
        rows = g.op('Add', rows, past)
    hidden = g.op('Greater', g.unsqueeze(columns, 0), g.unsqueeze(rows, 1))
    mask = g.op('Where', hidden, g.const(LOWEST), g.const(0.0))
    return g.unsqueeze(g.unsqueeze(mask, 0), 1)


def decoder(past=False):
    """The first tokens with the encoder's states; or one token and the caches, where the encoder's keys and values come from before."""
    g = Graph(14, weights='uint8', seed=21)
    ids = g.input('input_ids', INT64, ['batch_size', 'decoder_sequence_length'])
    states = None if past else g.input('encoder_hidden_states', FLOAT, ['batch_size', 'encoder_sequence_length', WIDTH])
    caches, presents, layers = [], [], 2
    if past:
        for i in range(layers):
            caches.append([g.input(f'past_key_values.{i}.{side}.{part}', FLOAT,
                                   ['batch_size', HEADS, 'past_decoder_sequence_length' if side == 'decoder' else 'encoder_sequence_length_out', EACH])
                           for side in ('decoder', 'encoder') for part in ('key', 'value')])
    batch, length = g.size(ids, 0), g.size(ids, 1)
    before = g.size(caches[0][0], 2) if past else None
    ids = g.op('Reshape', ids, g.op('Concat', g.const([-1]), g.unsqueeze(length, 0), axis=0))
    x = g.embedding('embed_tokens', WORDS, WIDTH, ids)
    table = g.init('embed_positions', g.normal(LONGEST, WIDTH, scale=1))
    x = g.op('Add', x, g.slice(table, before, g.op('Add', before, length), 0) if past else g.slice(table, 0, length, 0))
    mask = causal_mask(g, length, before)
    for i in range(layers):
        with g.scope(f'layers.{i}'):
            y = g.layer_norm(x, WIDTH, 'self_attn_layer_norm', 1e-5)
            with g.scope('self_attn'):
                q, k, v = project(g, y, y, batch)
                if past:
                    k, v = (g.op('Concat', old, new, axis=2) for old, new in zip(caches[i][:2], (k, v)))
                presents += [(f'present.{i}.decoder.key', k), (f'present.{i}.decoder.value', v)]
                x = g.op('Add', x, attend(g, q, k, v, batch, mask))
            y = g.layer_norm(x, WIDTH, 'encoder_attn_layer_norm', 1e-5)
            with g.scope('encoder_attn'):
                if past:
                    q = g.op('Mul', g.linear(y, WIDTH, WIDTH, 'q_proj'), g.const(EACH ** -0.5))
                    q = g.op('Transpose', g.reshape(q, batch, -1, HEADS, EACH), perm=[0, 2, 1, 3])
                    k, v = caches[i][2:]
                else:
                    q, k, v = project(g, y, states, batch)
                    presents += [(f'present.{i}.encoder.key', k), (f'present.{i}.encoder.value', v)]
                x = g.op('Add', x, attend(g, q, k, v, batch))
            x = feed_forward(g, x)
    x = g.layer_norm(x, WIDTH, 'layer_norm', 1e-5)
    g.output('logits', g.matmul(x, g.normal(WIDTH, WORDS)), FLOAT, ['batch_size', 'decoder_sequence_length', WORDS])
    for name, value in presents:
        side = 'past_decoder_sequence_length + 1' if past else 'decoder_sequence_length' if 'decoder' in name else 'encoder_sequence_length_out'
        g.output(name, value, FLOAT, ['batch_size', HEADS, side, EACH])
    random, cases = np.random.RandomState(2), []
    for b, n, source in ((1, 4, 9), (2, 7, 30)):
        case = {'input_ids': random.randint(0, WORDS, (b, 1 if past else n))}
        if not past:
            case['encoder_hidden_states'] = random.standard_normal((b, source, WIDTH)).astype(np.float32)
        for value in g.inputs[1:] if past else []:
            case[value.name] = random.standard_normal((b, HEADS, n if 'decoder' in value.name else source, EACH)).astype(np.float32)
        cases.append(case)
    return g.model(), cases


def decoder_with_past():
    return decoder(True)


def filled(g, shape):
    """A shape with torch's test for sizes of -1."""
    ones = g.op('ConstantOfShape', g.op('Shape', shape), value=numpy_helper.from_array(np.array([1], np.int64)))
    return g.op('Where', g.op('Equal', shape, g.op('Mul', ones, g.const(-1))), ones, shape)


def put(g, cache, start, end, value):
    """cache[:, start:end, :] = value, as torch.onnx writes an assignment: every index by Range, Add and Expand, then ScatterND."""
    value = g.op('Expand', value, g.op('Shape', g.slice(cache, start, end, 1)))
    batch, places, channels = (g.range(g.size(cache, axis)) for axis in range(3))
    batch = g.op('Reshape', batch, g.const([-1, 1, 1]))
    places = g.op('Reshape', g.slice(places, start, end, 0), g.const([-1, 1]))
    shape = g.op('Shape', g.op('Add', g.op('Add', batch, places), channels))
    parts = [g.unsqueeze(g.op('Expand', part, filled(g, shape)), -1) for part in (batch, places, channels)]
    value = g.op('Reshape', value, shape)
    return g.op('ScatterND', cache, g.op('Concat', *parts, axis=-1), value)


def fixed_cache():
    """sherpa-onnx's decoder: the caches have a constant capacity and are used up to offset + tokens, two numbers of the run."""
    g = Graph(14, weights='uint8', seed=22)
    tokens = g.input('tokens', INT64, ['n_audio', 'n_tokens'])
    caches = [g.input(f'in_n_layer_self_{part}_cache', FLOAT, [2, 'n_audio', 32, WIDTH]) for part in 'kv']
    crossed = [g.input(f'n_layer_cross_{part}', FLOAT, [2, 'n_audio', 'T', WIDTH]) for part in 'kv']
    offset = g.input('offset', INT64, [1])
    start = g.op('Gather', offset, g.const(0), axis=0)
    end = g.op('Add', start, g.size(tokens, 1))
    x = g.embedding('token_embedding', WORDS, WIDTH, tokens)
    x = g.op('Add', x, g.slice(g.init('positional_embedding', g.normal(32, WIDTH, scale=1)), start, end, 0))
    triangle, kept = g.init('mask', np.triu(np.full((32, 32), -np.inf, np.float32), 1)), ([], [])

    def attend_heads(q, k, v, mask=None):
        batch = g.size(q, 0)
        q, k, v = (g.heads(value, HEADS, EACH, batch, perm) for value, perm in ((q, (0, 2, 1, 3)), (k, (0, 2, 3, 1)), (v, (0, 2, 1, 3))))
        scores = g.op('MatMul', g.op('Mul', q, g.const(EACH ** -0.25)), g.op('Mul', k, g.const(EACH ** -0.25)))
        scores = g.op('Add', scores, mask) if mask else scores
        return g.linear(g.unheads(g.op('MatMul', g.op('Softmax', scores, axis=-1), v), WIDTH), WIDTH, WIDTH, 'out')
    for i in range(2):
        with g.scope(f'blocks.{i}'):
            y = g.layer_norm(x, WIDTH, 'attn_ln', 1e-5)
            with g.scope('attn'):
                q, k, v = (g.linear(y, WIDTH, WIDTH, name, bias=name != 'key') for name in ('query', 'key', 'value'))
                k, v = (put(g, g.op('Gather', cache, g.const(i), axis=0), start, end, new) for cache, new in zip(caches, (k, v)))
                for parts, value in zip(kept, (k, v)):
                    parts.append(g.unsqueeze(value, 0))
                mask = g.slice(g.slice(triangle, start, end, 0), 0, end, 1)
                x = g.op('Add', x, attend_heads(q, g.slice(k, 0, end, 1), g.slice(v, 0, end, 1), mask))
            y = g.layer_norm(x, WIDTH, 'cross_attn_ln', 1e-5)
            with g.scope('cross_attn'):
                k, v = (g.op('Gather', value, g.const(i), axis=0) for value in crossed)
                x = g.op('Add', x, attend_heads(g.linear(y, WIDTH, WIDTH, 'query'), k, v))
            x = feed_forward(g, x)
    x = g.layer_norm(x, WIDTH, 'ln', 1e-5)
    g.output('logits', g.matmul(x, g.normal(WIDTH, WORDS)), FLOAT, ['n_audio', 'n_tokens', WORDS])
    for part, values in zip('kv', kept):
        g.output(f'out_n_layer_self_{part}_cache', g.op('Concat', *values, axis=0), FLOAT, [2, 'n_audio', 32, WIDTH])
    random, cases = np.random.RandomState(3), []
    for b, n, at, source in ((1, 4, 0, 9), (2, 1, 5, 20)):
        case = {'tokens': random.randint(0, WORDS, (b, n)), 'offset': np.array([at])}
        for part in 'kv':
            case[f'in_n_layer_self_{part}_cache'] = random.standard_normal((2, b, 32, WIDTH)).astype(np.float32)
            case[f'n_layer_cross_{part}'] = random.standard_normal((2, b, source, WIDTH)).astype(np.float32)
        cases.append(case)
    return g.model(), cases


MODELS = {'encoder': encoder, 'decoder': decoder, 'decoder_with_past': decoder_with_past, 'fixed_cache': fixed_cache}
