"""Models that know categories as C and as ONNX: predictions and bills of raw rows."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.exporting import export_c, export_onnx
from algorithms.exporting.c_source import _quoted
from algorithms.gbrt import GBRTClassifier
from tests.algorithms.exporting.fitted import raw_scores

rng = np.random.default_rng(12)
N = 400
TOWNS = np.array(["Bern", 'say "Genf"', "Zürich??/", "back\\slash", "Chur", "Rare"], dtype=object)
TABLE = pd.DataFrame({
    "age": np.where(rng.random(N) < 0.1, np.nan, rng.integers(18, 80, N)),
    "town": pd.Series(TOWNS[rng.choice(6, N, p=[0.3, 0.2, 0.2, 0.15, 0.15, 0.0])]),
    "code": rng.choice([-5.0, 0.1, 3.0, 1e9], N),
    "constant": "always",
})  # fmt: skip
TABLE.loc[rng.random(N) < 0.1, "town"] = None
TABLE.loc[rng.random(N) < 0.1, "code"] = np.nan
TABLE.loc[:2, "town"] = "Rare"  # fewer rows than a leaf has: the model does not know it
SCORE = (
    TABLE["town"].isin(["Bern", "Chur"]) * 2.0
    + TABLE["town"].isna()
    + TABLE["code"].isin([0.1, 1e9])
    + np.nan_to_num(TABLE["age"]) / 40
    + rng.normal(size=N) * 0.1
).to_numpy()
NEW = TABLE.head(40).copy()
NEW["town"] = ["new", "", "Rare", None, "bern"] * 8
NEW["code"] = [7.0, np.nan, -0.0, 3.0] * 10
NEW["constant"] = ["never", "always"] * 20
ROWS = pd.concat([TABLE, NEW], ignore_index=True)
PRICES = {
    "feature_costs": {"age": 1.0, "town": 5.0, "code": 0.3, "constant": 1.0},
    "feature_groups": ["a", "b", "b", "c"],
    "group_costs": {"a": 0.0, "b": 2.5, "c": 0.0},
    "split_cost": 0.1,
}
SMALL = {"n_estimators": 6, "min_samples_leaf": 5, "n_threads": 1}
SMALL |= {"categorical_features": ["town", "code", "constant"]}
NAMES = ["numbers", "two classes", "three classes"]

slow = pytest.mark.slow  # kernels of their own are compiled
pytestmark = pytest.mark.filterwarnings(
    "ignore::algorithms.validation.categories.ManyCategoriesWarning"
)


@pytest.fixture(scope="module")
def fitted():
    thirds = np.array(["low", "mid", "high"])[np.digitize(SCORE, [1.5, 3.0])]
    return {
        "numbers": CEGBRegressor(**SMALL, **PRICES, tradeoff=1e-4).fit(TABLE, SCORE),
        "two classes": GBRTClassifier(**SMALL, **PRICES).fit(TABLE, SCORE > 2),
        "three classes": CEGBClassifier(**SMALL, **PRICES, tradeoff=1e-5).fit(TABLE, thirds),
    }


# --- C --------------------------------------------------------------------------------------------


def library(source, folder):
    """A C file, which must compile without a warning, as a shared library."""
    (folder / "m.c").write_text(source)
    command = ["cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, "m.c", "-o", "m.so", "-lm"], check=True, cwd=folder)
    made = ctypes.CDLL(folder / "m.so")
    made.model_predict.restype = ctypes.c_double
    made.model_predict.argtypes = [np.ctypeslib.ndpointer(np.float64, flags="C")] * 2
    made.model_code_of_text.restype = made.model_code_of_number.restype = ctypes.c_double
    made.model_code_of_text.argtypes = [ctypes.c_int, ctypes.c_char_p]
    made.model_code_of_number.argtypes = [ctypes.c_int, ctypes.c_double]
    return made


def in_codes(made, table):
    """Rows as C is given them, by its own functions."""
    rows = np.full((len(table), 4), np.nan)
    rows[:, 0] = table["age"]
    rows[:, 2] = [made.model_code_of_number(2, float(v)) for v in table["code"]]
    for m, name in ((1, "town"), (3, "constant")):
        for i, value in enumerate(table[name]):
            if isinstance(value, str):
                rows[i, m] = made.model_code_of_text(m, value.encode())
    return rows


@slow
@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")
@pytest.mark.parametrize("name", NAMES)
def test_c_scores_and_bills_bit_for_bit(fitted, name, tmp_path):
    model = fitted[name]
    made = library(export_c(model), tmp_path)
    wanted, bills = raw_scores(model, ROWS), np.empty(len(ROWS))
    scores = np.empty(wanted.shape[1])
    for i, row in enumerate(in_codes(made, ROWS)):
        bills[i] = made.model_predict(np.ascontiguousarray(row), scores)
        assert scores.tobytes() == wanted[i].tobytes()
    assert bills.tobytes() == model.prediction_cost(ROWS).tobytes()
    assert len(set(bills)) > 3
    assert np.isnan(made.model_code_of_text(1, b"Rare"))
    assert np.isnan(made.model_code_of_text(3, b"Bern"))
    row = np.array([30.0, 300.0, -1.0, 0.5])  # codes that there are not
    assert np.isfinite(made.model_predict(row, scores))


def test_text_in_c_is_read_as_it_is():
    assert _quoted("Bern") == '"Bern"'
    assert _quoted('a"b\\c??/') == '"a\\042b\\134c\\077\\077/"'
    assert _quoted("ü1") == '"\\303\\2741"'


# --- ONNX -----------------------------------------------------------------------------------------


def of_columns(table):
    """What a runtime is given: each column as it is, text or float64, missing text as nothing."""
    columns = {}
    for name in table:
        if name in ("town", "constant"):
            columns[name] = table[name].fillna("").to_numpy(dtype=object)[:, None]
        else:
            columns[name] = table[name].to_numpy(dtype=np.float64)[:, None]
    return columns


@slow
@pytest.mark.parametrize("name", NAMES)
def test_onnx_answers_raw_rows(fitted, name):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
    model = fitted[name]
    made = export_onnx(model)
    onnx.checker.check_model(made)
    ran = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [one.name for one in ran.get_inputs()] == ["age", "town", "code", "constant"]
    if name == "numbers":
        (got,) = ran.run(["variable"], of_columns(ROWS))
        np.testing.assert_allclose(got[:, 0], model.predict(ROWS), rtol=1e-12)
        return
    labels, shares = ran.run(["label", "probabilities"], of_columns(ROWS))
    np.testing.assert_allclose(shares, model.predict_proba(ROWS), rtol=1e-12)
    assert labels.tolist() == model.predict(ROWS).tolist()


@slow
@pytest.mark.parametrize(
    ("town", "message"),
    [
        ("", "ONNX takes for a missing one"),
        ("Be\0rn", "(C|ONNX) cuts off at a NUL"),
        ("Be\ud800rn", "(C|ONNX) cuts off at a NUL or cannot spell"),
    ],
)
def test_categories_that_would_be_others(town, message):
    renamed = TABLE.replace({"town": {"Bern": town}})
    model = CEGBRegressor(**SMALL).fit(renamed, SCORE)
    assert town in model.categories_[1]
    with pytest.raises(ValueError, match=message):
        export_onnx(model)
    if town:
        with pytest.raises(ValueError, match=message):
            export_c(model)


@slow
def test_what_onnx_cannot_have(fitted):
    with pytest.raises(ValueError, match="knows no sets of categories: precision='double'"):
        export_onnx(fitted["numbers"], precision="single")
    for name in ("label", "value_3", "X", ""):
        renamed = TABLE.rename(columns={"age": name})
        model = GBRTClassifier(**SMALL).fit(renamed, SCORE > 2)
        with pytest.raises(ValueError, match=f"{name!r} cannot be one's name"):
            export_onnx(model)
