"""Layers of torch.nn with static shapes: (title, module, shapes of the inputs)."""
import torch
from torch import nn

X1, X2, X3 = (2, 4, 12), (1, 4, 8, 8), (1, 2, 4, 6, 4)


class Of(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class First(nn.Module):
    """The first result of a module with several."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)[0]


class Bound(nn.Module):
    """An operand that is always the same."""

    def __init__(self, module, value):
        super().__init__()
        self.module = module
        self.register_buffer("value", value)

    def forward(self, *inputs):
        return self.module(*inputs, self.value)


class Added(Bound):
    """What a module makes of an operand that is always the same, added to the input."""

    def forward(self, x):
        return x + self.module(self.value)


def layers():
    flat = (3, 20)
    for name in ("ReLU ReLU6 ELU SELU CELU GELU SiLU Mish Sigmoid LogSigmoid Tanh Softplus Softsign Tanhshrink "
                 "Softshrink Hardshrink Hardtanh Hardsigmoid Hardswish LeakyReLU PReLU RReLU Identity Softmin "
                 "Dropout AlphaDropout FeatureAlphaDropout").split():
        yield name, getattr(nn, name)(*([1] if name == "Softmin" else [])), [flat]
    for name in ("Softmax", "LogSoftmax"):
        yield name, getattr(nn, name)(-1), [flat]
        yield name + " of channels", getattr(nn, name)(1), [X1]
    yield "Softmax2d", nn.Softmax2d(), [X2]
    yield "Threshold", nn.Threshold(0, 0), [flat]
    yield "GLU", nn.GLU(), [flat]
    yield "PReLU of channels", nn.PReLU(4), [X1]
    yield "Linear", nn.Linear(20, 7), [flat]
    yield "Linear without bias", nn.Linear(20, 7, bias=False), [flat]
    yield "Linear over a sequence", nn.Linear(12, 5), [X1]
    yield "Flatten", nn.Flatten(), [X2]
    for d, x in ((1, X1), (2, X2), (3, X3)):
        c = x[1]
        conv, back = getattr(nn, f"Conv{d}d"), getattr(nn, f"ConvTranspose{d}d")
        yield f"Conv{d}d", conv(c, 4, 3), [x]
        yield f"Conv{d}d padded", conv(c, 4, 3, padding=1), [x]
        yield f"Conv{d}d strided", conv(c, 4, 3, stride=2, padding=1), [x]
        yield f"Conv{d}d depthwise", conv(c, c, 3, groups=c, padding=1), [x]
        yield f"ConvTranspose{d}d", back(c, 3, 2, stride=2), [x if d < 3 else (1, c, 2, 3, 2)]
        yield f"BatchNorm{d}d", getattr(nn, f"BatchNorm{d}d")(c), [x]
        yield f"InstanceNorm{d}d", getattr(nn, f"InstanceNorm{d}d")(c, affine=True), [x]
        yield f"MaxPool{d}d", getattr(nn, f"MaxPool{d}d")(2), [x]
        yield f"AvgPool{d}d", getattr(nn, f"AvgPool{d}d")(2), [x]
        yield f"AdaptiveAvgPool{d}d", getattr(nn, f"AdaptiveAvgPool{d}d")(2), [x]
        yield f"AdaptiveMaxPool{d}d of one", getattr(nn, f"AdaptiveMaxPool{d}d")(1), [x]
        yield f"ConstantPad{d}d", getattr(nn, f"ConstantPad{d}d")(1, 0.5), [x]
        yield f"ReplicationPad{d}d", getattr(nn, f"ReplicationPad{d}d")(1), [x]
        yield f"ReflectionPad{d}d", getattr(nn, f"ReflectionPad{d}d")(1), [x]
        yield f"Dropout{d}d" if d > 1 else "Dropout of a sequence", (
            getattr(nn, f"Dropout{d}d") if d > 1 else nn.Dropout)(), [x]
        mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[d]
        yield f"Upsample{d}d nearest", nn.Upsample(scale_factor=2), [x]
        yield f"Upsample{d}d {mode}", nn.Upsample(scale_factor=2, mode=mode), [x]
        yield f"Upsample{d}d {mode} with corners", nn.Upsample(scale_factor=2, mode=mode, align_corners=True), [x]
    yield "Conv1d dilated", nn.Conv1d(4, 4, 3, dilation=2), [X1]
    yield "Conv2d dilated", nn.Conv2d(4, 4, 3, dilation=2), [X2]
    yield "Conv2d grouped", nn.Conv2d(4, 8, 3, groups=2), [X2]
    # Not padding_mode="circular": the exporter of PyTorch 1.13 takes the last column but one.
    yield "Conv2d reflected", nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"), [X2]
    yield "Upsample2d bicubic", nn.Upsample(scale_factor=2, mode="bicubic"), [X2]
    yield "Upsample2d to a size", nn.Upsample(size=(5, 11), mode="bilinear"), [X2]
    yield "UpsamplingNearest2d", nn.UpsamplingNearest2d(scale_factor=3), [X2]
    yield "UpsamplingBilinear2d", nn.UpsamplingBilinear2d(scale_factor=2), [X2]
    yield "ZeroPad2d", nn.ZeroPad2d((1, 2, 0, 1)), [X2]
    yield "AdaptiveMaxPool2d", nn.AdaptiveMaxPool2d(2), [X2]
    yield "MaxPool2d with ceil", nn.MaxPool2d(3, stride=2, ceil_mode=True), [X2]
    yield "MaxPool2d dilated", nn.MaxPool2d(2, dilation=2, padding=1), [X2]
    yield "AvgPool2d padded", nn.AvgPool2d(3, stride=2, padding=1), [X2]
    yield "AvgPool2d without its pads", nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), [X2]
    yield "ConvTranspose2d padded", nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1), [X2]
    yield "ConvTranspose2d grouped", nn.ConvTranspose2d(4, 4, 3, groups=2), [X2]
    yield "ConvTranspose2d dilated", nn.ConvTranspose2d(4, 3, 3, dilation=2), [X2]
    yield "LPPool1d", nn.LPPool1d(2, 3), [X1]
    yield "LPPool2d", nn.LPPool2d(2, 2), [X2]
    yield "LocalResponseNorm", nn.LocalResponseNorm(3), [X2]
    yield "LayerNorm", nn.LayerNorm(20), [flat]
    yield "LayerNorm of two axes", nn.LayerNorm((4, 12)), [X1]
    yield "GroupNorm", nn.GroupNorm(2, 4), [X2]
    yield "PixelShuffle", nn.PixelShuffle(2), [X2]
    yield "PixelUnshuffle", nn.PixelUnshuffle(2), [X2]
    yield "Unfold", nn.Unfold(2), [X2]
    yield "CosineSimilarity", nn.CosineSimilarity(), [flat, flat]
    yield "PairwiseDistance", nn.PairwiseDistance(), [flat, flat]
    for name in ("RNN", "GRU", "LSTM"):
        kind = getattr(nn, name)
        yield name, First(kind(6, 8)), [(5, 1, 6)]
        yield name + " batch first", First(kind(6, 8, batch_first=True)), [(1, 5, 6)]
        yield name + " both ways", First(kind(6, 4, bidirectional=True)), [(5, 1, 6)]
        yield name + " of two layers", First(kind(6, 4, num_layers=2)), [(4, 1, 6)]
    yield "RNNCell", nn.RNNCell(6, 8), [(1, 6), (1, 8)]
    yield "GRUCell", nn.GRUCell(6, 8), [(1, 6), (1, 8)]
    yield "LSTMCell", First(nn.LSTMCell(6, 8)), [(1, 6)]
    yield "RNN with relu", First(nn.RNN(6, 8, nonlinearity="relu")), [(5, 1, 6)]
    yield "LSTM of a batch", First(nn.LSTM(6, 8)), [(5, 3, 6)]
    yield "MultiheadAttention", First(nn.MultiheadAttention(8, 2)), [(5, 1, 8)] * 3
    yield "MultiheadAttention batch first", First(nn.MultiheadAttention(8, 2, batch_first=True)), [(2, 5, 8)] * 3
    yield "MultiheadAttention of other widths", First(nn.MultiheadAttention(8, 2, kdim=6, vdim=4)), [
        (5, 1, 8), (4, 1, 6), (4, 1, 4)]
    yield "TransformerEncoderLayer", nn.TransformerEncoderLayer(8, 2, 16), [(5, 1, 8)]
    yield "TransformerEncoderLayer norm first", nn.TransformerEncoderLayer(8, 2, 16, norm_first=True), [(5, 1, 8)]
    yield "TransformerDecoderLayer", nn.TransformerDecoderLayer(8, 2, 16), [(4, 1, 8), (5, 1, 8)]
    yield "TransformerEncoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), [(5, 1, 8)]
    labels = torch.tensor([1, 0, 4])
    yield "CrossEntropyLoss", Bound(nn.CrossEntropyLoss(), labels), [(3, 5)]
    yield "NLLLoss", Bound(nn.NLLLoss(), labels), [(3, 5)]
    yield "EmbeddingBag of bound ids", Added(nn.EmbeddingBag(7, 10), torch.tensor([[1, 4, 2], [0, 0, 6]])), [(2, 10)]
    pair, signs = [(3, 5), (3, 5)], torch.sign(torch.tensor([[-1.0, 1, 1, -1, 1]] * 3))
    yield "KLDivLoss", Of(lambda x, y: nn.functional.kl_div(x.log_softmax(1), y.softmax(1), reduction="sum")), pair
    yield "BCEWithLogitsLoss", nn.BCEWithLogitsLoss(), pair
    yield "GaussianNLLLoss", Of(lambda x, y: nn.functional.gaussian_nll_loss(x, y, y.exp())), pair
    yield "MultiLabelSoftMarginLoss", Bound(nn.MultiLabelSoftMarginLoss(), signs.relu()), [(3, 5)]
    yield "Embedding of bound ids", Added(nn.Embedding(7, 10), torch.tensor([[1, 4, 2], [0, 0, 6]])), [(2, 3, 10)]
    for name, function in (("amax", lambda x: x.amax(1)), ("argmax", lambda x: x.argmax(1)),
                           ("cumsum", lambda x: x.cumsum(1)), ("norm", lambda x: x.norm(dim=1)),
                           ("std", lambda x: x.std(1)), ("logsumexp", lambda x: x.logsumexp(1)),
                           ("clamp", lambda x: x.clamp(-1, 1)), ("where", lambda x: torch.where(x > 0, x, x * 2)),
                           ("index_select", lambda x: x[:, [3, 1, 1, 7]]), ("roll", lambda x: x.roll(3, 1)),
                           ("flip", lambda x: x.flip(1)), ("tril", lambda x: x.tril()),
                           ("chunk", lambda x: torch.cat(x.chunk(2, 1)[::-1], 1))):
        yield name, Of(function), [flat]
    for name, function in (("topk", lambda x: x.topk(3)[0]), ("sort", lambda x: x.sort(1)[0])):
        yield name, Of(function), [(2, 9)]
