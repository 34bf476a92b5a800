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


class Attention(nn.Module):
    """Each step attends to itself, `older` steps before it and `newer` ones behind it; if `inside`, its input is added.
    `form` is how the mask is written."""

    def __init__(self, channels, heads, older, newer=0, form="fill", inside=True):
        super().__init__()
        self.heads, self.older, self.newer, self.form, self.inside = heads, older, newer, form, inside
        self.into = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x):
        x = x.transpose(1, 2)
        _, steps, channels = x.shape
        q, k, v = (part.reshape(steps, self.heads, channels // self.heads).transpose(0, 1)
                   for part in self.into(x).chunk(3, -1))
        scores = q @ k.transpose(1, 2) / (channels // self.heads) ** 0.5
        places = torch.arange(steps)
        back = places[:, None] - places[None, :]
        outside = (back > self.older) | (-back > self.newer)
        if self.form == "fill":
            scores = scores.masked_fill(outside, float("-inf"))
        else:  # what is near weighs more
            scores = scores - 0.25 * back.float().abs() + torch.where(outside, torch.tensor(-1e9), torch.tensor(0.0))
        mixed = (scores.softmax(-1) @ v).transpose(0, 1).reshape(1, steps, channels)
        mixed = self.out(mixed)
        return (x + mixed if self.inside else mixed).transpose(1, 2)


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
    "attention": (lambda: nn.Sequential(Attention(8, 2, 4), nn.ReLU(), Attention(8, 1, 2)), 8, 1, 0),
    "attention, three steps at a time": (lambda: Attention(8, 2, 5, form="add"), 8, 3, 0),
    "attention behind a window": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), Attention(8, 2, 3, 2, form="add"),
                                                        Recurrence("GRU", 8, 6)), 4, 1, 3),
    "attention to what is late": (lambda: nn.Sequential(LateAttention(8), ByStep(8, 4)), 8, 1, 1),
    "poolings": (lambda: nn.Sequential(Causal(4, 8, 3), nn.MaxPool1d(3, stride=2, padding=1), nn.AvgPool1d(2)), 4, 4, 1),
}


class LateAttention(Attention):
    """Attention to values that a window around their step has made, by scores of the step itself; behind it, another
    one reads its first positions."""

    def __init__(self, channels):
        super().__init__(channels, 1, 3, inside=False)
        self.window = nn.Conv1d(channels, channels, 3, padding=1)
        self.next = nn.MultiheadAttention(channels, 2, batch_first=True)

    def forward(self, x):
        values = self.window(x).transpose(1, 2)
        x = x.transpose(1, 2)
        back = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])[None, :]
        mask = torch.where((back < 0) | (back > self.older), torch.tensor(float("-inf")), torch.tensor(0.0))
        q, k, _ = self.into(x).chunk(3, -1)
        mixed = (q @ k.transpose(1, 2) + mask).softmax(-1) @ values
        return self.next(3 * mixed, 3 * mixed, mixed, attn_mask=mask, need_weights=False)[0].transpose(1, 2)


class RmsNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(1 + 0.1 * torch.randn(size))

    def forward(self, x):  # [..., size]
        return x * (x * x).mean(-1, keepdim=True).add(1e-5).rsqrt() * self.gain


class ByChannel(nn.Module):
    """A layer over the channels of [1, channels, time]."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x.transpose(1, 2)).transpose(1, 2)


class Temporal(nn.Module):
    """A block of two dilated convolutions around which is a dense layer, where sizes differ."""

    def __init__(self, inputs, channels, dilation):
        super().__init__()
        self.chain = nn.Sequential(Causal(inputs, channels, 3, dilation), nn.ReLU(),
                                   Causal(channels, channels, 3, dilation), nn.ReLU())
        self.beside = nn.Identity() if inputs == channels else nn.Conv1d(inputs, channels, 1)

    def forward(self, x):
        return torch.relu(self.chain(x) + self.beside(x))


class WaveNet(nn.Module):
    def __init__(self, layers, size):
        super().__init__()
        self.first = nn.Conv1d(1, size, 1)
        self.gated = nn.ModuleList(nn.ModuleList(Causal(size, size, 2, 2 ** i) for _ in range(2)) for i in range(layers))
        self.mixes = nn.ModuleList(nn.ModuleList(nn.Conv1d(size, size, 1) for _ in range(2)) for _ in range(layers))
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(size, size, 1), nn.ReLU(), nn.Conv1d(size, 3, 1))

    def forward(self, x):
        x, skips = self.first(x), 0
        for (first, second), (skip, mix) in zip(self.gated, self.mixes):
            z = torch.tanh(first(x)) * torch.sigmoid(second(x))
            skips, x = skips + skip(z), x + mix(z)
        return self.head(skips)


class SwiGlu(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(size, hidden), nn.Linear(size, hidden), nn.Linear(hidden, size)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Around(nn.Module):
    """`body` of the normalised input, of which the input is no part but around it."""

    def __init__(self, size, body):
        super().__init__()
        self.norm, self.body = ByChannel(RmsNorm(size)), body

    def forward(self, x):
        return x + self.body(self.norm(x))


# Benchmark rows as whole sequences: the network and channels of its input.
ROWS = {
    "lstm-1x128": (lambda: Recurrence("LSTM", 128, 128), 128),
    "gru-512-384": (lambda: Recurrence("GRU", 512, 384), 512),
    "cnn-4x64-k8": (lambda: nn.Sequential(*(Around(64, nn.Sequential(Causal(64, 64, 8), nn.ReLU())) for _ in range(4))), 64),
    "tcn-3x128": (lambda: nn.Sequential(*(Temporal(1 if i == 0 else 128, 128, 2 ** i) for i in range(3))), 1),
    "wavenet-4x198": (lambda: WaveNet(4, 198), 1),
    "swa-192": (lambda: nn.Sequential(Around(192, Attention(192, 6, 31, inside=False)),
                                      Around(192, ByChannel(SwiGlu(192, 384)))), 192),
}


def random_network(seed):
    """A network, channels of its input, steps of an inference, and how late its outputs may be."""
    choose = random.Random(seed)
    torch.manual_seed(seed)
    inputs = channels = choose.randint(1, 6)
    every, late, chain = 1, 0, []
    functions = attends = False  # both would be more tables than c2b8 has
    for _ in range(choose.randint(1, 4)):
        kind = choose.choice(["causal", "causal", "strided", "valid", "around", "recurrence", "residual", "pooling", "pointwise",
                              "attention"])
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
        elif kind == "attention" and channels > 3 and not functions:
            attends = True
            newer = choose.choice([0, 0, 1])
            chain.append(Attention(channels, choose.choice([h for h in (1, 2) if channels % h == 0]), choose.randint(0, 4),
                                   newer, choose.choice(["fill", "add"])))
            outputs, late = channels, late + newer * every
        elif kind == "recurrence" and not attends:
            functions = True
            chain.append(Recurrence(choose.choice(["LSTM", "GRU", "RNN"]), channels, outputs))
        elif kind == "residual":
            chain.append(Residual(Causal(channels, channels, size, dilation), nn.ReLU() if attends else nn.Tanh()))
            outputs, functions = channels, functions or not attends
        elif kind == "pooling" and every < 4:
            chain.append(choose.choice([nn.MaxPool1d, nn.AvgPool1d])(2))
            outputs, every = channels, 2 * every
        else:
            function = nn.ReLU if attends else choose.choice([nn.ReLU, nn.Tanh, nn.Sigmoid])
            chain.append(function())
            outputs, functions = channels, functions or function is not nn.ReLU
        channels = outputs
    chain.append(choose.choice([Last, ByStep])(channels, 3) if late == 0 else ByStep(channels, 3))
    late = -(-late // every) * every  # whole positions
    steps = every * choose.choice([1, 1, 2])
    return nn.Sequential(*chain), inputs, steps, late
