"""LSTM, GRU and RNN as ONNX defines them, step by step, in double."""
import numpy as np

ACTIVATIONS = {  # the function, and the defaults of alpha and beta where it takes them
    "Relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "Tanh": (lambda x, a, b: np.tanh(x), None, None),
    "Sigmoid": (lambda x, a, b: 1 / (1 + np.exp(-x)), None, None),
    "Affine": (lambda x, a, b: a * x + b, 0.75, 0.25),
    "LeakyRelu": (lambda x, a, b: np.where(x >= 0, x, a * x), 0.01, None),
    "ThresholdedRelu": (lambda x, a, b: np.where(x > a, x, 0), 1.0, None),
    "ScaledTanh": (lambda x, a, b: a * np.tanh(b * x), 0.75, 1.25),
    "HardSigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "Elu": (lambda x, a, b: np.where(x >= 0, x, a * np.expm1(x)), 1.0, None),
    "Softsign": (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    "Softplus": (lambda x, a, b: np.log1p(np.exp(x)), None, None),
}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def functions(op, directions, activations, alphas, betas, clip, store):
    """One function for each activation of each direction, their numbers taken in order."""
    alphas, betas = list(alphas or ()), list(betas or ())
    out = []
    for name in activations or DEFAULTS[op] * directions:
        function, alpha, beta = ACTIVATIONS[name]
        alpha = alphas.pop(0) if alpha is not None and alphas else alpha
        beta = betas.pop(0) if beta is not None and betas else beta

        def bounded(x, f=function, a=alpha, b=beta):
            return store(f(x if clip is None else np.clip(x, -clip, clip), a, b))
        out.append(bounded)
    return out


def lstm_step(x, r, p, h, c, times, f, g, out, input_forget):
    xi, xo, xf, xc = x
    ri, ro, rf, rc = np.split(r, 4)
    pi, po, pf = np.split(p, 3)
    i = f(xi + times(h, ri) + pi * c)
    forget = 1 - i if input_forget else f(xf + times(h, rf) + pf * c)
    c = forget * c + i * g(xc + times(h, rc))
    return f(xo + times(h, ro) + po * c) * out(c), c


def gru_step(x, r, bias, h, times, f, g, linear_before_reset):
    xz, xr, xh = x
    rz, rr, rh = np.split(r, 3)
    z, reset = f(xz + times(h, rz)), f(xr + times(h, rr))
    new = g(xh + (reset * (times(h, rh) + bias) if linear_before_reset else times(reset * h, rh) + bias))
    return (1 - z) * new + z * h


def recurrence(op, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None, direction="forward", activations=None,
               activation_alpha=None, activation_beta=None, clip=None, input_forget=0, linear_before_reset=0,
               layout=0, store=lambda v: v):
    """Y, Y_h and, of an LSTM, Y_c. `store` is what becomes of every value that is kept."""
    x = np.asarray(x, np.float64)
    if layout:
        x = x.swapaxes(0, 1)
    steps, batch = x.shape[:2]
    count, hidden = len(w), r.shape[2]

    def state(given):
        if given is None:
            return np.zeros((count, batch, hidden))
        return np.asarray(given.swapaxes(0, 1) if layout else given, np.float64)
    start_h, start_c = state(h0), state(c0)
    def times(v, w):
        return store(v @ np.asarray(w, np.float64).T)
    chosen = functions(op, count, activations, activation_alpha, activation_beta, clip, store)
    each = len(DEFAULTS[op])
    y = np.zeros((steps, count, batch, hidden))
    last = np.zeros((2, count, batch, hidden))
    for d in range(count):
        wb, rb = np.split(np.zeros(2 * GATES[op] * hidden) if b is None else np.asarray(b[d], np.float64), 2)
        inner = rb[2 * hidden:] if op == "GRU" else None  # inside of the product with the reset gate
        if op == "GRU":
            rb = np.concatenate([rb[:2 * hidden], np.zeros(hidden)])
        peepholes = np.zeros(3 * hidden) if p is None else np.asarray(p[d], np.float64)
        own = chosen[d * each:(d + 1) * each]
        for n in range(batch):  # row by row, since their lengths differ
            h, c = start_h[d, n], start_c[d, n]
            order = range(steps if lengths is None else lengths[n])
            for t in reversed(order) if d == 1 or direction == "reverse" else order:
                gates = np.split(store(times(x[t, n], w[d]) + wb + rb), GATES[op])
                if op == "LSTM":
                    h, c = lstm_step(gates, r[d], peepholes, h, c, times, *own, input_forget)
                elif op == "GRU":
                    h = gru_step(gates, r[d], inner, h, times, *own, linear_before_reset)
                else:
                    h = own[0](gates[0] + times(h, r[d]))
                h, c = store(h), store(c)
                y[t, d, n] = h
            last[:, d, n] = h, c
    if layout:
        y, last = y.transpose(2, 0, 1, 3), last.swapaxes(1, 2)
    return [y, last[0]] + ([last[1]] if op == "LSTM" else [])
