"""Models of a user's table as C and as ONNX: its own columns, text and missing values."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from algorithms.exporting import export_c, export_onnx
from algorithms.raw_tables import RawColumn, TableModel
from tests.algorithms.exporting.fitted import raw_scores
from tests.algorithms.raw_tables.test_model import BY_SETS, COLUMNS, PRICES, TABLE, by_sets, fitted

ROWS = TABLE.assign(colour=TABLE["colour"].str.strip())
ROWS.loc[::9, "colour"] = "pink"
ROWS.loc[::7, "code"] = None
models = pytest.mark.parametrize(
    "model",
    [
        TableModel(fitted(min_samples_leaf=5), COLUMNS),
        pytest.param(TableModel(by_sets(feature_costs=PRICES), BY_SETS), id="by sets"),
    ],
)


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, cc")
@models
def test_c_takes_the_columns_of_the_table(model, tmp_path):
    called = RawColumn('*/ "ä" /* \\')  # it stands in a comment
    source = export_c(TableModel(model.model, [*model.columns[:-1], called]))
    (tmp_path / "m.c").write_text(source)
    command = ["cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*command, "m.c", "-o", "m.so", "-lm"], check=True, cwd=tmp_path)
    made = ctypes.CDLL(tmp_path / "m.so")
    row = np.ctypeslib.ndpointer(np.float64, flags="C")
    made.model_predict.restype, made.model_predict.argtypes = ctypes.c_double, [row, row]
    made.model_set_number.argtypes = [row, ctypes.c_int, ctypes.c_double]
    made.model_set_text.argtypes = [row, ctypes.c_int, ctypes.c_char_p]
    wanted, bills = raw_scores(model, ROWS), model.prediction_cost(ROWS)
    x, scores = np.empty(model.model.n_features_in_), np.empty(1)
    for i, values in enumerate(ROWS.itertuples(index=False)):
        for m, value in enumerate(values):
            if m in (1, 2):
                made.model_set_text(x, m, None if pd.isna(value) else value.encode())
            else:
                made.model_set_number(x, m, value)
        assert made.model_predict(x, scores) == bills[i]
        assert scores.tobytes() == wanted[i].tobytes()


@models
@pytest.mark.parametrize("precision", ["double", "single"])
def test_onnx_takes_the_columns_of_the_table(model, precision):
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    pytest.importorskip("onnx", reason="needs the extra onnx")
    if precision == "single" and model.columns[1].kind == "category":
        with pytest.raises(ValueError, match="knows no sets"):
            export_onnx(model, precision=precision)
        return
    made = export_onnx(model, precision=precision)
    ran = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    number = np.float64 if precision == "double" else np.float32
    given = {
        name: ROWS[[name]].fillna("").to_numpy(object)
        if name in ("colour", "code")
        else ROWS[[name]].to_numpy(number)
        for name in ROWS
    }
    labels, probabilities = ran.run(["label", "probabilities"], given)
    np.testing.assert_array_equal(labels, model.predict(ROWS))
    np.testing.assert_allclose(probabilities, model.predict_proba(ROWS), rtol=1e-5)
