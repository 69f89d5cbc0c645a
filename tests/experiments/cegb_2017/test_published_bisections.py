"""What is published of the bisections of CEGB's gaps, computed another way, in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

from tests.experiments.published_rows import lines, readme
from tests.recomputed import cegb
from tests.recomputed.curves import mean_leads, together

README = readme("cegb_2017")
RANKING = ("a'", "y", "m", "w", "b'")
CLAIMED = ("cegb", "cegb_shallow", "greedy_miser")


@cache
def bisected() -> dict[tuple, list[dict[str, str]]]:
    """(panel, method, seed, below, above) → rows of a gap, the first step first."""
    gaps = defaultdict(list)
    for row in lines("cegb-bisections"):
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


def test_what_bisections_found_for_the_methods_of_the_claims():
    found = list(found_models())
    (empty,) = [key for key, steps in bisected().items() if kind_of(steps) == "empty"]
    assert empty[:2] == ("b'", "greedy_miser")
    assert sorted(key[:2] for key, _ in found) == [
        *5 * [("b'", "cegb_shallow")], ("m", "greedy_miser"), ("w", "cegb")
    ]  # fmt: skip
    assert len({key for key, _ in found}) == len(found) == 7


def test_readme_counts_what_became_of_all_gaps():
    counts = Counter(map(kind_of, bisected().values()))
    short = (
        "Of {} gaps {} hold models of the grid that no budget chooses; {} were closed, {} narrowed"
    )
    kinds = ("filled", "closed", "narrowed")
    assert short.format(counts.total(), *(counts[kind] for kind in kinds)) in README
    assert counts["empty"] == 1
    for steps in bisected().values():
        inside = [step["inside"] for step in steps]
        if kind_of(steps) == "filled":
            assert len(steps) == 1
            assert inside != ["0"]
        elif kind_of(steps) != "closed":
            assert inside[-8:] == 8 * ["0"]


def with_what_was_found(accounting):
    """The published models of Figure 2, and those that bisections found among them."""
    pools = dict(cegb.models(accounting=accounting))
    for (panel, method, seed, _, _), model in found_models():
        costs = {part: model[f"{part}{accounting}"] for part in ("valid_cost", "test_cost")}
        pools[panel, method] = together(pools[panel, method], {seed: [model | costs]})
    return pools


def test_no_budget_would_choose_what_bisections_found():
    """So the claims' effects stay: computed anew with the found models, to the last digit."""
    found = list(found_models())
    assert found
    for (panel, method, seed, _, _), model in found:
        published = cegb.models()[panel, method][seed]
        cheaper = [m for m in published if m["valid_cost"] <= model["valid_cost"]]
        assert max(m["valid_score"] for m in cheaper) >= model["valid_score"]
    for accounting in ("", "_paper"):
        pools = with_what_was_found(accounting)
        for panel in RANKING:
            for method in CLAIMED[:2]:
                leads = mean_leads(pools[panel, method], pools[panel, "greedy_miser"])
                assert leads == cegb.mean_leads(panel, method, "greedy_miser", accounting)
