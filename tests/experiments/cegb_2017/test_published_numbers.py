"""What is published of CEGB's Figures 2 and 3, computed another way: plain Python on rows.csv."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from functools import cache
from itertools import pairwise

import pytest

from experiments.running.provenance import ROOT

README = " ".join(
    (ROOT / "experiments" / "cegb_2017" / "README.md").read_text(encoding="utf-8").split()
)
RANKING = ("a'", "y", "m", "w", "b'")
REAL = ("c", "d", *RANKING)


@cache
def table(artefact: str, name: str) -> list[dict[str, str]]:
    with open(ROOT / "results" / artefact / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def models(artefact: str = "cegb-figure2") -> dict:
    """(panel, method) → seed → models, each a dict of numbers; constants are left out."""
    pools = defaultdict(lambda: defaultdict(list))
    for row in table(artefact, "rows.csv"):
        if int(row["rounds"]) > 0:
            numbers = {
                k: float(v) for k, v in row.items() if k not in ("panel", "dataset", "algorithm")
            }
            pools[row["panel"], row["algorithm"]][int(row["seed"])].append(numbers)
    return pools


def claims(artefact: str) -> dict[str, dict[str, str]]:
    return {row["claim"]: row for row in table(artefact, "claims.csv")}


def best_within(pool, budget, cost):
    """The model that validates best within a budget; ties: the cheaper."""
    within = [model for model in pool if model[cost] <= budget]
    return max(within, key=lambda model: (model["valid_score"], -model[cost]))


def leads(panel, method, rival, accounting="", artefact="cegb-figure2"):
    """For each seed the leads at the budgets 10^(i/12) that both have models for."""
    pools, cost = models(artefact), "valid_cost" + accounting
    reach = []
    for name in (method, rival):
        costs = [[model[cost] for model in pool] for pool in pools[panel, name].values()]
        reach.append((max(map(min, costs)), min(map(max, costs))))
    low, high = max(r[0] for r in reach), min(r[1] for r in reach)
    first, last = (math.ceil(12 * math.log10(v) - 1e-9) for v in (low, high))
    budgets = [10 ** (i / 12) * (1 + 1e-12) for i in range(first, last + 1)] if low <= high else []
    return {
        seed: [
            best_within(pool, b, cost)["test_score"]
            - best_within(pools[panel, rival][seed], b, cost)["test_score"]
            for b in budgets
        ]
        for seed, pool in pools[panel, method].items()
    }


def mean_lead(*args, **kwargs):
    by_seed = leads(*args, **kwargs).values()
    return statistics.mean(statistics.mean(one) for one in by_seed)


def worst_lead(*args, **kwargs):
    return statistics.mean(min(one) for one in leads(*args, **kwargs).values())


def decades_saved(panel, method, rival):
    """At each seed's highest score that both reach: log10 of the ratio of test costs."""
    saved = []
    for seed in models()[panel, method]:
        pools = [models()[panel, name][seed] for name in (method, rival)]
        every = [[m["valid_cost"] for pool in models()[panel, name].values() for m in pool]
                 for name in (method, rival)]  # fmt: skip
        curves = []
        for pool, costs in zip(pools, every, strict=True):
            low, high = (math.ceil(12 * math.log10(v) - 1e-9) for v in (min(costs), max(costs)))
            budgets = [10 ** (i / 12) * (1 + 1e-12) for i in range(low, high + 1)]
            cheapest = min(m["valid_cost"] for m in pool)
            curves.append([best_within(pool, b, "valid_cost") for b in budgets if b >= cheapest])
        target = min(max(m["test_score"] for m in curve) for curve in curves)
        mine, theirs = (
            next(m["test_cost"] for m in curve if m["test_score"] >= target) for curve in curves
        )
        saved.append(math.log10(theirs / mine))
    return statistics.mean(saved)


WORDS = {"deep": "cegb", "shallow": "cegb_shallow"}


def test_every_effect_of_figure_2():
    published = claims("cegb-figure2")
    assert len(published) == 11 * 4 + 3 * 2
    for claim, row in published.items():
        panel, word, *paper = claim.split("-")
        if word == "saving":
            effect = decades_saved(panel, "cegb", "greedy_miser")
        elif word == "always":
            effect = worst_lead(panel, "cegb_shallow", "greedy_miser")
        else:
            accounting = "_paper" if paper else ""
            effect = mean_lead(panel, WORDS[word], "greedy_miser", accounting)
        assert float(row["effect"]) == pytest.approx(effect, abs=2e-6), claim


def test_readme_of_figure_2():
    published = claims("cegb-figure2")
    effect = {name: float(row["effect"] or "nan") for name, row in published.items()}
    for ending, said in (
        ("deep", "(deep {:+.4f} by the meter and {:+.4f} in the paper's"),
        ("shallow", "shallow {:+.4f} and {:+.4f}), and it stays"),
    ):
        assert said.format(effect[f"d-{ending}"], effect[f"d-{ending}-paper"]) in README
    methods = ("cegb", "cegb_shallow")
    other = [mean_lead("d", method, "cegb_as_miser") for method in methods]
    assert "({:+.4f} and {:+.4f} above `cegb_as_miser`)".format(*other) in README
    means = effect["c-deep"], effect["c-shallow"]
    assert "On MiniBooNE both lead in the mean ({:+.4f}, {:+.4f})".format(*means) in README
    assert f"deep CEGB's {effect['c-deep-paper']:+.4f} is *reproduced*" in README
    assert f"shallow CEGB's {effect['c-shallow-paper']:+.4f} *inconclusive*" in README
    other = [mean_lead("c", method, "cegb_as_miser") for method in methods]
    ahead = mean_lead("c", "cegb_as_miser", "greedy_miser")
    assert f"which lies {ahead:.4f} above it; deep CEGB leads that one by {other[0]:.4f}" in README
    assert f"shallow CEGB by {other[1]:.4f}." in README
    below = "(by {:.3f} on MSLR, {:.3f} on Yahoo's part, {:.3f} on MQ2008, {:.3f} on ClueWeb09)"
    assert below.format(*(-effect[f"{p}-deep"] for p in ("a'", "y", "m", "w"))) in README
    level = "shallow CEGB about level ({:+.3f}, {:+.3f}, {:+.3f}, {:+.3f})"
    assert level.format(*(effect[f"{p}-shallow"] for p in ("a'", "y", "m", "w"))) in README
    binary = -effect["b'-deep"], -effect["b'-deep-paper"]
    assert (
        "deep CEGB is {:.4f} below on MSLR, in the paper's accounting {:.4f}".format(*binary)
        in README
    )


def test_verdicts_of_figure_2():
    verdicts = {name: row["verdict"] for name, row in claims("cegb-figure2").items()}
    by_word = defaultdict(set)
    for name, verdict in verdicts.items():
        by_word[verdict].add(name)
    assert by_word["reproduced"] == {
        "d-deep",
        "d-shallow",
        "d-deep-paper",
        "d-shallow-paper",
        "c-deep-paper",
    }
    assert by_word["not reproduced"] == {"b'-deep", "b'-deep-paper", "a'-always"}
    paper = [verdict for name, verdict in verdicts.items() if name.endswith("-paper")]
    counts = [paper.count(word) for word in ("reproduced", "not reproduced", "inconclusive")]
    assert "not asked | {} reproduced, {} not, {} inconclusive |".format(*counts) in README
    assert [verdicts[f"{p}-always"] for p in ("a'", "y")] == ["not reproduced", "inconclusive"]


def test_changes_of_verdicts_are_those_of_the_rows():
    effect = {name: float(row["effect"] or "nan") for name, row in claims("cegb-figure2").items()}
    for said in (
        f"| d, deep | reproduced, +0.0525 | reproduced, {effect['d-deep']:+.4f} |",
        f"| d, shallow | reproduced, +0.0104 | reproduced, {effect['d-shallow']:+.4f} |",
        f"| inconclusive, {effect['c-deep']:+.4f} and {effect['c-shallow']:+.4f} |",
        "| b', deep | inconclusive, -0.0404 | not reproduced, {:+.4f} |".format(effect["b'-deep"]),
    ):
        assert said in README


def test_cheap_end_of_greedy_miser_on_miniboone():
    pools = models()["c", "greedy_miser"].values()
    begins = [max(min(m["valid_cost" + a] for m in pool) for pool in pools) for a in ("", "_paper")]
    assert f"has no model below {begins[0]:.1f} features" in README
    assert f"its curve begins at {begins[1]:.0f} features" in README
    at = [best_within(pool, 5.5, "valid_cost")["test_score"] for pool in pools]
    assert f"its accuracy is {min(at):.2f} to {max(at):.2f})" in README


def test_queries_that_speak():
    counts = defaultdict(set)
    for row in table("cegb-figure2", "rows.csv"):
        counts[row["panel"]].add(int(row["speaking_queries"]))
    (w,), (y,), (a,), (b,) = (counts[panel] for panel in ("w", "y", "a'", "b'"))
    m = counts["m"]
    assert f"{w} on ClueWeb09, {y} on Yahoo's part, {a} and {b} on MSLR" in README
    assert f"{min(m)} to {max(m)} on MQ2008" in README


def ends(panel, method, tradeoff):
    """Seed → the last round of a model of Figure 3."""
    pools = models("cegb-figure3")[panel, method]
    return {
        seed: max((m for m in pool if m["tradeoff"] == tradeoff), key=lambda m: m["rounds"])
        for seed, pool in pools.items()
    }


def decades(upper, lower):
    return [math.log10(upper[s]["test_cost"] / lower[s]["test_cost"]) for s in upper]


def of_figure_3(panel, name):
    """The mean effect of a claim of Figure 3."""
    word, _, value = name.partition("-")
    free = ends(panel, "cegb", 0.0)
    if name in ("best-first", "every-budget"):
        lead = mean_lead if name == "best-first" else worst_lead
        return lead(panel, "cegb", "cegb_breadth_first", artefact="cegb-figure3")
    if word == "unit":
        unit, priced = ends(panel, "cegb_unit_costs", 1e-3), ends(panel, "cegb", 1e-3)
        pairs = zip(decades(unit, priced), decades(unit, free), strict=True)
        return statistics.mean(abs(a) - abs(b) for a, b in pairs)
    if word == "deep":
        best, breadth = (ends(panel, m, 3e-4) for m in ("cegb", "cegb_breadth_first"))
        ratio = [
            [m["mean_depth"] / m["mean_path"] for m in grown.values()] for grown in (best, breadth)
        ]
        return statistics.mean(math.log10(a / b) for a, b in zip(*ratio, strict=True))
    priced = ends(panel, "cegb", 3e-4 if word == "dear" else float(value))
    if word == "cheaper":
        return statistics.mean(decades(free, priced))
    column = "test_dear" if word == "dear" else "test_score"
    lost = statistics.mean(free[s][column] - priced[s][column] for s in free)
    return 0.01 - lost if word == "similar" else lost


def test_every_effect_of_figure_3():
    published = claims("cegb-figure3")
    assert len(published) == 5 * 9
    for claim, row in published.items():
        panel, _, name = claim.partition("-")
        assert float(row["effect"]) == pytest.approx(of_figure_3(panel, name), abs=2e-6), claim


def widest_gaps(artefact="cegb-figure2"):
    """(panel, method) → the widest ratio of neighbouring costs of one seed's models."""
    return {
        key: max(
            b / a
            for pool in pools.values()
            for a, b in pairwise(sorted({model["valid_cost"] for model in pool}))
        )
        for key, pools in models(artefact).items()
    }


def share_still_rising(panel, method, most=300):
    """For which share of a method's models (λ × seed) the training did not end by itself."""
    models_of = {
        (seed, model["tradeoff"]): model["rounds_trained"]
        for seed, pool in models()[panel, method].items()
        for model in pool
    }
    return statistics.mean(trained >= most for trained in models_of.values())


def test_models_still_rising():
    shares = [share_still_rising(p, m) for p in ("d", "c") for m in ("cegb", "greedy_miser")]
    first, second = (f"{share:.0%}".replace("%", " %") for share in shares[:2])
    assert f"on Covertype {first} of deep CEGB's and {second} of Greedy Miser's" in README
    assert "on MiniBooNE {:.0%} and {:.0%}".format(*shares[2:]).replace("%", " %") in README
    methods = ("cegb", "cegb_shallow", "greedy_miser", "gbrt")
    assert max(share_still_rising(p, m) for p in RANKING for m in methods) <= 0.05


def test_no_gap_where_verdicts_are_drawn_on_accuracy():
    gaps = widest_gaps()
    assert max(gaps[p, m] for p in "cd" for m in ("cegb", "cegb_shallow", "greedy_miser")) <= 2


def test_readme_of_figure_3():
    rows = claims("cegb-figure3")
    effect = {name: float(row["effect"] or "nan") for name, row in rows.items()}
    verdict = {name: row["verdict"] for name, row in rows.items()}
    four = ("a'", "y", "m", "w")
    cheaper = [effect[f"{p}-cheaper-0.0003"] for p in four]
    assert "(by {:.2f}, {:.2f} and {:.2f} decades on Yahoo's part".format(*cheaper[1:]) in README
    assert f"; {cheaper[0]:.2f} on MSLR, *inconclusive*)" in README
    cheap = [verdict[f"{p}-cheaper-0.0003"] for p in four]
    assert cheap == ["inconclusive", "reproduced", "reproduced", "reproduced"]
    assert {verdict[f"{p}-similar-0.0003"] for p in four} == {"inconclusive"}
    said = "{:.2f} (MSLR), {:.2f} (Yahoo's part), {:.2f} (MQ2008) and {:.2f} (ClueWeb09) fewer"
    assert said.format(*(effect[f"{p}-dear"] for p in four)) in README
    factors = [10 ** effect[f"{p}-deep"] for p in four]
    assert f"{min(factors):.1f} to {max(factors):.1f} times as far below" in README
    assert {verdict[f"{p}-{name}"] for p in four for name in ("dear", "deep")} == {"reproduced"}
    below = [-effect[f"{p}-best-first"] for p in four]
    assert f"{min(below):.3f} to {max(below):.3f} *below* breadth-first" in README
    assert {verdict[f"{p}-best-first"] for p in four} == {"inconclusive"}
    always = [verdict[f"{p}-every-budget"] for p in four]
    assert always == ["inconclusive", "not reproduced", "inconclusive", "inconclusive"]
    assert f"ends lower on MQ2008 (by {effect['m-lower-0.0005']:.3f}, *reproduced*)" in README
    lower = [verdict[f"{p}-lower-{t}"] for p in four for t in ("0.0005", "0.001")]
    assert lower.count("reproduced") == 1
    assert {verdict["a'-unit-costs"], verdict["a'-cheaper-0.0003"]} == {"inconclusive"}


# --- bisections of Figure 2's gaps --------------------------------------------------------------

CLAIMED = ("cegb", "cegb_shallow", "greedy_miser")


@cache
def bisected() -> dict[tuple, list[dict[str, str]]]:
    """(panel, method, seed, below, above) → rows of a gap, the first step first."""
    gaps = defaultdict(list)
    for row in table("cegb-bisections", "rows.csv"):
        key = (row["panel"], row["algorithm"], int(row["seed"]))
        gaps[*key, float(row["below"]), float(row["above"])].append(row)
    return {key: sorted(rows, key=lambda row: int(row["step"])) for key, rows in gaps.items()}


def kind_of(steps):
    hits = [step for step in steps[1:] if step["inside"] != "0"]
    if float(steps[-1]["widest_left"]) <= 2:
        return "closed" if hits else "filled"
    return "narrowed" if hits or steps[0]["inside"] != "0" else "empty"


def found_models():
    """What bisections found for the methods of the claims: key of the gap, and the model."""
    for key, steps in bisected().items():
        for step in steps[1:]:
            if key[1] in CLAIMED and step["inside"] != "0":
                names = [n for n in step if n not in ("panel", "dataset", "algorithm")]
                yield key, {name: float(step[name]) for name in names}


def test_readme_of_the_bisections():
    kinds = [kind_of(steps) for steps in bisected().values()]
    tries = sum(len(steps) - 1 for steps in bisected().values())
    count = kinds.count
    found = list(found_models())
    assert f"Of the {len(kinds)} gaps {count('filled')} are filled by models of" in README
    assert f"{tries} bisections went into the other {len(kinds) - count('filled')}" in README
    assert (
        f"{count('closed')} were closed by what they found, {count('narrowed')} narrowed" in README
    )
    ((panel, method, seed, below, above),) = [
        key for key, steps in bisected().items() if kind_of(steps) == "empty"
    ]
    assert (panel, method) == ("b'", "greedy_miser")
    said = f"Greedy Miser on MSLR with y > 0 (seed {seed}, from {below:.1f} to {above:.1f})"
    assert said in README
    assert sorted(key[:2] for key, _ in found) == [
        *5 * [("b'", "cegb_shallow")], ("m", "greedy_miser"), ("w", "cegb")
    ]  # fmt: skip
    assert len({key for key, _ in found}) == len(found) == 7
    assert "Seven of these are of methods that claims are about besides that one: five" in README
    assert "None of the 7 models found validates better than a cheaper one" in README


def test_no_budget_would_choose_what_bisections_found():
    """So the claims' effects stay: computed anew with the found models, to the last digit."""
    pools = models()
    found = list(found_models())
    assert found
    for (panel, method, seed, _, _), model in found:
        cheaper = [m for m in pools[panel, method][seed] if m["valid_cost"] <= model["valid_cost"]]
        assert max(m["valid_score"] for m in cheaper) >= model["valid_score"]
    before = {
        (panel, method, accounting): mean_lead(panel, method, "greedy_miser", accounting)
        for panel in RANKING
        for method in CLAIMED[:2]
        for accounting in ("", "_paper")
    }
    for (panel, method, seed, _, _), model in found:
        pools[panel, method][seed].append(model)
    try:
        for (panel, method, accounting), lead in before.items():
            assert mean_lead(panel, method, "greedy_miser", accounting) == lead
    finally:
        models.cache_clear()


# --- other libraries ----------------------------------------------------------------------------

RIVALS = {
    "lightgbm_cegb": "LightGBM, its CEGB, per row",
    "catboost_per_object": "CatBoost, penalties per object",
    "catboost_first_use": "CatBoost, penalties of first use",
    "gbrt": "GBRT, ours, no costs",
    "lightgbm": "LightGBM",
    "catboost": "CatBoost",
    "hist_gradient_boosting": "scikit-learn",
}


def test_leads_over_other_libraries_on_ranking_data():
    for rival, name in RIVALS.items():
        cells = []
        for panel in ("y", "m", "w"):
            by_seed = leads(panel, "cegb", rival, artefact="cegb-peers")
            assert set(by_seed) == {5, 6, 7, 8, 9}
            if not any(by_seed.values()):
                cells.append("no budget in common")
                continue
            each = [statistics.mean(one) for one in by_seed.values()]
            cells.append(f"{statistics.mean(each):+.3f} ± {statistics.stdev(each):.3f}")
        assert f"| {name} | {' | '.join(cells)} |" in README
    beyond = set()
    for panel in ("y", "m", "w"):
        for rival in ("lightgbm_cegb", "catboost_per_object", "catboost_first_use"):
            by_seed = leads(panel, "cegb", rival, artefact="cegb-peers").values()
            each = [statistics.mean(one) for one in by_seed]
            if abs(statistics.mean(each)) > 2 * statistics.stdev(each):
                beyond.add((panel, rival, statistics.mean(each) < 0))
    assert beyond == {("m", "catboost_first_use", True)}
    for method, said in (
        ("cegb", "scores {} on Yahoo's part, {} on MQ2008 and {} on ClueWeb09"),
        ("gbrt", "ours without {}, {} and {}."),
    ):
        ends = []
        for panel in ("y", "m", "w"):
            pools = models("cegb-peers")[panel, method].values()
            best = [best_within(pool, math.inf, "valid_cost") for pool in pools]
            score, cost = (statistics.mean(m[c] for m in best) for c in ("test_score", "test_cost"))
            ends.append(f"{score:.3f} for {cost:.0f}")
        assert said.format(*ends) in README
    assert {
        row["speaking_queries"] for row in table("cegb-peers", "rows.csv") if row["panel"] == "w"
    } == {"12"}


def test_repetitions_of_the_first_panels_of_other_libraries_stay():
    for panel, seeds in {"d": range(5), "b'": range(5), "y": range(5, 10)}.items():
        found = {
            int(row["seed"]) for row in table("cegb-peers", "rows.csv") if row["panel"] == panel
        }
        assert found == set(seeds)
