"""Verdicts on rows whose answer is known."""

import ast
import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.claims import (
    Claim,
    evaluate,
    scoreboard,
    sentence,
)
from experiments.data_kinds import extent
from experiments.estimates import over_seeds, over_trials, over_units
from experiments.running.provenance import ROOT

REAL = {"set": {"kind": "real"}, "made_up": {"kind": "stand-in"}}


def claim(effects, *, claim_id="c", dataset="set", spread="seeds", worth=0.1, overlap=0.0):
    return Claim(
        id=claim_id,
        sentence="A is better than B.",
        place="section 1",
        dataset=dataset,
        smallest_effect=worth,
        unit="points",
        effects=lambda rows: np.asarray(effects),
        spread=spread,
        overlap=overlap,
    )


def judge(*claims):
    return evaluate(claims, pd.DataFrame(), REAL)


NOISE = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])


@pytest.mark.parametrize(
    ("effects", "verdict"),
    [
        (0.5 + NOISE, "reproduced"),
        (-0.5 + NOISE, "not reproduced"),
        (0.0 + NOISE, "not reproduced"),  # surely smaller than the smallest effect of interest
        (0.04 + NOISE, "not reproduced"),  # surely there, but too small
        (0.1 + 20 * NOISE, "inconclusive"),
        (0.5 + NOISE[:4], "inconclusive"),  # four repetitions are too few
        ([0.5], "inconclusive"),
        ([], "not run at this scale"),
        ([0.5] * 5, "inconclusive"),  # five copies of one observation
        ([0.5, math.nan, 0.51, 0.52, 0.5, 0.49], "reproduced"),
    ],
)
def test_verdict_over_seeds(effects, verdict):
    assert judge(claim(effects))["verdict"].tolist() == [verdict]


def test_interval_is_scipys_paired_t():
    a, b = np.array([0.7, 0.9, 0.8, 0.85, 0.6]), np.array([0.5, 0.65, 0.7, 0.6, 0.55])
    wanted = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = over_seeds(a - b, 0.95)
    np.testing.assert_allclose([found.low, found.high], [wanted.low, wanted.high], rtol=1e-12)


def test_detectable_effect_has_the_power_it_says():
    rng = np.random.default_rng(1)
    n, sigma, level = 6, 0.2, 0.95
    typical = over_seeds(sigma * stats.zscore(np.arange(n), ddof=1), level).detectable
    draws = rng.normal(typical, sigma, size=(20000, n))
    error = draws.std(axis=1, ddof=1) / math.sqrt(n)
    found = draws.mean(axis=1) - stats.t.ppf(0.975, n - 1) * error > 0
    assert 0.75 < found.mean() < 0.87


def test_bonferroni_counts_the_claims_on_which_a_verdict_is_drawn():
    effects = 0.5 + NOISE
    alone = judge(claim(effects)).iloc[0]
    three = judge(
        claim(effects, claim_id="a"),
        claim(effects, claim_id="b"),
        claim(effects, claim_id="s", dataset="made_up"),
    )
    assert alone["level"] == 0.95
    assert three["level"].tolist() == [0.975] * 3
    assert three["low"].iloc[0] < alone["low"]
    assert len(judge(claim(effects, dataset="elsewhere"))) == 0


def test_correction_keeps_the_error_rate():
    """Of 300 experiments with 10 claims and no effect at all, at most about 5 % say otherwise."""
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(300):
        table = judge(*(claim(rng.normal(size=5), claim_id=str(i), worth=1e-9) for i in range(10)))
        wrong += (table["verdict"] == "reproduced").any()
    assert wrong / 300 < 0.05


def test_overlapping_test_sets_widen_the_interval():
    effects = 0.5 + NOISE
    plain, half, fixed = (over_seeds(effects, 0.95, overlap) for overlap in (0.0, 0.5, 1.0))
    widened = (half.high - half.low) / (plain.high - plain.low)
    assert widened == pytest.approx(math.sqrt((1 / 5 + 1) * 5))
    assert fixed == plain


def test_stand_in_draws_no_verdict():
    row = judge(claim(5 + NOISE, dataset="made_up")).iloc[0]
    assert row["verdict"] == "not testable here"
    assert row["effect"] == pytest.approx(5)
    assert row["low"] < 5 < row["high"]


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.5, "reproduced"), (-0.2, "not reproduced"), (0.1, "inconclusive")]
)
def test_verdict_over_queries(shift, verdict):
    values = stats.zscore(np.random.default_rng(0).exponential(size=200)) + shift
    assert judge(claim(values, spread="units"))["verdict"].tolist() == [verdict]


def test_bootstrap_is_repeatable_and_near_the_t_interval():
    values = np.random.default_rng(3).normal(size=400)
    one, two = over_units(values, 0.95), over_units(values, 0.95)
    assert one == two
    wanted = over_seeds(values, 0.95)
    np.testing.assert_allclose([one.low, one.high], [wanted.low, wanted.high], atol=0.01)


def test_the_papers_own_numbers_come_first():
    """Then the kind of data, then whether there are rows."""
    for own, expected in (
        (-0.011, "denied by the paper's own table"),
        (0.1 + 0.2 - 0.3, "denied by the paper's own table"),  # 0 but for binary fractions
        (0.01, "reproduced"),
        (math.nan, "reproduced"),
    ):
        one = dataclasses.replace(claim(0.5 + NOISE), paper_effect=own)
        assert judge(one)["verdict"].tolist() == [expected]
    nothing = claim([], dataset="made_up")
    assert judge(nothing)["verdict"].tolist() == ["not testable here"]
    denied = dataclasses.replace(nothing, paper_effect=-1.0)
    assert judge(denied)["verdict"].tolist() == ["denied by the paper's own table"]


def test_a_denied_claim_is_corrected_for_and_one_without_rows_is_not():
    effects = 0.5 + NOISE
    denied = dataclasses.replace(claim(effects, claim_id="d"), paper_effect=-1.0)
    table = judge(claim(effects), denied, claim([], claim_id="n"))
    assert table["level"].tolist() == [0.975] * 3
    assert table.loc[1, "effect"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"kind": "real"}, "whole set"),
        ({"kind": "real", "missing": "most of it"}, "part"),
        ({"kind": "real", "selection": "the first 10"}, "part"),
        ({"kind": "no data"}, "simulation"),
        ({"kind": "stand-in"}, "stand-in"),
        ({"kind": "odd"}, "stand-in"),
    ],
)
def test_extent_of_the_data(record, expected):
    assert extent(record) == expected


def test_lines_and_scoreboard_say_it():
    table = judge(claim(0.1 + 20 * NOISE), claim(0.5 + NOISE, claim_id="d", dataset="made_up"))
    lines = [sentence(row) for row in table.to_dict("records")]
    assert lines[0].startswith("inconclusive")
    assert "smallest detectable effect" in lines[0]
    assert lines[1].startswith("not testable here")
    board = scoreboard({"toy-figure2": ({"title": "Toy", "scale": "laptop"}, table)})
    assert "| **inconclusive** | set (whole set) |" in board
    assert "| **not testable here** | made_up (stand-in) |" in board


# --- failures among trials ------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", [over_seeds, over_units])
@pytest.mark.parametrize("n", [5, 6, 10])
def test_values_that_differ_by_rounding_are_one_observation(estimate, n):
    """0.1 + 0.2 is not 0.3 in binary, and the standard deviation of six times 0.1 is not 0."""
    for effects in (np.full(n, 0.1), np.array([0.3] * (n - 1) + [0.1 + 0.2])):
        found = estimate(effects, 0.95)
        assert found.n == 1
        assert found.effect == pytest.approx(effects[0])
        assert math.isnan(found.low)
        assert math.isnan(found.detectable)
    assert estimate(0.1 + 1e-6 * np.arange(n), 0.95).n == n


def test_rates_below_their_bounds():
    # 1,000 trials without a failure: the exact one-sided 97.5 % limit is 1 - 0.025**(1/1000).
    estimate = over_trials(np.array([[0.5, 0, 1000]]), 0.95)
    assert estimate.n == 1000
    assert estimate.effect == estimate.high == 0.5
    assert estimate.low == pytest.approx(0.5 - (1 - 0.025 ** (1 / 1000)))
    # Of several places the one nearest its bound counts, with a wider interval.
    both = over_trials(np.array([[0.5, 0, 1000], [0.9, 0, 1000]]), 0.95)
    assert both.low == pytest.approx(0.5 - (1 - 0.0125 ** (1 / 1000)))


def test_rates_above_their_bound():
    estimate = over_trials(np.array([[0.5, 0, 1000], [0.01, 100, 1000]]), 0.95)
    assert estimate.effect == pytest.approx(-0.09)
    exact = stats.binomtest(100, 1000).proportion_ci(0.975, method="exact")
    assert (estimate.low, estimate.high) == pytest.approx((0.01 - exact.high, 0.01 - exact.low))


def test_every_trial_failed_and_no_trial_at_all():
    assert over_trials(np.array([[1.0, 10, 10]]), 0.95).low == pytest.approx(0.0)
    assert math.isnan(over_trials(np.empty((0, 3)), 0.95).effect)


def test_a_claim_on_rates():
    bounds = [[0.5, 0, 1000], [0.2, 10, 1000]]
    assert judge(claim(bounds, spread="trials")).loc[0, "verdict"] == "reproduced"
    bounds.append([0.01, 100, 1000])
    assert judge(claim(bounds, spread="trials")).loc[0, "verdict"] == "not reproduced"
    assert judge(claim([[0.2, 0, 5]], spread="trials")).loc[0, "verdict"] == "inconclusive"


# --- where claims are declared --------------------------------------------------------------------


def declared_elsewhere(folder):
    """Files of papers that make a claim, and are not the paper's ``claims.py``."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / "experiments").glob("*_20??/**/*.py"))
        if path.relative_to(folder).parts[2:] != ("claims.py",)
        and any(
            isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in MAKERS
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    ]


MAKERS = ("Claim", "Subject")


def test_claims_are_declared_in_one_file_a_paper(tmp_path):
    assert declared_elsewhere(ROOT) == []
    assert len(list((ROOT / "experiments").glob("*_20??/claims.py"))) == 5
    for file, source in {
        "claims.py": "Claim(id=1)",
        "figure1.py": "from experiments.claims import Claim\n\ndef f() -> Claim: ...",
        "figure2.py": "def f(): return [claims.Claim(id=1)]",
        "show/panels.py": "claim = Subject('a').claim",
    }.items():
        path = tmp_path / "experiments" / "paper_2012" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    wrong = ("figure2.py", "show/panels.py")
    assert declared_elsewhere(tmp_path) == [f"experiments/paper_2012/{file}" for file in wrong]
