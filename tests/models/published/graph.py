# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX graph with the nodes that exporters and their quantising scripts write, and random weights."""

import contextlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
LOWEST = float(np.finfo(np.float32).min)


class Graph:
    """A graph that grows node by node. Names follow torch.onnx: /scope/Type_output_0. Quantisation follows ONNX Runtime's
    quantize_dynamic: `weights` is the element type of weights, `quantised` the operators that it takes."""

    def __init__(self, opset, weights='int8', quantised=('MatMul', 'Gather', 'Conv'), seed=0, domains=()):
        self.opset = opset
        self.weights = weights
        self.quantised = quantised
        self.random = np.random.RandomState(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.scopes, self.names, self.of_activation = [], {}, {}
        self.domains = domains

    @contextlib.contextmanager
    def scope(self, name):
        self.scopes.append(name)
        yield
        self.scopes.pop()

    def _name(self, kind):
        path = '/' + '/'.join(self.scopes + [kind])
        count = self.names.get(path, 0)
        self.names[path] = count + 1
        return path if not count else f'{path}_{count}'

    def _parameter(self, name):
        name = '.'.join([scope.replace('/', '.') for scope in self.scopes] + [name])
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return name if not count else f'{name}_{count}'

    def op(self, kind, *inputs, outputs=1, domain='', **attributes):
        """Adds a node; gives the name of its output, or the names of several."""
        name = self._name(kind)
        results = [f'{name}_output_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=name, domain=domain, **attributes))
        return results[0] if outputs == 1 else results

    def const(self, value, kind=None):
        """Adds a Constant node, as torch.onnx writes numbers of the program; ints become int64, floats float32."""
        array = np.asarray(value)
        array = array.astype(kind or (np.float32 if array.dtype.kind == 'f' else np.int64 if array.dtype.kind == 'i' else array.dtype))
        name = self._name('Constant')
        self.nodes.append(helper.make_node('Constant', [], [name + '_output_0'], name=name, value=numpy_helper.from_array(array)))
        return name + '_output_0'

    def init(self, name, array):
        name = self._parameter(name)
        self.initializers.append(numpy_helper.from_array(np.array(array, order='C'), name))
        return name

    def normal(self, *shape, scale=None):
        """Random weights whose products keep the size of numbers."""
        fan = shape[0] if len(shape) == 2 else int(np.prod(shape[1:])) if len(shape) > 2 else 1
        return (self.random.standard_normal(shape) * (scale or fan ** -0.5)).astype(np.float32)

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, value, kind, shape):
        """Gives a value its name as an output of the graph, by renaming what computes it."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, found in enumerate(names):
                    if found == value:
                        names[i] = name
        for known in self.of_activation, :
            for key in [key for key in known if key == value]:
                known[name] = known.pop(key)
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, 'main_graph', self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid('', self.opset)] + [helper.make_opsetid(domain, 1) for domain in self.domains]
        model = helper.make_model(graph, opset_imports=opsets, producer_name='pytorch')
        model.ir_version = 8
        return model

    # Shapes.
    def size(self, value, axis):
        """One dimension of a value, a scalar."""
        return self.op('Gather', self.op('Shape', value), self.const(axis), axis=0)

    def axes_op(self, kind, value, axes, **attributes):
        """Unsqueeze or Squeeze: the axes are an attribute before opset 13."""
        if self.opset < 13:
            return self.op(kind, value, axes=axes, **attributes)
        return self.op(kind, value, self.const(axes), **attributes)

    def unsqueeze(self, value, *axes):
        return self.axes_op('Unsqueeze', value, list(axes))

    def squeeze(self, value, *axes):
        return self.axes_op('Squeeze', value, list(axes))

    def dims(self, *parts):
        """A shape of scalars that the run computes and of numbers."""
        return self.op('Concat', *[self.unsqueeze(part, 0) if isinstance(part, str) else self.const([part]) for part in parts], axis=0)

    def reshape(self, value, *parts):
        if all(isinstance(part, int) for part in parts):
            return self.op('Reshape', value, self.const(list(parts)))
        return self.op('Reshape', value, self.dims(*parts))

    def slice(self, value, start, end, axis, step=1):
        ends = [self.unsqueeze(part, 0) if isinstance(part, str) else self.const([part]) for part in (start, end)]
        return self.op('Slice', value, *ends, self.const([axis]), self.const([step]))

    def reduce(self, kind, value, axes, keepdims=1):
        if kind == 'ReduceSum' and self.opset >= 13:
            return self.op(kind, value, self.const(axes), keepdims=keepdims)
        return self.op(kind, value, axes=axes, keepdims=keepdims)

    def expand(self, value, *parts):
        """torch's expand: sizes of -1 become those of the value by Equal and Where."""
        shape = self.op('Reshape', self.dims(*parts), self.const([-1]))
        ones = self.op('ConstantOfShape', self.op('Shape', shape), value=numpy_helper.from_array(np.array([1], np.int64)))
        minus = self.op('Mul', ones, self.const(-1))
        return self.op('Expand', value, self.op('Where', self.op('Equal', shape, minus), ones, shape))

    def range(self, count):
        return self.op('Range', self.const(0), self.op('Cast', count, to=INT64), self.const(1))

    # Quantised layers.
    def _quantised_weight(self, name, array, axis=None):
        """The three initialisers that quantize_dynamic makes of a weight."""
        if self.weights == 'int8':
            scale = np.float32(max(np.abs(array).max() * 2 / 254, 1e-8))
            quantised, zero = np.clip(np.rint(array / scale), -127, 127).astype(np.int8), np.int8(0)
        else:
            low, high = min(array.min(), 0), max(array.max(), 0)
            scale = np.float32((high - low) / 255)
            zero = np.uint8(np.rint(-low / scale))
            quantised = np.clip(np.rint(array / scale) + zero, 0, 255).astype(np.uint8)
        for suffix, value in (('quantized', quantised), ('scale', np.float32(scale)), ('zero_point', zero)):
            self.initializers.append(numpy_helper.from_array(np.asarray(value), f'{name}_{suffix}'))
        return f'{name}_quantized', f'{name}_scale', f'{name}_zero_point'

    def _quantised_activation(self, value):
        if value not in self.of_activation:
            names = [f'{value}_{suffix}' for suffix in ('quantized', 'scale', 'zero_point')]
            self.nodes.append(helper.make_node('DynamicQuantizeLinear', [value], names, name=value + '_QuantizeLinear'))
            self.of_activation[value] = names
        return self.of_activation[value]

    def _integer_product(self, kind, value, name, array, path, **attributes):
        quantised, scale, zero = self._quantised_activation(value)
        weight, weight_scale, weight_zero = self._quantised_weight(name, array)
        output = path + '_output_0'
        self.nodes += [
            helper.make_node(kind + 'Integer', [quantised, weight, zero, weight_zero], [output + '_output_quantized'],
                             name=path + '_quant', **attributes),
            helper.make_node('Cast', [output + '_output_quantized'], [output + '_cast_output'], name=output + '_cast', to=FLOAT),
            helper.make_node('Mul', [scale, weight_scale], [path + '_quant_scales_mul_out'], name=path + '_quant_scales_mul'),
            helper.make_node('Mul', [output + '_cast_output', path + '_quant_scales_mul_out'], [output], name=path + '_quant_output_scale_mul')]
        return output

    def matmul(self, value, array):
        """A product with a constant."""
        count = self.names.setdefault('onnx::MatMul', 100)
        self.names['onnx::MatMul'] += 1
        name = f'onnx::MatMul_{count}'
        if 'MatMul' in self.quantised:
            return self._integer_product('MatMul', value, name, array, self._name('MatMul'))
        self.initializers.append(numpy_helper.from_array(array, name))
        return self.op('MatMul', value, name)

    def linear(self, value, inputs, outputs, name, bias=True):
        with self.scope(name):
            result = self.matmul(value, self.normal(inputs, outputs))
            return self.op('Add', self.init('bias', self.normal(outputs, scale=0.1)), result) if bias else result

    def embedding(self, name, rows, columns, ids, scale=1.0):
        with self.scope(name):
            table = self.normal(rows, columns, scale=scale)
            if 'Gather' not in self.quantised:
                return self.op('Gather', self.init('weight', table), ids)
            weight, weight_scale, zero = self._quantised_weight(self._parameter('weight'), table)
            path = self._name('Gather')
            self.nodes.append(helper.make_node('Gather', [weight, ids], [path + '_output_0_quantized'], name=path + '_quant'))
            self.nodes.append(helper.make_node('DequantizeLinear', [path + '_output_0_quantized', weight_scale, zero],
                                               [path + '_output_0'], name=path + '_DequantizeLinear'))
            return path + '_output_0'

    def conv(self, value, name, array, bias=True, **attributes):
        """A convolution; quantize_dynamic gives its bias a Reshape and an Add."""
        attributes.setdefault('kernel_shape', list(array.shape[2:]))
        vector = self.normal(array.shape[0], scale=0.1)
        with self.scope(name):
            if 'Conv' not in self.quantised:
                inputs = [self.init('weight', array)] + ([self.init('bias', vector)] if bias else [])
                return self.op('Conv', value, *inputs, **attributes)
            path = self._name('Conv')
            result = self._integer_product('Conv', value, self._parameter('weight'), array, path, **attributes)
            if not bias:
                return result
            shape = self.init('bias_reshape_shape', np.array([1, -1] + [1] * (array.ndim - 2), np.int64))
            return self.op('Add', result, self.op('Reshape', self.init('bias', vector), shape))

    # Layers of floats.
    def layer_norm(self, value, width, name, epsilon=1e-12, bias=True):
        """LayerNormalization from opset 17 on, its primitives before."""
        with self.scope(name):
            weight = self.init('weight', 1 + self.normal(width, scale=0.1))
            shift = self.init('bias', self.normal(width, scale=0.1)) if bias else None
            if self.opset >= 17:
                return self.op('LayerNormalization', value, weight, *([shift] if bias else []), axis=-1, epsilon=epsilon)
            centred = self.op('Sub', value, self.reduce('ReduceMean', value, [-1]))
            variance = self.reduce('ReduceMean', self.op('Pow', centred, self.const(2.0)), [-1])
            root = self.op('Sqrt', self.op('Add', variance, self.const(epsilon)))
            scaled = self.op('Mul', self.op('Div', centred, root), weight)
            return self.op('Add', scaled, shift) if bias else scaled

    def gelu(self, value):
        erf = self.op('Erf', self.op('Div', value, self.const(2 ** 0.5)))
        return self.op('Mul', self.op('Mul', value, self.op('Add', erf, self.const(1.0))), self.const(0.5))

    def silu(self, value):
        return self.op('Mul', value, self.op('Sigmoid', value))

    def heads(self, value, count, width, batch, perm=(0, 2, 1, 3)):
        """[batch, length, count * width] as [batch, count, length, width] by sizes that the run computes."""
        length = self.size(value, 1)
        return self.op('Transpose', self.reshape(value, batch, length, count, width), perm=list(perm))

    def unheads(self, value, width):
        """The reverse of heads()."""
        value = self.op('Transpose', value, perm=[0, 2, 1, 3])
        return self.reshape(value, self.size(value, 0), self.size(value, 1), width)
