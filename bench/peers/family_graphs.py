# SPDX-License-Identifier: Apache-2.0
"""The networks of families.py: what their papers describe, in the layers of family_layers.py, each a function of Layers
that gives its outputs."""


def transformer(n, x, layers, heads, expansion=4):
    for _ in range(layers):
        x = n.layer_norm(n.add(x, n.attention(x, heads)))
        c = n.shapes[x][-1]
        x = n.layer_norm(n.add(x, n.dense(n.dense(x, expansion * c, "gelu"), c)))
    return x


def bert_mini(n):
    return [transformer(n, n.input([1, 128, 256]), 4, 4)]


def vit_tiny(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 192, 16, 16, act=None, pad=0)
    x = n.transpose(n.reshape(x, [1, 192, 196]), [0, 2, 1])
    for _ in range(12):
        x = n.add(x, n.attention(n.layer_norm(x), 3))
        x = n.add(x, n.dense(n.dense(n.layer_norm(x), 768, "gelu"), 192))
    return [n.dense(n.layer_norm(x), 1000)]


def convnext_tiny(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 96, 4, 4, act=None, pad=0)
    for stage, (c, count) in enumerate([(96, 3), (192, 3), (384, 9), (768, 3)]):
        if stage:
            x = n.transpose(n.layer_norm(n.transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2])
            x = n.convolution(x, c, 2, 2, act=None, pad=0)
        for _ in range(count):
            y = n.layer_norm(n.transpose(n.convolution(x, c, 7, groups=c, act=None), [0, 2, 3, 1]))
            y = n.dense(n.dense(y, 4 * c, "gelu"), c)
            x = n.add(x, n.transpose(y, [0, 3, 1, 2]))
    return [n.classify(x)]


def stem(n, c=64):
    x = n.convolution(n.input([1, 3, 224, 224]), c, 7, 2)
    return n.pool(x, "max", 3, 2, 1)


def resnet18(n):
    x = stem(n)
    for i, c in enumerate([64, 64, 128, 128, 256, 256, 512, 512]):
        stride = 2 if i in (2, 4, 6) else 1
        y = n.convolution(n.convolution(x, c, 3, stride), c, 3, act=None)
        x = n.add(n.convolution(x, c, 1, stride, act=None) if stride == 2 else x, y, "relu")
    return [n.classify(x)]


def densenet121(n, folded):
    def unit(x, c, kernel=1):
        return n.convolution(x, c, kernel) if folded else n.convolution(n.batch_norm(x), c, kernel, act=None)
    x, c = stem(n), 64
    for block, count in enumerate([6, 12, 24, 16]):
        for _ in range(count):
            x = n.concat([x, unit(unit(x, 128), 32, 3)])
        if block < 3:
            x = n.pool(unit(x, n.shapes[x][1] // 2), "average", 2, 2)
    return [n.classify(x)]


def googlenet(n):
    x = n.pool(n.convolution(n.convolution(stem(n), 64), 192, 3), "max", 3, 2, 1)
    table = [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64), (192, 96, 208, 16, 48, 64),
             (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
             (256, 160, 320, 32, 128, 128), (256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]
    for i, (a, b, c, d, e, f) in enumerate(table):
        if i in (2, 7):
            x = n.pool(x, "max", 3, 2, 1)
        x = n.concat([n.convolution(x, a), n.convolution(n.convolution(x, b), c, 3),
                      n.convolution(n.convolution(x, d), e, 3), n.convolution(n.pool(x, "max", 3, 1, 1), f)])
    return [n.classify(x)]


def inception_v3(n):
    conv = n.convolution
    x = conv(conv(conv(n.input([1, 3, 299, 299]), 32, 3, 2, pad=0), 32, 3, pad=0), 64, 3)
    x = n.pool(conv(conv(n.pool(x, "max", 3, 2), 80), 192, 3, pad=0), "max", 3, 2)
    for c in (32, 64, 64):
        x = n.concat([conv(x, 64), conv(conv(x, 48), 64, 5), conv(conv(conv(x, 64), 96, 3), 96, 3),
                      conv(n.pool(x, "average", 3, 1, 1), c)])
    x = n.concat([conv(x, 384, 3, 2, pad=0), conv(conv(conv(x, 64), 96, 3), 96, 3, 2, pad=0), n.pool(x, "max", 3, 2)])
    for c in (128, 160, 160, 192):
        y = conv(conv(conv(conv(conv(x, c), c, (7, 1)), c, (1, 7)), c, (7, 1)), 192, (1, 7))
        x = n.concat([conv(x, 192), conv(conv(conv(x, c), c, (1, 7)), 192, (7, 1)), y,
                      conv(n.pool(x, "average", 3, 1, 1), 192)])
    y = conv(conv(conv(conv(x, 192), 192, (1, 7)), 192, (7, 1)), 192, 3, 2, pad=0)
    x = n.concat([conv(conv(x, 192), 320, 3, 2, pad=0), y, n.pool(x, "max", 3, 2)])
    for _ in range(2):
        a, b = conv(x, 384), conv(conv(x, 448), 384, 3)
        x = n.concat([conv(x, 320), conv(a, 384, (1, 3)), conv(a, 384, (3, 1)), conv(b, 384, (1, 3)),
                      conv(b, 384, (3, 1)), conv(n.pool(x, "average", 3, 1, 1), 192)])
    return [n.classify(x)]


def grouped_stages(n, x, stages, ratio=1, excite=0):
    """Stages of (channels, inner channels, groups, blocks) of ResNeXt and RegNet."""
    for i, (c, inner, groups, count) in enumerate(stages):
        for j in range(count):
            stride = 2 if j == 0 and (i > 0 or ratio == 2) else 1
            y = n.convolution(n.convolution(x, inner), inner, 3, stride, groups)
            if excite:
                y = n.squeeze_excite(y, n.shapes[x][1] // excite)
            y = n.convolution(y, c, act=None)
            x = n.add(n.convolution(x, c, 1, stride, act=None) if j == 0 else x, y, "relu")
    return x


def resnext50(n):
    stages = [(256, 128, 32, 3), (512, 256, 32, 4), (1024, 512, 32, 6), (2048, 1024, 32, 3)]
    return [n.classify(grouped_stages(n, stem(n), stages))]


def regnetx_800(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 32, 3, 2)
    stages = [(c, c, c // 16, count) for c, count in [(64, 1), (128, 3), (288, 7), (672, 5)]]
    return [n.classify(grouped_stages(n, x, stages, 2))]


def regnety_400(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 32, 3, 2)
    stages = [(c, c, c // 8, count) for c, count in [(48, 1), (104, 3), (208, 6), (440, 6)]]
    return [n.classify(grouped_stages(n, x, stages, 2, 4))]


def shufflenet_v2(n):
    x = n.pool(n.convolution(n.input([1, 3, 224, 224]), 24, 3, 2), "max", 3, 2, 1)
    for out, count in [(116, 4), (232, 8), (464, 4)]:
        half = out // 2
        for i in range(count):
            stride = 2 if i == 0 else 1
            left, right = (x, x) if i == 0 else n.split(x, 2)
            c = n.shapes[right][1]
            right = n.convolution(right, half)
            right = n.convolution(n.convolution(right, half, 3, stride, half, act=None), half)
            if i == 0:
                left = n.convolution(n.convolution(left, c, 3, 2, c, act=None), half)
            x = n.concat([left, right])
            images, _, h, w = n.shapes[x]
            x = n.reshape(n.transpose(n.reshape(x, [images, 2, half, h, w]), [0, 2, 1, 3, 4]), [images, out, h, w])
    return [n.classify(n.convolution(x, 1024))]


def squeezenet(n):
    x = n.pool(n.convolution(n.input([1, 3, 224, 224]), 64, 3, 2, pad=0), "max", 3, 2)
    for i, (s, e) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]):
        if i in (2, 4):
            x = n.pool(x, "max", 3, 2)
        y = n.convolution(x, s)
        x = n.concat([n.convolution(y, e), n.convolution(y, e, 3)])
    return [n.global_pool(n.convolution(x, 1000))]


def inverted(n, x, kernel, inner, out, excite, act, stride, gate, share=4):
    """MobileNet's block; excite: whether it has one, of inner (or the input's) channels over `share`."""
    c = n.shapes[x][1]
    y = n.convolution(x, inner, act=act) if inner != c else x
    y = n.convolution(y, inner, kernel, stride, inner, act=act)
    if excite:
        y = n.squeeze_excite(y, excite, gate)
    y = n.convolution(y, out, act=None)
    return n.add(x, y) if stride == 1 and c == out else y


def mobilenet_v3(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 16, 3, 2, act="hardswish")
    for kernel, inner, out, excite, act, stride in [
            (3, 16, 16, 0, "relu", 1), (3, 64, 24, 0, "relu", 2), (3, 72, 24, 0, "relu", 1), (5, 72, 40, 1, "relu", 2),
            (5, 120, 40, 1, "relu", 1), (5, 120, 40, 1, "relu", 1), (3, 240, 80, 0, "hardswish", 2),
            (3, 200, 80, 0, "hardswish", 1), (3, 184, 80, 0, "hardswish", 1), (3, 184, 80, 0, "hardswish", 1),
            (3, 480, 112, 1, "hardswish", 1), (3, 672, 112, 1, "hardswish", 1), (5, 672, 160, 1, "hardswish", 2),
            (5, 960, 160, 1, "hardswish", 1), (5, 960, 160, 1, "hardswish", 1)]:
        x = inverted(n, x, kernel, inner, out, excite * inner // 4, act, stride, "HardSigmoid")
    return [n.classify(n.convolution(x, 960, act="hardswish"))]


def efficientnet_b0(n):
    x = n.convolution(n.input([1, 3, 224, 224]), 32, 3, 2, act="silu")
    for expansion, out, count, stride, kernel in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                                                  (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:
        for i in range(count):
            c = n.shapes[x][1]
            x = inverted(n, x, kernel, c * expansion, out, c // 4, "silu", stride if i == 0 else 1, "Sigmoid")
    return [n.classify(n.convolution(x, 1280, act="silu"))]


def yolov8n(n, act):
    def conv(x, c, kernel=1, stride=1):
        return n.convolution(x, c, kernel, stride, act=act)

    def c2f(x, c, count, shortcut=True):
        parts = n.split(conv(x, c), 2)
        for _ in range(count):
            y = conv(conv(parts[-1], c // 2, 3), c // 2, 3)
            parts.append(n.add(parts[-1], y) if shortcut else y)
        return conv(n.concat(parts), c)
    x = conv(conv(n.input([1, 3, 320, 320]), 16, 3, 2), 32, 3, 2)
    x = c2f(x, 32, 1)
    p3 = c2f(conv(x, 64, 3, 2), 64, 2)
    p4 = c2f(conv(p3, 128, 3, 2), 128, 2)
    x = conv(c2f(conv(p4, 256, 3, 2), 256, 1), 128)
    pools = [x]
    for _ in range(3):
        pools.append(n.pool(pools[-1], "max", 5, 1, 2))
    p5 = conv(n.concat(pools), 256)
    a = c2f(n.concat([n.resize(p5, 2, "nearest"), p4]), 128, 1, False)
    b = c2f(n.concat([n.resize(a, 2, "nearest"), p3]), 64, 1, False)
    d = c2f(n.concat([conv(b, 64, 3, 2), a]), 128, 1, False)
    e = c2f(n.concat([conv(d, 128, 3, 2), p5]), 256, 1, False)
    outputs = []
    for x in (b, d, e):
        outputs.append(n.convolution(conv(conv(x, 64, 3), 64, 3), 64, act=None))
        outputs.append(n.convolution(conv(conv(x, 80, 3), 80, 3), 80, act="Sigmoid"))
    return outputs


def unet(n, up):
    def two(x, c):
        return n.convolution(n.convolution(x, c, 3), c, 3)
    x, skips = n.input([1, 3, 128, 128]), []
    for c in (32, 64, 128, 256):
        skips.append(two(x, c))
        x = n.pool(skips[-1], "max", 2, 2)
    x = two(x, 512)
    for skip in reversed(skips):
        c = n.shapes[skip][1]
        x = (n.convolution(x, c, 2, 2, act=None, pad=0, transposed=True) if up == "transposed"
             else n.convolution(n.resize(x, 2, "linear"), c, act=None))
        x = two(n.concat([skip, x]), c)
    return [n.convolution(x, 2, act=None)]


def dilated_resnet(n):
    """The backbone of DeepLab and FCN: MobileNetV2-like, its last stages dilated."""
    x = n.convolution(n.input([1, 3, 224, 224]), 32, 3, 2)
    for inner, out, stride, dilation in [(32, 16, 1, 1), (96, 24, 2, 1), (144, 24, 1, 1), (144, 32, 2, 1), (192, 32, 1, 1),
                                         (192, 64, 2, 1), (384, 64, 1, 1), (384, 96, 1, 1), (576, 96, 1, 1),
                                         (576, 160, 1, 2), (960, 160, 1, 2), (960, 320, 1, 2)]:
        c = n.shapes[x][1]
        y = n.convolution(x, inner) if inner != c else x
        y = n.convolution(n.convolution(y, inner, 3, stride, inner, dilation=dilation), out, act=None)
        x = n.add(x, y) if stride == 1 and c == out else y
    return x


def deeplab(n):
    x = dilated_resnet(n)
    parts = [n.convolution(x, 256)] + [n.convolution(x, 256, 3, dilation=d) for d in (12, 24, 36)]
    x = n.convolution(n.convolution(n.concat(parts), 256), 21, act=None)
    return [n.resize(x, 16, "linear")]


def fcn(n):
    x = n.convolution(dilated_resnet(n), 256, 3)
    return [n.resize(n.convolution(x, 21, act=None), 16, "linear")]


def espcn(n):
    x = n.convolution(n.convolution(n.input([1, 1, 128, 128]), 64, 5), 32, 3)
    x = n.convolution(x, 9, 3, act=None)
    y = n.node("DepthToSpace", [x], blocksize=3, mode="CRD")
    return [n.pair(y, [1, 1, 384, 384])]


def fsrcnn(n):
    x = n.convolution(n.convolution(n.input([1, 1, 128, 128]), 56, 5, act="prelu"), 12, act="prelu")
    for _ in range(4):
        x = n.convolution(x, 12, 3, act="prelu")
    x = n.convolution(x, 56, act="prelu")
    return [n.convolution(x, 1, 8, 2, act=None, pad=3, transposed=True)]


def tcn(n):
    x = n.input([1, 64, 1024])
    for i in range(8):
        y = n.convolution(n.convolution(x, 64, 3, dilation=2**i), 64, 3, dilation=2**i)
        x = n.add(x, y, "relu")
    return [n.convolution(x, 10, act=None)]


def wavenet(n):
    x, skips = n.convolution(n.input([1, 1, 2048]), 64, act=None), None
    for i in range(10):
        a = n.convolution(x, 64, 3, dilation=2**i, act="Tanh")
        b = n.convolution(x, 64, 3, dilation=2**i, act="Sigmoid")
        y = n.binary("Mul", a, b)
        s = n.convolution(y, 64, act=None)
        skips = s if skips is None else n.add(skips, s)
        x = n.add(x, n.convolution(y, 64, act=None))
    return [n.convolution(n.convolution(skips, 128), 64, act=None)]


def conv_tasnet(n):
    x = n.convolution(n.input([1, 1, 16000]), 256, 16, 8, pad=4)
    e = x
    x = n.convolution(x, 128, act=None)
    for i in range(8):
        y = n.convolution(x, 256, act="prelu")
        y = n.convolution(y, 256, 3, groups=256, dilation=2**i, act="prelu")
        x = n.add(x, n.convolution(y, 128, act=None))
    m = n.convolution(x, 256, act="Sigmoid")
    return [n.convolution(n.binary("Mul", e, m), 1, 16, 8, act=None, pad=4, transposed=True)]


def ds_cnn(n):
    x = n.convolution(n.input([1, 1, 49, 10]), 64, (10, 4), 2)
    for _ in range(4):
        x = n.convolution(n.convolution(x, 64, 3, groups=64), 64)
    return [n.classify(x, 12)]


FAMILIES = {
    "bert_mini": bert_mini, "vit_tiny": vit_tiny, "convnext_tiny": convnext_tiny, "resnet18": resnet18,
    "densenet121": lambda n: densenet121(n, True), "densenet121_unfolded": lambda n: densenet121(n, False),
    "googlenet": googlenet, "inception_v3": inception_v3, "resnext50": resnext50, "regnetx_800": regnetx_800,
    "regnety_400": regnety_400, "shufflenet_v2": shufflenet_v2, "squeezenet": squeezenet, "mobilenet_v3": mobilenet_v3,
    "efficientnet_b0": efficientnet_b0, "yolov8n_silu": lambda n: yolov8n(n, "silu"),
    "yolov8n_relu": lambda n: yolov8n(n, "relu"), "unet_transposed": lambda n: unet(n, "transposed"),
    "unet_bilinear": lambda n: unet(n, "bilinear"), "deeplab": deeplab, "fcn": fcn, "espcn": espcn, "fsrcnn": fsrcnn,
    "tcn": tcn, "wavenet": wavenet, "conv_tasnet": conv_tasnet, "ds_cnn": ds_cnn,
}
