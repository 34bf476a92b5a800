#!/usr/bin/env python3
"""Networks with windows, recurrent ones and attention as PyTorch builds and exports them, on both engines.

usage: torch_exports_test.py SLUICE WORK_DIR TARGET

PyTorch makes the model, its exporter the file, and PyTorch's own output is what is
expected, within 2 % of its range. The engines must agree in bits and cycles. Attention also has a
number of cycles that it may take.
"""
import json
import pathlib
import subprocess
import sys

from engines import judged

try:
    import torch
    from onnx import numpy_helper
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 0.02


class Residual(nn.Module):
    """A basic block of ResNet that halves the image, its shortcut a 1 x 1 convolution."""
    shape = 1, 8, 10, 10

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16))
        self.beside = nn.Sequential(nn.Conv2d(8, 16, 1, stride=2, bias=False), nn.BatchNorm2d(16))

    def forward(self, x):
        return torch.relu(self.body(x) + self.beside(x))


class MobileNet(nn.Module):
    """An inverted bottleneck of MobileNetV3 with squeeze and excite."""
    shape = 1, 8, 8, 8

    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(
            nn.Conv2d(8, 24, 1, bias=False), nn.BatchNorm2d(24), nn.Hardswish(),
            nn.Conv2d(24, 24, 3, padding=1, groups=24, bias=False), nn.BatchNorm2d(24), nn.Hardswish())
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 6, 1), nn.ReLU(),
                                  nn.Conv2d(6, 24, 1), nn.Hardsigmoid())
        self.narrow = nn.Sequential(nn.Conv2d(24, 8, 1, bias=False), nn.BatchNorm2d(8))

    def forward(self, x):
        h = self.wide(x)
        return x + self.narrow(h * self.gate(h))


class UNet(nn.Module):
    """Two levels of a signal: down by poolings, up by transposed convolutions."""
    shape = 1, 2, 48

    def __init__(self):
        super().__init__()

        def level(inputs, outputs):
            return nn.Sequential(nn.Conv1d(inputs, outputs, 3, padding=1), nn.BatchNorm1d(outputs), nn.ReLU())
        self.down = nn.ModuleList([level(2, 8), level(8, 12)])
        self.bottom = level(12, 16)
        self.up = nn.ModuleList([nn.ConvTranspose1d(16, 12, 2, stride=2),
                                 nn.ConvTranspose1d(12, 8, 4, stride=2, padding=1)])
        self.joined = nn.ModuleList([level(24, 12), level(16, 8)])
        self.last = nn.Conv1d(8, 1, 1)

    def forward(self, x):
        kept = []
        for level in self.down:
            kept.append(level(x))
            x = nn.functional.max_pool1d(kept[-1], 2)
        x = self.bottom(x)
        for up, joined in zip(self.up, self.joined):
            x = joined(torch.cat([kept.pop(), up(x)], 1))
        return self.last(x)


class TemporalNetwork(nn.Module):
    """Causal convolutions with growing dilations; what is padded behind is cut off again."""
    shape = 1, 3, 40

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.Conv1d(inputs, 12, 3, padding=2 * dilation, dilation=dilation),
                           nn.Conv1d(12, 12, 3, padding=2 * dilation, dilation=dilation),
                           nn.Conv1d(inputs, 12, 1) if inputs != 12 else nn.Identity()])
            for inputs, dilation in ((3, 1), (12, 2), (12, 4)))
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        for first, second, beside in self.layers:
            pad = first.padding[0]
            h = torch.relu(first(x)[:, :, :-pad])
            x = torch.relu(torch.relu(second(h)[:, :, :-pad]) + beside(x))
        return self.head(x[:, :, -1])


class WaveNet(nn.Module):
    """Gated layers on a signal, their skips summed."""
    shape = 1, 1, 32

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 8, 1)
        self.layers = nn.ModuleList(nn.ModuleList([
            nn.Conv1d(8, 16, 2, dilation=dilation), nn.Conv1d(8, 8, 1), nn.Conv1d(8, 8, 1)])
            for dilation in (1, 2, 4))
        self.last = nn.Conv1d(8, 4, 1)

    def forward(self, x):
        x, skips = self.first(x), 0
        for gated, out, skip in self.layers:
            h = gated(nn.functional.pad(x, (gated.dilation[0], 0)))
            left, right = h.chunk(2, 1)
            h = torch.tanh(left) * torch.sigmoid(right)
            x, skips = x + out(h), skips + skip(h)
        return self.last(torch.relu(skips))


class KeywordSpotting(nn.Module):
    """Of 10 coefficients in 25 frames: depthwise separable convolutions, mean, classes."""
    shape = 1, 1, 25, 10

    def __init__(self):
        super().__init__()

        def both(convolution):
            return [convolution, nn.BatchNorm2d(16), nn.ReLU()]
        self.layers = nn.Sequential(
            *both(nn.Conv2d(1, 16, (10, 4), stride=2, padding=(5, 1))),
            *both(nn.Conv2d(16, 16, 3, padding=1, groups=16)), *both(nn.Conv2d(16, 16, 1)),
            *both(nn.Conv2d(16, 16, 3, padding=1, groups=16)), *both(nn.Conv2d(16, 16, 1)),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 12))

    def forward(self, x):
        return self.layers(x)


class Recurrent(nn.Module):
    """The states of all steps, through a layer of their own."""

    def __init__(self, cell, width, outputs=6):
        super().__init__()
        self.cell, self.head = cell, nn.Linear(width, outputs)

    def forward(self, x):
        return self.head(self.cell(x)[0])


class TwoLayerLSTM(Recurrent):
    shape = 1, 10, 12  # batch first

    def __init__(self):
        super().__init__(nn.LSTM(12, 24, num_layers=2, batch_first=True), 24)


class BidirectionalLSTM(Recurrent):
    shape = 8, 1, 10

    def __init__(self):
        super().__init__(nn.LSTM(10, 12, bidirectional=True), 24)


class GRU(Recurrent):
    shape = 8, 1, 10

    def __init__(self):
        super().__init__(nn.GRU(10, 20), 20)


class RNN(Recurrent):
    shape = 10, 2, 10

    def __init__(self):
        super().__init__(nn.RNN(10, 20, num_layers=2, nonlinearity="relu"), 20)


class ConvolutionThenLSTM(nn.Module):
    """Features of a signal by convolutions, and a class by the last state."""
    shape = 1, 2, 32

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(2, 8, 5, stride=2, padding=2), nn.ReLU(),
                                      nn.Conv1d(8, 16, 3, stride=2, padding=1), nn.ReLU())
        self.cell, self.head = nn.LSTM(16, 16), nn.Linear(16, 4)

    def forward(self, x):
        _, (last, _) = self.cell(self.features(x).permute(2, 0, 1))
        return self.head(last[-1])


class ManyFunctions(nn.Module):
    """More functions than one core has tables for, fewer than all cores have."""
    shape = (1, 8)

    def __init__(self):
        super().__init__()
        functions = [nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.Softplus(), nn.ELU(), nn.Softsign()]
        self.layers = nn.Sequential(*(part for one in functions for part in (nn.Linear(8, 8), one)))

    def forward(self, x):
        return self.layers(x)


class Sorted(nn.Module):
    """A network of comparisons, which takes the rows of both cores of c2b8."""
    shape = (12, 12)

    def forward(self, x):
        return torch.sort(torch.tanh(x), 1)[0]


class EncoderLayer(nn.Module):
    """Attention of so many positions to each other, and what the layer may take on c6b32."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)

    def forward(self, x):
        return self.layer(x)


class EncoderOver16(EncoderLayer):
    shape, most = (1, 16, 64), 578


class EncoderOver48(EncoderLayer):
    shape, most = (1, 48, 64), 1741


class EncoderOver128(EncoderLayer):
    shape, most = (1, 128, 64), 4835


KINDS = [Residual, MobileNet, UNet, TemporalNetwork, WaveNet, KeywordSpotting, TwoLayerLSTM, BidirectionalLSTM, GRU,
         RNN, ConvolutionThenLSTM, ManyFunctions, Sorted]
ATTENTION = [EncoderOver16, EncoderOver48, EncoderOver128]


def trained(model):
    """With statistics of activations as training leaves them, not zeros and ones."""
    for norm in (m for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))):
        nn.init.normal_(norm.weight, 1, 0.2)
        nn.init.normal_(norm.bias, 0, 0.2)
        nn.init.normal_(norm.running_mean, 0, 0.2)
        nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return model.eval()


def write(kind, folder):
    """The model, an input and what PyTorch makes of it."""
    model, x = trained(kind()), torch.randn(kind.shape)
    with torch.no_grad():
        y = model(x)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(model, x, str(folder / "model.onnx"), opset_version=14)
    for name, value in (("input", x), ("output", y)):
        (data / f"{name}_0.pb").write_bytes(numpy_helper.from_array(value.numpy()).SerializeToString())
    return data


def main():
    sluice, work, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    failures = 0
    for kind in [*KINDS, *(ATTENTION if target == "c6b32" else [])]:
        folder = work / f"torch-{kind.__name__}-{target}"
        data = write(kind, folder)
        program = folder / "model.sluice"
        flags = ["--allow-dynamic-weights"] if kind in ATTENTION else []
        compiled = subprocess.run([sluice, "compile", str(folder / "model.onnx"), "--target", target, *flags, "--json",
                                   "-o", str(program)], capture_output=True, text=True)
        if compiled.returncode != 0:
            print(f"{kind.__name__} on {target}: refused\n{compiled.stdout}")
            failures += 1
            continue
        cycles = json.loads(compiled.stdout)["latency"]["spaced"]
        if kind in ATTENTION and cycles > kind.most:
            print(f"{kind.__name__} on {target}: {cycles} cycles, allowed: at most {kind.most}")
            failures += 1
        failures += not judged(sluice, program, data, f"{kind.__name__} on {target}", TOLERANCE)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
