"""Gaps of published curves: none is crossed by a solid line, and each that is crossed is seen."""

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from experiments.looks import LOOKS
from experiments.publishing.output import read_published
from experiments.registry import discover
from experiments.running.provenance import ROOT
from experiments.style import GAP_IN_WORDS, house_style
from tests.experiments.published_rows import lines

DRAWN = ("cegb-figure2",)
"""Whose picture shows, by the meter, the very curves that are listed."""


def models_of(name):
    """Panel and method → seed → validation cost and score, test cost; what costs something."""
    models = defaultdict(lambda: defaultdict(list))
    for row in lines(name):
        if float(row["valid_cost"]) > 0:
            values = [float(row[key]) for key in ("valid_cost", "valid_score", "test_cost")]
            models[row["panel"], row["algorithm"]][row["seed"]].append(values)
    return models


def points_of(by_seed):
    """The models of all seeds at each point of a curve, budget by budget, in plain Python."""
    costs = [cost for models in by_seed.values() for cost, *_ in models]
    points = []
    first, last = (math.ceil(12 * math.log10(end(costs)) - 1e-9) for end in (min, max))
    for i in range(first, last + 1):
        within = [[m for m in models if m[0] <= 10 ** (i / 12)] for models in by_seed.values()]
        if all(within):
            point = [max(models, key=lambda m: (m[1], -m[0])) for models in within]
            if not points or point != points[-1]:
                points.append(point)
    return points


def gaps_of(models):
    costs = sorted({cost for cost, *_ in models})
    return [(low, high) for low, high in pairwise(costs) if high / low > 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_a_gap_that_is_listed_is_drawn_as_one(name):
    (artefact,) = (a for a in discover() if a.id == name)
    with house_style(name):
        figure = artefact.render(*read_published(ROOT / "results" / name))
    assert GAP_IN_WORDS in figure.get_suptitle()
    panels = {ax.get_label(): ax for ax in figure.axes}
    n_crossed = n_beyond = 0
    for (panel, method), by_seed in models_of(name).items():
        ax, look = panels[panel], LOOKS[method]
        (line,) = (one for one in ax.get_lines() if one.get_label() == look.label)
        solid, dotted = segments(line), set()
        for one in ax.get_lines():
            if one.get_label().startswith("_") and one.get_color() == look.colour:
                dotted |= segments(one)
        points = points_of(by_seed)
        x = np.array([np.mean([test for *_, test in point]) for point in points])
        drawn_x = line.get_xdata()
        np.testing.assert_allclose(drawn_x[~np.isnan(drawn_x)], x)
        wanted = set()
        for place, models in enumerate(by_seed.values()):
            chosen = [point[place][0] for point in points]
            for low, high in gaps_of(models):
                steps = [k for k, (a, b) in enumerate(pairwise(chosen)) if a <= low and high <= b]
                assert len(steps) <= 1
                if steps:
                    wanted.add(steps[0])
                    n_crossed += 1
                else:  # the curve begins above it, or ends below it
                    assert chosen[0] >= high or chosen[-1] <= low
                    n_beyond += 1
        wanted |= {k for k, (a, b) in enumerate(pairwise(x)) if b > 2 * a}
        steps = {k: tuple(np.round([a, b], 9)) for k, (a, b) in enumerate(pairwise(x))}
        assert dotted == {steps[k] for k in wanted}
        assert solid == {step for k, step in steps.items() if k not in wanted}
    assert n_crossed > n_beyond > 0


def segments(line):
    """Costs at the ends of each piece of a line that is seen."""
    ends = pairwise(np.round(np.asarray(line.get_xdata(), float), 9))
    return {tuple(pair) for pair in ends if not np.isnan(pair).any()}
