"""Operators of ai.onnx.ml, as converters of scikit-learn write them."""
import math

import numpy as np
from onnx import TensorProto

from cases.common import node, normal

ML = "ai.onnx.ml"


def softmax(v):
    e = np.exp(v - v.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_zero(v):
    """A score of 0 stays 0, and the others share 1."""
    e = np.where(np.abs(v) > 1e-7, np.exp(v - v.max(-1, keepdims=True)), 0)
    total = e.sum(-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), 0)


def probit(v):
    """By bisection of the cumulative function."""
    def one(p):
        if not 0 < p < 1:
            return -math.inf if p == 0 else math.inf if p == 1 else math.nan
        low, high = -40.0, 40.0
        for _ in range(200):
            middle = (low + high) / 2
            below = math.erfc(-middle / math.sqrt(2)) / 2
            low, high = (middle, high) if below < p else (low, middle)
        return (low + high) / 2
    return np.vectorize(one)(v)


TRANSFORMS = {"NONE": lambda v: v, "SOFTMAX": softmax, "LOGISTIC": lambda v: 1 / (1 + np.exp(-v)),
              "SOFTMAX_ZERO": softmax_zero, "PROBIT": probit}


def listed(values):
    return [float(v) for v in np.ravel(values)]


def features(cases):
    def case(name, op, x, y, constants=None, operands="x", **attributes):
        cases.add(f"ml_{name}", node(op, operands, domain=ML, **attributes), x if isinstance(x, dict) else {"x": x},
                  {"y": y}, constants)

    x = normal(3, 11)
    exact = x.astype(float)
    offset, scale = normal(11), np.abs(normal(11)) + np.float32(0.5)
    case("scaler", "Scaler", x, (exact - offset) * scale, offset=listed(offset), scale=listed(scale))
    case("scaler_of_all", "Scaler", normal(2, 3, 5) * 0 + x[0, 0], np.full((2, 3, 5), (exact[0, 0] - 1) * 0.5),
         offset=[1.0], scale=[0.5])
    case("scaler_of_one_row", "Scaler", x[0], (exact[0] - offset) * scale, offset=listed(offset), scale=listed(scale))
    case("normalizer_max", "Normalizer", x, exact / exact.max(1, keepdims=True))
    below = -np.abs(x)
    below[1] = 0
    below[2, 4] = 0  # the largest of its row is 0
    with np.errstate(all="ignore"):
        peak = below.astype(float).max(1, keepdims=True)
        case("normalizer_max_of_negative", "Normalizer", below, np.where(peak == 0, below, below / peak), norm="MAX")
    case("normalizer_l1", "Normalizer", x, exact / np.abs(exact).sum(1, keepdims=True), norm="L1")
    zeros = x.copy()
    zeros[1] = 0
    length = np.sqrt((zeros.astype(float) ** 2).sum(1, keepdims=True))
    case("normalizer_l2", "Normalizer", zeros, zeros / np.where(length == 0, 1, length), norm="L2")
    case("normalizer_of_one_row", "Normalizer", x[0], exact[0] / np.sqrt((exact[0] ** 2).sum()), norm="L2")
    holes = x.copy()
    holes[0, 3] = holes[2, 10] = np.nan
    case("imputer_nan", "Imputer", holes, np.where(np.isnan(holes), offset.astype(float), holes),
         imputed_value_floats=listed(offset), replaced_value_float=math.nan)
    marked = x.copy()
    marked[1, 2] = marked[2, 0] = -128
    case("imputer_value", "Imputer", marked, np.where(marked == -128, 0.5, marked), imputed_value_floats=[0.5],
         replaced_value_float=-128.0)
    case("binarizer", "Binarizer", x, (exact > 0.25).astype(float), threshold=0.25)
    case("binarizer_default", "Binarizer", x, (exact > 0).astype(float))
    a, b, c = normal(3, 4), normal(3, 1), normal(3, 7)
    case("feature_vectorizer", "FeatureVectorizer", {"a": a, "b": b, "c": c}, np.concatenate([a, b, c], 1),
         operands="a b c", inputdimensions=[4, 1, 7])
    case("feature_vectorizer_of_rows", "FeatureVectorizer", {"a": a[0], "b": b[0]},
         np.concatenate([a[:1], b[:1]], 1), operands="a b", inputdimensions=[4, 1])
    case("extractor", "ArrayFeatureExtractor", x, x[:, [2, 3, 4, 0, 9]], {"i": np.int64([[2, 3, 4, 0, 9]])}, "x i")
    case("extractor_of_row", "ArrayFeatureExtractor", x[0], x[:1, [7, 1]], {"i": np.int64([7, 1])}, "x i")
    cube = normal(2, 3, 5)
    case("extractor_of_cube", "ArrayFeatureExtractor", cube, cube[..., [4, 2]], {"i": np.int64([4, 2])}, "x i")


def labels(cases):
    """The class of the largest score, as MLPClassifier finds it."""
    x = normal(5, 4)
    for name, classes in (("counted", [0, 1, 2, 3]), ("odd", [-5, 200, 3, 512]), ("ones", [1, 2, 3, 4])):
        nodes = [node("ArgMax", "x", "i", axis=1), node("ArrayFeatureExtractor", "c i", "e", domain=ML),
                 node("Reshape", "e s", "r"), node("Cast", "r", "y", to=TensorProto.INT64)]
        cases.add(f"ml_label_{name}", nodes, {"x": x}, {"y": np.int64(classes)[x.argmax(1)]},
                  {"c": np.int32(classes), "s": np.int64([-1])}, result=TensorProto.INT64)


def linear(cases):
    x, w, b = normal(4, 9), normal(3, 9), normal(3)
    scores = x.astype(float) @ w.T + b
    for name, of in TRANSFORMS.items():
        of_scores = scores if name != "PROBIT" else 0.5 + scores / 20
        scale = 1 if name != "PROBIT" else 20
        shift = 0 if name != "PROBIT" else 0.5
        given = {"coefficients": listed(w / scale), "intercepts": listed(b / scale + shift), "post_transform": name}
        cases.add(f"ml_regressor_{name.lower()}", node("LinearRegressor", "x", domain=ML, targets=3, **given), {"x": x},
                  {"y": of(of_scores)})
        nodes = [node("LinearClassifier", "x", "l z", domain=ML, classlabels_ints=[7, -2, 40], **given),
                 node("Cast", "l", "y", to=TensorProto.FLOAT)]
        cases.add(f"ml_classifier_{name.lower()}", nodes, {"x": x},
                  {"y": np.float64([7, -2, 40])[scores.argmax(1)], "z": of(of_scores)})
    one = listed(w[0])
    cases.add("ml_regressor_of_one", node("LinearRegressor", "x", domain=ML, coefficients=one, intercepts=[0.5]), {"x": x},
              {"y": x.astype(float) @ w[:1].T + 0.5})
    cases.add("ml_regressor_of_one_row", node("LinearRegressor", "x", domain=ML, coefficients=one), {"x": x[0]},
              {"y": x[:1].astype(float) @ w[:1].T})
    given = {"coefficients": listed(w), "intercepts": listed(b)}
    cases.add("ml_classifier_label", node("LinearClassifier", "x", "y", domain=ML, classlabels_ints=[0, 1, 2], **given), {"x": x},
              {"y": scores.argmax(1)}, result=TensorProto.INT64)
    cases.add("ml_classifier_of_strings",
              node("LinearClassifier", "x", "l y", domain=ML, classlabels_strings=["a", "b", "c"], post_transform="SOFTMAX", **given),
              {"x": x}, {"y": softmax(scores)})
    zero = np.where(np.abs(w) > 0.8, w, 0)
    zero[1] = 0  # its score is 0
    given = {"coefficients": listed(zero), "post_transform": "SOFTMAX_ZERO", "targets": 3}
    cases.add("ml_regressor_with_zeros", node("LinearRegressor", "x", domain=ML, **given), {"x": x},
              {"y": softmax_zero(x.astype(float) @ zero.T)})


def pipeline(cases):
    """StandardScaler and MLPClassifier: scaled features, one hidden layer, a class and its probability."""
    x, w0, w1 = normal(1, 6), normal(6, 16) / np.float32(2), normal(16, 1) / np.float32(3)
    offset, scale, b0 = normal(6), np.abs(normal(6)) + np.float32(0.5), normal(16)
    nodes = [node("Scaler", "x", "s", domain=ML, offset=listed(offset), scale=listed(scale)),
             node("MatMul", "s w0", "m0"), node("Add", "m0 b0", "h0"), node("Relu", "h0", "r"), node("MatMul", "r w1", "m1"),
             node("Sigmoid", "m1", "p"), node("Sub", "one p", "n"), node("Concat", "n p", "z", axis=1),
             node("ArgMax", "z", "i", axis=1), node("ArrayFeatureExtractor", "c i", "e", domain=ML),
             node("Reshape", "e k", "l"), node("Cast", "l", "y", to=TensorProto.FLOAT)]
    p = 1 / (1 + np.exp(-np.maximum((x.astype(float) - offset) * scale @ w0 + b0, 0) @ w1))
    z = np.concatenate([1 - p, p], 1)
    cases.add("ml_pipeline", nodes, {"x": x}, {"y": np.float64([1, 2])[z.argmax(1)], "z": z},
              {"w0": w0, "w1": w1, "b0": b0, "one": np.float32(1), "c": np.int32([1, 2]), "k": np.int64([-1])})


def ml(cases):
    features(cases)
    labels(cases)
    linear(cases)
    pipeline(cases)
