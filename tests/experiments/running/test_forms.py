"""Cells that are given images, or features computed from them, instead of a table."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

import datasets
from experiments import data_kinds
from experiments.artefact import LOADERS, Cell
from experiments.cli import main
from experiments.running.run import find_data
from tests.experiments import toy_artefact
from tests.experiments.toy_artefact import make_toy, suite

pytestmark = pytest.mark.usefixtures("cells_here")


def load_toy_images(name, *, scale, data, seed):
    """Real images: every seed's are the same."""
    return SimpleNamespace(
        train=np.arange(12, dtype=np.uint8).reshape(3, 2, 2),
        y_train=np.array([0, 1, 1]),
        y_test=np.array([0, 1]),
        n_features=4,
        cost_unit="coin",
        cost_origin="invented",
        provenance={"name": name, "kind": "real", "source": "cache", "checksum": "abc"},
    )


def brightness(cell, images):
    mean = float(images.train.mean())
    return [{"step": cell.params["step"], "part": 0, "score": mean}]


@pytest.mark.slow
def test_a_cell_is_given_images(tmp_path, monkeypatch):
    monkeypatch.setattr(toy_artefact.DATASETS, "load_images", load_toy_images, raising=False)
    toy = toy_artefact.with_run_cell(make_toy(sets=("nearby",)), brightness)
    toy = dataclasses.replace(toy, data_form="images")
    assert main(["reproduce", "all", "--jobs", "1", "--quiet"], suite(tmp_path, toy)) == 0
    folder = tmp_path / "runs" / "toy-figure2"
    assert "5.5" in (folder / "rows.csv").read_text().splitlines()[1]
    record = json.loads((folder / "meta.json").read_text())["data"]["nearby"]
    assert record["rows"] == {"train": 3, "test": 2}
    assert record["n_features"] == 4
    assert record["checksums"] == {"0": "abc", "1": "abc"}
    assert record["test_overlap"] == 1.0


def found(load, name, seeds):
    cells = [Cell(name, "laminating", {}, seed) for seed in range(seeds)]
    given = {"scale": "smoke", "data_mode": "auto", "unavailable": datasets.DataUnavailable}
    return find_data(cells, load, **given)[0][name]


def test_pictures_are_known_by_their_numbers_where_features_are_a_draws_own():
    def load(name, *, scale, data, seed):
        drawn = datasets.load("toy", scale="smoke", data="auto", seed=seed)
        numbers = np.arange(len(drawn.y_test)) + 250 * seed
        return dataclasses.replace(drawn, test_numbers=numbers)

    assert found(load, "toy", 2)["test_overlap"] == 0.75
    assert found(datasets.load, "toy", 2)["test_overlap"] == 0.0


def test_drawn_images_share_no_test_image():
    record = found(datasets.load_images, "mnist", 2)
    assert record["kind"] == "synthetic"
    assert len(set(record["checksums"].values())) == 2
    assert record["test_overlap"] == 0.0
    assert record["n_features"] == 784


def test_what_other_draws_have_different_is_said():
    record = found(datasets.load, "mq2008", 3)
    queries = [
        datasets.load("mq2008", scale="smoke", data="auto", seed=seed).provenance["queries"]
        for seed in range(3)
    ]
    assert record["queries"] == queries[0]
    assert record["other_draws"] == {"1": {"queries": queries[1]}, "2": {"queries": queries[2]}}
    assert len({str(drawn) for drawn in queries}) == 3


def test_draws_that_differ_in_nothing_but_their_rows_are_said_once():
    assert "other_draws" not in found(datasets.load, "digits", 2)


def test_every_form_has_its_loader():
    assert all(callable(getattr(datasets, name)) for name in LOADERS.values())


def test_a_table_is_no_set_of_images():
    with pytest.raises(ValueError, match="covertype is no set of images"):
        datasets.load_images("covertype", scale="smoke")


# --- simulations ----------------------------------------------------------------------------------


def toss(cell, nothing):
    assert nothing.n_features == 0
    rng = np.random.default_rng(cell.seed)
    gain = 0.3 if cell.algorithm == "better" else 0.0
    score = float(f"{rng.normal() + gain + 0.01 * cell.seed * gain:.6g}")
    return [{"step": cell.params["step"], "part": 0, "score": score}]


def simulation(**options):
    toy = toy_artefact.with_run_cell(make_toy(sets=(data_kinds.NAME,), **options), toss)
    return dataclasses.replace(toy, data_form="none")


@pytest.mark.slow
def test_a_simulation_reads_nothing_and_is_described(tmp_path, capsys):
    toys = suite(tmp_path, simulation(n_steps=1, n_seeds=5))
    assert main(["reproduce", "all", "--jobs", "1", "--quiet", "--publish"], toys) == 0
    said = capsys.readouterr().out
    assert "SYNTHETIC" not in said
    folder = tmp_path / "toy-figure2"
    record = json.loads((folder / "meta.json").read_text())["data"][data_kinds.NAME]
    assert (record["kind"], record["rows"], record["n_features"]) == ("no data", {}, 0)
    assert record["test_overlap"] == 0.0
    assert main(["report"], toys) == 0
    page = (tmp_path / "toy.html").read_text()
    assert "<td>no data</td>" in page


def test_a_simulation_in_the_plan(tmp_path, capsys):
    assert main(["reproduce", "all", "--dry-run"], suite(tmp_path, simulation())) == 0
    assert "simulation  nothing is read" in capsys.readouterr().out


def test_a_data_set_is_not_taken_for_a_simulation():
    with pytest.raises(ValueError, match="not 'mnist'"):
        data_kinds.load("mnist", scale="smoke", data="auto", seed=0)


# --- pictures that are not committed --------------------------------------------------------------


def draw(cell, dataset):
    row = {"step": cell.params["step"], "part": 0, "score": 1.0, "pixels": "x00ff00"}
    return [row]


def album(sets=("made_up",)):
    toy = toy_artefact.with_run_cell(make_toy(sets=sets), draw)
    return dataclasses.replace(toy, committed_picture=False, drawn_columns=("pixels",))


@pytest.mark.slow
def test_pictures_of_a_sets_own_images_stay_where_they_were_made(tmp_path, capsys):
    toys = suite(tmp_path, album())
    publish = ["reproduce", "all", "--jobs", "1", "--quiet", "--publish"]
    assert main(publish, toys) == 0
    assert "not published: " in capsys.readouterr().out
    run, published = tmp_path / "runs" / "toy-figure2", tmp_path / "toy-figure2"
    assert (run / "figure.png").exists()
    assert "x00ff00" in (run / "rows.csv").read_text()
    assert not list(published.glob("figure.*"))
    assert "pixels" not in (published / "rows.csv").read_text()
    assert main(["redraw"], toys) == 0  # nor does a redrawing bring them
    assert not list(published.glob("figure.*"))
    assert main(["report"], toys) == 0
    assert "results/runs/toy-figure2/figure.png" in (tmp_path / "toy.html").read_text()
    assert main(publish, toys) == 0
    assert "8 of 8 rows on the same data are identical to the published" in capsys.readouterr().out


@pytest.mark.slow
def test_a_published_picture_of_a_sets_own_images_is_refused(tmp_path, capsys):
    toys = suite(tmp_path, album())
    assert main(["reproduce", "all", "--jobs", "1", "--quiet", "--publish"], toys) == 0
    (tmp_path / "toy-figure2" / "figure.png").write_bytes(b"a picture")
    assert main(["report"], toys) == 1
    assert "remove figure" in capsys.readouterr().err


@pytest.mark.slow
def test_expected_values_hold_no_pixels(tmp_path):
    toys = suite(tmp_path, album())
    assert main(["check", "--update", "--jobs", "1", "--quiet"], toys) == 0
    assert "pixels" not in (tmp_path / "expected" / "toy-figure2.csv").read_text()
    assert main(["check", "--jobs", "1", "--quiet"], toys) == 0
