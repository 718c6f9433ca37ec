# SPDX-License-Identifier: Apache-2.0
"""Further networks of families.py, of kinds that the first ones do not have: windows and shifts, one token at a time, volumes,
several resolutions, sound, points, super resolution, detection, large images."""
from family_graphs import transformer
from family_layers import INT64


def slice_of(n, x, begin, end, axis):
    shape = list(n.shapes[x])
    shape[axis] = end - begin
    ends = [n.constant(INT64, [1], [v]) for v in (begin, end, axis)]
    return n.pair(n.node("Slice", [x, *ends]), shape)


def rolled(n, x, by, axis):
    size = n.shapes[x][axis]
    return n.concat([slice_of(n, x, by, size, axis), slice_of(n, x, 0, by, axis)], axis)


def weighted(n, scores, v):
    shape = n.shapes[scores]
    s = n.pair(n.node("Softmax", [scores], axis=-1), shape, low=0)
    return n.pair(n.node("MatMul", [s, v]), n.shapes[v][:2] + [shape[2], n.shapes[v][3]])


def window_attention(n, x, heads):
    """Of rows [windows, tokens, c], with a bias for each pair of places."""
    windows, tokens, c = n.shapes[x]
    d = c // heads
    qkv = n.transpose(n.reshape(n.dense(x, 3 * c), [windows, tokens, 3, heads, d]), [2, 0, 3, 1, 4])
    q, k, v = [n.pair(n.node("Gather", [qkv, n.constant(INT64, [], [i])], axis=0), [windows, heads, tokens, d])
               for i in range(3)]
    square = [windows, heads, tokens, tokens]
    q = n.pair(n.node("Mul", [q, n.scalar(d**-0.5)]), n.shapes[q])
    s = n.pair(n.node("MatMul", [q, n.transpose(k, [0, 1, 3, 2])]), square)
    s = n.pair(n.node("Add", [s, n.small([1, heads, tokens, tokens])]), square)
    return n.dense(n.reshape(n.transpose(weighted(n, s, v), [0, 2, 1, 3]), [windows, tokens, c]), c)


def swin(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 96, 4, 4, act=None, pad=0)
    x = n.transpose(x, [0, 2, 3, 1])
    for c, heads in [(96, 3), (192, 6), (384, 12)]:
        _, h, w, before = n.shapes[x]
        if before != c:
            x = n.transpose(n.reshape(x, [1, h // 2, 2, w // 2, 2, before]), [0, 1, 3, 2, 4, 5])
            h, w = h // 2, w // 2
            x = n.dense(n.layer_norm(n.reshape(x, [1, h, w, 4 * before])), c)
        for shift in (0, 3):
            y = n.layer_norm(x)
            if shift:
                y = rolled(n, rolled(n, y, shift, 1), shift, 2)
            y = n.transpose(n.reshape(y, [1, h // 7, 7, w // 7, 7, c]), [0, 1, 3, 2, 4, 5])
            y = window_attention(n, n.reshape(y, [h * w // 49, 49, c]), heads)
            y = n.transpose(n.reshape(y, [1, h // 7, w // 7, 7, 7, c]), [0, 1, 3, 2, 4, 5])
            y = n.reshape(y, [1, h, w, c])
            if shift:
                y = rolled(n, rolled(n, y, h - shift, 1), w - shift, 2)
            x = n.add(x, y)
            x = n.add(x, n.dense(n.dense(n.layer_norm(x), 4 * c, "gelu"), c))
    return [n.classify(n.transpose(x, [0, 3, 1, 2]))]


def gpt_decode(n):
    """One token behind 511 others, whose keys and values are inputs."""
    c, heads, past = 512, 8, 511
    d, x, outputs = c // heads, n.input([1, 1, c]), []
    for _ in range(4):
        y = n.layer_norm(x)
        q, k, v = [n.transpose(n.reshape(n.dense(y, c), [1, 1, heads, d]), [0, 2, 1, 3]) for _ in range(3)]
        k, v = [n.concat([n.input([1, heads, past, d]), new], 2) for new in (k, v)]
        outputs += [k, v]
        scores = [1, heads, 1, past + 1]
        s = n.pair(n.node("MatMul", [q, n.transpose(k, [0, 1, 3, 2])]), scores)
        s = n.pair(n.node("Mul", [s, n.scalar(d**-0.5)]), scores)
        y = n.transpose(weighted(n, s, v), [0, 2, 1, 3])
        x = n.add(x, n.dense(n.reshape(y, [1, 1, c]), c))
        x = n.add(x, n.dense(n.dense(n.layer_norm(x), 4 * c, "gelu"), c))
    return [n.dense(x, 8000), *outputs]


def long_transformer(n):
    return [transformer(n, n.input([1, 1024, 256]), 2, 4)]


def mixer(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 256, 16, 16, act=None, pad=0)
    x = n.transpose(n.reshape(x, [1, 256, 196]), [0, 2, 1])
    for _ in range(6):
        y = n.transpose(n.layer_norm(x), [0, 2, 1])
        x = n.add(x, n.transpose(n.dense(n.dense(y, 384, "gelu"), 196), [0, 2, 1]))
        x = n.add(x, n.dense(n.dense(n.layer_norm(x), 1024, "gelu"), 256))
    return [n.dense(n.layer_norm(x), 1000)]


def inverted(n, x, c, stride=1, ratio=4, act="silu"):
    before = n.shapes[x][1]
    inner = ratio * before
    y = n.convolution(x, inner, act=act) if ratio > 1 else x
    y = n.convolution(n.convolution(y, inner, 3, stride, inner, act=act), c, act=None)
    return n.add(x, y) if stride == 1 and before == c else y


def mobilevit(n):
    x = n.convolution(n.input([1, 3, 256, 256]), 16, 3, 2, act="silu")
    for c, stride in [(32, 1), (64, 2), (64, 1)]:
        x = inverted(n, x, c, stride)
    for c, d, layers in [(96, 144, 2), (128, 192, 4)]:
        x = inverted(n, x, c, 2)
        y = n.convolution(n.convolution(x, c, 3, act="silu"), d, act=None)
        _, _, h, w = n.shapes[y]
        y = n.transpose(n.reshape(y, [d * h // 2, 2, w // 2, 2]), [0, 2, 1, 3])
        y = n.reshape(n.transpose(n.reshape(y, [1, d, h * w // 4, 4]), [0, 3, 2, 1]), [4, h * w // 4, d])
        for _ in range(layers):
            y = n.add(y, n.attention(n.layer_norm(y), 4))
            y = n.add(y, n.dense(n.dense(n.layer_norm(y), 2 * d, "silu"), d))
        y = n.transpose(n.reshape(y, [1, 4, h * w // 4, d]), [0, 3, 2, 1])
        y = n.transpose(n.reshape(y, [d * h // 2, w // 2, 2, 2]), [0, 2, 1, 3])
        y = n.convolution(n.reshape(y, [1, d, h, w]), c, act="silu")
        x = n.convolution(n.concat([x, y]), c, 3, act="silu")
    return [n.classify(x)]


def ghostnet(n):
    def ghost(x, c, act):
        y = n.convolution(x, c // 2, act=act)
        return n.concat([y, n.convolution(y, c // 2, 3, 1, c // 2, act=act)])
    x = n.convolution(n.input([1, 3, 224, 224]), 16, 3, 2)
    for c, inner, stride, excite in [(16, 16, 1, 0), (24, 48, 2, 0), (24, 72, 1, 0), (40, 72, 2, 1), (40, 120, 1, 1),
                                     (80, 240, 2, 0), (80, 200, 1, 0), (112, 480, 1, 1), (160, 672, 2, 1),
                                     (160, 960, 1, 1)]:
        y, before = ghost(x, inner, "relu"), n.shapes[x][1]
        if stride == 2:
            y = n.convolution(y, inner, 3, 2, inner, act=None)
        if excite:
            y = n.squeeze_excite(y, inner // 4, "HardSigmoid")
        if stride == 2 or before != c:
            x = n.convolution(n.convolution(x, before, 3, stride, before, act=None), c, act=None)
        x = n.add(x, ghost(y, c, None))
    return [n.classify(n.convolution(x, 960))]


def mobilenet_batch(n):
    x = n.convolution(n.input([8, 3, 128, 128]), 32, 3, 2)
    for c, stride, ratio in [(16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), (32, 1, 6), (64, 2, 6), (64, 1, 6),
                             (96, 1, 6), (160, 2, 6), (320, 1, 6)]:
        x = inverted(n, x, c, stride, ratio, "relu")
    return [n.classify(n.convolution(x, 1280))]


def vgg(n):
    x = n.input([1, 3, 224, 224])
    for c, count in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]:
        for _ in range(count):
            x = n.convolution(x, c, 3)
        x = n.pool(x, "max", 2, 2)
    x = n.pair(n.node("Flatten", [x], axis=1), [1, 25088], low=0)
    return [n.dense(n.dense(n.dense(x, 1024, "relu"), 1024, "relu"), 1000)]


def r3d(n):
    x = n.convolution(n.input([1, 3, 8, 112, 112]), 32, (3, 7, 7), (1, 2, 2))
    for c, stride in [(32, 1), (64, 2), (128, 2), (256, 2)]:
        y = n.convolution(n.convolution(x, c, 3, stride), c, 3, act=None)
        x = n.add(n.convolution(x, c, 1, stride, act=None) if stride > 1 else x, y, "relu")
    return [n.classify(x)]


def hrnet(n):
    x = n.convolution(n.convolution(n.input([1, 3, 256, 192]), 64, 3, 2), 64, 3, 2)
    branches = [n.convolution(x, 32, 3), n.convolution(x, 64, 3, 2)]
    branches.append(n.convolution(branches[1], 128, 3, 2))
    for _ in range(2):
        for i, x in enumerate(branches):
            c = n.shapes[x][1]
            branches[i] = n.add(x, n.convolution(n.convolution(x, c, 3), c, 3, act=None), "relu")
        fused = []
        for i in range(3):
            parts = []
            for j, x in enumerate(branches):
                if j > i:
                    x = n.resize(n.convolution(x, 32 << i, act=None), 1 << (j - i), "nearest")
                for k in range(j, i):
                    x = n.convolution(x, 32 << (i if k == i - 1 else j), 3, 2, act=None if k == i - 1 else "relu")
                parts.append(x)
            fused.append(n.add(n.add(parts[0], parts[1]), parts[2], "relu"))
        branches = fused
    return [n.convolution(branches[0], 17, act=None)]


def ssd(n):
    def separable(x, c, stride=1):
        return n.convolution(n.convolution(x, n.shapes[x][1], 3, stride, n.shapes[x][1]), c)
    def boxes(x, values):
        _, _, h, w = n.shapes[x]
        return n.reshape(n.transpose(n.convolution(x, 6 * values, act=None), [0, 2, 3, 1]), [1, 6 * h * w, values])
    x = n.convolution(n.input([1, 3, 300, 300]), 32, 3, 2)
    for c, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1)]:
        x = separable(x, c, stride)
    features = [x]
    for c in (1024, 512, 256, 128):
        features.append(separable(features[-1], c, 2))
    classes = n.concat([boxes(x, 21) for x in features], 1)
    classes = n.pair(n.node("Softmax", [classes], axis=-1), n.shapes[classes], low=0)
    return [n.concat([boxes(x, 4) for x in features], 1), classes]


def pspnet(n):
    x = n.convolution(n.convolution(n.convolution(n.input([1, 3, 240, 240]), 32, 3, 2), 64, 3, 2), 128, 3, 2)
    parts = [x]
    for size in (1, 2, 3, 6):
        y = n.convolution(n.pool(x, "average", 30 // size, 30 // size), 32)
        parts.append(n.resize(y, 30 // size, "linear"))
    return [n.resize(n.convolution(n.convolution(n.concat(parts), 64, 3), 21, act=None), 8, "linear")]


def cbam(n):
    """Convolutions with a gate for each pixel, from the mean and the greatest of its channels."""
    x = n.convolution(n.input([1, 3, 112, 112]), 64, 3, 2)
    for _ in range(3):
        x = n.convolution(x, 64, 3)
        pixels = [1, 1] + n.shapes[x][2:]
        both = [n.pair(n.node(op, [x], axes=[1], keepdims=1), pixels, low)
                for op, low in (("ReduceMean", None), ("ReduceMax", 0))]
        gate = n.convolution(n.concat(both), 1, 7, act="Sigmoid")
        x = n.binary("Mul", x, gate)
    return [n.classify(x)]


def leaky(n, x, c):
    y = n.convolution(x, c, 3, act=None)
    return n.pair(n.node("LeakyRelu", [y], alpha=0.2), n.shapes[y])


def esrgan(n):
    head = x = n.convolution(n.input([1, 3, 96, 96]), 32, 3, act=None)
    for _ in range(3):
        parts = [x]
        for _ in range(4):
            parts.append(leaky(n, n.concat(parts) if len(parts) > 1 else x, 16))
        y = n.convolution(n.concat(parts), 32, 3, act=None)
        x = n.add(x, n.pair(n.node("Mul", [y, n.scalar(0.2)]), n.shapes[y]))
    x = n.add(head, n.convolution(x, 32, 3, act=None))
    for _ in range(2):
        x = leaky(n, n.resize(x, 2, "nearest"), 32)
    return [n.convolution(leaky(n, x, 32), 3, 3, act=None)]


def style_transfer(n):
    def normalised(y):
        c = [n.shapes[y][1]]
        y_norm = n.node("InstanceNormalization", [y, n.floats(c, 0.8, 1.2), n.floats(c, -0.2, 0.2)])
        return n.pair(y_norm, n.shapes[y])
    def reflected(x):
        images, c, h, w = n.shapes[x]
        pads = n.constant(INT64, [8], [0, 0, 1, 1] * 2)
        return n.pair(n.node("Pad", [x, pads], mode="reflect"), [images, c, h + 2, w + 2])
    x = n.convolution(n.input([1, 3, 128, 128]), 32, 9)
    for c in (64, 128):
        x = normalised(n.convolution(x, c, 3, 2))
    for _ in range(3):
        x = n.add(x, normalised(n.convolution(reflected(x), 128, 3, pad=0)))
    for c in (64, 32):
        x = n.convolution(n.resize(x, 2, "nearest"), c, 3)
    return [n.convolution(x, 3, 9, act="Tanh")]


def large_image(n):
    x = n.convolution(n.input([1, 3, 1080, 1920]), 16, 3, 2)
    x = n.convolution(n.convolution(x, 16, 3, 1, 16), 32)
    x = n.convolution(n.convolution(x, 32, 3, 2, 32), 64)
    return [n.convolution(n.convolution(x, 64, 3), 1, act="Sigmoid")]


def gated(n, x, c, kernel=1):
    a, b = n.split(n.convolution(x, 2 * c, kernel, act=None), 2)
    return n.binary("Mul", a, n.pair(n.node("Sigmoid", [b]), n.shapes[b]))


def conformer(n):
    def feed_forward(x):
        return n.dense(n.dense(n.layer_norm(x), 576, "silu"), 144)
    x = n.input([1, 200, 144])
    for _ in range(4):
        x = n.add(x, feed_forward(x))
        x = n.add(x, n.attention(n.layer_norm(x), 4))
        y = gated(n, n.transpose(n.layer_norm(x), [0, 2, 1]), 144)
        y = n.convolution(n.convolution(y, 144, 31, groups=144, act="silu"), 144, act=None)
        x = n.layer_norm(n.add(x, n.add(n.transpose(y, [0, 2, 1]), feed_forward(x))))
    return [n.dense(x, 256)]


def demucs(n):
    x, skips = n.input([1, 1, 16000]), []
    for c in (32, 64, 128, 256):
        x = gated(n, n.convolution(x, c, 8, 4, pad=2), c)
        skips.append(x)
    for c in (128, 64, 32, 1):
        skip = skips.pop()
        if n.shapes[x] == n.shapes[skip]:
            x = n.add(x, skip)
        x = gated(n, x, n.shapes[x][1], 3)
        x = n.convolution(x, c, 8, 4, act=None if c == 1 else "relu", pad=2, transposed=True)
    return [x]


def pointnet(n):
    x = n.input([1, 3, 2048])
    for c in (64, 64, 64, 128, 1024):
        x = n.convolution(x, c)
    y = n.pair(n.node("ReduceMax", [x], axes=[2], keepdims=0), [1, 1024], low=0)
    return [n.dense(n.dense(n.dense(y, 512, "relu"), 256, "relu"), 40)]


FURTHER = {f.__name__: f for f in (
    swin, gpt_decode, long_transformer, mixer, mobilevit, ghostnet, mobilenet_batch, vgg, r3d, hrnet, ssd, pspnet, cbam,
    esrgan, style_transfer, large_image, conformer, demucs, pointnet)}
