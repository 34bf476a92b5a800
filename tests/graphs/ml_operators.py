"""How operators of ai.onnx.ml are drawn.

onnxruntime approximates PROBIT to 0.2 % and leaves out the function of a single score, so these are not drawn.
"""
import numpy as np
from onnx import TensorProto

from graph import ML
from operators import drawn


def listed(values):
    return [float(v) for v in np.ravel(values)]


def per_feature(b, features):
    return listed(b.normal((features if b.chance(0.7) else 1,)))


@drawn("ml")
def scaler(b):
    x = b.x(1, 2)
    offset = per_feature(b, b.shape(x)[-1])
    b.emit("Scaler", [x], domain=ML, offset=offset, scale=listed(np.abs(b.normal((len(offset),))) + np.float32(0.25)))


@drawn("ml")
def normalizer(b):
    norm = b.one_of(("MAX", "L1", "L2"))
    x = b.x(1, 2)
    if norm == "MAX" and b.chance(0.8):  # small maxima are not steady
        x = b.emit("Add", [b.emit("Abs", [x]), b.constant(np.float32(0.25))])
    b.emit("Normalizer", [x], domain=ML, norm=norm)


@drawn("ml")
def imputer(b):
    x = b.x(1, 2)
    if b.chance(0.5):
        missing = float("nan")
        if b.chance(0.7):
            x = b.emit("Sqrt", [x])
    else:
        missing = 0.0
        x = b.emit("Relu", [x])
    b.emit("Imputer", [x], domain=ML, imputed_value_floats=per_feature(b, b.shape(x)[-1]), replaced_value_float=missing)


@drawn("ml")
def binarizer(b):
    b.emit("Binarizer", [b.x(1, 2)], domain=ML, threshold=b.one_of((None, 0.25, -0.5, b.number(-1, 1))))


@drawn("ml")
def feature_vectorizer(b):
    x = b.x(2, 2)
    parts = [n for n in b.floats(2, 2) if b.shape(n)[0] == b.shape(x)[0]]
    parts = [x] + [b.one_of(parts) for _ in range(b.integer(0, 3))]
    b.emit("FeatureVectorizer", b.shuffled(parts), domain=ML, inputdimensions=[b.shape(x)[1]] * len(parts)
           if len(set(parts)) == 1 else None)


@drawn("ml")
def extractor(b):
    x = b.x(1)
    count = b.integer(1, 6)
    places = b.random.integers(0, b.shape(x)[-1], count)
    b.emit("ArrayFeatureExtractor", [x, b.constant(places[None].astype(np.int64) if b.chance(0.5) else places.astype(np.int64))],
           domain=ML)


@drawn("ml")
def label(b):
    """The class of the largest element."""
    x = b.x(2, 2)
    index = b.emit("ArgMax", [x], axis=1, keepdims=b.integer(0, 1))
    count = b.shape(x)[1]
    classes = np.arange(count) + b.integer(0, 3) if b.chance(0.4) else b.random.permutation(200)[:count] - 20
    found = b.emit("ArrayFeatureExtractor", [b.constant(classes.astype(b.one_of((np.int32, np.int64)))), index], domain=ML)
    flat = b.emit("Reshape", [found, b.ints(-1)])
    b.emit("Cast", [flat], to=b.one_of((TensorProto.INT64, TensorProto.FLOAT)))


def linear(b, scores):
    x = b.x(1, 2)
    features = b.shape(x)[-1]
    given = {"coefficients": listed(b.normal((scores, features), features ** -0.5)),
             "post_transform": b.one_of((None, "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")) if scores > 1 else None}
    return x, given, listed(b.normal((scores,), 0.5))


@drawn("ml")
def regressor(b):
    targets = b.integer(1, 6)
    x, given, intercepts = linear(b, targets)
    # Without intercepts all scores may be zero: SOFTMAX_ZERO of onnxruntime divides 0 by 0 then.
    some = given["post_transform"] == "SOFTMAX_ZERO" or b.chance(0.7)
    b.emit("LinearRegressor", [x], domain=ML, targets=targets, intercepts=intercepts if some else None, **given)


@drawn("ml")
def classifier(b):
    count = b.integer(2, 6)
    x, given, intercepts = linear(b, count)
    classes = [int(c) for c in b.random.permutation(100)[:count]]
    b.emit("LinearClassifier", [x], outputs=b.one_of((2, (False, True))), domain=ML, intercepts=intercepts,
           classlabels_ints=classes, multi_class=b.integer(0, 1), **given)
