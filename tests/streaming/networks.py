"""Networks over a sequence as PyTorch builds them: written out, and random ones.

All take [1, channels, time] and give [1, channels, time] or, as of the last step, [1, channels].
"""
import random

import torch
from torch import nn
from torch.nn import functional


class Recurrence(nn.Module):
    """A recurrence over the steps, which PyTorch has along the second axis."""

    def __init__(self, kind, inputs, units, layers=1, **more):
        super().__init__()
        self.body = getattr(nn, kind)(inputs, units, num_layers=layers, batch_first=True, **more)

    def forward(self, x):
        return self.body(x.transpose(1, 2))[0].transpose(1, 2)


class Causal(nn.Module):
    """A convolution that reads the present and the past: a border in front of the input, or one on both sides whose
    end is cut off, as exporters have them."""

    def __init__(self, inputs, outputs, size, dilation=1, stride=1, cut=False):
        super().__init__()
        self.border = dilation * (size - 1)
        self.cut = cut
        self.body = nn.Conv1d(inputs, outputs, size, dilation=dilation, stride=stride,
                              padding=self.border if cut else 0)

    def forward(self, x):
        if not self.cut:
            return self.body(functional.pad(x, (self.border, 0)))
        y = self.body(x)
        return y[:, :, :-self.border] if self.border else y


class Residual(nn.Module):
    """A chain around which its input is added."""

    def __init__(self, *chain):
        super().__init__()
        self.chain = nn.Sequential(*chain)

    def forward(self, x):
        return x + self.chain(x)


class Branches(nn.Module):
    """Windows of several sizes side by side, each with half of itself as a border on both sides."""

    def __init__(self, channels):
        super().__init__()
        self.small = nn.Conv1d(channels, 4, 3, padding=1)
        self.large = nn.Conv1d(channels, 4, 5, padding=2)
        self.most = nn.Sequential(nn.MaxPool1d(3, stride=1, padding=1), nn.Conv1d(channels, 4, 1))

    def forward(self, x):
        return torch.cat([self.small(x), self.large(x), self.most(x)], 1)


class Gated(nn.Module):
    """A gated layer of WaveNet."""

    def __init__(self, channels, dilation):
        super().__init__()
        self.filter = Causal(channels, channels, 2, dilation)
        self.gate = Causal(channels, channels, 2, dilation)
        self.mix = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return x + self.mix(torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x)))


class Last(nn.Module):
    """A dense layer on the last step."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.body = nn.Linear(inputs, outputs)

    def forward(self, x):
        return self.body(x[:, :, -1])


class ByStep(nn.Module):
    """A dense layer on each step."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.body = nn.Linear(inputs, outputs)

    def forward(self, x):
        return self.body(x.transpose(1, 2)).transpose(1, 2)


# By name: the network, channels of its input, steps of an inference, and how late its outputs may be.
NAMED = {
    "lstm": (lambda: nn.Sequential(Recurrence("LSTM", 6, 16), ByStep(16, 3)), 6, 1, 0),
    "lstm of two layers": (lambda: Recurrence("LSTM", 6, 8, 2), 6, 1, 0),
    "lstm, last step": (lambda: nn.Sequential(Recurrence("LSTM", 6, 16), Last(16, 3)), 6, 1, 0),
    "lstm, three steps at a time": (lambda: Recurrence("LSTM", 6, 8), 6, 3, 0),
    "gru": (lambda: nn.Sequential(Recurrence("GRU", 6, 12, 2), ByStep(12, 3)), 6, 1, 0),
    "rnn": (lambda: Recurrence("RNN", 6, 12, nonlinearity="relu"), 6, 1, 0),
    "tcn": (lambda: nn.Sequential(Causal(4, 8, 3, cut=True), nn.ReLU(), Residual(Causal(8, 8, 3, 2, cut=True), nn.ReLU()),
                                  Residual(Causal(8, 8, 3, 4), nn.ReLU()), nn.Conv1d(8, 3, 1)), 4, 1, 0),
    "wavenet": (lambda: nn.Sequential(nn.Conv1d(1, 8, 1), *(Gated(8, d) for d in (1, 2, 4)), nn.Conv1d(8, 2, 1)), 1, 1, 0),
    "wavenet, four steps at a time": (lambda: nn.Sequential(nn.Conv1d(1, 8, 1), *(Gated(8, d) for d in (1, 2, 4))), 1, 4, 0),
    "cnn and lstm": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, stride=2), nn.ReLU(), Recurrence("LSTM", 8, 8), ByStep(8, 2)), 4, 2, 0),
    "windows that are full late": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3), nn.ReLU(), Causal(8, 8, 3)), 4, 1, 0),
    "windows around the step": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, 8, 5, padding=2)), 4, 1, 3),
    "branches around the step": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), Branches(8)), 4, 1, 3),
    "poolings": (lambda: nn.Sequential(Causal(4, 8, 3), nn.MaxPool1d(3, stride=2, padding=1), nn.AvgPool1d(2)), 4, 4, 1),
}


def random_network(seed):
    """A network, channels of its input, steps of an inference, and how late its outputs may be."""
    choose = random.Random(seed)
    torch.manual_seed(seed)
    inputs = channels = choose.randint(1, 6)
    every, late, chain = 1, 0, []
    for _ in range(choose.randint(1, 4)):
        kind = choose.choice(["causal", "causal", "strided", "valid", "around", "recurrence", "residual", "pooling", "pointwise"])
        outputs, size, dilation = choose.randint(2, 9), choose.randint(1, 4), choose.randint(1, 3)
        if kind == "causal":
            chain.append(Causal(channels, outputs, size, dilation, cut=choose.random() < 0.5))
        elif kind == "strided" and every < 4:
            stride = choose.randint(2, 3) if every == 1 else 2
            chain.append(Causal(channels, outputs, size, stride=stride))
            every *= stride
        elif kind == "valid" and every == 1:
            chain.append(nn.Conv1d(channels, outputs, size, dilation=dilation))
        elif kind == "around":
            chain.append(nn.Conv1d(channels, outputs, 3, padding=1))
            late += every
        elif kind == "recurrence":
            chain.append(Recurrence(choose.choice(["LSTM", "GRU", "RNN"]), channels, outputs))
        elif kind == "residual":
            chain.append(Residual(Causal(channels, channels, size, dilation), nn.Tanh()))
            outputs = channels
        elif kind == "pooling" and every < 4:
            chain.append(choose.choice([nn.MaxPool1d, nn.AvgPool1d])(2))
            outputs, every = channels, 2 * every
        else:
            chain.append(choose.choice([nn.ReLU, nn.Tanh, nn.Sigmoid])())
            outputs = channels
        channels = outputs
    chain.append(choose.choice([Last, ByStep])(channels, 3) if late == 0 else ByStep(channels, 3))
    late = -(-late // every) * every  # whole positions
    steps = every * choose.choice([1, 1, 2])
    return nn.Sequential(*chain), inputs, steps, late
