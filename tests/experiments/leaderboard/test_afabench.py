"""What is published of MiniBooNE as AFABench's plots read it."""

import dataclasses
import types

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import datasets
from experiments.leaderboard import afabench, per_row, problems
from experiments.leaderboard.command import export_command

TRUE = np.array([0, 1, 1, 0])
CHOSEN = pd.DataFrame(
    [
        ("miniboone", "uniform", "cegb", 1.0, 3, 5.0),
        ("miniboone", "uniform", "cegb", 2.19, 3, 5.0),
        ("miniboone", "uniform", "early_exit", 2.19, 0, 0.1),
        ("digits", "uniform", "cegb", 1.0, 0, 1.0),
    ],
    columns=["dataset", "prices", "method", "budget", "trial", "cut"],
)


def rows():
    values = {
        ("cegb", 3, 5.0): ([1, 1, 0, 1], [0, 1, 1, 2]),
        ("early_exit", 0, 0.1): ([1, 0, 0, 1], [2, 2, 2, 2]),
    }
    lines = [
        ("miniboone", "uniform", *model, kind, row, float(value))
        for model, both in values.items()
        for kind, each in zip(("score", "cost"), both, strict=True)
        for row, value in enumerate(each)
    ]
    table = pd.DataFrame(lines, columns=list(per_row.COLUMNS))
    texts = dict.fromkeys(("dataset", "prices", "method", "kind"), "category")
    return table.astype({**texts, "trial": np.int16, "cut": np.float32})


def test_a_stop_of_each_row_of_each_model_at_each_budget():
    table = afabench.table_of(CHOSEN, rows(), TRUE)
    assert dict(table.dtypes.astype(str)) == afabench.DTYPES
    assert len(table) == 3 * len(TRUE)
    assert set(table["action_performed"]) == {0}
    first = table[(table["afa_method"] == "cegb") & (table["train_soft_budget_param"] == 1.0)]
    assert first["predicted_class"].tolist() == [0, 1, 0, 0]  # wrong in the third row alone
    assert first["true_class"].tolist() == TRUE.tolist()
    assert first["n_selections_performed"].tolist() == [0, 1, 1, 2]
    assert first["accumulated_cost"].mean() == 1.0
    # Their plots want one soft budget, of training or of evaluation, and none of the hard ones.
    assert table["train_soft_budget_param"].notna().all()
    assert (
        table[["eval_soft_budget_param", "train_hard_budget", "eval_hard_budget"]]
        .isna()
        .all(axis=None)
    )
    exits = table[table["afa_method"] == "early_exit"]
    assert (exits["predicted_class"] == exits["true_class"]).tolist() == [True, False, False, True]


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(afabench.NotExportable, match="the 5 test rows of cegb, trial 3"):
        afabench.table_of(CHOSEN, rows(), np.append(TRUE, 0))
    with pytest.raises(afabench.NotExportable, match="no model of miniboone@uniform"):
        afabench.table_of(CHOSEN[CHOSEN["dataset"] == "digits"], rows(), TRUE)


def test_the_file_is_read_back_as_it_was(tmp_path):
    pytest.importorskip("pyarrow")
    digits = problems.load("digits@uniform", scale="check")
    test = dataclasses.replace(digits.parts["test"], y=np.array(["a", "b"])[TRUE])
    problem = dataclasses.replace(digits, parts={**digits.parts, "test": test})
    with pytest.raises(afabench.NotExportable, match="run the leaderboard with --rows"):
        afabench.write(tmp_path, tmp_path, problem, tmp_path / "out.parquet")
    CHOSEN.to_csv(tmp_path / "chosen.csv", index=False)
    aside = tmp_path / "aside"
    (aside / per_row.NAME).mkdir(parents=True)
    rows().to_parquet(aside / per_row.NAME / "miniboone.parquet")
    path = afabench.write(tmp_path, aside, problem, tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(path), afabench.table_of(CHOSEN, rows(), TRUE))


def test_more_than_two_classes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(per_row, "check_installed", lambda: None)
    (tmp_path / per_row.NAME).mkdir()
    digits = problems.load("digits@uniform", scale="check")
    with pytest.raises(afabench.NotExportable, match="has 10 classes in its test rows, not two"):
        afabench.write(tmp_path, tmp_path, digits, tmp_path / "out.parquet")


def test_nothing_is_exported_before_something_is_published(tmp_path):
    suite = types.SimpleNamespace(results=tmp_path, datasets=datasets)
    result = CliRunner().invoke(export_command, obj=suite)
    assert result.exit_code == 2
    assert "There is nothing in" in result.output
