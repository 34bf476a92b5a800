#!/usr/bin/env python3
"""Exports networks of PyTorch with torch.onnx.export(dynamo=True), opset 20 unless the title has another.

usage: torch_networks.py FOLDER
"""
import math
import sys

import torch
from torch import nn
from torch.nn import functional as F

from stored import save, write_all


class Of(nn.Module):
    def __init__(self, function, **modules):
        super().__init__()
        self.parts, self.function = nn.ModuleDict(modules), function

    def forward(self, *inputs):
        return self.function(*inputs, **self.parts)


class MinGRU(nn.Module):
    """A gated recurrence without products of states, its steps written out."""

    def __init__(self, inputs, width, steps):
        super().__init__()
        self.gate, self.value, self.steps = nn.Linear(inputs, width), nn.Linear(inputs, width), steps

    def forward(self, x):
        z, v = torch.sigmoid(self.gate(x)), self.value(x)
        h, states = torch.zeros_like(v[:, 0]), []
        for t in range(self.steps):
            h = (1 - z[:, t]) * h + z[:, t] * v[:, t]
            states.append(h)
        return torch.stack(states, 1)


class StateSpace(nn.Module):
    """A diagonal state space layer as a convolution whose kernel follows from its parameters."""

    def __init__(self, width, states, steps):
        super().__init__()
        self.log_a, self.c = nn.Parameter(torch.rand(width, states) - 3), nn.Parameter(torch.randn(width, states) / states)
        self.d, self.width, self.steps = nn.Parameter(torch.ones(width)), width, steps

    def forward(self, x):
        decay = torch.exp(-torch.exp(self.log_a)[:, :, None] * torch.arange(self.steps))
        kernel = (self.c[:, :, None] * decay).sum(1).flip(-1)[:, None]
        y = F.conv1d(F.pad(x, (self.steps - 1, 0)), kernel, groups=self.width)
        return F.gelu(y + self.d[:, None] * x)


class GRUHead(nn.Module):
    def __init__(self, cell, width):
        super().__init__()
        self.cell, self.head = cell, nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


class CausalAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class TabTransformer(nn.Module):
    """Features as tokens, an encoder layer over them, and a dense head."""

    def __init__(self, features, width):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.randn(features, width)), nn.Parameter(torch.randn(features, width))
        self.layer, self.head = nn.TransformerEncoderLayer(width, 2, 2 * width, batch_first=True), nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.layer(x[:, :, None] * self.scale + self.shift).mean(1))


class NBeats(nn.Module):
    def __init__(self, back, ahead):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(back, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, back + ahead)) for _ in range(3))
        self.back = back

    def forward(self, x):
        forecast = 0
        for block in self.blocks:
            both = block(x)
            x, forecast = x - both[:, :self.back], forecast + both[:, self.back:]
        return forecast


class Fourier(nn.Module):
    """Position encoding by sines, as in a NeRF, and a dense network."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bands", 2.0 ** torch.arange(4) * math.pi)
        self.net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        y = (x[:, :, None] * self.bands).flatten(1)
        return self.net(torch.cat([y.sin(), y.cos()], 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 4, 2, stride=2), nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x):
        skip = F.relu(self.down(x))
        y = F.relu(self.deep(F.max_pool2d(skip, 2)))
        return torch.sigmoid(self.last(torch.cat([skip, self.up(y)], 1)))


def dense(*widths, between=nn.ReLU):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), between()]
    return nn.Sequential(*layers[:-1])


def trained(model):
    """With statistics as training leaves them."""
    for norm in (m for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))):
        nn.init.normal_(norm.running_mean, 0, 0.2)
        nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return model.eval()


def networks():
    yield "dense layers, ReLU", dense(16, 64, 64, 4), [(1, 16)]
    yield "dense layers, SiLU, a batch of 8", dense(16, 32, 4, between=nn.SiLU), [(8, 16)]
    yield "dense layers, BatchNorm", nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3)), [(1, 12)]
    yield "residual block, LayerNorm, GELU", Of(lambda x, norm, net: x + net(norm(x)), norm=nn.LayerNorm(32),
                                                net=dense(32, 64, 32, between=nn.GELU)), [(1, 32)]
    yield "SwiGLU", Of(lambda x, a, b, c: c(F.silu(a(x)) * b(x)), a=nn.Linear(24, 48), b=nn.Linear(24, 48), c=nn.Linear(48, 24)), [(1, 24)]
    yield "two towers, cosine", Of(lambda x, y, a, b: F.cosine_similarity(a(x), b(y)), a=dense(10, 16, 8), b=dense(12, 16, 8)), [(1, 10), (1, 12)]
    yield "actor and critic, four samples", Of(lambda x, body, a, c: (torch.tanh(a(body(x))), c(body(x))), body=dense(10, 64, 64, between=nn.Tanh),
                                 a=nn.Linear(64, 3), c=nn.Linear(64, 1)), [(4, 10)]
    yield "autoencoder", dense(20, 10, 3, 10, 20), [(1, 20)]
    yield "N-BEATS", NBeats(24, 6), [(1, 24)]
    yield "Fourier features", Fourier(), [(1, 3)]
    yield "convolutions on a signal", nn.Sequential(nn.Conv1d(2, 8, 5, stride=2), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 8, 3), nn.ReLU(),
                                                    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(8, 3)), [(1, 2, 40)]
    yield "LeNet", nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
                                 nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)), [(1, 1, 16, 16)]
    yield "U-Net", UNet(), [(1, 1, 12, 12)]
    yield "LSTM", GRUHead(nn.LSTM(6, 16, batch_first=True), 16), [(1, 12, 6)]
    yield "GRU, both ways", GRUHead(nn.GRU(6, 8, batch_first=True, bidirectional=True), 16), [(1, 12, 6)]
    yield "minGRU, steps written out", MinGRU(6, 12, 10), [(1, 10, 6)]
    yield "state space layer", StateSpace(8, 4, 24), [(1, 8, 24)]
    yield "encoder layer", nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), [(1, 8, 16)]
    yield "causal attention", CausalAttention(16, 2), [(1, 8, 16)]
    yield "causal attention, opset 23", CausalAttention(16, 2), [(1, 8, 16)]
    yield "attention over features", TabTransformer(6, 8), [(1, 6)]
    yield "RMSNorm, opset 23", nn.Sequential(nn.Linear(16, 32), nn.RMSNorm(32), nn.Linear(32, 4)), [(1, 16)]


def writer(title, model, shapes):
    def write(folder):
        torch.manual_seed(1)
        inputs = [torch.randn(shape).bfloat16().float() for shape in shapes]
        with torch.no_grad():
            outputs = trained(model)(*inputs)
            torch.onnx.export(model, tuple(inputs), str(folder / "model.onnx"), dynamo=True, verbose=False,
                              **({"opset_version": 23} if "opset 23" in title else {}))
        save(folder, [x.numpy() for x in inputs], [y.numpy() for y in (outputs if isinstance(outputs, tuple) else (outputs,))])
    return write


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    print("PyTorch", torch.__version__.split("+")[0])
    write_all([(title, writer(title, model, shapes)) for title, model, shapes in networks()], sys.argv[1])
