"""Slice, Split, Concat, Reshape, Transpose, Expand, Tile, and what they are together: rotations, repetitions."""
import numpy as np

from cases.common import node, normal


def selections(cases):
    x = normal(3, 21)
    slices = {"off": np.s_[1:3], "off_reversed": np.s_[::-1], "along": np.s_[:, 2:9],
              "along_aligned": np.s_[:, 8:16], "along_step": np.s_[:, 1:20:3],
              "along_reversed": np.s_[:, ::-1], "along_step_back": np.s_[:, 19:2:-4],
              "both": np.s_[2:0:-1, 20:3:-2], "last": np.s_[:, -1:]}
    for name, index in slices.items():
        parts = index if isinstance(index, tuple) else (index,)
        bounds = [s.indices(n) for s, n in zip(parts, x.shape)]
        far = np.iinfo(np.int64).min
        values = {"s": [b[0] for b in bounds],
                  "e": [far if b[2] < 0 and b[1] < 0 else b[1] for b in bounds],
                  "a": list(range(len(bounds))), "t": [b[2] for b in bounds]}
        cases.add(f"slice_{name}", node("Slice", "x s e a t"), {"x": x}, {"y": x[index]},
                  {k: np.int64(v) for k, v in values.items()})
    cases.add("slice_attributes", node("Slice", "x", starts=[1, -5], ends=[3, 1000]), {"x": x},
              {"y": x[1:3, -5:]}, opset=9)
    for name, axis, sizes in (("along", 1, [3, 8, 10]), ("off", 0, [1, 2])):
        parts = np.split(x, np.cumsum(sizes)[:-1], axis)
        names = [f"y{i}" for i in range(len(sizes))]
        cases.add(f"split_{name}", node("Split", "x n", " ".join(names), axis=axis), {"x": x},
                  dict(zip(names, parts)), {"n": np.int64(sizes)})
    cases.add("split_opset11", node("Split", "x", "a b c", axis=1, split=[7, 7, 7]), {"x": x},
              dict(zip("abc", np.split(x, 3, 1))), opset=11)
    cases.add("split_uneven", node("Split", "x", "a b", axis=1, num_outputs=2), {"x": x},
              {"a": x[:, :11], "b": x[:, 11:]}, opset=18)
    cases.add("split_used_partly", [node("Split", "x n", "a b", axis=1), node("Relu", "b")],
              {"x": x}, {"y": np.maximum(x[:, 5:], 0)}, {"n": np.int64([5, 16])})
    z = normal(3, 6)
    cases.add("concat_along", node("Concat", "x z", axis=1), {"x": x, "z": z},
              {"y": np.concatenate([x, z], 1)})
    cases.add("concat_constant", node("Concat", "c x c", axis=-1), {"x": x},
              {"y": np.concatenate([z, x, z], 1)}, {"c": z})
    cases.add("concat_off", node("Concat", "x z", axis=0), {"x": x, "z": x[:2] + 1},
              {"y": np.concatenate([x, x[:2] + 1], 0)})
    w = normal(27, 5)
    cases.add("concat_into_matmul", [node("Concat", "x z", "c", axis=1), node("MatMul", "c w")],
              {"x": x, "z": z}, {"y": np.concatenate([x, z], 1) @ w}, {"w": w})
    cases.add("reshape_chain", [node("Unsqueeze", "x ax", "u"), node("Squeeze", "u ax")],
              {"x": x}, {"y": x}, {"ax": np.int64([0])})
    six = normal(6, 7)
    cases.add("reshape_leading", node("Reshape", "x s"), {"x": six}, {"y": six.reshape(2, 3, 7)},
              {"s": np.int64([2, -1, 7])})
    cases.add("reshape_merging", node("Reshape", "x s"), {"x": six}, {"y": six.reshape(42)},
              {"s": np.int64([-1])})
    cases.add("flatten_row", node("Flatten", "x", axis=1), {"x": normal(1, 21) * 0 + x[:1]},
              {"y": x[:1]})
    cases.add("dropout", node("Dropout", "x"), {"x": x}, {"y": x}, opset=12)


def views(cases):
    x = normal(3, 4, 11)
    for perm in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)):
        name = "".join(map(str, perm))
        cases.add(f"transpose_{name}", node("Transpose", "x", perm=perm), {"x": x},
                  {"y": x.transpose(perm)})
    cases.add("transpose_default", node("Transpose", "x"), {"x": x}, {"y": x.T})
    short, w = normal(2, 3, 11), normal(2, 4)
    cases.add("transpose_matmul", [node("Transpose", "x", "t", perm=[2, 1, 0]),
                                   node("MatMul", "t w")],
              {"x": short}, {"y": short.T @ w}, {"w": w})
    for name, shape, wanted in (("rows", (1, 11), (4, 11)), ("lanes", (3, 1), (3, 10)),
                                ("rank", (11,), (2, 3, 11)), ("back", (3, 11), (1, 1)),
                                ("scalar", (), (2, 9))):
        v = normal(*shape)
        cases.add(f"expand_{name}", node("Expand", "x s"), {"x": v},
                  {"y": v * np.ones(wanted, np.float32)}, {"s": np.int64(wanted)})
    # Views between maps, whose constants are reordered to let them be one.
    c = normal(4, 3, 11)
    t = np.tanh(x).transpose(1, 0, 2)
    between = [node("Tanh", "x", "h"), node("Transpose", "h", "t", perm=[1, 0, 2]),
               node("Mul", "t c", "m"), node("Reshape", "m s", "r")]
    cases.add("views_between_maps", [*between, node("Add", "r d", "a"), node("Sigmoid", "a")],
              {"x": x}, {"y": 1 / (1 + np.exp(-((t * c).reshape(2, 6, 11) + c.reshape(2, 6, 11))))},
              {"c": c, "d": c.reshape(2, 6, 11), "s": np.int64([2, 6, 11])})
    cases.add("views_between_maps_two_readers",
              [*between, node("Exp", "r", "e"), node("Relu", "m")], {"x": x},
              {"e": np.exp((t * c).reshape(2, 6, 11)), "y": np.maximum(t * c, 0)},
              {"c": c, "s": np.int64([2, 6, 11])})
    for name, shape, repeats in (("lanes", (3, 5), (1, 3)), ("rows", (3, 11), (4, 1)),
                                 ("both", (3, 5), (2, 2)), ("ones", (1, 5, 1), (3, 1, 2)),
                                 ("vector", (11,), (2,)), ("once", (3, 5), (1, 1))):
        v = normal(*shape)
        cases.add(f"tile_{name}", node("Tile", "x r"), {"x": v}, {"y": np.tile(v, repeats)},
                  {"r": np.int64(repeats)})
    # Moved round, repeated and in turns along either axis, with a function before and behind.
    v, w = normal(6, 11), normal(11, 7)
    for axis, name in enumerate(("rows", "lanes")):
        extent = v.shape[axis]
        places = np.repeat(np.arange(extent), 3)
        h = np.tanh(v)
        cases.add(f"repeat_{name}", [node("Tanh", "x", "h"), node("Gather", "h i", "g", axis=axis), node("Relu", "g")],
                  {"x": v}, {"y": np.maximum(np.take(h, places, axis), 0)}, {"i": np.int64(places)})
        cases.add(f"tile_{name}_between", [node("Tanh", "x", "h"), node("Tile", "h r", "g"), node("Relu", "g")], {"x": v},
                  {"y": np.maximum(np.tile(h, (3, 1) if axis == 0 else (1, 3)), 0)},
                  {"r": np.int64((3, 1) if axis == 0 else (1, 3))})
        rotation = [node("Tanh", "x", "h"), node("Slice", "h by end axis", "a"), node("Slice", "h zero by axis", "b"),
                    node("Concat", "a b", "t", axis=axis)]
        values = {"by": np.int64([2]), "end": np.int64([extent]), "zero": np.int64([0]), "axis": np.int64([axis])}
        rolled = np.roll(h, -2, axis)
        cases.add(f"rotate_{name}", [*rotation, node("Relu", "t")], {"x": v}, {"y": np.maximum(rolled, 0)}, values)
        cases.add(f"rotate_{name}_product", [*rotation, node("MatMul", "t w")], {"x": v}, {"y": rolled @ w},
                  {**values, "w": w})
