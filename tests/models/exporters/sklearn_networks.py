#!/usr/bin/env python3
"""Converts models of scikit-learn with skl2onnx; classifiers without ZipMap.

usage: sklearn_networks.py FOLDER

Expected are the values of scikit-learn: of a classifier the label and the probabilities, or the scores.
"""
import sys
import warnings

import numpy as np
import sklearn
import skl2onnx
from sklearn import (cluster, compose, decomposition, discriminant_analysis, ensemble, impute, linear_model, naive_bayes, neural_network,
                     pipeline, preprocessing, svm, tree)
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType

from stored import save, write_all

SAMPLES, FEATURES = 200, 6


def rounded(x):
    """The nearest bf16 numbers, which the accelerator reads."""
    bits = np.float32(x).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


RANDOM = np.random.default_rng(1)
X = rounded(RANDOM.standard_normal((SAMPLES, FEATURES)) * [1, 2, 0.5, 1, 3, 1] + [0, 1, -1, 0, 2, 0])
SCORE = X @ [1, -1, 2, 0.5, 0.3, -1] - 0.5
TARGET = SCORE + 0.1 * RANDOM.standard_normal(SAMPLES)
BINARY, THREE = (SCORE > np.median(SCORE)).astype(int), np.digitize(SCORE, np.quantile(SCORE, (0.3, 0.7))) + 1
TWO = np.stack([TARGET, X[:, 0] * X[:, 1]], 1)
SEVERAL = np.stack([SCORE > -1, SCORE < 1], 1).astype(int)
HOLES = X.copy()
HOLES[RANDOM.random(X.shape) < 0.1] = np.nan


def standard(model):
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model)


def models():
    """(title, model, its targets)"""
    for name in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"):
        yield name, getattr(preprocessing, name)(), None
    for norm in ("l1", "l2", "max"):
        yield f"Normalizer, {norm}", preprocessing.Normalizer(norm), None
    yield "Binarizer", preprocessing.Binarizer(threshold=0.5), None
    yield "SimpleImputer", impute.SimpleImputer(), None
    yield "PolynomialFeatures", preprocessing.PolynomialFeatures(2), None
    yield "PCA", decomposition.PCA(3), None
    yield "ColumnTransformer", compose.ColumnTransformer([("a", preprocessing.StandardScaler(), [0, 1, 4]), ("b", preprocessing.MinMaxScaler(), [3, 2])]), None
    yield "FeatureUnion", pipeline.make_union(preprocessing.StandardScaler(), decomposition.PCA(2)), None
    yield "LinearRegression", linear_model.LinearRegression(), TARGET
    yield "Ridge, two targets", linear_model.Ridge(), TWO
    yield "Lasso in a pipeline", standard(linear_model.Lasso(0.01)), TARGET
    yield "LinearSVR", standard(svm.LinearSVR(random_state=1)), TARGET
    yield "LogisticRegression", linear_model.LogisticRegression(), BINARY
    yield "LogisticRegression, three classes", standard(linear_model.LogisticRegression()), THREE
    yield "SGDClassifier, log loss", standard(linear_model.SGDClassifier(loss="log_loss", random_state=1)), THREE
    yield "LinearSVC", standard(svm.LinearSVC(random_state=1)), THREE
    yield "RidgeClassifier", linear_model.RidgeClassifier(), THREE
    yield "Perceptron", standard(linear_model.Perceptron(random_state=1)), BINARY
    yield "LinearDiscriminantAnalysis", discriminant_analysis.LinearDiscriminantAnalysis(), THREE
    yield "GaussianNB", naive_bayes.GaussianNB(), THREE
    yield "KMeans", cluster.KMeans(3, n_init=1, random_state=1), None
    mlp = {"hidden_layer_sizes": (32, 16), "max_iter": 300, "random_state": 1}
    yield "MLPRegressor", standard(neural_network.MLPRegressor(**mlp)), TARGET
    yield "MLPRegressor, two targets, tanh", standard(neural_network.MLPRegressor(activation="tanh", **mlp)), TWO
    yield "MLPClassifier", standard(neural_network.MLPClassifier(**mlp)), BINARY
    yield "MLPClassifier, three classes, logistic", standard(neural_network.MLPClassifier(activation="logistic", **mlp)), THREE
    yield "MLPClassifier, several labels", standard(neural_network.MLPClassifier(**mlp)), SEVERAL
    yield "MLPClassifier behind an imputer", pipeline.make_pipeline(impute.SimpleImputer(), standard(neural_network.MLPClassifier(**mlp))), THREE
    yield "MLPClassifier, labels as text", standard(neural_network.MLPClassifier(**mlp)), np.array(["low", "middle", "high"])[THREE - 1]
    yield "DecisionTreeClassifier", tree.DecisionTreeClassifier(max_depth=3, random_state=1), BINARY
    yield "RandomForestRegressor", ensemble.RandomForestRegressor(5, random_state=1), TARGET
    yield "SVC", svm.SVC(), BINARY


def has_scores(model):
    return hasattr(model, "predict_proba") or hasattr(model, "decision_function")


def outputs_of(model, x):
    if not hasattr(model, "predict"):
        return [model.transform(x)]
    label = model.predict(x)
    if hasattr(model, "predict_proba"):
        return [label, model.predict_proba(x)]
    if hasattr(model, "transform"):  # of a clustering, the distances
        return [label, model.transform(x)]
    if hasattr(model, "decision_function"):
        scores = model.decision_function(x)
        return [label, scores if scores.ndim > 1 else np.stack([-scores, scores], 1)]
    return [label.reshape(len(x), -1)]


def writer(title, model, targets):
    def write(folder):
        x = HOLES if "mputer" in title else X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, targets)
        options = {id(model): {"zipmap": False}} if has_scores(model) else None
        if title == "LinearSVC":  # skl2onnx finds no other options for one in a pipeline
            options = {id(model[-1]): {"raw_scores": True}}
        converted = convert_sklearn(model, initial_types=[("X", FloatTensorType([1, FEATURES]))], target_opset=22, options=options)
        (folder / "model.onnx").write_bytes(converted.SerializeToString())
        save(folder, [x[3:4]], [y.astype(np.int64 if y.dtype.kind == "i" else np.float32) for y in outputs_of(model, x[3:4])
                                if y.dtype.kind != "U"])
    return write


if __name__ == "__main__":
    print("scikit-learn", sklearn.__version__, "skl2onnx", skl2onnx.__version__)
    write_all([(title, writer(title, model, targets)) for title, model, targets in models()], sys.argv[1])
