"""Whisper as optimum exports it: an encoder, a decoder for the first tokens, and one with the keys and values of what came before;
and as sherpa-onnx exports it, with caches of a constant capacity that are written at an offset."""

import numpy as np

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


def fixed_cache():
    """sherpa-onnx's decoder: a Slice of the cache ends at offset + tokens, two numbers of the run."""
    g = Graph(14, weights='uint8', seed=22)
    tokens = g.input('tokens', INT64, ['n_audio', 'n_tokens'])
    cache = g.input('in_n_layer_self_k_cache', FLOAT, [1, 'n_audio', LONGEST, WIDTH])
    offset = g.input('offset', INT64, [1])
    start = g.op('Gather', offset, g.const(0), axis=0)
    end = g.op('Add', start, g.size(tokens, 1))
    x = g.embedding('token_embedding', WORDS, WIDTH, tokens)
    x = g.op('Add', x, g.slice(g.init('positional_embedding', g.normal(LONGEST, WIDTH, scale=1)), start, end, 0))
    k = g.linear(x, WIDTH, WIDTH, 'key', bias=False)
    known = g.slice(g.op('Gather', cache, g.const(0), axis=0), 0, start, 1)
    keys = g.op('Concat', known, k, axis=1)
    scores = g.op('Softmax', g.op('MatMul', x, g.op('Transpose', keys, perm=[0, 2, 1])), axis=-1)
    g.output('logits', g.op('MatMul', scores, keys), FLOAT, ['n_audio', 'n_tokens', WIDTH])
    random = np.random.RandomState(3)
    return g.model(), [{'tokens': random.randint(0, WORDS, (1, n)), 'offset': np.array([at]),
                        'in_n_layer_self_k_cache': random.standard_normal((1, 1, LONGEST, WIDTH)).astype(np.float32)} for n, at in ((4, 0), (1, 5))]


MODELS = {'encoder': encoder, 'decoder': decoder, 'decoder_with_past': decoder_with_past, 'fixed_cache': fixed_cache}
