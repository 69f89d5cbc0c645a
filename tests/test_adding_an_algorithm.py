"""CONTRIBUTING's recipe for an algorithm works as it stands, and keeps what all promise."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.recipes import copy_with, recipe

GUARDS = (
    "tests/algorithms/estimators",
    "tests/algorithms/registry",
    "tests/algorithms/validation",
    "tests/benchmarks/test_suite.py",
    "tests/test_annotations.py",
    "tests/test_docstrings.py",
    "tests/test_layers.py",
    "tests/test_priced_stump.py",
)


@pytest.mark.slow
def test_adding_an_algorithm_is_three_files_and_some_lines(tmp_path):
    added = recipe("Add an algorithm")
    assert sorted(added.files) == [
        f"{folder}priced_stump.py" for folder in ("algorithms/", "reference/", "tests/test_")
    ]
    house = ("algorithms", "benchmarks", "datasets", "experiments", "library", "reference", "tests")
    copy_with(added, tmp_path, *house)
    written = [*added.files, *(path for path, _ in added.changes)]
    chosen = "priced_stump or PricedStump or layers or annotations or catalogue or line"
    for *command, least in (
        ("-m", "ruff", "check", *written, 0),
        ("-m", "ruff", "format", "--check", *written, 0),
        ("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", 0),
        ("-m", "pytest", "-q", "-p", "no:cacheprovider", *GUARDS, "-k", chosen, 100),
    ):
        run = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        passed = re.search(r"(\d+) passed", run.stdout)
        assert int(passed[1] if passed else 0) >= least
