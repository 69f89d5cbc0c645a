"""CONTRIBUTING's recipe for a figure is two files and one line, and it works as it stands."""

from __future__ import annotations

import csv
import os
import subprocess
import sys

import pytest

from tests.recipes import copy_with, recipe


@pytest.mark.slow
def test_adding_a_figure_is_two_files_and_one_line(tmp_path):
    added = recipe("Add a figure or table")
    assert sorted(added.files) == [
        "experiments/cegb_2017/cells/shares.py",
        "experiments/cegb_2017/figure9.py",
    ]
    copy_with(added, tmp_path, "experiments", "datasets", "algorithms", "results/expected")
    arguments = ["reproduce", "cegb-figure9", "--scale", "smoke", "--jobs", "1", "--out", "runs"]
    run = subprocess.run(
        [sys.executable, "-m", "experiments", *arguments, "--store", "store"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (rows,) = tmp_path.glob("runs/**/cegb-figure9/**/rows.csv")
    with rows.open() as file:
        found = list(csv.DictReader(file))
    assert [row["part"] for row in found[:6:2]] == ["test", "train", "valid"]
    assert all(0.8 < float(row["share"]) < 1 for row in found)  # nine digits of ten
    assert (rows.parent / "figure.png").stat().st_size > 1000
