# SPDX-License-Identifier: Apache-2.0
"""Sentence encoders and a reranker, as torch.onnx and optimum write them and quantize_dynamic quantises them."""

import numpy as np

from graph import BOOL, FLOAT, INT64, LOWEST, Graph

WORDS, WIDTH, HEADS, LONGEST = 200, 32, 4, 128


def ids_and_mask(g, types=True):
    names = ['input_ids', 'attention_mask'] + (['token_type_ids'] if types else [])
    return [g.input(name, INT64, ['batch_size', 'sequence_length']) for name in names]


def samples(*shapes, types=True, words=WORDS):
    """Ids, and masks that hide the end of later rows."""
    result = []
    for batch, length in shapes:
        random = np.random.RandomState(batch * 1000 + length)
        mask = np.ones((batch, length), np.int64)
        for row in range(1, batch):
            mask[row, max(1, length - 2 * row):] = 0
        case = {'input_ids': random.randint(3, words, (batch, length)) * mask, 'attention_mask': mask}
        if types:
            case['token_type_ids'] = np.zeros((batch, length), np.int64)
        result.append(case)
    return result


def mask_by_arithmetic(g, mask):
    """(1 - mask) * lowest, [batch, 1, 1, length]"""
    mask = g.op('Cast', g.unsqueeze(g.unsqueeze(mask, 1), 2), to=FLOAT)
    return g.op('Mul', g.op('Sub', g.const(1.0), mask), g.const(LOWEST))


def mask_by_where(g, mask, batch, length):
    """transformers' _expand_mask for scaled_dot_product_attention, [batch, 1, length, length]"""
    mask = g.op('Cast', g.expand(g.unsqueeze(g.unsqueeze(mask, 1), 2), batch, 1, length, length), to=FLOAT)
    inverted = g.op('Sub', g.const(1.0), mask)
    return g.op('Where', g.op('Cast', inverted, to=BOOL), g.const(LOWEST), inverted)


def scaled_products(g, q, k, width, sdpa):
    """Scores of attention: divided by a number, or both sides by the root of a scale that the graph computes from Shape."""
    if not sdpa:
        return g.op('Div', g.op('MatMul', q, g.op('Transpose', k, perm=[0, 1, 3, 2])), g.const(float(width) ** 0.5))
    size = g.op('Cast', g.slice(g.op('Shape', q), -1, 2 ** 63 - 1, 0), to=FLOAT)
    scale = g.op('Cast', g.op('Div', g.const([1.0]), g.op('Sqrt', size)), to=FLOAT)
    k = g.op('Transpose', k, perm=[0, 1, 3, 2])
    return g.op('MatMul', g.op('Mul', q, g.op('Sqrt', scale)), g.op('Mul', k, g.op('Sqrt', scale)))


def attention(g, x, mask, sdpa=False, bias=None, width=WIDTH, heads=HEADS):
    """Self attention up to its output projection."""
    with g.scope('self'):
        q, k, v = (g.linear(x, width, width, name) for name in ('query', 'key', 'value'))
        batch, each = g.size(x, 0), width // heads
        q, k, v = (g.heads(value, heads, each, batch) for value in (q, k, v))
        scores = scaled_products(g, q, k, each, sdpa)
        if bias:
            scores = g.op('Add', scores, bias)
        weights = g.op('Softmax', g.op('Add', scores, mask), axis=-1)
        return g.unheads(g.op('MatMul', weights, v), width)


def block(g, index, x, mask, **more):
    """A layer of BERT: norms behind the sums."""
    with g.scope(f'encoder/layer.{index}'):
        with g.scope('attention'):
            y = attention(g, x, mask, **more)
            with g.scope('output'):
                x = g.layer_norm(g.op('Add', g.linear(y, WIDTH, WIDTH, 'dense'), x), WIDTH, 'LayerNorm')
        y = g.gelu(g.linear(x, WIDTH, 4 * WIDTH, 'intermediate/dense'))
        with g.scope('output'):
            return g.layer_norm(g.op('Add', g.linear(y, 4 * WIDTH, WIDTH, 'dense'), x), WIDTH, 'LayerNorm')


def embeddings(g, ids, types):
    """Words, types and the positions, which a Slice takes from a constant of the module."""
    with g.scope('embeddings'):
        length = g.size(ids, 1)
        positions = g.slice(g.init('position_ids', np.arange(LONGEST)[None]), 0, length, 1)
        x = g.op('Add', g.embedding('word_embeddings', WORDS, WIDTH, ids), g.embedding('token_type_embeddings', 2, WIDTH, types))
        x = g.op('Add', x, g.embedding('position_embeddings', LONGEST, WIDTH, positions))
        return g.layer_norm(x, WIDTH, 'LayerNorm')


def bert(opset, layers=2, sdpa=False, head=False, **more):
    g = Graph(opset, **more)
    ids, mask, types = ids_and_mask(g)
    x = embeddings(g, ids, types)
    mask = mask_by_where(g, mask, g.size(ids, 0), g.size(ids, 1)) if sdpa else mask_by_arithmetic(g, mask)
    for i in range(layers):
        x = block(g, i, x, mask, sdpa=sdpa)
    if not head:
        g.output('last_hidden_state', x, FLOAT, ['batch_size', 'sequence_length', WIDTH])
        return g.model(), samples((1, 7), (2, 12), (3, 5))
    first = g.op('Gather', x, g.const(0), axis=1)
    pooled = g.op('Tanh', g.linear(first, WIDTH, WIDTH, 'pooler/dense'))
    g.output('logits', g.linear(pooled, WIDTH, 1, 'classifier'), FLOAT, ['batch_size', 1])
    return g.model(), samples((1, 7), (4, 12))


def minilm_l6():
    return bert(11)


def minilm_l12():
    return bert(14, layers=3)


def multilingual_minilm():
    return bert(14, sdpa=True)


def bge_small():
    return bert(11, seed=1)


def e5_small():
    return bert(14, weights='uint8', seed=2)


def multilingual_e5_small():
    return bert(17, sdpa=True, seed=3)


def gte_base():
    return bert(14, seed=4)


def mxbai_embed():
    return bert(17, layers=3, seed=5)


def reranker():
    return bert(14, head=True, seed=6)


def relative_buckets(g, length, buckets=32, far=128):
    """MPNet's compute_position_bias, [1, heads, length, length]"""
    positions = g.range(length)
    distance = g.op('Neg', g.op('Sub', g.unsqueeze(positions, 0), g.unsqueeze(positions, 1)))
    half, exact = buckets // 2, buckets // 4
    result = g.op('Mul', g.op('Cast', g.op('Less', distance, g.const(0)), to=INT64), g.const(half))
    distance = g.op('Abs', distance)
    ratio = g.op('Log', g.op('Div', g.op('Cast', distance, to=FLOAT), g.const(float(exact))))
    large = g.op('Mul', g.op('Div', ratio, g.const(float(np.log(far / exact)))), g.const(float(half - exact)))
    large = g.op('Add', g.op('Cast', large, to=INT64), g.const(exact))
    limit = g.op('Expand', g.const([half - 1]), g.op('Shape', large))
    large = g.op('Min', large, limit)
    result = g.op('Add', result, g.op('Where', g.op('Less', distance, g.const(exact)), distance, large))
    bias = g.embedding('relative_attention_bias', buckets, HEADS, result)
    return g.unsqueeze(g.op('Transpose', bias, perm=[2, 0, 1]), 0)


def mpnet():
    """Positions count the ids that are no padding (CumSum); distances become buckets."""
    g = Graph(14, weights='uint8', seed=7)
    ids, mask = ids_and_mask(g, types=False)
    with g.scope('embeddings'):
        real = g.op('Cast', g.op('Cast', g.op('Not', g.op('Equal', ids, g.const(1))), to=6), to=6)
        counts = g.op('Cast', g.op('Mul', g.op('CumSum', real, g.const(1)), real), to=INT64)
        positions = g.op('Add', counts, g.const(1))
        x = g.op('Add', g.embedding('word_embeddings', WORDS, WIDTH, ids), g.embedding('position_embeddings', LONGEST, WIDTH, positions))
        x = g.layer_norm(x, WIDTH, 'LayerNorm', 1e-5)
    mask = mask_by_arithmetic(g, mask)
    with g.scope('encoder'):
        bias = relative_buckets(g, g.size(x, 1))
    for i in range(2):
        x = block(g, i, x, mask, bias=bias)
    g.output('last_hidden_state', x, FLOAT, ['batch_size', 'sequence_length', WIDTH])
    return g.model(), samples((1, 7), (2, 40), types=False)


def rotate(g, x, cos, sin, width):
    """x * cos + rotate_half(x) * sin"""
    half = g.op('Concat', g.op('Neg', g.slice(x, width // 2, 2 ** 63 - 1, 3)), g.slice(x, 0, width // 2, 3), axis=-1)
    return g.op('Add', g.op('Mul', x, cos), g.op('Mul', half, sin))


def rotary_tables(g, length, width, base=10000.0, past=None):
    """cos and sin of positions and frequencies, [1, 1, length, width], computed in the run; positions begin behind the past"""
    with g.scope('rotary_emb'):
        times = g.op('Range', past, g.op('Add', past, length), g.const(1)) if past else g.range(length)
        times = g.op('Cast', times, to=FLOAT)
        rates = g.init('inv_freq', (base ** (-np.arange(0, width, 2) / width)).astype(np.float32))
        angles = g.op('Mul', g.unsqueeze(times, 1), g.unsqueeze(rates, 0))
        angles = g.op('Concat', angles, angles, axis=-1)
        return [g.unsqueeze(g.unsqueeze(g.op(kind, angles), 0), 1) for kind in ('Cos', 'Sin')]


def nomic():
    """One product for q, k and v, rotary positions, a gated feed forward, no biases; the mean of what the mask shows, of length one."""
    g = Graph(14, seed=8)
    ids, mask, types = ids_and_mask(g)
    each = WIDTH // HEADS
    x = g.op('Add', g.embedding('embeddings/word_embeddings', WORDS, WIDTH, ids), g.embedding('embeddings/token_type_embeddings', 2, WIDTH, types))
    x = g.layer_norm(x, WIDTH, 'emb_ln')
    batch, length = g.size(ids, 0), g.size(ids, 1)
    bias = mask_by_arithmetic(g, mask)
    cos, sin = rotary_tables(g, length, each, 1000.0)
    for i in range(2):
        with g.scope(f'encoder/layers.{i}'):
            with g.scope('attn'):
                qkv = g.reshape(g.linear(x, WIDTH, 3 * WIDTH, 'Wqkv', bias=False), batch, length, 3, HEADS, each)
                q, k, v = (g.op('Transpose', g.op('Gather', qkv, g.const(part), axis=2), perm=[0, 2, 1, 3]) for part in range(3))
                q, k = rotate(g, q, cos, sin, each), rotate(g, k, cos, sin, each)
                weights = g.op('Softmax', g.op('Add', scaled_products(g, q, k, each, False), bias), axis=-1)
                y = g.linear(g.unheads(g.op('MatMul', weights, v), WIDTH), WIDTH, WIDTH, 'out_proj', bias=False)
            x = g.layer_norm(g.op('Add', y, x), WIDTH, 'norm1')
            with g.scope('mlp'):
                up = g.linear(x, WIDTH, 2 * WIDTH, 'fc11', bias=False)
                gate = g.silu(g.linear(x, WIDTH, 2 * WIDTH, 'fc12', bias=False))
                y = g.linear(g.op('Mul', up, gate), 2 * WIDTH, WIDTH, 'fc2', bias=False)
            x = g.layer_norm(g.op('Add', y, x), WIDTH, 'norm2')
    shown = g.op('Cast', g.expand(g.unsqueeze(mask, -1), batch, length, WIDTH), to=FLOAT)
    total = g.reduce('ReduceSum', g.op('Mul', x, shown), [1], keepdims=0)
    count = g.op('Clip', g.reduce('ReduceSum', shown, [1], keepdims=0), g.const(1e-9))
    mean = g.op('Div', total, count)
    norm = g.op('Clip', g.op('ReduceL2', mean, axes=[1], keepdims=1), g.const(1e-12))
    unit = g.op('Div', mean, g.op('Expand', norm, g.op('Shape', mean)))
    g.output('token_embeddings', x, FLOAT, ['batch_size', 'sequence_length', WIDTH])
    g.output('sentence_embedding', unit, FLOAT, ['batch_size', WIDTH])
    return g.model(), samples((1, 7), (2, 12))


MODELS = {
    'minilm_l6': minilm_l6, 'minilm_l12': minilm_l12, 'multilingual_minilm': multilingual_minilm, 'mpnet': mpnet, 'bge_small': bge_small,
    'e5_small': e5_small, 'multilingual_e5_small': multilingual_e5_small, 'nomic': nomic, 'gte_base': gte_base,
    'mxbai_embed': mxbai_embed, 'reranker': reranker}
