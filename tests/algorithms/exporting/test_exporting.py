"""Other forms of a model answer as it does: C with its bill, LightGBM's text, ONNX."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.exporting import export_c, export_lightgbm, export_onnx
from algorithms.exporting.onnx_model import rounded_down
from algorithms.gbrt import GBRTClassifier
from algorithms.interop import from_lightgbm
from tests.algorithms.exporting.fitted import SMALL, WORDS, X, models, raw_scores, rows

NAMES = ["numbers", "two classes", "three classes", "no trees"]


@pytest.fixture(scope="module")
def fitted():
    return models()


# --- C --------------------------------------------------------------------------------------------


def compiled(source, folder):
    """The function of a C file, which must compile without a warning."""
    (folder / "m.c").write_text(source)
    command = ["cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, "m.c", "-o", "m.so", "-lm"], check=True, cwd=folder)
    function = ctypes.CDLL(folder / "m.so").model_predict
    function.restype = ctypes.c_double
    function.argtypes = [np.ctypeslib.ndpointer(np.float64, flags="C")] * 2
    return function


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")
@pytest.mark.parametrize("name", NAMES)
def test_c_scores_and_bills_bit_for_bit(fitted, name, tmp_path):
    model = fitted[name]
    Z, run = rows(model), compiled(export_c(model), tmp_path)
    wanted, scores = raw_scores(model, Z), np.empty(raw_scores(model, X[:1]).shape[1])
    bills = np.empty(len(Z))
    for i, row in enumerate(Z):
        bills[i] = run(np.ascontiguousarray(row), scores)
        assert scores.tobytes() == wanted[i].tobytes()
    assert bills.tobytes() == model.prediction_cost(Z).tobytes()
    assert name == "no trees" or len(set(bills)) > 3


# --- LightGBM -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_lightgbm_reads_the_same_scores_bit_for_bit(fitted, name):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is a peer: make setup-peers")
    model = fitted[name]
    booster = lightgbm.Booster(model_str=export_lightgbm(model))
    Z, wanted = rows(model), raw_scores(model, rows(model))
    got = booster.predict(Z, raw_score=True, num_threads=1).reshape(len(Z), -1)
    np.testing.assert_array_equal(got, wanted)
    if hasattr(model, "classes_"):
        shares = booster.predict(Z, num_threads=1)
        ours = model.predict_proba(Z)
        np.testing.assert_allclose(shares, ours if shares.ndim > 1 else ours[:, 1], rtol=1e-12)
    prices = {n: getattr(model, n) for n in ("feature_costs", "feature_groups", "group_costs")}
    back = from_lightgbm(booster, split_cost=model.split_cost, **prices)
    if name != "no trees":
        np.testing.assert_array_equal(back.prediction_cost(Z), model.prediction_cost(Z))


@pytest.mark.parametrize(
    ("name", "written"),
    [("a b", "a_b"), ("a\nb", "a_b"), ("", None), (" ", None), ("a,b", None),
     ("a\0b", None), ("ü", "ü")],
)  # fmt: skip
def test_names_in_lightgbm_text(name, written):
    table = pd.DataFrame(X[:, :2], columns=[name, "other"])
    model = GBRTClassifier(n_estimators=1).fit(table, X[:, 3] > 0)
    wanted = "Column_0 Column_1" if written is None else f"{written} other"
    assert f"\nfeature_names={wanted}\n" in export_lightgbm(model)


# --- ONNX -----------------------------------------------------------------------------------------


def session(model, **options):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
    made = export_onnx(model, **options)
    onnx.checker.check_model(made)
    return onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_onnx_predicts_the_same(fitted, name, precision):
    model = fitted[name]
    ran = session(model, precision=precision)
    Z = rows(model)
    if precision == "single":  # of float32, whatever the model makes of it
        Z = np.concatenate([Z.astype(np.float32), rounded_down(Z)])
    rtol = 1e-12 if precision == "double" else 2e-6
    close = {"rtol": rtol, "atol": rtol}
    exact = Z.astype(np.float64)
    if not hasattr(model, "classes_"):
        (got,) = ran.run(["variable"], {"X": Z})
        scale = max(1.0, np.abs(model.predict(exact)).max())
        np.testing.assert_allclose(got[:, 0] / scale, model.predict(exact) / scale, **close)
        return
    labels, shares = ran.run(["label", "probabilities"], {"X": Z})
    np.testing.assert_allclose(shares, model.predict_proba(exact), **close)
    assert labels.tolist() == model.predict(exact).tolist()


def test_thresholds_rounded_down_divide_the_same_numbers():
    rng = np.random.default_rng(0)
    thresholds = np.concatenate([
        rng.normal(size=50) * 10.0 ** rng.integers(-44, 38, 50),
        [0.0, -0.0, 1e-50, -1e-50, 1e300, -1e300, np.finfo(float).max, 0.1, 16777217.0],
    ])  # fmt: skip
    single = rounded_down(thresholds)
    assert single.dtype == np.float32
    for below in (True, False):
        toward = np.float32(-np.inf if below else np.inf)
        for x in (single, np.nextafter(single, toward)):
            x = x[np.isfinite(x)]
            with np.errstate(over="ignore"):
                same = (x[:, None] <= single) == (x[:, None].astype(float) <= thresholds)
            assert same.all()


# --- what is refused ------------------------------------------------------------------------------


def test_what_is_refused(fitted, monkeypatch):
    stumps = AdaBoostMH(n_estimators=2).fit(np.nan_to_num(X), X[:, 0] > 0)
    for form in (export_c, export_lightgbm, export_onnx):
        with pytest.raises(TypeError, match=r"Only boosted trees .* got AdaBoostMH"):
            form(stumps)
    for name in ("2nd", "a b", "", None):
        with pytest.raises(ValueError, match="name must be a name in C"):
            export_c(fitted["numbers"], name=name)
    with pytest.warns(UserWarning, match="y is constant"):
        one = GBRTClassifier(**SMALL).fit(X, np.repeat("a", len(X)))
    for form in (export_lightgbm, export_onnx):
        with pytest.raises(ValueError, match="The classifier knows one class only"):
            form(one)
    for labels, message in (
        (np.array(["2026-11-28", "2026-11-29"], dtype="M8[D]"), "ONNX has class labels that are"),
        (np.array([1, 2**63], dtype=np.uint64), "ONNX has class labels that are"),
        (np.array(["a", "a\0"], dtype=object), r"the text 'a\\x00', which ONNX cuts off"),
    ):
        with pytest.raises(ValueError, match=message):
            export_onnx(GBRTClassifier(**SMALL).fit(X, labels[(X[:, 3] > 0).astype(int)]))
    with pytest.raises(ValueError, match="precision must be 'double' or 'single', got 'half'"):
        export_onnx(fitted["numbers"], precision="half")
    tiny = GBRTClassifier(**SMALL).fit(np.nan_to_num(X) * 1e-38, np.nan_to_num(X[:, 0]) > 0)
    with pytest.raises(ValueError, match="A threshold of the model is within 1e-35 of 0"):
        export_lightgbm(tiny)
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match="writes with the package onnx"):
        export_onnx(fitted["numbers"])
    assert fitted["three classes"].classes_.tolist() == WORDS.tolist()
