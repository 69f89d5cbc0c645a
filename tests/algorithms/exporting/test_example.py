"""What docs/examples.md shows of tables with text: from files to a model that answers elsewhere."""

import importlib.util
import re

import numpy as np
import pandas as pd
import pytest

from algorithms.exporting import export_onnx
from algorithms.registry.loading import load_model
from experiments.running.provenance import ROOT

HAS_ONNX = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))


def blocks():
    text = (ROOT / "docs" / "examples.md").read_text("utf-8")
    section = text.split("\n## Text columns without an encoder\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


def patients():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({
        "sex": rng.choice(["f", "m"], 500),
        "age": rng.integers(18, 90, 500).astype(float),
        "blood": rng.choice(["A", "B", "AB", "0"], 500),
        "scan": rng.normal(size=500).round(2),
    })  # fmt: skip
    ill = (table["blood"].isin(["A", "0"]) & (table["age"] > 40)) | (table["scan"] > 1)
    table = table.mask(rng.random(table.shape) < 0.1)
    return table.assign(ill=np.where(ill, "yes", "no"))


def test_it_is_ten_lines():
    first, _ = blocks()
    assert sum(bool(line.strip()) for line in first.splitlines()) <= 10


@pytest.mark.slow  # kernels of their own are compiled
def test_a_file_becomes_a_costed_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("patients.csv", index=False)
    (tmp_path / "prices.csv").write_text("feature,cost\nsex,0\nage,0\nblood,12\nscan,300\n")
    first, second = blocks()
    names = {}
    if not HAS_ONNX:
        first = "\n".join(line for line in first.splitlines() if "onnx" not in line)
    exec(first, names)
    model, rows = names["model"], names["table"].copy()
    assert rows.isna().to_numpy().any(axis=0).all()
    assert set(model.categories_) == {0, 2}
    assert str(round(model.prediction_cost(rows).mean(), 6))[:5] in capsys.readouterr().out
    assert set(model.prediction_cost(rows)) <= {0.0, 12.0, 300.0, 312.0}
    rows.loc[:9, "blood"] = "unheard of"
    loaded = load_model("model.zip")
    assert loaded.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
    assert loaded.prediction_cost(rows).tobytes() == model.prediction_cost(rows).tobytes()
    if not HAS_ONNX:
        pytest.skip("needs the extra onnx for the rest")
    assert export_onnx(loaded).SerializeToString() == (tmp_path / "model.onnx").read_bytes()
    names["table"] = rows
    exec(second, names)
    assert names["labels"].tolist() == loaded.predict(rows).tolist()
    np.testing.assert_allclose(names["probabilities"], loaded.predict_proba(rows), rtol=1e-12)
