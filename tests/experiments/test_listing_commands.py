"""The commands ``list``, ``claims`` and ``warm-up``, and JSON of them and of ``data``."""

import json

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
    text = run(toy, "claims", "Toy-Figure2")[1]
    records = json.loads(run(toy, "claims", "--json", "Toy-Figure2")[1])
    assert records
    for record in records:
        assert record["artefact"] == "toy-figure2"
        assert f"  {record['claim']}: " in text
    unpublished = suite(tmp_path / "other")
    status, out, err = run(unpublished, "claims", "--json")
    assert (status, json.loads(out), "no rows yet" in err) == (0, [], True)


def test_warm_up_compiles_all(tmp_path, run, monkeypatch):
    monkeypatch.setattr("algorithms.registry.ahead.compile_all", lambda: 7)
    assert run(suite(tmp_path), "warm-up")[0] == 7
