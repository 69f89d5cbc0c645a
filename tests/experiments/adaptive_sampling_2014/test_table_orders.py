"""Tables 1 to 4: agreement with the printed numbers, and orders of methods."""

import csv
import itertools
import statistics
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from experiments.adaptive_sampling_2014.cells.methods import KEYS
from experiments.adaptive_sampling_2014.show import ranking
from experiments.adaptive_sampling_2014.show.paper_tables import ROUNDS, SETS, TABLES
from experiments.adaptive_sampling_2014.show.ranking import agreement, order
from experiments.running.provenance import ROOT
from tests.experiments.adaptive_sampling_2014.made_up_tables import line_of, published


def test_agreement_by_hand():
    paper = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    same = pd.DataFrame({"a": [1, 1.1], "b": [2, 2.1], "c": [3, 3.3], "d": [0, 0]})
    found = agreement(same, paper)
    assert found.tau == found.rho == (1.0, 1.0, 1.0)
    assert found.n == 3  # the paper has no d
    assert found.difference == pytest.approx((0.25 / 3, 0.0, 0.5 / 3))
    turned = agreement(pd.DataFrame({"a": [2.0], "b": [1.0], "c": [3.0]}), paper)
    assert turned.tau.value == pytest.approx(1 / 3)  # two pairs of three agree
    assert turned.rho.value == pytest.approx(1 / 2)  # 1 - 6·(1 + 1 + 0) / (3·8)
    assert turned.difference.value == 0


def test_intervals_hold_what_repetitions_differ_in():
    paper = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    ours = pd.DataFrame({"a": [1.0, 9.0], "b": [2.0, 8.0], "c": [3.0, 7.0]})
    found = agreement(ours, paper)
    assert found.tau[1:] == found.rho[1:] == (-1.0, 1.0)
    assert found.difference == (3.0, 0.0, 6.0)
    once = agreement(ours.iloc[:1], paper)
    assert once.tau.value == once.rho.value == 1.0
    assert np.isnan([once.tau.low, once.rho.low, once.difference.low]).all()


def test_equal_means_are_a_tie_however_they_were_summed():
    ours = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [1.0, 1.0, 1.0]})
    assert len(set(ours[["a", "b"]].mean())) == 2
    found = agreement(ours, pd.Series({"a": 1.0, "b": 2.0, "c": 3.0}))
    assert found.rho.value == pytest.approx(np.sqrt(3) / 2)


@pytest.mark.parametrize("always", [-1.0, 0.0, 1.0])
def test_what_always_differs_alike_differs_surely(always):
    assert ranking._sign_of(np.full(3, always)) == always
    assert ranking._sign_of(np.array([always])) == 0  # once is not surely


def test_methods_that_are_all_alike_have_no_order():
    found = agreement(pd.DataFrame({"a": [1.0], "b": [1.0]}), pd.Series({"a": 1.0, "b": 2.0}))
    assert np.isnan([found.tau.value, found.rho.value]).all()
    assert found.difference.value == -0.5


def test_pairs_by_hand():
    """Told apart by both, or not; never by one repetition, nor where the paper prints a tie."""
    paper = pd.Series({"a": 1.0, "b": 1.02, "c": 1.03, "d": 3.0})
    ours = pd.DataFrame(
        {"a": [1.0, 1.1, 1.2], "b": [1.5, 1.6, 1.71], "c": [0.8, 0.9, 1.01], "d": [0.0, 3.0, 9.0]}
    )
    found = order(ours, paper)
    # a before b as printed; c before a, not as printed; b and c are a tie in print, d is noise.
    assert found == (1, (("a", "c"),), 4)
    assert order(ours.iloc[:1], paper) == (0, (), 6)
    assert order(ours.assign(d=np.nan, e=1.0), paper).undecided == 1


ORDER = ROOT / "results" / "sampling-order.csv"


@pytest.mark.parametrize("dataset", SETS)
def test_published_orders_are_those_of_the_files(dataset):
    """Each pair counted from the rows in plain Python, with the quantile of a printed table."""
    quantile = 4.604095  # t with 4 degrees of freedom, 99.5 %
    losses = {}
    for row in published(dataset)[1]:
        if row["budget"] == "paper" and row["algorithm"] in KEYS:
            key = (int(row["rounds"]), row["algorithm"])
            losses.setdefault(key, {})[row["seed"]] = float(row["log10_loss"])
    with ORDER.open() as file:
        lines = [r for r in csv.DictReader(file) if r["table"][-1:] == str(SETS[dataset].table)]
    assert [int(line["rounds"]) for line in lines] == list(ROUNDS)
    for line, position in zip(lines, range(4), strict=True):
        counts, against = {"agree": 0, "disagree": 0, "undecided": 0}, []
        for a, b in itertools.combinations(KEYS, 2):
            mine, other = (losses[ROUNDS[position], key] for key in (a, b))
            differences = [mine[seed] - other[seed] for seed in sorted(mine)]
            assert len(differences) == 5
            mean, sd = statistics.mean(differences), statistics.stdev(differences)
            printed_cents = round(100 * (TABLES[dataset][a][position][0]
                                         - TABLES[dataset][b][position][0]))  # fmt: skip
            if abs(printed_cents) < 2 or abs(mean) <= quantile * sd / 5**0.5:
                counts["undecided"] += 1
            elif (mean > 0) == (printed_cents > 0):
                counts["agree"] += 1
            else:
                counts["disagree"] += 1
                against.append(f"{a}>{b}" if printed_cents < 0 else f"{b}>{a}")
        assert {name: int(line[name]) for name in counts} == counts
        assert line["other_way"].split() == against


def by_hand(dataset, rounds, position):
    """Spearman's ρ and the mean difference of a published column, from its files alone."""
    sums, seeds = dict.fromkeys(KEYS, Fraction()), set()
    name = ("log10_loss", "test_error")[position]
    for row in published(dataset)[1]:
        at_t = (row["budget"], int(row["rounds"])) == ("paper", rounds)
        if at_t and row["algorithm"] in KEYS:
            sums[row["algorithm"]] += Fraction(row[name])
            seeds.add(row["seed"])
    ours = [sums[key] / len(seeds) for key in KEYS]
    paper = [Fraction(str(TABLES[dataset][key][ROUNDS.index(rounds)][position])) for key in KEYS]
    ranks = [[sum(a > b for b in x) + sum(a == b for b in x) / 2 for a in x] for x in (ours, paper)]
    rho = statistics.correlation(*ranks)
    return rho, float(sum(a - b for a, b in zip(ours, paper, strict=True)) / len(KEYS))


def test_published_agreement():
    for dataset, paper in SETS.items():
        text = (ROOT / "results" / f"sampling-table{paper.table}" / "table.md").read_text()
        for t in (10, 100, 1_000):
            for position, (name, form) in enumerate((("loss", "+.3f"), ("error", "+.2f"))):
                rho, difference = by_hand(dataset, t, position)
                cells = line_of(text, f"T = {t:,}: {name}").split("|")
                assert cells[3].split()[0] == f"{rho:.2f}"
                assert cells[5].split()[0] == f"{difference:{form}}".replace("-", "−")


def orders():
    """Lines of the published orders of Tables 1 to 4, by table."""
    with ORDER.open() as file:
        lines = [row for row in csv.DictReader(file) if row["table"][-1:].isdigit()]
    assert len(lines) == len(SETS) * len(ROUNDS)
    return lines
