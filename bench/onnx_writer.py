# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX graphs as protobuf by hand: Python 3 alone, for the scripts beside it."""
import random
import struct
import sys

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
SIZES = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q"}


def varint(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    body = block(1, name)
    if isinstance(value, int):
        return body + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return body + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, str):
        return body + block(4, value) + number(20, 3)
    return body + b"".join(number(8, v) for v in value) + number(20, 7)


def value_info(name, shape, kind=FLOAT):
    """`shape`: numbers, or the names of open dimensions."""
    dims = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, dims)))


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.initializers, self.count = [], [], 0
        self.domains = set()

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, kind, shape, values):
        """`values`: numbers, or their bytes."""
        name = self.name("c")
        data = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{SIZES[kind]}", *values)
        body = b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name) + block(9, data)
        self.initializers.append(body)
        return name

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        """`outputs`: how many, or their names."""
        names = [self.name(op) for _ in range(outputs)] if isinstance(outputs, int) else outputs
        body = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in names)
        body += block(3, names[0]) + block(4, op)
        body += b"".join(block(5, attribute(k, v)) for k, v in attributes.items())
        if domain:
            body += block(7, domain)
            self.domains.add(domain)
        self.nodes.append(body)
        return names if len(names) > 1 else names[0]

    def floats(self, shape, low, high):
        count = 1
        for d in shape:
            count *= d
        return self.constant(FLOAT, shape, [self.random.uniform(low, high) for _ in range(count)])

    def scalar(self, v):
        return self.constant(FLOAT, [], [v])

    def save(self, path, inputs, outputs):
        body = b"".join(block(1, n) for n in self.nodes) + block(2, "graph")
        body += b"".join(block(5, t) for t in self.initializers)
        body += b"".join(block(11, value_info(*v)) for v in inputs)
        body += b"".join(block(12, value_info(*v)) for v in outputs)
        with open(path, "wb") as f:
            others = b"".join(block(8, block(1, d) + number(2, 1)) for d in sorted(self.domains))
            f.write(number(1, 8) + block(7, body) + block(8, number(2, 17)) + others)
