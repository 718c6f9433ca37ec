# SPDX-License-Identifier: Apache-2.0
"""FunASR's encoders with memory blocks (FSMN): SenseVoice and paraformer as sherpa-onnx publishes them, MatMul alone quantised, to uint8."""

import numpy as np
from onnx import helper

from graph import BOOL, FLOAT, INT32, INT64, Graph

FRAME, WIDTH, HEADS, KERNEL, WORDS = 40, 32, 4, 5, 50


def length_mask(g, lengths, frames):
    """1 where a frame is within its length, [batch, frames] in float"""
    inside = g.op('Less', g.unsqueeze(g.range(frames), 0), g.unsqueeze(g.op('Cast', lengths, to=INT64), -1))
    return g.op('Cast', inside, to=FLOAT)


def positions(g, x, width):
    """Sines and cosines of the frames' numbers from 1 on, computed in the run; added to x."""
    steps = g.op('Cast', g.op('Add', g.range(g.size(x, 1)), g.const(1)), to=FLOAT)
    rates = np.exp(np.arange(width // 2) * -(np.log(10000.0) / (width / 2 - 1))).astype(np.float32)
    angles = g.op('Mul', g.unsqueeze(steps, 1), g.init('inv_timescales', rates[None]))
    return g.op('Add', x, g.unsqueeze(g.op('Concat', g.op('Sin', angles), g.op('Cos', angles), axis=1), 0))


def layer(g, index, x, mask, width):
    """Attention plus a memory block: a depthwise convolution over the values, left in float."""
    with g.scope(f'encoders.{index}'):
        y = g.layer_norm(x, width, 'norm1', 1e-5)
        with g.scope('self_attn'):
            q, k, v = g.op('Split', g.linear(y, width, 3 * WIDTH, 'linear_q_k_v'), g.const([WIDTH] * 3), axis=-1, outputs=3)
            shown = g.unsqueeze(mask, 2)
            memory = g.op('Transpose', g.op('Mul', v, shown), perm=[0, 2, 1])
            memory = g.op('Pad', memory, g.const([0, 0, KERNEL // 2, 0, 0, KERNEL // 2]), g.const(0.0), mode='constant')
            memory = g.conv(memory, 'fsmn_block', g.normal(WIDTH, 1, KERNEL), bias=False, dilations=[1], group=WIDTH, pads=[0, 0], strides=[1])
            memory = g.op('Mul', g.op('Add', g.op('Transpose', memory, perm=[0, 2, 1]), g.op('Mul', v, shown)), shown)
            batch = g.size(y, 0)
            q, k, v = (g.heads(value, HEADS, WIDTH // HEADS, batch) for value in (q, k, v))
            scores = g.op('MatMul', g.op('Mul', q, g.const((WIDTH // HEADS) ** -0.5)), g.op('Transpose', k, perm=[0, 1, 3, 2]))
            hidden = g.op('Equal', g.unsqueeze(g.unsqueeze(mask, 1), 2), g.const(0.0))
            weights = g.op('Softmax', g.op('Where', hidden, g.const(-1e9), scores), axis=-1)
            weights = g.op('Where', hidden, g.const(0.0), weights)
            y = g.linear(g.unheads(g.op('MatMul', weights, v), WIDTH), WIDTH, WIDTH, 'linear_out')
            y = g.op('Add', y, memory)
        x = g.op('Add', x, y) if width == WIDTH else y
        y = g.layer_norm(x, WIDTH, 'norm2', 1e-5)
        y = g.op('Relu', g.linear(y, WIDTH, 2 * WIDTH, 'feed_forward/w_1'))
        return g.op('Add', x, g.linear(y, 2 * WIDTH, WIDTH, 'feed_forward/w_2'))


def sense_voice():
    """Language and style become frames in front (embeddings by ids of the run); a CTC head."""
    g = Graph(14, weights='uint8', quantised=('MatMul',), seed=30)
    x = g.input('x', FLOAT, ['N', 'T', FRAME])
    lengths, language, style = (g.input(name, INT32, ['N']) for name in ('x_length', 'language', 'text_norm'))
    with g.scope('embed'):
        table = g.init('weight', g.normal(16, FRAME, scale=1))
        tags = [g.unsqueeze(g.op('Gather', table, value), 1) for value in (language, style)]
        events = g.op('Gather', table, g.op('Expand', g.const([[1, 2]]), g.dims(g.size(x, 0), 1)))
    x = g.op('Concat', tags[0], events, tags[1], x, axis=1)
    lengths = g.op('Add', g.op('Cast', lengths, to=INT64), g.const(4))
    mask = length_mask(g, lengths, g.size(x, 1))
    x = positions(g, g.op('Mul', x, g.const(WIDTH ** 0.5)), FRAME)
    x = layer(g, 0, x, mask, FRAME)
    x = layer(g, 1, x, mask, WIDTH)
    x = g.layer_norm(x, WIDTH, 'after_norm', 1e-5)
    g.output('logits', g.linear(x, WIDTH, WORDS, 'ctc_lo'), FLOAT, ['N', 'T + 4', WORDS])
    random, cases = np.random.RandomState(1), []
    for b, n in ((1, 9), (2, 21)):
        cases.append({'x': random.standard_normal((b, n, FRAME)).astype(np.float32), 'x_length': np.arange(n, n - 5 * b, -5)[:b].astype(np.int32),
                      'language': np.full(b, 3, np.int32), 'text_norm': np.full(b, 15, np.int32)})
    return g.model(), cases


def paraformer():
    """The predictor counts tokens by sums of weights in the run (CIF): a Loop over frames fires one where the sum passes 1, and the
    decoder is as long as the greatest count."""
    g = Graph(14, weights='int8', seed=31)
    x = g.input('speech', FLOAT, ['batch_size', 'feats_length', FRAME])
    lengths = g.input('speech_lengths', INT32, ['batch_size'])
    mask = length_mask(g, lengths, g.size(x, 1))
    x = positions(g, g.op('Mul', x, g.const(WIDTH ** 0.5)), FRAME)
    x = g.layer_norm(layer(g, 0, x, mask, FRAME), WIDTH, 'after_norm', 1e-5)
    with g.scope('predictor'):
        y = g.op('Pad', g.op('Transpose', x, perm=[0, 2, 1]), g.const([0, 0, 1, 0, 0, 1]), g.const(0.0), mode='constant')
        y = g.conv(y, 'cif_conv1d', g.normal(WIDTH, WIDTH, 3), dilations=[1], group=1, pads=[0, 0], strides=[1])
        y = g.op('Transpose', g.op('Relu', y), perm=[0, 2, 1])
        alphas = g.squeeze(g.op('Relu', g.op('Sigmoid', g.linear(y, WIDTH, 1, 'cif_output'))), -1)
        alphas = g.op('Mul', alphas, mask)
        integrate = g.op('Mul', g.op('Gather', alphas, g.const(0), axis=1), g.const(0.0))
        body = helper.make_graph([
            helper.make_node('Gather', [alphas, 'step'], ['alpha'], axis=1),
            helper.make_node('Add', ['before', 'alpha'], ['sum']), helper.make_node('GreaterOrEqual', ['sum', 'one'], ['fire']),
            helper.make_node('Cast', ['fire'], ['fired'], to=FLOAT), helper.make_node('Sub', ['sum', 'fired'], ['after']),
            helper.make_node('Identity', ['go'], ['going'])], 'body',
            [helper.make_tensor_value_info('step', INT64, []), helper.make_tensor_value_info('go', BOOL, []),
             helper.make_tensor_value_info('before', FLOAT, ['batch_size'])],
            [helper.make_tensor_value_info('going', BOOL, []), helper.make_tensor_value_info('after', FLOAT, ['batch_size']),
             helper.make_tensor_value_info('fired', FLOAT, ['batch_size'])],
            [helper.make_tensor('one', FLOAT, [], [1.0])])
        _, fires = g.op('Loop', g.size(alphas, 1), g.const(True, bool), integrate, outputs=2, body=body)
        count = g.op('Cast', g.reduce('ReduceSum', fires, [0], keepdims=0), to=INT64)
        longest = g.op('ReduceMax', count, keepdims=0)
    g.output('token_num', count, INT64, ['batch_size'])
    g.output('logits', g.slice(g.linear(x, WIDTH, WORDS, 'decoder/output_layer'), 0, longest, 1), FLOAT, ['batch_size', 'logits_length', WORDS])
    random = np.random.RandomState(2)
    return g.model(), [{'speech': random.standard_normal((1, 9, FRAME)).astype(np.float32), 'speech_lengths': np.array([9], np.int32)}]


MODELS = {'sense_voice': sense_voice, 'paraformer': paraformer}
