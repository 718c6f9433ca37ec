# SPDX-License-Identifier: Apache-2.0
"""Computes ONNX graphs in numpy, each operator by the words of its specification. Products of integers are exact; sums of floats
are taken in double precision and rounded once, so that results lie within roundings of any float32 computation."""

import math
import warnings

import numpy as np
from onnx import TensorProto, helper, mapping, numpy_helper

KINDS = {key: value for key, value in mapping.TENSOR_TYPE_TO_NP_TYPE.items() if key not in (TensorProto.STRING, TensorProto.BFLOAT16)}
F64 = np.float64
erf = np.vectorize(math.erf, otypes=[F64])


def wide(value):
    return value.astype(F64) if value.dtype == np.float32 else value


def narrow(result, like):
    return np.asarray(result).astype(like.dtype)


def axis_list(node, inputs, at):
    if len(inputs) > at and inputs[at] is not None:
        return tuple(int(axis) for axis in inputs[at])
    return tuple(node['axes']) if 'axes' in node else None


def unsqueeze(node, inputs):
    axes = axis_list(node, inputs, 1)
    rank = inputs[0].ndim + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        inputs = [np.expand_dims(inputs[0], axis)]
    return inputs[0]


def reshape(node, inputs):
    shape = [int(inputs[0].shape[i] if size == 0 and not node.get('allowzero') else size) for i, size in enumerate(inputs[1])]
    return inputs[0].reshape(shape)


def slice_(node, inputs):
    data, starts, ends = inputs[:3]
    axes = inputs[3] if len(inputs) > 3 and inputs[3] is not None else range(len(starts))
    steps = inputs[4] if len(inputs) > 4 else [1] * len(starts)
    index = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        start, end, step = int(start), int(end), int(step)
        index[int(axis)] = slice(start, None if step < 0 and end < -data.shape[int(axis)] else end, step)
    return data[tuple(index)]


def split(node, inputs):
    axis = node.get('axis', 0)
    sizes = inputs[1] if len(inputs) > 1 else node.get('split', [inputs[0].shape[axis] // node['outputs']] * node['outputs'])
    return np.split(inputs[0], np.cumsum(sizes)[:-1].astype(int), axis)


def reduce(function):
    def run(node, inputs):
        axes = axis_list(node, inputs, 1)
        return narrow(function(wide(inputs[0]), axis=axes, keepdims=bool(node.get('keepdims', 1))), inputs[0])
    return run


def softmax(node, inputs):
    value, axis = wide(inputs[0]), node.get('axis', -1)
    value = np.exp(value - value.max(axis, keepdims=True))
    return narrow(value / value.sum(axis, keepdims=True), inputs[0])


def quantise_dynamically(node, inputs):
    x = inputs[0]
    low, high = np.float32(min(x.min(initial=0), 0)), np.float32(max(x.max(initial=0), 0))
    scale = np.float32((high - low) / np.float32(255))
    if scale == 0:
        scale = np.float32(1)
    zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
    return np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8), scale, zero


def quantise(node, inputs):
    x, scale, zero = inputs
    limits = np.iinfo(zero.dtype)
    if scale.ndim:
        shape = [1] * x.ndim
        shape[node.get('axis', 1)] = -1
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return np.clip(np.rint(x / scale) + zero, limits.min, limits.max).astype(zero.dtype)


def dequantise(node, inputs):
    x, scale = inputs[:2]
    zero = inputs[2] if len(inputs) > 2 else np.zeros(scale.shape, x.dtype)
    if scale.ndim:
        shape = [1] * x.ndim
        shape[node.get('axis', 1)] = -1
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return (x.astype(np.int64) - zero.astype(np.int64)).astype(np.float32) * scale


def padding(node, sizes, kernel, strides, dilations):
    """The pads of a window, before and after each dimension."""
    auto, rank = node.get('auto_pad', b'NOTSET'), len(kernel)
    if auto in (b'NOTSET', b'VALID'):
        pads = node.get('pads', [0] * 2 * rank)
        return list(zip(pads[:rank], pads[rank:]))
    result = []
    for size, k, s, d in zip(sizes, kernel, strides, dilations):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small = total // 2
        result.append((small, total - small) if auto == b'SAME_UPPER' else (total - small, small))
    return result


def windows(x, node, kernel, fill):
    """[batch, channels, output sizes ..., kernel sizes ...]"""
    rank = len(kernel)
    strides, dilations = node.get('strides', [1] * rank), node.get('dilations', [1] * rank)
    pads = padding(node, x.shape[2:], kernel, strides, dilations)
    if node.get('ceil_mode'):
        pads = [(a, b + s - 1) for (a, b), s in zip(pads, strides)]
    x = np.pad(x, [(0, 0), (0, 0)] + pads, constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(2, 2 + rank)))
    index = (slice(None), slice(None)) + tuple(slice(None, None, s) for s in strides) + tuple(slice(None, None, d) for d in dilations)
    return view[index]


def convolve(node, x, w):
    groups, rank = node.get('group', 1), x.ndim - 2
    view = windows(x, node, w.shape[2:], 0)
    parts = []
    for part, weights in zip(np.split(view, groups, 1), np.split(w, groups, 0)):
        axes = [1] + list(range(2 + rank, 2 + 2 * rank))
        parts.append(np.moveaxis(np.tensordot(part, weights, (axes, list(range(1, 2 + rank)))), -1, 1))
    return np.concatenate(parts, 1)


def conv(node, inputs):
    result = convolve(node, wide(inputs[0]), wide(inputs[1]))
    if len(inputs) > 2:
        result = result + wide(inputs[2]).reshape([1, -1] + [1] * (result.ndim - 2))
    return narrow(result, inputs[0])


def conv_transpose(node, inputs):
    x, w = wide(inputs[0]), wide(inputs[1])
    groups, rank, kernel = node.get('group', 1), x.ndim - 2, w.shape[2:]
    strides, pads = node.get('strides', [1] * rank), node.get('pads', [0] * 2 * rank)
    more = node.get('output_padding', [0] * rank)
    full = [(n - 1) * s + k + p for n, s, k, p in zip(x.shape[2:], strides, kernel, more)]
    result = np.zeros([x.shape[0], w.shape[1] * groups] + full)
    for g, (part, weights) in enumerate(zip(np.split(x, groups, 1), np.split(w, groups, 0))):
        for tap in np.ndindex(*kernel):
            at = tuple(slice(t, t + (n - 1) * s + 1, s) for t, n, s in zip(tap, x.shape[2:], strides))
            product = np.moveaxis(np.tensordot(part, weights[(slice(None), slice(None)) + tap], ([1], [0])), -1, 1)
            result[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1])) + at] += product
    result = result[(slice(None), slice(None)) + tuple(slice(a, n - b) for a, b, n in zip(pads[:rank], pads[rank:], full))]
    if len(inputs) > 2:
        result = result + wide(inputs[2]).reshape([1, -1] + [1] * rank)
    return narrow(result, inputs[0])


def max_pool(node, inputs):
    view = windows(inputs[0], node, node['kernel_shape'], -np.inf if inputs[0].dtype == np.float32 else np.iinfo(inputs[0].dtype).min)
    return view.max(axis=tuple(range(view.ndim - len(node['kernel_shape']), view.ndim)))


def average_pool(node, inputs):
    axes = tuple(range(inputs[0].ndim, inputs[0].ndim + len(node['kernel_shape'])))
    count = np.ones_like(inputs[0], F64)
    if node.get('count_include_pad'):
        rank = len(node['kernel_shape'])
        pads = node.get('pads', [0] * 2 * rank)
        count = np.ones_like(np.pad(count, [(0, 0), (0, 0)] + list(zip(pads[:rank], pads[rank:]))))
        node_of_count = dict(node, pads=[0] * 2 * rank)
    else:
        node_of_count = node
    total = windows(wide(inputs[0]), node, node['kernel_shape'], 0).sum(axis=axes)
    return narrow(total / windows(count, node_of_count, node['kernel_shape'], 0).sum(axis=axes), inputs[0])


def matmul_integer(node, inputs):
    a, b = (value.astype(F64) - (0 if zero is None else zero.astype(F64))
            for value, zero in zip(inputs[:2], (inputs[2:] + [None, None])[:2]))
    return np.matmul(a, b).astype(np.int32)


def conv_integer(node, inputs):
    a, b = (value.astype(F64) - (0 if zero is None else zero.astype(F64))
            for value, zero in zip(inputs[:2], (inputs[2:] + [None, None])[:2]))
    return convolve(node, a, b).astype(np.int32)


def gemm(node, inputs):
    a, b = (wide(value) for value in inputs[:2])
    a, b = a.T if node.get('transA') else a, b.T if node.get('transB') else b
    result = node.get('alpha', 1.0) * (a @ b)
    return narrow(result + node.get('beta', 1.0) * wide(inputs[2]) if len(inputs) > 2 else result, inputs[0])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(node, inputs):
    """Forward, reverse or both; gates in the order input, output, forget, cell."""
    x, w, r = (wide(value) for value in inputs[:3])
    more = list(inputs[3:]) + [None] * (8 - len(inputs))
    size, directions = node['hidden_size'], w.shape[0]
    biases = wide(more[0]) if more[0] is not None else np.zeros((directions, 8 * size))
    start = [np.zeros((directions, x.shape[1], size)) if value is None else wide(value) for value in more[2:4]]
    outputs, hiddens, cells = [], [], []
    for d in range(directions):
        backward = node.get('direction', b'forward') == b'reverse' or d == 1
        h, c, steps = start[0][d], start[1][d], []
        for row in x[::-1] if backward else x:
            gates = row @ w[d].T + h @ r[d].T + biases[d][:4 * size] + biases[d][4 * size:]
            i, o, f, g = np.split(gates, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            steps.append(h)
        outputs.append(np.stack(steps[::-1] if backward else steps))
        hiddens.append(h)
        cells.append(c)
    return tuple(narrow(value, inputs[0]) for value in (np.stack(outputs, 1), np.stack(hiddens), np.stack(cells)))


def layer_norm(node, inputs):
    x = wide(inputs[0])
    axes = tuple(range(node.get('axis', -1) % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    x = centred / np.sqrt((centred ** 2).mean(axes, keepdims=True) + node.get('epsilon', 1e-5)) * wide(inputs[1])
    return narrow(x + wide(inputs[2]) if len(inputs) > 2 else x, inputs[0])


def rms_norm(node, inputs):
    x = wide(inputs[0])
    x = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + node.get('epsilon', 1e-5)) * wide(inputs[1])
    return narrow(x, inputs[0])


def instance_norm(node, inputs):
    x = wide(inputs[0])
    axes, shape = tuple(range(2, x.ndim)), [1, -1] + [1] * (x.ndim - 2)
    centred = x - x.mean(axes, keepdims=True)
    x = centred / np.sqrt((centred ** 2).mean(axes, keepdims=True) + node.get('epsilon', 1e-5))
    return narrow(x * wide(inputs[1]).reshape(shape) + wide(inputs[2]).reshape(shape), inputs[0])


def resize(node, inputs):
    """Nearest by whole factors (floor, asymmetric), as networks for images have it."""
    x = inputs[0]
    sizes = inputs[3] if len(inputs) > 3 else [int(n * s) for n, s in zip(x.shape, inputs[2])]
    assert node['mode'] == b'nearest' and node['coordinate_transformation_mode'] == b'asymmetric'
    for axis, size in enumerate(sizes):
        x = np.take(x, np.arange(size) * x.shape[axis] // size, axis)
    return x


def pad(node, inputs):
    rank, mode = inputs[0].ndim, node.get('mode', b'constant').decode()
    widths = [(int(a), int(b)) for a, b in zip(inputs[1][:rank], inputs[1][rank:])]
    fill = {'constant_values': inputs[2] if len(inputs) > 2 and inputs[2] is not None else 0} if mode == 'constant' else {}
    return np.pad(inputs[0], widths, mode=mode, **fill)


def gather(node, inputs):
    return np.take(inputs[0], inputs[1].astype(np.int64), node.get('axis', 0), mode='wrap')


def scatter_nd(node, inputs):
    result = inputs[0].copy()
    result[tuple(np.moveaxis(inputs[1], -1, 0))] = inputs[2]
    return result


def matmul_n_bits(node, inputs):
    packed, scales = inputs[1:3]
    n, k, size = node['N'], node['K'], node['block_size']
    values = np.stack([packed & 15, packed >> 4], -1).reshape(n, -1, size).astype(np.int32)
    zero = 8
    if len(inputs) > 3 and inputs[3] is not None:
        zero = np.stack([inputs[3] & 15, inputs[3] >> 4], -1).reshape(n, -1)[:, :values.shape[1], None].astype(np.int32)
    if node.get('accuracy_level', 0) == 4:
        return nbits_seq(inputs[0], values - zero, scales.reshape(n, -1))
    weights = ((values - zero) * scales.reshape(n, -1, 1)).reshape(n, -1)[:, :k]
    return narrow(wide(inputs[0]) @ wide(weights.astype(np.float32)).T, inputs[0])


def nbits_seq(x, weights, scales):
    """kernels/nbits_seq.h, for finite activations."""
    n, blocks, size = weights.shape
    padded = np.zeros((*x.shape[:-1], blocks * size), np.float32)
    padded[..., :x.shape[-1]] = x
    padded = padded.reshape(*x.shape[:-1], blocks, size)
    most = np.abs(padded).max(-1)
    with np.errstate(divide='ignore', over='ignore'):
        inverse = np.float32(127) / most
    usable = np.isfinite(inverse)
    q = np.rint(padded * np.where(usable, inverse, np.float32(0))[..., None]).astype(np.int64)
    scale = np.where(usable, most / np.float32(127), np.float32(0))
    y = np.zeros((*x.shape[:-1], n), np.float32)
    for b in range(blocks):
        dot = (q[..., b, :] @ weights[:, b].T).astype(np.float32)
        y = y + dot * (scale[..., b, None] * scales[:, b])
    return y


def rotated(x, positions, cosines, sines):
    """x [batch, heads, n, each] turned by the angles of its positions [batch, n], halves of a head against each other."""
    c, s = (wide(table)[positions][:, None] for table in (cosines, sines))
    low, high = np.split(wide(x), 2, -1)
    return np.concatenate([low * c - high * s, high * c + low * s], -1).astype(np.float32)


def group_query_attention(node, inputs):
    """Heads of keys that several heads of queries share, causal, with rotary positions and a past that is wholly in use."""
    query, key, value, past_key, past_value, _, _, cosines, sines = inputs
    batch, n, width = query.shape
    heads, groups = node['num_heads'], node['kv_num_heads']
    each, before = width // heads, past_key.shape[2]
    apart = [x.reshape(batch, n, count, each).transpose(0, 2, 1, 3) for x, count in ((query, heads), (key, groups), (value, groups))]
    positions = np.broadcast_to(before + np.arange(n), (batch, n))
    q, k = (rotated(x, positions, cosines, sines) for x in apart[:2])
    keys, values = np.concatenate([past_key, k], 2), np.concatenate([past_value, apart[2]], 2)
    all_keys, all_values = (wide(np.repeat(x, heads // groups, 1)) for x in (keys, values))
    scores = wide(q) @ all_keys.transpose(0, 1, 3, 2) * node['scale']
    hidden = np.arange(before + n)[None] > before + np.arange(n)[:, None]
    scores = np.where(hidden, -np.inf, scores)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    y = (scores / scores.sum(-1, keepdims=True)) @ all_values
    return y.transpose(0, 2, 1, 3).reshape(batch, n, width).astype(np.float32), keys, values


def skip_rms_norm(node, inputs):
    total = inputs[0] + inputs[1]
    y = rms_norm({**node, 'axis': -1}, [total, inputs[2]])
    return y, None, None, total


def elementwise(function):
    return lambda node, inputs: narrow(function(*[wide(value) for value in inputs]), inputs[0])


def divide(a, b):
    return np.trunc(a / b) if a.dtype.kind in 'iu' else a / b


OPERATORS = {
    'Shape': lambda node, inputs: np.array(inputs[0].shape, np.int64),
    'Constant': lambda node, inputs: numpy_helper.to_array(node['value']),
    'ConstantOfShape': lambda node, inputs: np.full(tuple(inputs[0]), numpy_helper.to_array(node['value'])[0]),
    'Identity': lambda node, inputs: inputs[0], 'Gather': gather, 'Unsqueeze': unsqueeze, 'Reshape': reshape, 'Slice': slice_, 'Split': split,
    'Squeeze': lambda node, inputs: np.squeeze(inputs[0], axis_list(node, inputs, 1)),
    'Concat': lambda node, inputs: np.concatenate(inputs, node['axis']),
    'Transpose': lambda node, inputs: np.transpose(inputs[0], node.get('perm')),
    'Flatten': lambda node, inputs: inputs[0].reshape(int(np.prod(inputs[0].shape[:node.get('axis', 1)])), -1),
    'Expand': lambda node, inputs: inputs[0] * np.ones(tuple(inputs[1]), inputs[0].dtype),
    'Tile': lambda node, inputs: np.tile(inputs[0], inputs[1]),
    'Where': lambda node, inputs: np.where(*inputs), 'Cast': lambda node, inputs: inputs[0].astype(KINDS[node['to']]),
    'Range': lambda node, inputs: np.arange(*inputs).astype(inputs[0].dtype),
    'Equal': lambda node, inputs: inputs[0] == inputs[1], 'Greater': lambda node, inputs: inputs[0] > inputs[1],
    'Less': lambda node, inputs: inputs[0] < inputs[1], 'GreaterOrEqual': lambda node, inputs: inputs[0] >= inputs[1],
    'LessOrEqual': lambda node, inputs: inputs[0] <= inputs[1],
    'Not': lambda node, inputs: ~inputs[0], 'And': lambda node, inputs: inputs[0] & inputs[1], 'Or': lambda node, inputs: inputs[0] | inputs[1],
    'Add': elementwise(np.add), 'Sub': elementwise(np.subtract), 'Mul': elementwise(np.multiply), 'Div': elementwise(divide),
    'Pow': elementwise(np.power), 'Sqrt': elementwise(np.sqrt), 'Erf': elementwise(erf), 'Exp': elementwise(np.exp),
    'Log': elementwise(np.log), 'Neg': elementwise(np.negative), 'Abs': elementwise(np.abs), 'Min': elementwise(np.minimum),
    'Max': elementwise(np.maximum), 'Sigmoid': elementwise(sigmoid), 'Tanh': elementwise(np.tanh), 'Sin': elementwise(np.sin),
    'Cos': elementwise(np.cos), 'Relu': elementwise(lambda x: np.maximum(x, 0)), 'Floor': elementwise(np.floor), 'Reciprocal': elementwise(lambda x: 1 / x),
    'LeakyRelu': lambda node, inputs: np.where(inputs[0] < 0, np.float32(node.get('alpha', 0.01)) * inputs[0], inputs[0]),
    'HardSigmoid': lambda node, inputs: np.clip(np.float32(node.get('alpha', 0.2)) * inputs[0] + np.float32(node.get('beta', 0.5)), 0, 1),
    'Softplus': elementwise(lambda x: np.logaddexp(x, 0)), 'Softmax': softmax,
    'LogSoftmax': lambda node, inputs: np.log(softmax(node, [wide(inputs[0])])).astype(np.float32),
    'Clip': lambda node, inputs: np.clip(inputs[0], *[None if v is None else v for v in (list(inputs[1:]) + [None, None])[:2]]),
    'ReduceMean': reduce(np.mean), 'ReduceSum': reduce(np.sum), 'ReduceMax': reduce(np.max), 'ReduceMin': reduce(np.min),
    'ReduceL2': reduce(lambda x, **more: np.sqrt((x ** 2).sum(**more))), 'CumSum': lambda node, inputs: np.cumsum(inputs[0], int(inputs[1])).astype(inputs[0].dtype),
    'MatMul': lambda node, inputs: narrow(np.matmul(wide(inputs[0]), wide(inputs[1])), inputs[0]), 'Gemm': gemm,
    'DynamicQuantizeLinear': quantise_dynamically, 'QuantizeLinear': quantise, 'DequantizeLinear': dequantise,
    'MatMulInteger': matmul_integer, 'ConvInteger': conv_integer, 'Conv': conv, 'ConvTranspose': conv_transpose, 'MaxPool': max_pool,
    'AveragePool': average_pool, 'GlobalAveragePool': lambda node, inputs: narrow(wide(inputs[0]).mean(tuple(range(2, inputs[0].ndim)), keepdims=True), inputs[0]),
    'LSTM': lstm, 'LayerNormalization': layer_norm, 'SimplifiedLayerNormalization': rms_norm, 'InstanceNormalization': instance_norm,
    'Resize': resize, 'ScatterND': scatter_nd, 'Pad': pad, 'MatMulNBits': matmul_n_bits,
    'GroupQueryAttention': group_query_attention, 'SkipSimplifiedLayerNormalization': skip_rms_norm,
    'GatherElements': lambda node, inputs: np.take_along_axis(inputs[0], inputs[1], node.get('axis', 0)),
    'ArgMax': lambda node, inputs: np.expand_dims(inputs[0].argmax(node.get('axis', 0)), node.get('axis', 0)) if node.get('keepdims', 1) else inputs[0].argmax(node.get('axis', 0)),
}


def run(graph, inputs, outer=None):
    """The outputs of a graph for a dictionary of inputs."""
    with np.errstate(all='ignore'), warnings.catch_warnings():
        warnings.simplefilter('ignore', RuntimeWarning)  # Infinities, which a Where drops.
        return compute(graph, inputs, outer)


def compute(graph, inputs, outer):
    values = dict(outer or {})
    values.update({tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer})
    values.update(inputs)
    values[''] = None
    for node in graph.node:
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        attributes['outputs'] = len(node.output)
        if node.op_type == 'If':
            branch = attributes['then_branch' if values[node.input[0]].item() else 'else_branch']
            results = tuple(compute(branch, {}, values).values())
        else:
            results = OPERATORS[node.op_type](attributes, [values[name] for name in node.input])
        for name, result in zip(node.output, results if isinstance(results, (tuple, list)) else [results]):
            values[name] = np.asarray(result)
    return {value.name: values[value.name] for value in graph.output}
