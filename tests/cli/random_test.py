#!/usr/bin/env python3
"""Random numbers that every inference draws, against Philox 4x32-10 written down once more.

usage: random_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import REFUSED, Refusal

MASK, SHAPE = 0xFFFFFFFF, (3, 21)
# What the names of these results have given since the first version.
FIXED = {"normal": [4.65625, 0.03076171875, 5.1875, 2.453125, -0.89453125, 0.5078125],
         "wide": [-0.08935546875, 0.3203125, 2.171875, -0.796875, -0.78125, 0.9375], "known": [1, 1, 0, 0, 0, 0]}
PROBABILITY, RATIO = 0.3, np.float32(0.25)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(number):
    return [number & MASK, number >> 32]


def uniforms(shape, seed, stream, inference):
    """Two numbers in [0, 1) for each element of a tensor."""
    key = philox([*words(stream), 0, 1], words(seed))[:2]
    blocks = [philox([*words(i), *words(inference)], key) for i in range(int(np.prod(shape)))]
    return [np.array([((block[at] << 32 | block[at + 1]) >> 11) * 2.0 ** -53 for block in blocks]).reshape(shape)
            for at in (0, 2)]


def bf16(values):
    """float32 numbers rounded to bf16, to nearest, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def floor_bf16(values):
    return (np.asarray(values).view(np.uint64) & ~np.uint64((1 << 45) - 1)).view(np.float64)


class Random(Refusal):
    def setUp(self):
        super().setUp()
        nodes = [helper.make_node("RandomNormal", [], ["normal"], shape=SHAPE, mean=1.0, scale=2.0),
                 helper.make_node("RandomUniformLike", ["x"], ["uniform"], low=-1.0, high=3.0, dtype=TensorProto.FLOAT16),
                 helper.make_node("Cast", ["uniform"], ["wide"], to=TensorProto.FLOAT),
                 helper.make_node("Bernoulli", ["x"], ["event"]),
                 helper.make_node("Bernoulli", ["p"], ["known"]),
                 helper.make_node("Multinomial", ["x"], ["index"], sample_size=4, dtype=TensorProto.INT64),
                 helper.make_node("Dropout", ["x", "ratio", "mode"], ["dropped", "mask"])]
        inits = [helper.make_tensor("p", TensorProto.FLOAT, SHAPE, np.full(SHAPE, PROBABILITY, np.float32)),
                 helper.make_tensor("ratio", TensorProto.FLOAT, [], [RATIO]), helper.make_tensor("mode", TensorProto.BOOL, [], [True])]
        outputs = [models.tensor(name, *SHAPE) for name in ("normal", "wide", "event", "known", "dropped")]
        outputs += [helper.make_tensor_value_info("index", TensorProto.INT64, (SHAPE[0], 4)),
                    helper.make_tensor_value_info("mask", TensorProto.BOOL, SHAPE)]
        graph = helper.make_graph(nodes, "g", [models.tensor("x", *SHAPE)], outputs, inits)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), self.dir / "m.onnx")
        self.x = (np.random.default_rng(1).integers(0, 257, SHAPE) / 256).astype(np.float32)
        np.save(self.dir / "x.npy", self.x)
        self.engines = json.loads(self.ok("version", "--json"))["engines"]["rtl"]

    def compiled(self, target="c2b8", *flags, file="m.onnx", says="every inference draws new random numbers"):
        code, _, err = self.sluice("compile", file, "--target", target, *flags, "-o", "m.sluice")
        self.assertEqual(code, 0, err)
        self.assertIn(f"note: {says}: ", err) if says else self.assertEqual(err, "")

    def run_program(self, steps, *flags, target="c2b8", engine=None):
        engine = engine or ("both" if target in self.engines else "vm")
        names = ("normal", "wide", "event", "known", "dropped", "index", "mask")
        outputs = [word for name in names for word in ("--output", f"{name}=@{name}.npy")]
        self.ok("run", "m.sluice", "--engine", engine, "--steps", steps, "--input", "x=@x.npy", *outputs, *flags)
        return {name: np.load(self.dir / f"{name}.npy") for name in names}

    def expected(self, streams, seed, inference):
        """The outputs of an inference, by the definition of each operator."""
        def u(name, shape=SHAPE):
            return uniforms(shape, seed, streams[f"random for {name}"], inference)
        first, second = u("normal")
        normal = 1 + 2 * np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
        gumbel = -np.log(-np.log1p(-u("index", (SHAPE[0], 4, SHAPE[1]))[0]))
        kept = u("dropped")[0] < 1 - np.float64(RATIO)
        return {"normal": bf16(normal), "wide": bf16(np.float16(-1 + 4 * u("uniform")[0])),
                "event": np.float32(floor_bf16(u("event")[0]) < self.x), "known": np.float32(u("known")[0] < np.float32(PROBABILITY)),
                "dropped": bf16(np.where(kept, self.x / np.float32(1 - np.float64(RATIO)), 0)), "mask": kept,
                "index": (self.x[:, None] + bf16(gumbel)).argmax(-1)}

    def streams(self):
        """The streams of the drawn tensors, and that they are no inputs."""
        model, = json.loads(self.ok("inspect", "m.sluice", "--io", "--json"))["models"]
        self.assertEqual([one["name"] for one in model["arrays"] or model["inputs"] if not one.get("random")], ["x"])
        return {one["name"]: int(one["random"]["stream"], 16) for one in model["arrays"] if one["random"]}

    def check(self, found, streams, seed, inferences):
        for step, inference in enumerate(inferences):
            for name, expected in self.expected(streams, seed, inference).items():
                with self.subTest(name, step=step):
                    if name == "index":  # sums of bf16 numbers may be equal
                        self.assertGreater((found[name][step] == expected).mean(), 0.8)
                    elif name == "dropped":  # the machine multiplies by the reciprocal
                        np.testing.assert_allclose(found[name][step], expected, rtol=2 ** -8)
                    else:
                        np.testing.assert_array_equal(found[name][step], expected)

    def test_every_inference_draws_anew(self):
        self.compiled()
        streams = self.streams()
        self.assertEqual(len(set(streams.values())), 6)
        found = self.run_program(3)
        self.check(found, streams, 0, range(3))
        for name, values in found.items():
            self.assertFalse((values[0] == values[1]).all(), name)

    def test_equal_seeds_are_equal_bits(self):
        """On targets with 8 and 32 lanes, and on both engines."""
        results = []
        for target in ("c2b8", "c6b32"):
            self.compiled(target)
            for engine in ("vm", "rtl") if target in self.engines else ("vm",):
                results.append(self.run_program(2, "--seed", 2 ** 64 - 3, target=target, engine=engine))
        self.check(results[0], self.streams(), 2 ** 64 - 3, range(2))
        for other in results[1:]:
            for name, values in other.items():
                np.testing.assert_array_equal(values, results[0][name], name)
        other = self.run_program(2, "--seed", 5, target="c6b32", engine="vm")
        self.assertFalse((other["normal"] == results[0]["normal"]).any())

    def test_resets_and_streams_begin_anew(self):
        self.compiled()
        streams = self.streams()
        self.check(self.run_program(5, "--reset-every", 2), streams, 0, (0, 1, 0, 1, 0))

    def test_fixed(self):
        """A constant, whose numbers are those of the name alone."""
        self.compiled("c2b8", "--fixed-random", says="every inference uses the same random numbers")
        self.assertEqual(self.streams(), {})
        found = self.run_program(2)
        for name, values in found.items():
            np.testing.assert_array_equal(values[0], values[1], name)
        for name, values in FIXED.items():
            np.testing.assert_array_equal(found[name][0, 0, :6], values, name)

    def test_compare_and_textual_ir(self):
        code, out, _ = self.sluice("compare", "m.onnx", "--target", "c2b8")
        self.assertEqual(code, 0, out)
        self.assertEqual(self.sluice("compile", "m.onnx", "--target", "c2b8", "--emit", "graph", "-o", "m.mlir")[0], 0)
        self.compiled()
        program = (self.dir / "m.sluice").read_bytes()
        streams = self.streams()
        self.compiled(file="m.mlir", says="")
        self.assertEqual(self.streams(), streams)
        found = self.run_program(1, engine="vm")
        (self.dir / "m.sluice").write_bytes(program)
        for name, values in self.run_program(1, engine="vm").items():
            np.testing.assert_array_equal(values, found[name], name)

    def test_inspect(self):
        self.compiled()
        out = self.ok("inspect", "m.sluice", "--io")
        for line in ("  input  x float32 [3, 21]\n", "  drawn  random for normal float32 [3, 21], normal, mean 1, deviation 2\n",
                     "  drawn  random for uniform float16 [3, 21], uniform from -1 to 3\n",
                     "  drawn  random for event float32 [3, 21], uniform from 0 to 1, rounded down to bf16\n",
                     "  drawn  random for known float32 [3, 21], 1 with probability 0.30000001192092896, else 0\n",
                     "  drawn  random for index float32 [3, 4, 21], Gumbel\n",
                     "  drawn  random for dropped float32 [3, 21], 1 with probability 0.75, else 0\n"):
            self.assertIn(line, out)

    def small(self, nodes, inputs, outputs, inits=(), flags=()):
        """The output y of two inferences of a small model, and the stream of its only drawn tensor."""
        graph = helper.make_graph(nodes, "g", inputs, outputs, inits)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), self.dir / "s.onnx")
        self.compiled("c2b8", *flags, file="s.onnx")
        model, = json.loads(self.ok("inspect", "m.sluice", "--io", "--json"))["models"]
        stream, = [int(one["random"]["stream"], 16) for one in model["arrays"] if one["random"]]
        given = [word for one in inputs[:1] for word in ("--input", f"{one.name}=zeros")]
        self.command = ("run", "m.sluice", "--engine", "both" if "c2b8" in self.engines else "vm", *given, "--output", "y=@y.npy")
        self.ok(*self.command, "--steps", 2)
        return np.load(self.dir / "y.npy"), stream

    @staticmethod
    def normals(shape, stream, inference):
        first, second = uniforms(shape, 0, stream, inference)
        return bf16(np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second))

    def test_a_model_without_inputs(self):
        y, stream = self.small([helper.make_node("RandomNormal", [], ["y"], shape=[3, 5])], [], [models.tensor("y", 3, 5)])
        np.testing.assert_array_equal(y, [self.normals((3, 5), stream, step) for step in range(2)])

    def test_a_part_has_the_numbers_of_the_whole(self):
        """The host sends the rows that something reads."""
        y, stream = self.small([helper.make_node("RandomNormal", [], ["r"], shape=[4, 8]),
                                helper.make_node("Slice", ["r", "b", "e"], ["s"]), helper.make_node("Add", ["x", "s"], ["y"])],
                               [models.tensor("x", 2, 8)], [models.tensor("y", 2, 8)],
                               [helper.make_tensor(name, TensorProto.INT64, [1], [at]) for name, at in (("b", 1), ("e", 3))])
        np.testing.assert_array_equal(y, [self.normals((4, 8), stream, step)[1:3] for step in range(2)])
        self.assertIn("  made   random for r[1:3] float32 [2, 8]", self.ok("inspect", "m.sluice", "--io"))

    def test_beside_a_table(self):
        table = np.arange(40, dtype=np.float32)
        y, stream = self.small([helper.make_node("Gather", ["t", "i"], ["e"]), helper.make_node("RandomNormalLike", ["e"], ["r"]),
                                helper.make_node("Add", ["e", "r"], ["y"])],
                               [helper.make_tensor_value_info("i", TensorProto.INT64, (3,))], [models.tensor("y", 3, 8)],
                               [helper.make_tensor("t", TensorProto.FLOAT, (5, 8), table)])
        np.testing.assert_array_equal(y, [bf16(table[:8] + self.normals((3, 8), stream, step)) for step in range(2)])

    def test_a_state(self):
        """Each stream has the numbers that it has alone. A saved state has none of them."""
        nodes = [helper.make_node("RandomNormalLike", ["x"], ["r"]), helper.make_node("Add", ["x", "h"], ["a"]),
                 helper.make_node("Add", ["a", "r"], ["y"]), helper.make_node("Identity", ["y"], ["g"])]
        y, stream = self.small(nodes, [models.tensor(name, 1, 8) for name in "xh"], [models.tensor(name, 1, 8) for name in "yg"],
                               flags=("--state", "h=g"))
        drawn = [self.normals((1, 8), stream, step) for step in range(2)]
        expected = [drawn[0], bf16(drawn[0] + drawn[1])]
        np.testing.assert_array_equal(y, expected)
        self.ok(*self.command, "--steps", 2, "--streams", 2)
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), [expected, expected])
        self.ok(*self.command, "--save-state", "state")
        self.ok(*self.command, "--load-state", "state")
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), bf16(2 * drawn[0]))

    def test_streamed_models_need_a_seed(self):
        self.compile_refused(REFUSED, """
            error[E0208]: RandomNormalLike: random numbers without a seed cannot be drawn for a streamed sequence
              --> s.onnx: node 0 (RandomNormalLike)
             help: make the numbers an input of the model and stream it, or accept the same ones in every inference (--fixed-random)
            """, models.model([helper.make_node("RandomNormalLike", ["x"], ["r"]), helper.make_node("Add", ["x", "r"], ["y"])],
                              [models.tensor("x", 8, 4)], [models.tensor("y", 8, 4)]), file="s.onnx", flags=("--stream", "x=0"))


if __name__ == "__main__":
    main()
