"""``decide`` on the toy: fresh repetitions until a verdict, kept, and judged again."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd
import pytest

from experiments.primaries import storing
from experiments.primaries.declared import FIRST_SEED, Part, Primary
from experiments.publishing.output import DamagedResults
from tests.experiments.toy_artefact import difference, make_toy, suite

CLAIMS = (
    Primary(
        "toy-better", "Better is better.", "section 1", "score", 0.1, "a tenth",
        (Part("toy-figure2", "nearby", difference),), looks=(3, 5),
    ),
    Primary(
        "toy-much-better", "Better is twenty better.", "section 1", "score", 0.01, "a hundredth",
        (Part("toy-figure2", "nearby", lambda rows: difference(rows) - 20.31),), looks=(3, 5),
    ),
)  # fmt: skip


@pytest.fixture
def toy(tmp_path):
    made = suite(tmp_path, make_toy(n_steps=1))
    return dataclasses.replace(made, primaries={"toy": CLAIMS})


def test_fresh_repetitions_are_run_kept_and_judged(toy, tmp_path, run):
    status, out, _ = run(toy, "decide", "--jobs", "1", "--quiet")
    assert status == 0
    assert "✓ reproduced: toy-better" in out
    assert "toy-figure2: 3 repetitions of nearby" in out
    table = pd.read_csv(tmp_path / "primary_claims.csv")
    assert table["claim"].tolist() == ["toy-better", "toy-much-better"]
    assert table["verdict"][0] == "reproduced"
    rows = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz")
    assert sorted(set(rows["seed"])) == [FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2]
    assert set(rows["dataset"]) == {"nearby"}
    assert storing.measured(tmp_path, ["toy-figure2"])["toy-figure2"]["nearby"] > 0
    # The second is not decided by three: only it asks for more, and then no more is run.
    before = (tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz").read_bytes()
    status, out, _ = run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    assert (status, "repetitions of nearby" in out) == (0, False)
    assert (tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz").read_bytes() == before
    # More of them hardly would: they are run where the claim itself is named.
    run(toy, "decide", "toy", "--jobs", "1", "--quiet")
    assert (tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz").read_bytes() == before
    run(toy, "decide", "toy-much-better", "--jobs", "1", "--quiet")
    rows = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz")
    assert rows["seed"].nunique() == 5


def test_a_set_with_enough_repetitions_is_not_run_again(toy, tmp_path, run):
    """A claim on two sets of which one was run before, in another checkout: no cell is stored."""
    parts = tuple(Part("toy-figure2", name, difference) for name in ("nearby", "licensed"))
    claims = (dataclasses.replace(CLAIMS[0], parts=parts),)
    run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    both = dataclasses.replace(toy, primaries={"toy": claims})
    _, out, _ = run(both, "decide", "--dry-run")
    assert ("repetitions of nearby" in out, "3 repetitions of licensed" in out) == (False, True)
    later = (dataclasses.replace(claims[0], looks=(5,)),)
    _, out, _ = run(dataclasses.replace(toy, primaries={"toy": later}), "decide", "--dry-run")
    assert "5 repetitions of nearby" in out


def test_a_dry_run_runs_nothing(toy, tmp_path, run):
    status, out, _ = run(toy, "decide", "--dry-run")
    assert (status, "nothing was run" in out) == (0, True)
    assert not (tmp_path / "primary").exists()


def test_cells_have_the_declared_scale(toy, tmp_path, run):
    parts = (dataclasses.replace(CLAIMS[0].parts[0], scale="smoke"),)
    claims = (dataclasses.replace(CLAIMS[0], parts=parts),)
    run(dataclasses.replace(toy, primaries={"toy": claims}), "decide", "--jobs", "1", "--quiet")
    meta = json.loads((tmp_path / "primary" / "toy-figure2" / "meta.json").read_text())
    assert meta["scale"] == "smoke"


def test_sets_are_kept_beside_each_other(tmp_path):
    """A set that is run takes the place of its own earlier rows alone."""

    def add(dataset, seeds, column="score", **meta):
        rows = pd.DataFrame({"dataset": dataset, "seed": seeds, column: [s / 7 for s in seeds]})
        record = {"data": {dataset: {"kind": "real"}}, "seeds": seeds, **meta}
        record["cell_seconds"] = {dataset: 1.0}
        storing.add(tmp_path, "toy-figure2", rows, record)

    add("one", [2000, 2001], command="first")
    add("two", [2000], command="second")
    add("one", [2000, 2001, 2002], command="third")
    rows, meta = storing.read(tmp_path, ["toy-figure2"])["toy-figure2"]
    assert rows["dataset"].tolist() == ["one"] * 3 + ["two"]
    assert rows["score"].tolist() == [s / 7 for s in (2000, 2001, 2002, 2000)]
    assert meta["seeds"] == [2000, 2001, 2002]
    assert list(meta["data"]) == ["one", "two"]
    assert {name: one["command"] for name, one in meta["sets"].items()} == {
        "one": "third", "two": "second",
    }  # fmt: skip
    with pytest.raises(DamagedResults, match="other columns"):
        add("two", [2000], column="other")


def test_an_unknown_claim_is_a_wrong_command(toy, run):
    status, _, err = run(toy, "decide", "toy-worse")
    assert (status, "toy-much-better" in err) == (2, True)


def test_damaged_rows_are_said(toy, tmp_path, run):
    run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    (tmp_path / "primary" / "toy-figure2" / "nearby.csv.gz").write_bytes(b"not this")
    status, _, err = run(toy, "decide", "toy-better")
    assert (status, "cannot be read" in err) == (1, True)
