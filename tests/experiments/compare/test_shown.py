"""A user's names in the picture, in the summary and on the terminal."""

import json
import os
import types
import warnings

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.compare import command
from tests.experiments.compare.test_comparison import InThisProcess


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Compare on a table whose target and file have a name; return what is printed."""
    monkeypatch.setattr(command, "Workers", InThisProcess)

    def compare(*arguments, target="y", file="table.csv", columns=()):
        X = np.random.default_rng(0).normal(size=(100, 2)).round(3)
        table = pd.DataFrame(X, columns=["a", "b"]).assign(**dict(columns))
        table.assign(**{target: (X[:, 0] > 0).astype(int)}).to_csv(tmp_path / file, index=False)
        given = [str(tmp_path / file), "--target", target, "--out", str(tmp_path / "out")]
        given += ["--budgets", "5", "--only", "gbrt", "--trials", "1", "--rounds", "2"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert main(["compare", *given, *arguments], types.SimpleNamespace()) == 0
        return capsys.readouterr()

    return compare


@pytest.mark.parametrize("name", ["m$__net_$", "$\\frac$", "\u76ee\u6807"])
def test_names_are_no_formulas(run, tmp_path, name):
    printed = run("--unit", name, target=name, file=f"{name.replace('/', '')}.csv").out
    assert printed.count(name) >= 2 or "\\" in name
    assert (tmp_path / "out" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_names_that_are_no_utf8(run):
    name = os.fsdecode(b"caf\xe9")
    assert "caf\ufffd.csv: classification" in run("--unit", name, file=f"{name}.csv").out


def test_what_was_left_out_is_said(run):
    text = run(columns={"Unnamed: 0": np.arange(100)}.items()).out
    assert "Note: 'Unnamed: 0' of table.csv had no name when it was written, and is left" in text
    answer = json.loads(run("--json", columns={"id": np.arange(100)}.items()).out)
    assert answer["notes"][0].startswith("'id' looks like numbers of the rows")
