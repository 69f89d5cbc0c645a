"""Gaps of published curves: found, and listed as they are."""

import csv
from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace

import pandas as pd
import pytest

from experiments.looks import LOOKS
from experiments.publishing.gaps import widest_gaps
from experiments.publishing.output import read_published
from experiments.registry import discover
from experiments.running.provenance import ROOT
from experiments.style import house_style
from tests.experiments.published_rows import lines

WITH_CURVES = [a for a in discover() if a.curve and (ROOT / "results" / a.id).exists()]


def test_widest_gap_by_hand():
    """Costs 1, 2, 5, 8 on one repetition, 1, 4, 8 on the other; another method has no gap."""
    costs = {
        ("one", 0): (1, 2, 5, 8),
        ("one", 1): (0, 1, 4, 8),
        ("two", 0): (3, 6),
        ("six", 0): (7,),
    }
    rows = pd.DataFrame(
        [
            {
                "panel": "a",
                "dataset": "set",
                "method": method,
                "seed": seed,
                "valid_cost": float(cost),
            }
            for (method, seed), values in costs.items()
            for cost in map(float, values)
        ]
    )
    toy = SimpleNamespace(id="toy", curve=("method", "valid_cost"))
    (record,) = widest_gaps(toy, rows, {"scale": "laptop"})
    assert record == {
        "artefact": "toy",
        "scale": "laptop",
        "n_curves": 3,
        "panel": "a",
        "dataset": "set",
        "method": "one",
        "below": 1.0,
        "above": 4.0,
        "factor": 4.0,
        "seed": 1,
    }


def naive_gaps(artefact):
    """Panel and method → lower and upper cost and seed, from the text of the published rows."""
    method, cost = artefact.curve
    costs, sets = defaultdict(set), {}
    for row in lines(artefact.id):
        if row[cost] and float(row[cost]) > 0:
            costs[row["panel"], row[method], row["seed"]].add(float(row[cost]))
            sets[row["panel"]] = row["dataset"]
    widest = {}
    for (panel, name, seed), values in costs.items():
        for low, high in pairwise(sorted(values)):
            before = widest.get((panel, name), (1.0, 2.0))
            if high / low > before[1] / before[0]:
                widest[panel, name] = (low, high, seed)
    return widest, len({key[:2] for key in costs}), sets


@pytest.mark.parametrize("artefact", WITH_CURVES, ids=lambda a: a.id)
def test_published_list(artefact):
    with open(ROOT / "results" / "gaps.csv", encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file) if row["artefact"] == artefact.id]
    widest, n_curves, sets = naive_gaps(artefact)
    assert {row["n_curves"] for row in listed} == ({str(n_curves)} if widest else set())
    wanted = set()
    for (panel, name), (low, high, seed) in widest.items():
        label = LOOKS[name].label if name in LOOKS else name.replace("_", " ")
        ends = (f"{low:.4g}", f"{high:.4g}", f"{high / low:.1f}")
        wanted.add((panel, sets[panel], label, *ends, seed))
    columns = ("panel", "dataset", "method", "below", "above", "factor", "seed")
    formats = {"below": ".4g", "above": ".4g", "factor": ".1f"}
    shown = [
        tuple(
            f"{float(row[name]):{formats[name]}}" if name in formats else row[name]
            for name in columns
        )
        for row in listed
    ]
    assert len(shown) == len(set(shown))
    assert set(shown) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("artefact", WITH_CURVES, ids=lambda a: a.id)
def test_letters_are_those_of_the_picture(artefact):
    """As the picture's file has them, with the data sets: ``(a) MSLR, y > 0``."""
    rows, meta = read_published(ROOT / "results" / artefact.id)
    with house_style("letters"):
        axes = artefact.render(rows, meta).axes
    panels = {ax.get_label(): ax.get_title(loc="left") for ax in axes}
    for panel in rows["panel"].unique():
        assert panels[panel].startswith(f"({panel}) "), panels[panel]
