"""What README.md and docs/compare.md show about comparing runs."""

import json
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier
from experiments.cli import main
from experiments.compare import command
from experiments.running.provenance import ROOT
from tests.experiments.compare.test_comparison import InThisProcess


def blocks(file, heading, language="python"):
    """Code of a language below a heading, up to the next one."""
    text = (ROOT / file).read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    shown = re.findall(r"^```(\w*)\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)
    return [code for name, code in shown if name == language]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(command, "Workers", InThisProcess)
    return tmp_path


def test_the_readme_and_a_method_of_ones_own(here, capsys):
    (code,) = blocks("README.md", "Compare on your own data")
    exec(code, {})
    (shell,) = blocks("README.md", "Compare on your own data", "")
    arguments = shell.split()[3:]
    (method,) = blocks("docs/compare.md", "A method of your own")
    (here / "my_methods.py").write_text(method)
    assert len(method.splitlines()) <= 24
    assert arguments[:2] == ["compare", "cells.csv"]
    arguments[arguments.index("--budgets") + 1] = "20"  # two draws find no cheap model
    less = ["--trials", "2", "--rounds", "3", "--only", "cegb", "--json"]
    try:
        status = main(
            [*arguments, *less, "--method", "my_methods:CheapestFirst"], types.SimpleNamespace()
        )
    finally:
        sys.modules.pop("my_methods", None)
    assert status == 0
    table = json.loads(capsys.readouterr().out)["table"]
    assert {line["method"] for line in table} == {"cegb", "my_methods:CheapestFirst"}
    assert (here / "comparison" / "picture.png").is_file()


@pytest.mark.slow
def test_the_example_in_scikit_learns_manner(capsys):
    (code,) = blocks("docs/compare.md", "In scikit-learn's manner")
    exec(code, {})
    assert "tradeoff" in capsys.readouterr().out


def test_the_test_to_copy(here):
    rows = pd.DataFrame({"age": np.arange(100.0), "ill": np.arange(100) >= 50})
    rows.to_csv("held_out.csv", index=False)
    model = CEGBClassifier(feature_costs=[1.0]).fit(rows[["age"]], rows["ill"])
    model.save("model.zip")
    (code,) = blocks("docs/compare.md", "Fail a build when accuracy or cost drifts")
    names = {}
    exec(code.replace("cost_aware_boosting.", "algorithms."), names)  # of the wheel
    names["test_budget"]()
    rows.assign(ill=~rows["ill"]).to_csv("held_out.csv", index=False)
    with pytest.raises(AssertionError, match=r"below min_score=0\.95"):
        names["test_budget"]()


def test_the_price_list_of_the_page(here):
    from experiments.compare.tables import read_prices

    (text,) = blocks("docs/compare.md", "The price list", "")
    (here / "costs.csv").write_text(text)
    prices = read_prices(here / "costs.csv", ["age", "TSH", "T3"])
    assert prices.group_costs == {"age": 0.0, "drawing blood": 2.1}
    assert prices.feature_costs.tolist() == [1.0, 20.68, 9.31]
