"""What HISTORY.md says of rows that are published is what the rows say."""

import json
import re

import numpy as np
import pandas as pd

from datasets.features.families import families_of
from datasets.features.mash import NINETEEN
from experiments.adaptive_sampling_2014.cells.headline import CLASS_COUNTS
from experiments.adaptive_sampling_2014.cells.methods import KEYS
from experiments.running.provenance import ROOT

HISTORY = ROOT / "experiments" / "adaptive_sampling_2014" / "HISTORY.md"
TEXT = HISTORY.read_text(encoding="utf-8")
LONGER = TEXT.split("\n### After 10,000 rounds\n")[1].split("\n## ")[0]
TUNED = ("best_family", "ucb", "exp3p", "epsilon_greedy")


def headline(table: int, name: str) -> pd.DataFrame:
    """Rows that the claims are about, at equal cost as the paper counts it."""
    rows = pd.read_csv(ROOT / "results" / f"sampling-table{table}" / "rows.csv")
    return rows[(rows["dataset"] == name) & (rows["budget"] == "paper")]


def kept_by_tuned(rows: pd.DataFrame) -> dict[str, set[int]]:
    """Number of the family, or exponent of the parameter, that each repetition kept."""
    tuned = rows[rows["algorithm"].isin(TUNED)]
    return tuned.groupby("algorithm")["kept"].agg(set).to_dict()


def apart(last: pd.DataFrame) -> float:
    """Mean over the repetitions of the largest error less the smallest, without Best family."""
    errors = last.pivot(index="seed", columns="algorithm", values="test_error")
    errors = errors.drop(columns="best_family")
    return (errors.max(axis=1) - errors.min(axis=1)).mean()


def test_what_is_said_of_10_000_rounds_on_mnist():
    rows = headline(1, "mnist_mash")
    last = rows[rows["rounds"] == 10_000]
    loss = last.groupby("algorithm")["log10_loss"].mean().sort_values()
    assert list(loss.index[:6]) == [
        "tasting_q1", "tasting_1q", "ucb", "mas_naive", "exp3p", "laminating"
    ]  # fmt: skip
    behind = loss["laminating"] - loss[["tasting_q1", "tasting_1q"]].mean()
    assert f"here lies {behind:.2f} behind Tasting" in LONGER
    assert f"they lie {apart(last):.2f} points apart on average, the paper's 0.2." in LONGER
    kept = kept_by_tuned(rows)
    assert [NINETEEN[family].name for family in kept["best_family"]] == ["hog_rectangles"]
    assert kept["ucb"] == kept["exp3p"] == {9}
    assert (min(kept["epsilon_greedy"]), max(kept["epsilon_greedy"])) == (1, 5)


def test_what_is_said_of_10_000_rounds_on_caltech_101():
    rows = headline(3, "caltech101")
    last = rows[rows["rounds"] == 10_000]
    loss = last.groupby("algorithm")["log10_loss"].mean().sort_values()
    assert list(loss.index[:3]) == ["tasting_q1", "tasting_1q", "epsilon_greedy"]
    ends = f"{loss.iloc[-1]:.0f} to {loss.iloc[0]:.0f}".replace("-", "\N{MINUS SIGN}")
    assert f"our losses, {ends}, lie 10 decades above" in LONGER
    assert f"without Best family they lie {apart(last):.0f} points apart." in LONGER
    kept = kept_by_tuned(rows)
    (family,) = kept["best_family"]
    assert f"Best family keeps `{families_of('caltech101')[family].name}`" in LONGER
    assert kept["ucb"] == kept["exp3p"] == {6}
    assert (min(kept["epsilon_greedy"]), max(kept["epsilon_greedy"])) == (1, 4)


def test_what_is_said_of_the_losses_on_cifar_10():
    rows = headline(4, "cifar10_mash")
    loss = rows[rows["rounds"] == 10_000].groupby("algorithm")["log10_loss"].mean().sort_values()
    assert list(loss.index[:3]) == ["tasting_q1", "tasting_1q", "ucb"]
    assert set(loss.index[-4:]) == {"mas_1q", "mas_q1", "laminating", "best_family"}
    assert loss.index[-1] == "best_family"
    assert loss.iloc[-4] - loss["ucb"] > 0.5
    kept = kept_by_tuned(rows)
    (family,) = kept["best_family"]
    assert NINETEEN[family].name == "haar"
    assert kept["ucb"] == {11}
    mine = rows[(rows["algorithm"] == "exp3p") & (rows["kept"] == 11)]
    assert mine["seed"].nunique() == 1


def test_what_is_said_of_a_window_of_inria():
    record = json.loads((ROOT / "results" / "sampling-table2" / "meta.json").read_text())
    rule = record["data"]["inria_person_mash"]["split_rule"]
    assert "test 812 with and 408 without persons" in rule
    ours, paper = (408, 812), CLASS_COUNTS["inria_person"]["test"]
    without, person = (100 * n / sum(paper) / m for n, m in zip(paper, ours, strict=True))
    assert f"weighs {person:.2f} points, or {without:.2f} if it has no person." in LONGER
    rows = headline(2, "inria_person_mash")
    errors = rows[rows["algorithm"].isin(KEYS)]["test_error"].unique()
    persons = (errors[:, None] - without * np.arange(ours[0])) / person
    apart = np.where(persons > -0.5, np.abs(persons - np.rint(persons)), 1.0)
    assert apart.min(axis=1).max() < 0.01  # every error is a whole number of each kind of windows


def test_both_figures_on_seeds_10_to_19():
    part = TEXT.split("## Declared before Figures 1 and 2 were run again")[1].split("\n## ")[0]
    said = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| Fig")]
    published = []
    for figure, unit, cut in (("1", "QS = {:,}", "cost-"), ("2", "{} passes", "passes-")):
        folder = ROOT / "results" / f"sampling-figure{figure}"
        assert json.loads((folder / "meta.json").read_text())["seeds"] == list(range(10, 20))
        for row in pd.read_csv(folder / "claims.csv").itertuples():
            size = unit.format(int(row.claim.removeprefix(cut)))
            published.append([f"Figure {figure}, {size}", f"{row.effect:+.3f}"])
    assert [[what, now] for what, _, now in said] == published


def test_table_3_by_the_rules_of_the_others():
    part = TEXT.split("## Declared before Table 3 was run by the same rules")[1].split("\n## ")[0]
    rows, before = (
        pd.read_csv(ROOT / "results" / f"sampling-table3{end}" / "rows.csv")
        for end in ("-rules", "")
    )
    assert set(rows["seed"]) == set(range(5, 10))
    at_cost = [one[one["budget"] == "paper"] for one in (rows, before)]
    loss, old = (one.groupby(["algorithm", "rounds"])["log10_loss"].mean() for one in at_cost)
    for numbers in (
        (loss["mas_q1", 1_000], old["mas_q1", 1_000]),
        (loss["laminating", 1_000], loss["laminating_32", 1_000]),
        (loss["exhaustive", 10], loss["exhaustive", 100]),
    ):
        for number in numbers:
            assert f"{number:.2f}".replace("-", "\N{MINUS SIGN}") in part
    for rhos in ("ρ = 0.28, 0.41\nand 0.65", "0.47, 0.61 and 0.84"):
        end = "-rules" if rhos.startswith("ρ") else ""
        table = (ROOT / "results" / f"sampling-table3{end}" / "table.md").read_text()
        found = re.findall(r"^\| T = 1[0,]*: loss \| 13 \| (\S+)", table, re.MULTILINE)
        assert found[:3] == re.findall(r"\d\.\d\d", rhos)
        assert rhos in part
