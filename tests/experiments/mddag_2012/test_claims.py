"""MDDAG's preregistered claims: what they compare, by hand and by plain loops."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from experiments import setting
from experiments.claims.confirming import settings_of
from experiments.claims.declared import check_declared
from experiments.mddag_2012 import claims, figure2, figure3
from experiments.mddag_2012.cells import dags
from experiments.mddag_2012.show import repetitions
from experiments.mddag_2012.show.comparison import CASCADES, DETECTORS
from tests.experiments.mddag_2012.test_selection import QUALITY, runs

LOW = {"quality": QUALITY, "low": 1.0, "high": 5.0}


def grid(low, high):
    """Budgets 10^(i/12) above `low` and up to `high`."""
    budgets = [10 ** (i / 12) for i in range(60)]
    return [b for b in budgets if low * (1 + 1e-9) < b <= high * (1 + 1e-9)]


def at(points, budget):
    """(training, test) TPR by the rule: of dearer runs those that are better in training."""
    found, best = (math.nan, math.nan), -math.inf
    for _, trained, spent, tested in sorted(points):
        if trained > best:
            best = trained
            if spent <= budget * (1 + 1e-9):
                found = trained, tested
    return found


OURS = [(1, 0.5, 1.2, 0.4), (3, 0.8, 3.1, 0.7)]
OTHER = [(2, 0.85, 2.0, 0.6)]
RIVAL = [(1, 0.4, 1.5, 0.5), (4, 0.9, 4.0, 0.9), (40, 0.95, 40, 0.99)]


def table(seed=0):
    return pd.concat(
        [
            runs("mddag_i", OURS, seed=seed),
            runs("mddag_exp", OTHER, seed=seed),
            runs("viola_jones", RIVAL, seed=seed),
        ]
    )


def test_leads_of_each_are_over_its_own_shared_budgets():
    """From 1.5 on, where the rival begins, to five, beyond our last run."""
    differences = []
    for budget in grid(1.0, 5.0):
        ours = max(at(OURS, budget), at(OTHER, budget), key=lambda one: np.nan_to_num(one[0]))
        differences.append(ours[1] - at(RIVAL, budget)[1])
    expected = np.nanmean(differences)
    assert np.isnan(differences).sum() == 2  # 10^(1/12) and 10^(2/12)
    both = {"panel": "a", "better": ("mddag_i", "mddag_exp"), "worse": ("viola_jones",), **LOW}
    assert repetitions.lead_of_each(table(), **both) == pytest.approx([expected])
    # A repetition that begins late changes nothing of the other.
    late = table(1)
    late.loc[late["method"] == "viola_jones", "test_evaluations"] *= 3
    found = repetitions.lead_of_each(pd.concat([table(), late]), **both)
    assert found[0] == pytest.approx(expected)
    assert found[1] > found[0]


def test_a_rival_that_begins_late_is_met_where_it_begins():
    dear = runs("viola_jones", [(9, 0.9, 9, 0.9), (12, 0.95, 12, 1.0)])
    rows = pd.concat([runs("mddag_i", OURS), dear])
    one = {"panel": "a", "better": ("mddag_i",), "worse": ("viola_jones",), **LOW}
    assert repetitions.lead_of_each(rows, **one) == pytest.approx([0.7 - 0.9])
    assert len(repetitions.lead_of_each(runs("mddag_i", OURS), **one)) == 0
    idle = pd.concat([runs("mddag_i", OURS), runs("viola_jones", [(0, 0.1, 0, 0.1)])])
    assert np.isnan(repetitions.lead_of_each(idle, **one)).all()


def test_twice_by_hand():
    rows = pd.concat(
        [
            ndcg("mddag_exp", [(1, 0.3), (2.5, 0.40), (6, 0.46)]),
            ndcg("adaboost", [(j, 0.5 - 0.3 / j) for j in range(1, 41)]),
        ]
    )
    expected = [
        (0.46 if budget >= 6 else 0.40) - (0.5 - 0.3 / math.floor(2 * budget + 1e-9))
        for budget in grid(2.9, 6.0)
    ]
    found = repetitions.lead_over_twice(rows, "b", ("mddag_exp",))
    assert found == pytest.approx([np.mean(expected)])
    short = rows[(rows["method"] == "adaboost") | (rows["test_evaluations"] < 3)]
    found = repetitions.lead_over_twice(short, "b", ("mddag_exp",))
    assert found == pytest.approx([0.40 - (0.5 - 0.3 / 6)])  # of 10^(6/12), and twice as many


def ndcg(method, points):
    rows = [
        {"panel": "b", "method": method, "seed": 0, "setting": k}
        | {f"{part}_evaluations": float(n) for part in ("train", "test")}
        | {f"{part}_ndcg": score for part in ("train", "test")}
        for k, (n, score) in enumerate(points)
    ]
    return pd.DataFrame(rows)


def test_claims_are_declared():
    check_declared(claims.CLAIMS)
    for one in claims.CLAIMS:
        assert one.looks[0] == 10
        for part in one.parts:
            cells = {"mddag-figure2": figure2, "mddag-figure3": figure3}[part.artefact]
            assert part.dataset in {
                cell.dataset for cell in cells.ARTEFACT.make_cells("overnight", range(1))
            }
    every = {"mddag-figure2": set(DETECTORS) | {"adaboost", *CASCADES}}
    every["mddag-figure3"] = {"adaboost", *figure3.methods("overnight")}
    for part in (part for one in claims.CLAIMS for part in one.parts):
        given = part.effects.keywords
        groups = (given.get(name, ()) for name in ("better", "worse", "methods"))
        assert {name for group in groups for name in group} <= every[part.artefact]
    # As many trials on either side, 24 settings for each name.
    (fair,) = (one for one in claims.CLAIMS if one.id == "mddag-competitive")
    given = fair.parts[0].effects.keywords
    assert len(given["better"]) == len(given["worse"]) == 3


def test_descent_is_left_out_where_it_takes_minutes():
    assert [m for m in figure3.methods("laptop") if m.endswith("descent")]
    assert not [m for m in figure3.methods("overnight") if m.endswith("descent")]
    assert set(claims.EXPONENTIAL) <= set(figure3.methods("overnight"))


def test_reading_without_weights_sees_no_run_that_multiplies_losses():
    (one,) = (one for one in claims.CLAIMS if one.id == "mddag-low-above-viola-jones")
    (unweighted,) = (r for r in one.readings if r.name == "no class weights")
    rows = runs("mddag_i", OURS), runs("viola_jones", RIVAL).assign(negative_weight=0.0)
    plain, better = pd.concat(rows), runs("mddag_i", [(1, 0.99, 1.3, 0.99)])
    weighted = pd.concat([plain, better.assign(negative_weight=5.0, setting=9)])
    part, claimed = unweighted.parts[0], one.parts[0]
    assert part.effects(weighted) == pytest.approx(claimed.effects(plain))
    assert claimed.effects(weighted) > claimed.effects(plain) + 0.01


def test_reading_of_fewer_bins_sets_them_of_all_policies():
    (one,) = {
        json.dumps(settings_of(part.artefact))
        for claim in claims.CLAIMS
        for reading in claim.readings
        for part in reading.parts
        if reading.name in ("101 bins of a score", "bins chosen in training")
    }
    for figure in (figure2, figure3):
        asked = setting.applied(figure.ARTEFACT, "overnight", json.loads(one))
        policies = [c for c in asked.make_cells("overnight", range(1)) if c.algorithm == "mddag"]
        assert policies
        assert {dags.unfitted(cell, None).n_bins for cell in policies} == {101}
