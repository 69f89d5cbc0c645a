"""How many examples it takes: which are drawn, deficits and trends, and what the README says."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from datasets.features import load
from experiments.adaptive_sampling_2014 import extra_examples
from experiments.adaptive_sampling_2014.cells.examples import first_examples, run_cell
from experiments.adaptive_sampling_2014.extra_examples import (
    ARTEFACT,
    SAMPLING,
    deficits,
    trend,
)
from experiments.running.provenance import ROOT

README = (ROOT / "experiments" / "adaptive_sampling_2014" / "README.md").read_text("utf-8")
PUBLISHED = ROOT / "results" / "sampling-examples" / "rows.csv"


def test_few_examples_are_among_many_and_have_their_shares():
    y = np.random.default_rng(0).choice(4, 1_000, p=[0.1, 0.2, 0.3, 0.4])
    few, more = first_examples(y, 100, 7), first_examples(y, 400, 7)
    assert len(few) == len(set(few)) == 100
    assert set(few) < set(more)
    assert len(more) == 400
    assert (np.diff(few) > 0).all()
    for part in (few, more):
        shares = np.bincount(y[part], minlength=4) / len(part)
        assert np.abs(shares - np.bincount(y) / 1_000).max() <= 1.5 / len(part)
    assert set(few) != set(first_examples(y, 100, 8))
    np.testing.assert_array_equal(first_examples(y, 1_000, 7), np.arange(1_000))


def test_all_by_number_are_all():
    cell = next(c for c in ARTEFACT.make_cells("smoke", range(1)) if c.algorithm == "laminating")
    data = load(cell.dataset, data="synthetic", scale="smoke")
    n_samples = len(data.y_train)
    rows = [
        run_cell(replace(cell, params={**cell.params, "n_train": n}), data)
        for n in (None, n_samples, n_samples // 2)
    ]
    assert rows[0] == rows[1] != rows[2]
    assert [row["n_train"] for (row,) in rows] == [n_samples, n_samples, n_samples // 2]


def test_deficit_and_trend():
    rows = pd.DataFrame(
        {"dataset": "d", "seed": s, "algorithm": a, "n_train": n, "rounds": 10,
         "log10_loss": loss + 0.1 * s}
        for s in (5, 6)
        for a, losses in (("tasting_1q", (-1, -2, -3)), ("laminating", (0, -1.5, -3)))
        for n, loss in zip((100, 200, 400), losses, strict=True)
    )  # fmt: skip
    table = deficits(rows, "d", "laminating", 10)
    np.testing.assert_allclose(table, [[1, 0.5, 0]] * 2, atol=1e-12)
    np.testing.assert_allclose(trend(table), [-0.5, -0.5])


# --- what is published ---------------------------------------------------------------------------


def published():
    """(data set, method) → images → seed → log10 loss, after 1,000 rounds; without pandas."""
    losses = defaultdict(lambda: defaultdict(dict))
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["rounds"] == "1000":
                where = losses[row["dataset"], row["algorithm"]][int(row["n_train"])]
                where[int(row["seed"])] = float(row["log10_loss"])
    return losses


def slope(n, deficit):
    x = [math.log2(value) for value in n]
    return statistics.linear_regression(x, deficit).slope


@pytest.mark.parametrize(
    ("dataset", "title"),
    [("cifar10_mash", "CIFAR-10"), ("inria_person_mash", "INRIA"), ("mnist_mash", "MNIST")],
)
def test_the_readme_has_the_numbers_of_the_rows(dataset, title):
    losses = published()
    sizes = sorted(losses[dataset, "tasting_1q"])
    seeds = sorted(losses[dataset, "tasting_1q"][sizes[0]])
    assert seeds == [5, 6, 7, 8, 9]
    gap = {
        (method, n, s): losses[dataset, method][n][s] - losses[dataset, "tasting_1q"][n][s]
        for method in SAMPLING
        for n in sizes
        for s in seeds
    }
    ends, cells = (sizes[0], sizes[-1]), []
    for method in SAMPLING:
        means = [statistics.mean(gap[method, n, s] for s in seeds) for n in ends]
        slopes = [slope(sizes, [gap[method, n, s] for n in sizes]) for s in seeds]
        half = stats.t.ppf(0.975, 4) * statistics.stdev(slopes) / math.sqrt(5)
        mean = statistics.mean(slopes)
        cells.append(", ".join(f"{one:+.3f}" for one in means))
        cells.append(f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]")
    counts = ", ".join(f"{n:,}" for n in ends)
    line = f"| {title}, {counts} | {' | '.join(cells)} |"
    assert line.replace("-", "\N{MINUS SIGN}") in README.replace("-", "\N{MINUS SIGN}")


def test_cells_are_of_the_methods_that_are_compared():
    names = {extra_examples.REFERENCE, *SAMPLING}
    assert {cell.algorithm for cell in ARTEFACT.make_cells("laptop", range(2))} == names
