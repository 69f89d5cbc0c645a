"""``decide`` on the toy: fresh repetitions until a verdict, kept, and judged again."""

from __future__ import annotations

import dataclasses
import json
import lzma
import re
from pathlib import Path

import pandas as pd
import pytest

from experiments import registry
from experiments.cell import digest
from experiments.claims import storing
from experiments.claims.confirming import confirming, every_artefact
from experiments.claims.declared import (
    FIRST_SEED,
    Claim,
    Part,
    Reading,
    check_declared,
    discover,
    otherwise,
)
from experiments.publishing.output import DamagedResults
from experiments.setting import WrongSetting
from tests.experiments.toy_artefact import difference, make_toy, suite

CLAIMS = (
    Claim(
        "toy-better", "Better is better.", "section 1", "score", 0.1, "a tenth",
        (Part("toy-figure2", "nearby", difference),), looks=(3, 5),
    ),
    Claim(
        "toy-much-better", "Better is twenty better.", "section 1", "score", 0.01, "a hundredth",
        (Part("toy-figure2", "nearby", lambda rows: difference(rows) - 20.31),), looks=(3, 5),
    ),
)  # fmt: skip


@pytest.fixture
def toy(tmp_path):
    made = suite(tmp_path, make_toy(n_steps=1))
    return dataclasses.replace(made, claims={"toy": CLAIMS})


def test_fresh_repetitions_are_run_kept_and_judged(toy, tmp_path, run):
    status, out, _ = run(toy, "decide", "--jobs", "1", "--quiet")
    assert status == 0
    assert "✓ reproduced: toy-better" in out
    assert "toy-figure2: 3 repetitions of nearby" in out
    table = pd.read_csv(tmp_path / "primary_claims.csv")
    assert table["claim"].tolist() == ["toy-better", "toy-much-better"]
    assert table["verdict"][0] == "reproduced"
    rows = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz")
    assert sorted(set(rows["seed"])) == [FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2]
    assert set(rows["dataset"]) == {"nearby"}
    assert storing.measured(tmp_path, ["toy-figure2"])["toy-figure2"]["nearby", "overnight"] > 0
    # The second is not decided by three: only it asks for more, and then no more is run.
    before = (tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz").read_bytes()
    status, out, _ = run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    assert (status, "repetitions of nearby" in out) == (0, False)
    assert (tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz").read_bytes() == before
    # More of them hardly would: they are run where the claim itself is named.
    run(toy, "decide", "toy", "--jobs", "1", "--quiet")
    assert (tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz").read_bytes() == before
    run(toy, "decide", "much-better", "--jobs", "1", "--quiet")  # as boards print it
    rows = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz")
    assert rows["seed"].nunique() == 5


def test_a_set_with_enough_repetitions_is_not_run_again(toy, tmp_path, run):
    """A claim on two sets of which one was run before, in another checkout: no cell is stored."""
    parts = tuple(Part("toy-figure2", name, difference) for name in ("nearby", "licensed"))
    claims = (dataclasses.replace(CLAIMS[0], parts=parts),)
    run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    both = dataclasses.replace(toy, claims={"toy": claims})
    _, out, _ = run(both, "decide", "--dry-run")
    assert ("repetitions of nearby" in out, "3 repetitions of licensed" in out) == (False, True)
    later = (dataclasses.replace(claims[0], looks=(5,)),)
    _, out, _ = run(dataclasses.replace(toy, claims={"toy": later}), "decide", "--dry-run")
    assert "2 repetitions of nearby beside 3 that are kept" in out
    assert "5 repetitions of licensed" in out


# --- more repetitions, in another checkout --------------------------------------------------------

FOLDER = Path("primary") / "toy-figure2"
ALL_AGAIN = "All are run again, since the first does not come out as it is kept"


@pytest.fixture
def five(toy, tmp_path, run):
    """Decide by five repetitions into a folder; its rows, meta, what was said and cells made."""
    later = (dataclasses.replace(CLAIMS[0], looks=(5,)),)

    def decided(folder):
        other = dataclasses.replace(toy, claims={"toy": later}, results=folder)
        store = folder / "own_store"
        command = ("decide", "--jobs", "1", "--quiet", "--store", str(store))
        status, out, err = run(other, *command)
        assert status == 0, err
        meta = json.loads((folder / FOLDER / "meta.json").read_text())
        n_cells = len(list(store.rglob("*.jsonl")))
        return (folder / FOLDER / "nearby.csv.xz").read_bytes(), meta, out, n_cells

    return decided


@pytest.fixture
def three(toy, tmp_path, run):
    """A folder in which three repetitions are kept, as text to be changed, and their meta."""
    run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    path, meta_path = (tmp_path / FOLDER / name for name in ("nearby.csv.xz", "meta.json"))

    def change(rows=lambda text: text, **of_meta):
        path.write_bytes(lzma.compress(rows(lzma.decompress(path.read_bytes()).decode()).encode()))
        meta = json.loads(meta_path.read_text()) | of_meta
        for name, value in of_meta.items():
            meta["sets"]["nearby"][name] = value
        meta_path.write_text(json.dumps(meta))

    return change


def other_bits(text):
    """Change the twelfth decimal of the first score, which is of the first repetition."""
    return re.sub(r"(\.\d{11})(\d)", lambda m: f"{m[1]}{(int(m[2]) + 5) % 10}", text, count=1)


def test_kept_repetitions_are_gone_on_from(three, five, tmp_path):
    """The first is made again beside the new ones; what is kept is what all five would be."""
    rows, meta, out, n_cells = five(tmp_path)
    whole, whole_meta, _, n_whole = five(tmp_path / "elsewhere")
    assert (rows, n_cells, n_whole) == (whole, 2 * 3, 2 * 5)
    assert ALL_AGAIN not in out
    of_set = meta["sets"]["nearby"]
    seeds = list(range(FIRST_SEED, FIRST_SEED + 5))
    assert (of_set["seeds"], of_set["made_again"], meta["seeds"]) == (seeds, seeds[:1], seeds)
    assert [one["seeds"] for one in of_set["earlier"]] == [seeds[:3]]
    assert of_set["timed_repetitions"] == 3
    assert meta["data"] == whole_meta["data"]
    assert storing.measured(tmp_path, ["toy-figure2"])["toy-figure2"]["nearby", "overnight"] > 0


@pytest.mark.slow
def test_all_are_run_again_where_the_first_has_other_bits(three, five, tmp_path):
    """What sources or libraries changed since then must not be mixed."""
    three(other_bits)
    rows, meta, out, n_cells = five(tmp_path)
    assert f"{ALL_AGAIN}: rows have other bits" in out
    assert (rows, n_cells) == (five(tmp_path / "new")[0], 2 * 5)
    assert "earlier" not in meta["sets"]["nearby"]


def test_another_processor_may_differ_as_check_allows(three, five, tmp_path):
    three(other_bits, processor="another")
    _, meta, out, n_cells = five(tmp_path)
    assert (ALL_AGAIN in out, n_cells) == (False, 2 * 3)
    assert meta["sets"]["nearby"]["earlier"][0]["processor"] == "another"
    assert meta["sets"]["nearby"]["processor"] != "another"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda text: text.replace(",0.", ",1.", 1), "score was 1."),
        (lambda text: re.sub(r"\n[^\n]*", "", text, count=1), "1 rows are new"),
        (
            lambda text: re.sub(r"\n", ",0\n", text).replace("score,0", "score,more"),
            "other columns",
        ),
    ],
)
def test_another_value_row_or_column_is_said(three, five, tmp_path, rows, said):
    three(rows, processor="another")
    _, meta, out, n_cells = five(tmp_path)
    assert (f"{ALL_AGAIN}: " in out, said in out, n_cells) == (True, True, 2 * 5)
    assert "earlier" not in meta["sets"]["nearby"]


def test_other_data_are_said(three, five, tmp_path):
    path = tmp_path / FOLDER / "meta.json"
    path.write_text(path.read_text().replace(f"-{FIRST_SEED}", "-another"))
    assert f"{ALL_AGAIN}: its data have another checksum" in five(tmp_path)[2]


@pytest.mark.parametrize("paper", [registry.short_name(paper) for paper in registry.PAPERS])
def test_cells_of_kept_repetitions_and_new_ones_are_those_of_all(paper):
    """Of each set: nothing is left out but what is kept, and the first of that is made again."""
    by_id = {artefact.id: artefact for artefact in registry.discover()}

    def cells(part, *repetitions):
        n, *kept = repetitions
        made = confirming(by_id[part.artefact], n, [part.dataset], *kept, wants=part.wants)
        return {digest(cell.to_json()) for cell in made.cells(part.scale)}

    parts = [part for claim in discover()[paper] for part in claim.parts]
    for part in {(part.artefact, part.dataset): part for part in parts}.values():
        first, ten, twenty, more = (cells(part, *n) for n in ((1,), (10,), (20,), (20, 10)))
        assert more | ten == twenty, part
        assert more & ten == first & ten, part
        assert 0 < len(more & ten) <= len(ten) / 5, part


def test_cells_whose_rows_nobody_wants_are_not_run(toy, tmp_path, run):
    def wants(cell):
        return cell.algorithm == "better"

    def mean(rows):
        return rows.groupby("seed")["score"].mean().to_numpy()

    claim = dataclasses.replace(
        CLAIMS[0], parts=(Part("toy-figure2", "nearby", mean, wants=wants),)
    )
    asked = dataclasses.replace(toy, claims={"toy": (claim,)})
    run(asked, "decide", "--jobs", "1", "--quiet")
    some = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz")
    assert set(some["algorithm"]) == {"better"}
    with pytest.raises(ValueError, match="kinds of cells"):
        check_declared((claim, CLAIMS[1]))


def test_a_reading_by_other_parameters_is_run_and_kept_apart(toy, tmp_path, run):
    part = otherwise(CLAIMS[0].parts[0], ["better.fail_at=7"])
    read = dataclasses.replace(CLAIMS[0], readings=(Reading("never fails", "why", (part,), n=3),))
    toy = dataclasses.replace(toy, claims={"toy": (read,)})
    run(toy, "decide", "--jobs", "1", "--quiet")
    _, out, _ = run(toy, "claims")
    assert "never fails: not run yet, about" in out
    status, out, err = run(toy, "decide", "--readings", "--jobs", "1", "--quiet")
    assert status == 0, err
    assert "toy-figure2@better.fail_at=7: 3 repetitions of nearby" in out
    meta = json.loads(
        (tmp_path / "primary" / "toy-figure2@better.fail_at=7" / "meta.json").read_text()
    )
    assert meta["set"] == {"better": {"fail_at": 7}}
    kept = pd.read_csv(tmp_path / "primary" / meta["id"] / "nearby.csv.xz")
    assert set(kept["algorithm"]) == {"better"}  # what it is compared with is the claim's own
    assert meta["command"] == "python -m experiments decide --readings"
    table = pd.read_csv(tmp_path / "primary_readings.csv")
    assert table[["reading", "n", "verdict"]].values.tolist() == [["never fails", 3, "reproduced"]]
    choices = tuple(Reading(str(k), f"why {k // 2}", (part,)) for k in range(8))
    check_declared((dataclasses.replace(read, readings=choices[:6]),))  # two of each choice
    with pytest.raises(ValueError, match="readings of at most 3 choices"):
        check_declared((dataclasses.replace(read, readings=choices),))
    wrong = dataclasses.replace(part, artefact="toy-figure2@better.fail=7")
    wrong = dataclasses.replace(read, readings=(Reading("wrong", "why", (wrong,)),))
    with pytest.raises(WrongSetting, match="has no parameter fail of better"):
        every_artefact({"toy": (wrong,)}, toy.registry.artefacts)


def test_a_dry_run_runs_nothing(toy, tmp_path, run):
    status, out, _ = run(toy, "decide", "--dry-run")
    assert (status, "nothing was run" in out) == (0, True)
    assert not (tmp_path / "primary").exists()


def test_cells_have_the_declared_scale(toy, tmp_path, run):
    parts = (dataclasses.replace(CLAIMS[0].parts[0], scale="smoke"),)
    claims = (dataclasses.replace(CLAIMS[0], parts=parts),)
    run(dataclasses.replace(toy, claims={"toy": claims}), "decide", "--jobs", "1", "--quiet")
    meta = json.loads((tmp_path / "primary" / "toy-figure2" / "meta.json").read_text())
    assert meta["scale"] == "smoke"


@pytest.mark.parametrize("judged", [True, False])
def test_times_that_no_claim_reads_are_not_kept(toy, tmp_path, run, judged):
    measured = {"tolerances": {}, "timing_columns": ("score",), "judged_by_times": judged}
    artefact = dataclasses.replace(make_toy(n_steps=1), **measured)
    asked = dataclasses.replace(toy, registry=registry.Registry((artefact,)))
    _, out, err = run(asked, "decide", "--jobs", "1", "--quiet")
    rows = pd.read_csv(tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz")
    assert ("score" in rows) == judged
    assert ("✓ reproduced: toy-better" in out) == judged
    assert judged or "lack 'score', which its effects" in err


def test_times_are_kept_with_six_digits_and_all_else_as_it_is(tmp_path):
    rows = pd.DataFrame({"dataset": "one", "seed": [2000, 2001, 2002]})
    rows = rows.assign(score=[1 / 3, 2 / 3, 1.0], fit_seconds=[1 / 3, 20_000 / 3, None])
    meta = {"data": {"one": {}}, "timing_columns": ["fit_seconds"]}
    storing.add(tmp_path, "toy-figure2", "one", storing.Made(rows, meta, 1.0))
    kept, _ = storing.read(tmp_path, ["toy-figure2"])["toy-figure2"]
    assert kept["score"].tolist() == [1 / 3, 2 / 3, 1.0]
    assert kept["fit_seconds"].tolist()[:2] == [0.333333, 6666.67]
    assert kept["fit_seconds"].isna().tolist() == [False, False, True]


def test_sets_are_kept_beside_each_other(tmp_path):
    """A set that is run takes the place of its own earlier rows alone."""

    def add(dataset, seeds, column="score", **meta):
        rows = pd.DataFrame({"dataset": dataset, "seed": seeds, column: [s / 7 for s in seeds]})
        record = {"data": {dataset: {"kind": "real"}}, **meta}
        storing.add(tmp_path, "toy-figure2", dataset, storing.Made(rows, record, 1.0))

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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("toy-worse", "There are: other, other-better, toy, toy-better, toy-much-better."),
        ("worse", "There are: other, other-better, toy, toy-better, toy-much-better."),
        ("better", "Several papers have a claim 'better': say toy-better or other-better."),
    ],
)
def test_an_unknown_claim_is_a_wrong_command(toy, run, name, said):
    claims = {"toy": CLAIMS, "other": (dataclasses.replace(CLAIMS[0], id="other-better"),)}
    both = dataclasses.replace(toy, claims=claims)
    status, _, err = run(both, "decide", name)
    assert (status, said in err) == (2, True)
    (once,) = {
        run(both, "decide", one, "--dry-run")[1].partition(":")[2].splitlines()[0]
        for one in ("much-better", "toy-much-better")
    }
    assert once.startswith(" toy-much-better")


def test_damaged_rows_are_said(toy, tmp_path, run):
    run(toy, "decide", "toy-better", "--jobs", "1", "--quiet")
    (tmp_path / "primary" / "toy-figure2" / "nearby.csv.xz").write_bytes(b"not this")
    status, _, err = run(toy, "decide", "toy-better")
    assert (status, "cannot be read" in err) == (1, True)
