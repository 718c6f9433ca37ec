# SPDX-License-Identifier: Apache-2.0
"""Qwen2.5 as ONNX Runtime's model builder writes it: products of blocks of 4 bits, grouped queries, caches that grow."""

import numpy as np

from graph import FLOAT, INT64, INT32, Graph

WIDTH, HEADS, GROUPS, WORDS, BLOCK, LONGEST = 64, 4, 2, 60, 32, 128
EACH = WIDTH // HEADS


def product(g, x, inputs, outputs, name, bias=False):
    with g.scope(name):
        packed = g.random.randint(0, 256, (outputs, inputs // BLOCK, BLOCK // 2)).astype(np.uint8)
        scales = (0.02 * (1 + g.random.uniform(size=outputs * inputs // BLOCK))).astype(np.float32)
        x = g.op('MatMulNBits', x, g.init('MatMulNBits.qweight', packed), g.init('MatMulNBits.scales', scales), domain='com.microsoft',
                 K=inputs, N=outputs, bits=4, block_size=BLOCK, accuracy_level=4)
        return g.op('Add', x, g.init('bias', g.normal(outputs, scale=0.1))) if bias else x


def qwen(past=True):
    g = Graph(14, quantised=(), seed=110, domains=('com.microsoft',))
    ids = g.input('input_ids', INT64, ['batch_size', 'sequence_length'])
    mask = g.input('attention_mask', INT64, ['batch_size', 'total_sequence_length'])
    caches = [[g.input(f'past_key_values.{i}.{part}', FLOAT, ['batch_size', GROUPS, 'past_sequence_length', EACH]) for part in ('key', 'value')] for i in range(2)]
    lengths = g.op('Cast', g.op('Sub', g.reduce('ReduceSum', mask, [1]), g.const([1])), to=INT32)
    total = g.op('Cast', g.size(mask, 1), to=INT32)
    angles = np.arange(LONGEST)[:, None] * (1e6 ** (-np.arange(0, EACH, 2) / EACH))[None]
    tables = [g.init(name, function(angles).astype(np.float32)) for name, function in (('cos_cache', np.cos), ('sin_cache', np.sin))]
    x, results = g.embedding('model/embed_tokens', WORDS, WIDTH, ids), []
    norm = {'outputs': 1, 'axis': -1, 'epsilon': 1e-6, 'stash_type': 1}
    skip = None
    for i in range(2):
        with g.scope(f'model/layers.{i}'):
            weight = g.init('input_layernorm.weight', 1 + g.normal(WIDTH, scale=0.1))
            if skip is None:
                y = g.op('SimplifiedLayerNormalization', x, weight, **norm)
            else:
                y, _, _, x = g.op('SkipSimplifiedLayerNormalization', x, skip, weight, domain='com.microsoft', outputs=4, epsilon=1e-6)
            q, k, v = (product(g, y, WIDTH, heads * EACH, f'attn/{name}_proj', True) for name, heads in (('q', HEADS), ('k', GROUPS), ('v', GROUPS)))
            y, *present = g.op('GroupQueryAttention', q, k, v, *caches[i], lengths, total, *tables, domain='com.microsoft', outputs=3, num_heads=HEADS,
                               kv_num_heads=GROUPS, scale=EACH ** -0.5, do_rotary=1, rotary_interleaved=0)
            results += [(f'present.{i}.{part}', value) for part, value in zip(('key', 'value'), present)]
            y = product(g, y, WIDTH, WIDTH, 'attn/o_proj')
            y, _, _, x = g.op('SkipSimplifiedLayerNormalization', x, y, g.init('post.weight', 1 + g.normal(WIDTH, scale=0.1)), domain='com.microsoft', outputs=4, epsilon=1e-6)
            gate, up = (product(g, y, WIDTH, 2 * WIDTH, f'mlp/{name}_proj') for name in ('gate', 'up'))
            skip = product(g, g.op('Mul', g.silu(gate), up), 2 * WIDTH, WIDTH, 'mlp/down_proj')
    y = g.op('SkipSimplifiedLayerNormalization', x, skip, g.init('norm.weight', 1 + g.normal(WIDTH, scale=0.1)), domain='com.microsoft', outputs=1, epsilon=1e-6)
    g.output('logits', product(g, y, WIDTH, WORDS + 4, 'lm_head'), FLOAT, ['batch_size', 'sequence_length', WORDS + 4])
    for name, value in results:
        g.output(name, value, FLOAT, ['batch_size', GROUPS, 'total_sequence_length', EACH])
    random, cases = np.random.RandomState(1), []
    for n, before in ((5, 0), (1, 7)):
        cases.append({'input_ids': random.randint(0, WORDS, (1, n)), 'attention_mask': np.ones((1, n + before), np.int64),
                      **{v.name: random.standard_normal((1, GROUPS, before, EACH)).astype(np.float32) for v in g.inputs[2:]}})
    return g.model(), cases


MODELS = {'qwen': qwen}
