"""What a fit refuses, or cannot hold, is refused before the rows are cut."""

import numpy as np
import pandas as pd
import pytest

from algorithms.estimators.fitting import check_sample_weight
from experiments.compare import preparing
from experiments.compare.preparing import Asked, prepare
from experiments.compare.tables import Refused

N = 60
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, N))
GRADES = np.arange(N) % 3
QUERIES = np.arange(N) // 3


def prepared(tmp_path, prices=None, **options):
    columns = {"a": A, "b": B, "y": (A > 0).astype(int)}
    columns |= {name: options.pop(name) for name in ("a", "y", "w", "q") if name in options}
    pd.DataFrame(columns).to_csv(tmp_path / "table.csv", index=False)
    if prices is not None:
        (tmp_path / "costs.csv").write_text(f"feature,cost\na,{prices[0]}\nb,{prices[1]}\n")
        options["costs"] = tmp_path / "costs.csv"
    return prepare(Asked(tmp_path / "table.csv", "y", **options), tmp_path)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"w": [2.0**47] * N, "weight": "w"}, "must sum to at most 2\\*\\*52"),
        ({"w": [1e300] * N, "weight": "w"}, "must sum to at most 2\\*\\*52"),
        ({"w": ["007"] * N, "weight": "w"}, "Weights must be numbers above 0"),
        ({"w": ["inf"] * N, "weight": "w"}, "Weights must be numbers above 0"),
        ({"prices": (1, 1e271)}, "at most 1e\\+270; costs.csv has others for 'b'"),
        ({"prices": (1, "inf")}, "costs.csv has others for 'b'"),
        ({"prices": (1e-320, 1e-320)}, "too small, too large or too far apart"),
        ({"prices": (0, 1e-310)}, "too small, too large or too far apart"),
        ({"split_cost": 1e271}, "--split-cost must be a number from 0 to 1e\\+270"),
        ({"split_cost": np.inf}, "--split-cost must be a number"),
        ({"split_cost": np.nan}, "--split-cost must be a number"),
        ({"y": A * 1e300}, "has numbers beyond 1e\\+30"),
        ({"y": A * 1e200}, "has numbers beyond 1e\\+30"),
        ({"y": A * 1e-300}, "multiply all of them by a constant"),
        ({"y": GRADES * 1e300, "q": QUERIES, "query": "q", "metric": "precision@5"}, "beyond 1e"),
        (
            {"y": GRADES, "q": QUERIES, "query": "q", "metric": f"precision@{'9' * 5000}"},
            "--metric of ranking must be",
        ),
        ({"a": np.sign(A) * 1.5e308}, "has values beyond 1e\\+300 in the columns 'a'"),
    ],
)
def test_numbers_out_of_range(tmp_path, monkeypatch, options, sentence):
    split = []
    monkeypatch.setattr(preparing, "write", lambda *_: split.append("written"))
    with pytest.raises(Refused, match=sentence) as error:
        prepared(tmp_path, **options)
    assert str(error.value).count("\n") == 0
    assert split == []


@pytest.mark.filterwarnings("error")
def test_numbers_just_in_range(tmp_path):
    largest = [2.0**52 / N] * N
    check_sample_weight(largest, N)
    assert prepared(tmp_path, w=largest, weight="w").task == "classification"
    assert prepared(tmp_path, prices=(1e270, 1e260)).prices.feature_costs[0] == 1e270
    assert prepared(tmp_path, y=A * 1e29).task == "regression"
    assert prepared(tmp_path, a=np.sign(A) * 1e299).n_rows["train"] == 36


@pytest.mark.parametrize("metric", ["precision@5", "average_precision@3"])
def test_grades_of_which_none_is_relevant(tmp_path, metric):
    ranking = {"q": QUERIES, "query": "q", "metric": metric}
    for grades in (GRADES / 4, GRADES - 2.0):
        with pytest.raises(Refused, match="documents of grade 1 or more, and the target 'y' has"):
            prepared(tmp_path, y=grades, **ranking)
    few = np.where(np.arange(N) == 0, 1.0, GRADES / 4)
    with pytest.raises(Refused, match="part has none: try another --seed"):
        prepared(tmp_path, y=few, **ranking)
    assert prepared(tmp_path, y=GRADES / 2, **ranking).metric == metric
