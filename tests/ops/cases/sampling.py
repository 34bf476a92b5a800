"""Transforms of signals, samples of images, determinants and rests of divisions."""
import itertools

import numpy as np

from cases.common import node

RANDOM = np.random.default_rng(21)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def parts(spectrum):
    return np.stack([spectrum.real, spectrum.imag], -1)


def transforms(cases):
    x = normal(2, 6, 5, 1)
    for axis, length in ((1, 6), (-2, 5), (1, 4), (2, 8)):
        cases.add(f"dft_{axis % 4}_{length}", node("DFT", "x n", axis=axis), {"x": x},
                  {"y": parts(np.fft.fft(x[..., 0].astype(float), length, axis % 4))}, {"n": np.int64(length)})
    cases.add("dft_onesided", node("DFT", "x", axis=2, onesided=1), {"x": x},
              {"y": parts(np.fft.rfft(x[..., 0].astype(float), axis=2))})
    z = normal(3, 7, 2)
    cases.add("dft_complex", node("DFT", "z"), {"z": z}, {"y": parts(np.fft.fft(z[..., 0] + 1j * z[..., 1], axis=1))})
    cases.add("dft_inverse_longer", node("DFT", "z n", inverse=1), {"z": z},
              {"y": parts(np.fft.ifft(z[..., 0] + 1j * z[..., 1], 9, axis=1))}, {"n": np.int64(9)})
    cases.add("dft_axis_input", node("DFT", "x n a"), {"x": x}, {"y": parts(np.fft.fft(x[..., 0].astype(float), axis=2))},
              {"n": np.int64(5), "a": np.int64(-2)}, opset=20)
    signal = normal(2, 20, 1)
    window = np.hanning(8).astype(np.float32)
    frames = np.stack([signal[:, at:at + 8, 0] for at in range(0, 13, 3)], 1).astype(float)
    cases.add("stft_windowed", node("STFT", "s step w n"), {"s": signal}, {"y": parts(np.fft.rfft(frames * window, axis=2))},
              {"step": np.int64(3), "w": window, "n": np.int64(8)})
    both = normal(1, 12, 2)
    values = both[..., 0] + 1j * both[..., 1].astype(float)
    frames = np.stack([values[:, at:at + 6] for at in range(0, 7, 2)], 1)
    cases.add("stft_complex", node("STFT", "s step w n", onesided=0), {"s": both},
              {"y": parts(np.fft.fft(frames, axis=2))},
              {"step": np.int64(2), "w": np.ones(6, np.float32), "n": np.int64(6)})


def reflect(at, low, high):
    while not low <= at <= high:
        at = 2 * low - at if at < low else 2 * high - at
    return at


def placed(number, size, corners, padding):
    """Where a grid's number lies along an axis."""
    at = (number + 1) / 2 * (size - 1) if corners else ((number + 1) * size - 1) / 2
    if padding == "reflection":
        at = reflect(at, 0, size - 1) if corners else reflect(at, -0.5, size - 0.5)
    return at if padding == "zeros" else min(max(at, 0), size - 1)


def taps(at, mode):
    """The neighbours of a place and their shares."""
    first = int(np.floor(at))
    part = at - first
    if mode == "nearest":
        return [(int(np.rint(at)), 1.0)]
    if mode.endswith("linear"):
        return [(first, 1 - part), (first + 1, part)]
    a = -0.75
    far = lambda d: a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a
    near = lambda d: (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    return [(first - 1, far(part + 1)), (first, near(part)), (first + 1, near(1 - part)), (first + 2, far(2 - part))]


def sampled(x, grid, mode, padding, corners):
    """Every place by its neighbours; what lies outside adds nothing."""
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for place in np.ndindex(grid.shape[:-1]):
        numbers = grid[place][::-1]
        axes = [taps(placed(float(number), size, corners, padding), mode) for number, size in zip(numbers, x.shape[2:])]
        for corner in itertools.product(*axes):
            index = tuple(at for at, _ in corner)
            if all(0 <= at < size for at, size in zip(index, x.shape[2:])):
                share = np.prod([part for _, part in corner])
                out[(place[0], slice(None), *place[1:])] += share * x[(place[0], slice(None), *index)]
    return out


def grids(cases):
    x = normal(2, 3, 4, 5)
    grid = RANDOM.uniform(-1.6, 1.6, (2, 3, 2, 2)).astype(np.float32)
    dynamic = ("--allow-dynamic-weights",)
    for mode, padding, corners in itertools.product(("bilinear", "nearest", "bicubic"),
                                                    ("zeros", "border", "reflection"), (0, 1)):
        if mode == "bicubic" and padding != "zeros":
            continue
        about = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        expected = {"y": sampled(x, grid, mode, padding, corners)}
        cases.add(f"grid_{mode}_{padding}_{corners}", node("GridSample", "x g", **about), {"x": x}, expected, {"g": grid})
        if mode != "nearest":  # bf16 moves a place to another neighbour
            cases.add(f"grid_at_run_time_{mode}_{padding}_{corners}", node("GridSample", "x g", **about),
                      {"x": x, "g": grid}, expected, flags=dynamic)
    deep = normal(1, 2, 3, 4, 3)
    grid = RANDOM.uniform(-1, 1, (1, 2, 2, 2, 3)).astype(np.float32)
    cases.add("grid_of_volumes", node("GridSample", "x g", mode="linear"), {"x": deep},
              {"y": sampled(deep, grid, "linear", "zeros", 0)}, {"g": grid}, opset=20)


def of_regions(x, regions, images, size, ratio, scale, half):
    """The mean of bilinear samples in the bins of each region, sample by sample."""
    height, width = x.shape[2:]
    out = np.zeros((len(regions), x.shape[1], *size))

    def pixel(image, y, x0):
        if y < -1 or y > height or x0 < -1 or x0 > width:
            return np.zeros(x.shape[1])
        y, x0 = min(max(y, 0), height - 1), min(max(x0, 0), width - 1)
        top, left = int(y), int(x0)
        down, right = min(top + 1, height - 1), min(left + 1, width - 1)
        b, r = y - top, x0 - left
        of = x[image].astype(float)
        return ((1 - b) * (1 - r) * of[:, top, left] + (1 - b) * r * of[:, top, right] +
                b * (1 - r) * of[:, down, left] + b * r * of[:, down, right])

    for i, (region, image) in enumerate(zip(regions, images)):
        left, top, right, bottom = (float(v) * scale - (0.5 if half else 0) for v in region)
        extents = [bottom - top, right - left]
        if not half:
            extents = [max(one, 1) for one in extents]
        counts = [ratio or int(np.ceil(one / bins)) for one, bins in zip(extents, size)]
        steps = [one / bins for one, bins in zip(extents, size)]
        for bin_ in np.ndindex(*size):
            samples = [pixel(image, top + (bin_[0] + (k + 0.5) / counts[0]) * steps[0],
                             left + (bin_[1] + (m + 0.5) / counts[1]) * steps[1])
                       for k in range(counts[0]) for m in range(counts[1])]
            out[(i, slice(None), *bin_)] = np.mean(samples, 0)
    return out


def regions(cases):
    x = normal(2, 3, 6, 7)
    rois = np.array([[0, 0, 5, 4], [2, 1, 9, 8], [-3, -2, 3, 3], [1, 1, 2, 2]], np.float32)
    images = np.array([1, 0, 1, 0])
    for mode, ratio, scale in (("half_pixel", 0, 1.0), ("output_half_pixel", 2, 0.75), ("half_pixel", 3, 0.5)):
        cases.add(f"roi_align_{mode}_{ratio}", node("RoiAlign", "x r b", coordinate_transformation_mode=mode, output_height=2,
                                                    output_width=3, sampling_ratio=ratio, spatial_scale=scale),
                  {"x": x}, {"y": of_regions(x, rois, images, (2, 3), ratio, scale, mode == "half_pixel")},
                  {"r": rois, "b": images}, opset=16)
    cases.add("roi_align_first", node("RoiAlign", "x r b", output_height=2, output_width=2), {"x": x},
              {"y": of_regions(x, rois, images, (2, 2), 0, 1.0, False)}, {"r": rois, "b": images}, opset=10)


def small_matrices(cases):
    for size in (1, 3, 4):
        x = normal(2, 3, size, size)
        cases.add(f"det_{size}", node("Det", "x"), {"x": x}, {"y": np.linalg.det(x.astype(float))})


def rests(cases):
    """Numbers that bf16 has: a quotient that is rounded to another one has another rest."""
    left = (RANDOM.integers(-128, 128, (4, 9)) / 8).astype(np.float32)
    right = (RANDOM.choice([-1, 1], 9) * RANDOM.integers(1, 64, 9) / 4).astype(np.float32)
    right[0] = np.inf
    left[0, 1:4] = 3 * right[1:4]
    expected = {"y": np.fmod(left, right)}
    cases.add("mod_of_two", node("Mod", "a b", fmod=1), {"a": left, "b": right}, expected)
    cases.add("mod_by_several", node("Mod", "a b", fmod=1), {"a": left}, expected, {"b": right})
    cases.add("mod_of_constants", node("Mod", "a b", fmod=1), {"b": right}, expected, {"a": left})
    # Next to whole quotients, whose products with the divisor have more digits than bf16.
    divisor = (RANDOM.integers(128, 256, (8, 24)) / 4).astype(np.float32)
    whole = RANDOM.integers(1, 127, (8, 24)) * divisor.astype(float)
    last = np.exp2(np.floor(np.log2(whole)) - 7)
    dividend = ((np.round(whole / last) + RANDOM.integers(-1, 2, (8, 24))) * last).astype(np.float32)
    cases.add("mod_near_whole_quotients", node("Mod", "a b", fmod=1), {"a": dividend, "b": divisor},
              {"y": np.fmod(dividend, divisor)})
    cases.add("mod_by_one_number", node("Mod", "a b", fmod=1), {"a": left}, {"y": np.fmod(left, 2.5)},
              {"b": np.float32(2.5)})


def clipped_regions(cases):
    """tf_crop_and_resize beyond the input."""
    x = normal(1, 2, 4, 5)
    down = np.array([-0.5, 0.5, 1.5]) * 3  # from -0.5 to 1.5 of the rows
    out = np.full((1, 2, 3, 5), 7.0)
    low = int(np.floor(down[1]))
    out[:, :, 1] = x[:, :, low] * (low + 1 - down[1]) + x[:, :, low + 1] * (down[1] - low)
    cases.add("resize_beyond", node("Resize", "x roi e sizes", mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
                                    extrapolation_value=7.0), {"x": x}, {"y": out},
              {"roi": np.array([0, 0, -0.5, 0, 1, 1, 1.5, 1], np.float32), "e": np.zeros(0, np.float32),
               "sizes": np.array([1, 2, 3, 5])}, opset=13)


def statistics_of_the_batch(cases):
    x = normal(3, 4, 5)
    scale, bias, mean, var = normal(4), normal(4), normal(4), np.abs(normal(4))
    now = x.astype(float).mean((0, 2)), x.astype(float).var((0, 2))
    column = lambda v: np.asarray(v).reshape(-1, 1)
    y = (x - column(now[0])) / np.sqrt(column(now[1]) + 1e-5) * column(scale) + column(bias)
    cases.add("batch_norm_training", node("BatchNormalization", "x s b m v", "y rm rv", training_mode=1, momentum=0.75),
              {"x": x}, {"y": y, "rm": 0.75 * mean + 0.25 * now[0], "rv": 0.75 * var + 0.25 * now[1]},
              {"s": scale, "b": bias, "m": mean, "v": var}, opset=15)


def sequences(cases):
    """A split, with one part replaced, put together again."""
    x = normal(4, 3)
    cases.add("sequence_round_trip", [node("SplitToSequence", "x", "s", axis=0, keepdims=0), node("SequenceErase", "s one", "t"),
                                      node("SequenceInsert", "t w zero", "u"),
                                      node("ConcatFromSequence", "u", axis=0, new_axis=1)],
              {"x": x, "w": x[1] * 2}, {"y": np.stack([x[1] * 2, x[0], x[2], x[3]])}, {"one": np.int64(1), "zero": np.int64(0)})
