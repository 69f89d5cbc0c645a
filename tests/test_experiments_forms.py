"""Cells that are given images, or features computed from them, instead of a table."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

import datasets
from experiments.artefact import LOADERS, Cell
from experiments.cli import main
from experiments.runner import find_data
from tests import toy_artefact
from tests.toy_artefact import make_toy, suite


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
    return find_data(cells, load, **given)[name]


def test_drawn_images_share_no_test_image():
    record = found(datasets.load_images, "mnist", 2)
    assert record["kind"] == "stand-in"
    assert len(set(record["checksums"].values())) == 2
    assert record["test_overlap"] == 0.0
    assert record["n_features"] == 784


def test_every_form_has_its_loader():
    assert all(callable(getattr(datasets, name)) for name in LOADERS.values())


def test_a_table_is_no_set_of_images():
    with pytest.raises(ValueError, match="covertype is no set of images"):
        datasets.load_images("covertype", scale="smoke")
