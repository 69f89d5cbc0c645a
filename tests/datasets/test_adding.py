"""CONTRIBUTING's recipe for a data set is two files and one line, and it works as it stands."""

import os
import re
import subprocess
import sys

import pytest

from tests.recipes import copy_with, recipe


@pytest.mark.slow
def test_adding_a_data_set_is_two_files_and_one_line(tmp_path):
    added = recipe("Add a data set")
    assert sorted(added.files) == ["datasets/rings.py", "tests/datasets/test_rings.py"]
    copy_with(added, tmp_path, "datasets", "tests/datasets")
    own = ["tests/datasets/test_rings.py", "tests/datasets/test_datasets.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *own, "-k", "rings"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) >= 2  # its own, and one of every set
