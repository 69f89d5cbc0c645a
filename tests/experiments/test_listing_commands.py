"""The commands ``list``, ``claims`` and ``warm-up``, and JSON of them and of ``data``."""

import dataclasses
import json

import pandas as pd
import pytest

from experiments.running.provenance import ROOT
from tests.experiments.claims.test_command import CLAIMS
from tests.experiments.toy_artefact import suite


def test_json_says_what_the_text_says(tmp_path, run):
    toy = suite(tmp_path, n_seeds=5, n_steps=1)
    (artefact,) = json.loads(run(toy, "list", "--json")[1])
    assert artefact["id"] == "toy-figure2"
    assert artefact["minutes"]["laptop"] == 0.2
    assert artefact["cells"]["laptop"] == len(toy.registry.artefacts[0].cells("laptop"))
    for arguments in (("data", "--json"), ("data", "list", "--json")):
        assert json.loads(run(toy, *arguments)[1]) == toy.datasets.status()
    assert run(toy, "data", "fetch", "NEARBY")[0] == 0
    assert run(toy, "reproduce", "TOY", "--jobs", "1", "--quiet", "--publish")[0] == 0
    assert "reproduce toy --scale" in (tmp_path / "toy-figure2" / "meta.json").read_text()
    toy = dataclasses.replace(toy, claims={"toy": CLAIMS})
    text = run(toy, "claims")[1]
    records = json.loads(run(toy, "claims", "--json", "toy")[1])
    assert [record["claim"] for record in records] == [one.id for one in CLAIMS]
    for record in records:
        assert f"{record['verdict']}: {record['claim']}, δ = {record['delta']:g}" in text
    (record,) = json.loads(run(toy, "claims", "--json", CLAIMS[0].id)[1])
    assert record == records[0]
    assert run(toy, "claims", "nonsense")[0] == 2


def test_effects_of_claims_are_in_their_unit(run):
    """As ``primary_claims.csv`` has them, where a page has units of δ."""
    table = pd.read_csv(ROOT / "results" / "primary_claims.csv").set_index("claim")
    for record in json.loads(run(None, "claims", "--json")[1]):
        row = table.loc[record["claim"]]
        for name in ("effect", "low", "high"):
            assert record[name] == pytest.approx(row[name])
        assert record["of_sets"] == pytest.approx([float(one) for one in row["of_sets"].split()])


def test_warm_up_compiles_all(tmp_path, run, monkeypatch):
    monkeypatch.setattr("algorithms.registry.ahead.compile_all", lambda: 7)
    assert run(suite(tmp_path), "warm-up")[0] == 7
