"""Descriptions of rows whose answer is known."""

import ast
import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.claims import COLUMNS, Claim, described, evaluate, sentence
from experiments.data_kinds import extent
from experiments.estimates import over_crossed, over_seeds, over_trials, over_units
from experiments.running.provenance import ROOT

REAL = {"set": {"kind": "real"}, "made_up": {"kind": "synthetic"}}


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
    ("effects", "note"),
    [
        (0.5 + NOISE, ""),
        (-0.5 + NOISE, ""),
        (0.5 + NOISE[:4], "fewer than five repetitions"),
        ([0.5], "one repetition"),
        ([], "not run at this scale"),
        ([math.nan] * 5, "no repetition has a value"),
        ([0.5] * 5, "all 5 values are equal"),
        ([0.5, math.nan, 0.51, 0.52, 0.5, 0.49], "1 of 6 repetitions without a value"),
    ],
)
def test_what_keeps_an_effect_from_saying_more(effects, note):
    row = judge(claim(effects)).iloc[0]
    assert row["note"] == note
    known = [value for value in effects if not math.isnan(value)]
    assert row["n"] == len(known)
    assert math.isnan(row["low"]) == (len(set(known)) < 2)


def test_there_is_no_verdict_and_no_correction():
    """However many claims an artefact has, each interval is the plain one."""
    effects = 0.5 + NOISE
    alone = judge(claim(effects)).iloc[0]
    many = judge(*(claim(effects, claim_id=str(i)) for i in range(50)))
    assert (many["low"] == alone["low"]).all()
    low, high = stats.ttest_1samp(effects, 0).confidence_interval(0.95)
    assert (alone["low"], alone["high"]) == pytest.approx((low, high), rel=1e-5)
    assert list(many.columns) == list(COLUMNS)
    assert "verdict" not in many.columns
    assert len(judge(claim(effects, dataset="elsewhere"))) == 0


def test_interval_is_scipys_paired_t():
    a, b = np.array([0.7, 0.9, 0.8, 0.85, 0.6]), np.array([0.5, 0.65, 0.7, 0.6, 0.55])
    wanted = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = over_seeds(a - b, 0.95)
    np.testing.assert_allclose([found.low, found.high], [wanted.low, wanted.high], rtol=1e-12)


def test_overlapping_test_sets_widen_the_interval():
    effects = 0.5 + NOISE
    plain, half, fixed = (over_seeds(effects, 0.95, overlap) for overlap in (0.0, 0.5, 1.0))
    widened = (half.high - half.low) / (plain.high - plain.low)
    assert widened == pytest.approx(math.sqrt((1 / 5 + 1) * 5))
    assert fixed == plain


def test_a_stand_in_says_so():
    row = judge(claim(5 + NOISE, dataset="made_up")).iloc[0]
    assert row["note"] == "synthetic: contains what we built into it"
    assert row["effect"] == pytest.approx(5)


def test_few_units_have_a_t_interval_and_many_the_bootstraps():
    """Of a dozen to thirty skewed queries BCa misses several times as often as it says."""
    rng = np.random.default_rng(0)
    few, many = rng.exponential(size=29), rng.exponential(size=200)
    assert over_units(few) == over_seeds(few)
    assert over_units(many) == over_units(many) != over_seeds(many)
    wanted = over_seeds(many)
    np.testing.assert_allclose(
        [over_units(many).low, over_units(many).high], [wanted.low, wanted.high], atol=0.05
    )


def test_few_skewed_units_miss_about_as_often_as_they_say():
    """The t interval keeps its word for a dozen values with heavy tails."""
    rng = np.random.default_rng(1)
    draws = rng.standard_t(3, size=(1000, 12))
    inside = [(found := over_units(draw)).low < 0 < found.high for draw in draws]
    assert np.mean(inside) > 0.93


def test_crossed_effects_vary_with_trainings_and_with_queries():
    """A shift of whole repetitions is seen, which a bootstrap over queries leaves out."""
    rng = np.random.default_rng(2)
    trainings, queries = rng.normal(size=(5, 1)), 0.1 * rng.normal(size=(1, 40))
    effects = trainings + queries + 0.1 * rng.normal(size=(5, 40))
    found = over_crossed(effects)
    assert (found.n, found.effect) == (40, pytest.approx(effects.mean()))
    alone = over_units(effects.mean(axis=0))
    assert found.high - found.low > 5 * (alone.high - alone.low)
    row = judge(claim(effects, spread="crossed")).iloc[0]
    assert row["note"] == "5 repetitions × 40 queries"
    assert math.isnan(over_crossed(effects[:1]).low)


def test_crossed_intervals_cover_what_they_say():
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(400):
        shape = rng.normal(size=(5, 1)) + rng.normal(size=(1, 30)) + rng.normal(size=(5, 30))
        found = over_crossed(shape)
        inside += found.low < 0 < found.high
    assert inside / 400 > 0.93


def test_the_papers_own_table_may_deny_it():
    for own, denied in (
        (-0.011, True),
        (0.1 + 0.2 - 0.3, True),  # 0 but for binary fractions
        (0.01, False),
        (math.nan, False),
    ):
        one = dataclasses.replace(claim(0.5 + NOISE), paper_effect=own)
        assert judge(one)["note"].tolist() == ["denied by the paper's own table" * denied]
    nothing = dataclasses.replace(claim([], dataset="made_up"), paper_effect=-1.0)
    assert judge(nothing)["note"].tolist() == [
        "denied by the paper's own table; synthetic: contains what we built into it; "
        "not run at this scale"
    ]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"kind": "real"}, "whole set"),
        ({"kind": "real", "missing": "most of it"}, "part"),
        ({"kind": "real", "selection": "the first 10"}, "part"),
        ({"kind": "no data"}, "simulation"),
        ({"kind": "synthetic"}, "synthetic"),
        ({"kind": "odd"}, "synthetic"),
    ],
)
def test_extent_of_the_data(record, expected):
    assert extent(record) == expected


def test_lines_and_tables_say_it():
    table = judge(claim(0.1 + 20 * NOISE), claim(0.5 + NOISE, claim_id="d", dataset="made_up"))
    lines = [sentence(row) for row in table.to_dict("records")]
    assert lines[0].startswith("c: +0.1000 points [")
    assert lines[0].endswith("n = 5, smallest effect of interest 0.1")
    assert lines[1].endswith("(synthetic: contains what we built into it)")
    text = described({"toy-figure2": ({"title": "Toy", "scale": "laptop"}, table)})
    assert "| A is better than B. | set (whole set) | +0.1000 points [" in text
    assert "| made_up (synthetic) |" in text


def test_no_two_published_claims_of_a_paper_share_name_and_data():
    """What stands twice was two things, or one thing counted twice."""
    tables = [
        pd.read_csv(path).assign(paper=path.parent.name.partition("-")[0])
        for path in (ROOT / "results").glob("*/claims.csv")
    ]
    every = pd.concat(tables)
    twice = every[every.duplicated(["paper", "claim", "dataset"])]
    assert twice["claim"].tolist() == []
    assert every["paper"].nunique() == 5


# --- failures among trials ------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", [over_seeds, over_units])
@pytest.mark.parametrize("n", [5, 6, 10])
def test_values_that_differ_by_rounding_make_no_interval(estimate, n):
    """0.1 + 0.2 is not 0.3 in binary, and the standard deviation of six times 0.1 is not 0."""
    for effects in (np.full(n, 0.1), np.array([0.3] * (n - 1) + [0.1 + 0.2])):
        found = estimate(effects, 0.95)
        assert found.n == n
        assert found.effect == pytest.approx(effects[0])
        assert math.isnan(found.low)
    assert estimate(0.1 + 1e-6 * np.arange(n), 0.95).low > 0


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
    """Few trials say little, and the exact interval says how little."""
    row = judge(claim([[0.2, 0, 5]], spread="trials")).iloc[0]
    exact = stats.binomtest(0, 5).proportion_ci(0.95, method="exact")
    assert (row["low"], row["high"]) == pytest.approx((0.2 - exact.high, 0.2))
    assert (row["n"], row["note"]) == (5, "")


# --- where claims are declared --------------------------------------------------------------------


def declared_elsewhere(folder):
    """Files of papers that make a claim, and are not the paper's ``claims.py``, or the second."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / "experiments").glob("*_20??/**/*.py"))
        if path.relative_to(folder).parts[2:] not in ALLOWED
        and any(
            isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in MAKERS
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    ]


MAKERS = ("Claim", "Subject")
ALLOWED = (("claims.py",), ("claims_beside.py",))
"""The second holds those beside the paper's own figures, where one file would be too long."""


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
