"""What the README says of the published rows of Cronus, computed another way: plain loops."""

import re
import statistics
from collections import defaultdict

import pytest

from datasets import vj_faces
from experiments.cronus_2012.show import panels
from tests.experiments.published_rows import (
    RESULTS,
    claims,
    fresh,
    in_words,
    lines,
    primaries,
    readme,
    record,
)
from tests.recomputed import curves

README = readme("cronus_2012")
SETS = {
    "g": "VJ faces",
    "b": "Yahoo!'s part",
    "c": "MQ2008",
    "d": "ClueWeb09",
    "e": "MSLR",
    "f": "CBCL",
}
"""The real sets of Figure 2, by panel."""
REAL = "".join(SETS)


def shown(artefact, claim):
    """An effect with its interval, if it has one; a dash where nothing is claimed."""
    row = claims(artefact).get(claim, {"effect": ""})
    if not row["effect"]:
        return "–"
    interval = f" [{float(row['low']):+.3f}, {float(row['high']):+.3f}]" if row["low"] else ""
    return f"{float(row['effect']):+.3f}{interval}"


STEPS = {
    "single-above-gbrt": "single stage over GBRT",
    "initial-above-single": "initialised over single stage",
    "cronus-above-initial": "optimised over initialised",
}
RIVALS = {
    "cronus-above-raykar-cascade": "optimised over soft cascade",
    "cronus-above-and-or-cascade": "optimised over AND-OR",
}


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        *STEPS.items(),
        ("initial-above-early-exit", "initialised over early exits"),
        *RIVALS.items(),
        ("tenfold", "decades saved within 0.01 of GBRT"),
    ],
)
def test_effects_of_figure_2(ending, words):
    cells = [shown("cronus-figure2", f"{panel}-{ending}") for panel in REAL]
    assert f"| {words} | {' | '.join(cells)} |" in README


def test_the_answer_on_top():
    """What the primary claims say, and those that are decided."""
    found = primaries("cronus")
    cheaper = found["cronus-cheaper"]
    assert f"is {in_words(cheaper)} decades cheaper, a factor of 4.5" in README
    assert round(10 ** float(cheaper["effect"]), 1) == 4.5
    for claim, words in {
        "marginal-loss": "test score changes by {}, beyond the margin of 0.02: by",
        "single-above-gbrt": "leads GBRT by {}: no effect.",
        "initial-above-single": "the single stage by {}, mostly on VJ faces.",
        "optimised-above-initial": "the initialised one by {}: not better;",
        "initial-above-exit": "leads early exits by {}, Cronus",
        "above-raykar": "the soft cascade by {} and",
        "above-and-or": "AND-OR by {}. The",
        "rejects-earlier": "rejects earlier, by {} of the inputs",
        "cheap-first": "cheap features first, by {} of them",
        "insensitive-stages": "changes by {}; from ε",
        "insensitive-rejection": "to 0.3 by {}: open",
    }.items():
        assert words.format(in_words(found[f"cronus-{claim}"])) in README, claim
    for rival in ("raykar", "and-or"):  # on CBCL, on Yahoo!'s queries
        cbcl, yahoo = map(float, found[f"cronus-above-{rival}"]["of_sets"].split())
        assert (cbcl > 0.05, round(yahoo, 3)) == (True, -0.013)
    losses = [f"{float(one):.3f}" for one in found["cronus-marginal-loss"]["of_sets"].split()]
    said = "by {} on VJ faces, {} on CBCL, {} on Yahoo!'s part."
    assert said.format(*losses) in README
    faces, yahoo = map(float, found["cronus-initial-above-single"]["of_sets"].split())
    assert faces > 0.05 > 0.01 > yahoo
    verdicts = {name.removeprefix("cronus-"): row["verdict"] for name, row in found.items()}
    others = {name: word for name, word in verdicts.items() if word != "reproduced"}
    assert others == {
        "marginal-loss": "opposite",
        "single-above-gbrt": "no effect (equivalent)",
        "optimised-above-initial": "not better",
        "insensitive-rejection": "undecided",
    }


def test_optimisations_that_ended_at_a_limit_on_the_primary_panel():
    rows = fresh("cronus-figure2", "vj_faces")
    ended = [float(row["capped"]) for row in rows if row["method"] == "cronus"]
    said = f"{100 * statistics.mean(ended):.0f} % of the optimisations on VJ faces ended at a limit"
    assert said in README


def test_rivals_that_are_free_of_prices():
    """By plain loops: leads on CBCL in the fresh repetitions, and what ended at a limit."""
    rows = fresh("cronus-figure2", "cbcl")
    pools = curves.pools(rows, "method", "_paper")
    told = []
    for rival in ("raykar_free", "and_or_free"):
        leads = []
        for seed, ours in pools["f", "cronus"].items():
            both = ours, pools["f", rival][seed]
            costs = [[model["valid_cost"] for model in pool] for pool in both]
            budgets = curves.budgets(max(map(min, costs)), max(map(max, costs)))
            chosen = [[curves.best_within(p, b)["test_score"] for b in budgets] for p in both]
            leads.append(statistics.mean(a - b for a, b in zip(*chosen, strict=True)))
        mean, half = statistics.mean(leads), 2.093024 * statistics.stdev(leads) / len(leads) ** 0.5
        assert len(leads) == 20  # Student's t of nineteen degrees of freedom
        told.append(f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]")
    said = f"trails on CBCL, by {told[0]} in twenty divisions, but AND-OR is not told apart"
    assert f"{said}, {told[1]}. There" in README
    shares = []
    for name in ("and_or_cascade", "cronus"):
        ended = [float(row["capped"]) for row in rows if row["method"] == name]
        shares.append(f"{100 * statistics.mean(ended):.0f} %")
    assert f"There {shares[0]} of AND-OR's models and {shares[1]} of Cronus's ended" in README


def test_the_answer_of_the_figures():
    """On which sets a step helps, by its plain interval: of all sets that are published."""
    helps = {step: [name for panel, name in SETS.items() if low(panel, step) > 0] for step in STEPS}
    assert helps["cronus-above-initial"] == []
    single, initial = (
        f"{', '.join(sets)} and {last}"
        for *sets, last in (helps["single-above-gbrt"], helps["initial-above-single"])
    )
    assert f"the single stage helps on {single}, initialising on {initial}, optimising on" in README
    assert {row["panel"] for row in lines("cronus-figure2")} == set(REAL)


def low(panel, step):
    """Lower end of an effect's interval."""
    return float(claims("cronus-figure2")[f"{panel}-{step}"]["low"])


@pytest.mark.parametrize(
    ("figure", "claim", "words"),
    [
        (3, "rejects-earlier", "inputs rejected earlier (Figure 3)"),
        (4, "cheap-first", "cheap features bought first (Figure 4)"),
    ],
)
def test_effects_of_figures_3_and_4(figure, claim, words):
    cells = [shown(f"cronus-figure{figure}", f"{panel}-{claim}") for panel in REAL]
    assert f"| {words} | {' | '.join(cells)} |" in README


def test_sizes_and_grids():
    data = record("cronus-figure2")["data"]
    assert {one["kind"] for one in data.values()} == {"real"}
    (licensed,) = (panel for panel in panels.PANELS if panel.dataset not in data)
    assert (licensed.key, licensed.name, licensed.licensed) == ("a", "Yahoo! LTR", True)
    assert f"| {licensed.key} | {licensed.name} | your own copy alone |" in README
    assert f"Without the licensed file there is no panel ({licensed.key})." in README
    assert f"{sum(data['yahoo_ltr_sample']['rows'].values()):,} documents" in README
    assert f"{data['cbcl']['n_features']:,} features in three groups" in README
    numbers = {6: "six", 7: "seven", 12: "twelve"}
    assert f"{numbers[len(data)]} sets (below), and Yahoo! LTR with the licensed file" in README
    steps = [numbers[len(panels.STEPS[scale])] for scale in ("laptop", "overnight")]
    assert "{}, {} `overnight`, from the λ".format(*steps) in README
    cycles, evaluations = panels.LIMITS["overnight"].values()
    assert f"up to {cycles} cycles of {evaluations} evaluations" in README
    shares = ", ".join(f"{100 * share:.0f}" for share in panels.REJECTIONS[1:])
    assert f"reject {shares} % at each stage" in README
    assert {len(grid) for grid in panels.EXITS.values()} == {6}
    assert len(panels.EXITS) == 4
    trainings = len(panels.SIZES["overnight"]) * len(panels.POSITIVE_WEIGHTS)
    for own in (panels.RAYKAR["tradeoffs"], panels.AND_OR["ridges"]):
        assert f"AND-OR with {trainings * len(own)} trainings each" in README
    assert f"{vj_faces.SIZES['real']:,} windows" in README
    faces = panels.PANELS[0]
    assert (faces.key, faces.overnight_trees, faces.tree_cost) == ("g", 1000, 0.1)
    assert [panel.name for panel in panels.PANELS if panel.times == 1] == ["CBCL faces"]


@pytest.fixture(scope="module")
def models():
    """Rows about whole models."""
    return lines("cronus-figure2")


def chosen_score(models, panel, method):
    """Mean test score of each repetition's best model by validation, the cheaper of equals."""
    scores = []
    for seed in {row["seed"] for row in models}:
        mine = [
            (-float(row["valid_score"]), float(row["valid_cost_paper"]), float(row["test_score"]))
            for row in models
            if (row["panel"], row["method"], row["seed"]) == (panel, method, seed)
            and float(row["rounds"]) > 0
        ]
        scores.append(min(mine)[2])
    return statistics.mean(scores)


def test_no_claim_on_cheap_features_where_there_are_none():
    """By the prices of the rows."""
    prices = defaultdict(set)
    for row in lines("cronus-figure4"):
        if float(row["price"]) >= 0:
            prices[row["panel"]].add(float(row["price"]))
    claims = {row["claim"] for row in lines("cronus-figure4", "claims.csv")}
    without = {panel for panel, there in prices.items() if min(there) > max(there) / 40}
    assert without == {"f", "g"}
    assert len(prices["g"]) == 1
    assert "VJ faces have one price, CBCL has no cheap features." in README
    for panel in prices:
        about_cheap = {f"{panel}-cheap-first", f"{panel}-most-cheap-at-once"} & claims
        assert len(about_cheap) == (0 if panel in without else 2)


def test_nothing_or_nearly_all(models):
    fewest, depth = defaultdict(lambda: 1000), {}
    for row in models:
        draw = row["panel"], row["seed"]
        depth[draw] = row["depth"]
        if row["method"] == "cronus_initial":
            fewest[draw] = min(fewest[draw], int(row["n_trees"]))
    deep = [draw for draw, chosen in depth.items() if int(chosen) > 2]
    words = " or ".join(sorted({depth[draw] for draw in deep}))
    assert f"of depth 1 or 2, in {len(deep)} of {len(depth)} draws {words};" in README
    of_clueweb = [
        fewest["d", seed] for panel, seed in deep if (panel, depth["d", seed]) == ("d", "4")
    ]
    of_mq2008 = [n for (panel, _), n in fewest.items() if panel == "c"]
    said = "ClueWeb09's draws of depth 4 at least {} to {} of 100 trees, on MQ2008's {} to {}."
    ends = [end(of_set) for of_set in (of_clueweb, of_mq2008) for end in (min, max)]
    assert said.format(*ends) in README


def test_the_objective_falls_and_scores_do_not_follow(models):
    ratios, capped = defaultdict(list), defaultdict(list)
    initial = {
        (row["panel"], row["seed"], row["tradeoff"]): float(row["objective"])
        for row in models
        if row["method"] == "cronus_initial"
    }
    for row in models:
        if row["method"] == "cronus":
            key = row["panel"], row["seed"], row["tradeoff"]
            ratios[row["panel"]].append(float(row["objective"]) / initial[key])
            capped[row["panel"]].append(int(row["capped"]))
    medians = [statistics.median(values) for values in ratios.values()]
    assert f"to {min(medians):.2f} to {max(medians):.2f} of the initialisation's" in README
    shares = [100 * statistics.mean(values) for values in capped.values()]
    assert f"By set {min(shares):.0f} to {max(shares):.0f} % of the optimisations ended" in README
    said = [f"{chosen_score(models, 'f', m):.3f}" for m in ("cronus_initial", "cronus", "gbrt")]
    words = "scores {} as initialised and {} as optimised; GBRT {}".format(*said)
    assert words in README


def test_what_our_choices_change():
    means = defaultdict(list)
    for row in lines("cronus-choices"):
        if row["method"] == "cronus":
            name = row["variant"], row["dataset"]
            means[name].append(
                {k: float(row[k]) for k in ("test_score", "tied_score", "test_cost_paper")}
            )

    def score(variant, dataset, column="test_score"):
        return statistics.mean(row[column] for row in means[variant, dataset])

    def lost(dataset):
        return score("ours", dataset) - score("ours", dataset, "tied_score")

    yahoo, mq = "yahoo_ltr_sample", "mq2008"
    assert f"costs {lost(yahoo):.3f} of precision@5" in README
    assert f"and {lost(mq):.3f} on MQ2008 once" in README
    text = (RESULTS / "cronus-choices" / "table.md").read_text(encoding="utf-8")
    ratios = [
        float(re.search(rf"^\| trees of 8 leaves .* \| {name} \|.*\| (\S+) ±", text, re.M)[1])
        for name in ("Yahoo! LTR, a part", "MQ2008")
    ]
    assert "cost {:.2f} of ours on Yahoo!'s part and {:.2f} on MQ2008".format(*ratios) in README
    moved = {
        name: 0.02 - float(row["effect"])
        for name, row in claims("cronus-choices").items()
        if "-stages-" in name or "-rejection-" in name
    }
    assert len(moved) == 12
    faces = max(change for name, change in moved.items() if name.startswith("g-"))
    others = max(change for name, change in moved.items() if not name.startswith("g-"))
    assert f"by {others:.3f} at most in the mean, on VJ faces by {faces:.3f}." in README


def test_what_was_chosen_is_kept():
    for number in "1234":
        for methods in record(f"cronus-figure{number}")["chosen"].values():
            assert set(methods) >= {"cronus_initial", "cronus"}
            firsts = "0123456789"
            assert all(set(by_seed) == set(firsts[: len(by_seed)]) for by_seed in methods.values())
            assert all(
                0 < values["penalty"] <= 1e-4
                for by_seed in methods.values()
                for values in by_seed.values()
            )
