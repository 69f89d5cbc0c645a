"""``reproduce --set``: another choice beside what is published, and never in its place."""

import json
import shutil
from dataclasses import replace

import pandas as pd
import pytest

import datasets
from experiments import setting
from experiments.adaptive_sampling_2014.table1 import ARTEFACT as TABLE_1
from experiments.cegb_2017.figure2 import ARTEFACT
from experiments.cli import main
from experiments.publishing import output
from experiments.registry import Registry
from experiments.running.suite import Suite


def few_cells(scale, seeds):
    """Two methods of one panel, with two λ each."""
    cells = ARTEFACT.make_cells("smoke", range(1))
    return [
        next(c for c in cells if (c.algorithm, c.params["tradeoff"] > 0) == (method, priced))
        for method in ("cegb", "cegb_shallow")
        for priced in (False, True)
    ]


@pytest.fixture
def few(tmp_path):
    artefact = replace(ARTEFACT, make_cells=few_cells)
    return Suite(Registry([artefact]), datasets, results=tmp_path / "results")


def reproduce(suite, *more):
    return main(
        ["reproduce", "cegb-figure2", "--scale", "smoke", "--jobs", "1", "--quiet", *more], suite
    )


@pytest.mark.slow
def test_a_figure_with_another_choice_stands_beside_the_published_one(few):
    assert reproduce(few) == 0
    runs = few.results / "runs"
    shutil.copytree(runs / "cegb-figure2", few.results / "cegb-figure2")
    assert reproduce(few, "--set", "cegb.max_leaves=3", "--set", "cegb.learning_rate=0.5") == 0
    folder = runs / "cegb-figure2-set"
    rows, before = (pd.read_csv(f / "rows.csv") for f in (folder, runs / "cegb-figure2"))
    said = rows.set_index("algorithm")["set"].fillna("")
    assert set(said["cegb"]) == {"max_leaves=3, learning_rate=0.5"}
    assert set(said["cegb_shallow"]) == {""}
    shallow = [table[table["algorithm"] == "cegb_shallow"] for table in (rows, before)]
    pd.testing.assert_frame_equal(
        *(table.drop(columns="set", errors="ignore").reset_index(drop=True) for table in shallow)
    )
    assert rows.shape != before.shape or not rows["test_score"].equals(before["test_score"])
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["set"] == {"cegb": {"max_leaves": 3, "learning_rate": 0.5}}
    assert "--set cegb.max_leaves=3" in meta["command"]
    curves = pd.read_csv(folder / "curves.csv")
    old = pd.read_csv(runs / "cegb-figure2" / "curves.csv")
    assert set(curves["curve"]) >= {
        "CEGB, deep · max_leaves=3, learning_rate=0.5",
        "CEGB, deep, as published",
    }
    grey = curves.loc[curves["curve"] == "CEGB, deep, as published", ["x", "y"]]
    plain = old.loc[old["curve"] == "CEGB, deep", ["x", "y"]]
    assert grey.to_numpy().tolist() == plain.to_numpy().tolist()
    with pytest.raises(output.NotPublishable, match=r"cegb\.max_leaves=3"):
        output.check_publishable(folder, few.results / "cegb-figure2")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (["--set", "cegb.max_leavs=3"], "growth, learning_rate, max_depth, max_leaves"),
        (["--set", "cegb.tradeoff=3"], "no parameter tradeoff of cegb to set"),
        (["--set", "gbrt.max_leaves=3"], "it has: cegb, cegb_shallow"),
        (["--set", "max_leaves=3"], "METHOD.PARAMETER=VALUE"),
        (["--scale", "laptop", "--set", "cegb.max_leaves=3", "--publish"], "no --publish"),
    ],
)
def test_what_cannot_be_set_exits_2_and_says_what_can(few, capsys, given, hint):
    assert reproduce(few, *given) == 2
    assert hint in capsys.readouterr().err
    assert not (few.results / "runs").exists()


def test_what_a_sampler_takes_beside_its_cells_parameters_can_be_set():
    values = setting.parse(["laminating.by_weight=false", "mas_naive.by_weight=false"])
    both = (setting.applied(TABLE_1, "smoke", values), TABLE_1)
    made, before = (one.cells("smoke", 1) for one in both)
    changed = [(new, old) for new, old in zip(made, before, strict=True) if new != old]
    assert {new.algorithm for new, _ in changed} == {"laminating", "mas_naive"}
    for new, old in changed:
        assert new.params["given"] == {**old.params.get("given", {}), "by_weight": False}
    with pytest.raises(setting.WrongSetting, match="by_weight"):
        setting.applied(TABLE_1, "smoke", setting.parse(["ucb.by_weight=false"]))


def test_a_table_has_the_published_one_below():
    table = output.beside.add_to_table("# T\n\nnew\n", "a.b=1", "# T\n\nold\n", "laptop")
    assert table.index("**Set: a.b=1.**") < table.index("new") < table.index("old")
