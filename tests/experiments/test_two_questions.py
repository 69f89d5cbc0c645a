"""What three papers answer to the two adversarial questions is what was published.

All three answer in HISTORY.md, beside their README.
"""

import re

import numpy as np
import pandas as pd
import pytest

from experiments.cells.gaps import gaps_between
from experiments.cronus_2012.show.comparison import models
from experiments.curves import budgets_between
from experiments.greedy_miser_2012.show.comparison import pooled
from experiments.publishing.gaps import widest_gaps
from experiments.running.provenance import ROOT
from experiments.style import LOOKS
from tests.experiments.published_rows import readme, table

COST = "valid_cost"
PAPER_COST = "valid_cost_paper"


def said(paper: str) -> str:
    text = (ROOT / "experiments" / paper / "HISTORY.md").read_text(encoding="utf-8")
    part = text.split("## Two adversarial questions")[1].split("\n## ")[0]
    return " ".join(part.replace("\N{MINUS SIGN}", "-").split())


def published(artefact: str, name: str) -> pd.DataFrame:
    return pd.read_csv(table(artefact, f"{name}.csv"))


def reach(
    rows: pd.DataFrame, panel: str, name: str, cost: str = COST, column: str = "algorithm"
) -> tuple[float, float]:
    """Costs between which every repetition has models with at least one tree."""
    mine = rows[(rows.panel == panel) & (rows[column] == name) & (rows["rounds"] > 0)]
    of_seed = mine.groupby("seed")[cost]
    return of_seed.min().max(), of_seed.max().min()


def gapped(rows, panel, methods, cost, low=0.0, high=np.inf) -> dict[str, list]:
    """For each of some methods the gaps (seed, below, above) that a shared budget lies in.

    There a budget gets a model that costs less than half of the next one.
    """
    of_panel = rows[(rows.panel == panel) & (rows["rounds"] > 0)]
    ends = [reach(of_panel, panel, method, cost) for method in methods]
    first, last = max(one for one, _ in ends), min(other for _, other in ends)
    shared = [b for b in budgets_between(first, min(last, high)) if low < b <= high]
    found = {method: [] for method in methods}
    for method in methods:
        for seed, pool in of_panel[of_panel.algorithm == method].groupby("seed"):
            found[method] += [
                (int(seed), below, above)
                for below, above in gaps_between(pool[cost])
                if any(below <= budget < above for budget in shared)
            ]
    return found


def counted_gaps(artefact: str) -> tuple[int, int]:
    """How many curves of an artefact have a gap, and how many there are, by results/gaps.csv."""
    listed = pd.read_csv(ROOT / "results" / "gaps.csv")
    mine = listed[listed["artefact"] == artefact]
    return len(mine), mine["n_curves"].iloc[0]


def test_greedy_miser_and_its_best_opponents():
    text, claims = said("greedy_miser_2012"), published("miser-figure1", "claims")
    claims = claims.set_index("claim")
    for panel, name in (("d", "MQ2008"), ("g", "thyroid")):
        subsets = claims.loc[f"{panel}-above-stagewise-subsets"]
        exits = claims.loc[f"{panel}-above-early-exit"]
        assert exits["effect"] < subsets["effect"]
        line = (
            f"| {name}, above feature subsets ({subsets['effect']:+.3f}) | "
            f"early exit: {exits['effect']:+.3f}"
        )
        assert line in text
    scenes = published("miser-figure3", "claims").set_index("claim")
    assert (
        f"Scene-15, above early exits ({scenes.loc['s-above-early-exit', 'effect']:+.3f})" in text
    )


def test_greedy_misers_best_side():
    text, claims = said("greedy_miser_2012"), published("miser-figure1", "claims")
    claims = claims.set_index("claim")
    effect = claims["effect"]
    told = {
        "g-tenth": "thyroid, a tenth of the cost",
        "g-half": "thyroid, early exits at half the cost",
        "f-half": "MSLR, early exits at half the cost",
        "g-with-exits": "thyroid, early exits on top of Greedy Miser",
    }
    for name, words in told.items():
        assert f"| {words} ({effect[name]:+.3f}) |" in text
    rows = published("miser-figure1", "rows")
    begin = reach(rows, "f", "early_exit", PAPER_COST)[0]
    end = reach(rows, "f", "stagewise", PAPER_COST)[1]
    assert f"they begin at {begin:,.0f}, λ = 0 ends at {end:,.0f}" in text
    tried = rows[rows["panel"] == "g"].groupby("algorithm")["tradeoff"].unique()
    assert sorted(tried["greedy_miser_early_exit"]) == [1, 16]
    assert len(tried["greedy_miser"]) == 9
    assert max(tried["greedy_miser"]) == 256


def test_gaps_rounds_and_trials_of_greedy_miser():
    text, rows = said("greedy_miser_2012"), published("miser-figure1", "rows")
    with_gap, curves = counted_gaps("miser-figure1")
    assert f"{with_gap} of the {curves} curves have a gap wider than a factor of two" in text
    whole = pooled(rows)
    fair = (
        ("d", "greedy_miser", "stagewise_subsets"),
        ("g", "greedy_miser", "stagewise_subsets"),
        ("g", "greedy_miser_early_exit", "greedy_miser"),
    )
    for panel, *pair in fair:
        assert not any(gapped(whole, panel, pair, PAPER_COST).values())
    prices = published("miser-figure2", "rows").groupby("panel")["price"].unique()
    limits = rows[rows["limit"] > 0].groupby("panel")["limit"].unique()
    for panel in "dg":  # each subset of prices up to one of them, but for all: λ = 0
        cheaper = sorted(prices[panel])[:-1]
        assert [sum(p <= limit for p in cheaper) for limit in sorted(limits[panel])] == list(
            range(1, len(cheaper) + 1)
        )
    best = rows[(rows["algorithm"] == "stagewise") & (rows["best"] == 1)]
    last = best[best["panel"] > "b"].groupby("panel")["rounds"].max()
    assert last.max() < 300
    assert (last["g"], last["c"], last["f"]) == (250, 250, 270)
    assert "some do at 250 (thyroid, Yahoo!'s part) and 270 (MSLR)" in text


def test_where_greedy_misers_rivals_reach():
    text, rows = said("greedy_miser_2012"), published("miser-figure1", "rows")
    low, high = reach(rows, "d", "early_exit")
    assert f"{low:.0f} to {high:.0f} on MQ2008" in text
    early = rows[(rows.panel == "g") & (rows.algorithm == "early_exit") & (rows["rounds"] > 0)]
    of_seed = early.groupby("seed")[COST]
    assert f"{of_seed.max().min():.1f} to {of_seed.min().max():.1f} on thyroid" in text
    low, high = reach(rows, "g", "stagewise_subsets")
    assert f"thyroid: {low:.1f} to {high:.0f} dollars" in text
    for panel, name in (("f", "MSLR"), ("c", "Yahoo!'s part")):
        assert f"{reach(rows, panel, 'cronus', PAPER_COST)[0]:,.0f} on {name}" in text
    cheapest = [reach(rows, panel, "greedy_miser", PAPER_COST)[0] for panel in "cf"]
    assert "Greedy Miser has {:.0f} and {:.0f}".format(*cheapest) in text
    for panel in "de":  # the dear end only
        dearest = reach(rows, panel, "stagewise", PAPER_COST)[1]
        assert reach(rows, panel, "cronus", PAPER_COST)[0] > 0.8 * dearest
    for panel in "cdefg":
        low, high = reach(rows, panel, "stagewise_subsets")
        cheapest = reach(rows, panel, "greedy_miser")[0]
        assert low < cheapest or round(low / cheapest, 1) == {"d": 2.5, "f": 1.1}[panel]
        assert high > 100 * low or panel == "g"


def test_where_cronus_and_its_rivals_begin():
    text, claims = said("cronus_2012"), published("cronus-figure2", "claims")
    equal_cost = claims[
        (claims["claim"].str[0] > "a") & claims["claim"].str.contains("-above-|-control")
    ]
    assert equal_cost["effect"].notna().all()
    assert f"Of the {len(equal_cost)} comparisons" in text
    rows = published("cronus-figure2", "rows")
    rivals = ("raykar_cascade", "and_or_cascade")
    for cost, sentence in (
        (COST, "they begin at {} and {}, Cronus at {} and {} ("),
        (PAPER_COST, "are judged, at {} and {}, and at {} and {})"),
    ):
        begin = {
            (method, panel): f"{reach(rows, panel, method, cost, 'method')[0]:,.0f}"
            for method in (*rivals, "cronus")
            for panel in "cd"
        }
        assert all(begin[rivals[0], panel] == begin[rivals[1], panel] for panel in "cd")
        numbers = [begin[method, panel] for method in (rivals[0], "cronus") for panel in "cd"]
        assert sentence.format(*numbers) in text
        if cost == COST:
            first = "the rivals begin at costs of {} and {}, Cronus at {} and {}."
            assert first.format(*numbers) in readme("cronus_2012")


def test_the_papers_best_side_of_cronus():
    text, claims = (
        said("cronus_2012"),
        published("cronus-figure2", "claims").set_index("claim"),
    )
    assert not claims.index.str.endswith("-slower").any()  # 100 trees, and limits that end rivals
    rows = published("cronus-figure2", "rows")
    costs = rows[(rows["panel"] == "c") & (rows["method"] == "cronus") & (rows["rounds"] > 0)]
    everything = rows[(rows["panel"] == "c") & (rows["method"] == "gbrt")][PAPER_COST].max()
    said_costs = f"costs {costs[PAPER_COST].min():,.0f} or more and all trees {everything:,.0f}"
    assert said_costs in text
    assert f"({claims.loc['c-tenfold', 'effect']:+.2f} decades)" in text
    assert f"other rule ({claims.loc['c-proximity-best', 'effect']:+.3f})" in text


def test_gaps_of_cronus():
    text, rows = said("cronus_2012"), published("cronus-figure2", "rows")
    with_gap, curves = counted_gaps("cronus-figure2")
    gaps = widest_gaps(rows, "method", COST)
    assert len(gaps) == with_gap
    on_real = sum(gap.panel > "a" for gap in gaps)
    assert f"{with_gap} of the {curves} curves have a gap wider than a factor of two" in text
    assert f", {on_real} of them on real sets" in text
    assert f"{with_gap} of the {curves} curves have a gap wider" in readme("cronus_2012")
    own = {gap.panel: f"{gap.factor:.1f}" for gap in gaps if gap.method == "cronus"}
    named = "Yahoo!'s part ({b}), MSLR ({e}) and CBCL ({f})".format(**own)
    assert set(own) == set("bef")
    assert named in text
    whole = models(rows)
    for rule in ("score", "capacity", "rank"):
        pair = ("early_exit_proximity", f"early_exit_{rule}")
        assert not any(gapped(whole, "c", pair, PAPER_COST).values())
        ends = [reach(whole, "c", method, PAPER_COST) for method in pair]
        shared = budgets_between(max(one for one, _ in ends), min(other for _, other in ends))
        assert f"({shared[0]:,.0f} to {shared[-1]:,.0f})" in text
        assert len(shared) == 4
    sizes = rows[rows["panel"] == "b"].groupby(["method", "seed"]).size().groupby("method").max()
    assert f"the soft cascade has {sizes['raykar_cascade']} models, AND-OR" in text
    assert f"AND-OR {sizes['and_or_cascade']})" in text
    assert sizes["cronus"] == 7


@pytest.fixture(scope="module")
def runs():
    """MDDAG's runs that evaluate anything, as rows of curves over test evaluations."""
    rows = published("mddag-figure2", "rows")
    rows = rows[(rows["node"] == -1) & (rows["train_evaluations"] > 0)]
    return rows.assign(rounds=1, algorithm=rows["method"])


RUNS_COST = "test_evaluations"


def named(claims) -> str:
    return ", ".join(f"`{claim}`" for claim in sorted(claims))


def test_where_mddag_and_its_rivals_reach(runs):
    text, keys = said("mddag_2012"), sorted(runs["panel"].unique())
    begin, end = {}, {}
    for method in runs["method"].unique():
        for key in keys:
            begin[method, key], end[method, key] = reach(runs, key, method, RUNS_COST)
        cells = [f"{begin[method, key]:.2f} to {end[method, key]:.2f}" for key in keys]
        assert f"| {LOOKS[method].label} | {' | '.join(cells)} |" in text
    short = readme("mddag_2012").replace("curves begin ", "").replace("evaluations", "")
    for method, words in (
        ("fcboost", "FCBoost's curves begin between {:.2f} and {:.2f}"),
        ("bourdev_cascade", "SoftCascade's between {:.2f} and {:.2f}"),
        ("viola_jones", "Viola & Jones's between {:.2f} and {:.2f}"),
        ("mddag_i", "MDDAG.I's between {:.2f} and {:.2f}"),
    ):
        first = [begin[method, key] for key in keys]
        assert words.format(min(first), max(first)) in text
        known = f" between {min(first):.2f} and {max(first):.2f}"
        assert words.partition("'s")[0] + "'s" + known in short
    claims = published("mddag-figure2", "claims")
    without = claims.loc[claims["effect"].isna(), "claim"]
    assert f"there is no effect: {named(without) or 'none'}." in text


def test_mddags_effects_that_are_explained():
    text, claims = (
        said("mddag_2012"),
        published("mddag-figure2", "claims").set_index("claim"),
    )
    told = re.findall(r"\| `([a-d]-[\w-]+)` \| ([+-][\d.]+) \| (ours|the paper|open)[,:]", text)
    assert [(claim, effect) for claim, effect, _ in told] == [
        (claim, f"{claims.loc[claim, 'effect']:+.3f}") for claim, _, _ in told
    ]
    assert told


def test_gaps_of_mddag():
    with_gap, curves = counted_gaps("mddag-figure2")
    words = f"{with_gap} of the {curves} curves have a gap wider than a factor of two"
    assert words in said("mddag_2012")
    assert words in readme("mddag_2012")
