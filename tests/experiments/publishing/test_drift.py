"""``check`` notices a change of a kernel's tie rule, and of a cost: shown on changed copies."""

import os
import shutil
import subprocess
import sys

import pytest

from experiments.running.provenance import ROOT
from tests.quick import QUICK

pytestmark = pytest.mark.slow

CHANGES = {
    # Ties between cuts go to the highest code instead of the lowest.
    "tie": (
        "algorithms/stumps/histograms.py",
        "    cut = np.int64(0)\n    while edges[cut] != best:\n        cut += 1\n",
        "    cut = np.int64(N_CODES - 1)\n    while edges[cut] != best:\n        cut -= 1\n",
    ),
    # A row pays for a feature every time it is asked for, not only the first time.
    "cost": (
        "algorithms/costs.py",
        "paid[first] += self.unit_price[bought]",
        "paid += self.unit_price[self.unit[features]]",
    ),
}

COLUMN = {"tie": "test_error", "cost": "prediction_ms"}
"""What at least each change moves."""


def changed_copy(folder, name):
    """Copy what `check` needs, with one line changed; the line must be there exactly once."""
    shutil.copytree(ROOT / "results" / "expected", folder / "results" / "expected")
    for package in ("algorithms", "datasets", "experiments"):
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    (folder / "tests" / "experiments").mkdir(parents=True)
    for file in ("__init__.py", "experiments/__init__.py", "experiments/one_panel.py"):
        shutil.copy(ROOT / "tests" / file, folder / "tests" / file)
    path, before, after = CHANGES[name]
    source = (folder / path).read_text(encoding="utf-8")
    assert source.count(before) == 1
    (folder / path).write_text(source.replace(before, after), encoding="utf-8")
    return folder


def start(tree, results):
    env = {**os.environ, "PYTHONPATH": str(tree)}
    if tree != ROOT:  # compiled from a changed source: of no use to anybody after the test
        env |= {"NUMBA_CACHE_DIR": str(tree / "compiled"), **QUICK}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.experiments.one_panel", str(results)],
        cwd=tree,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """Exit status and table of `check` on the tree as it is and on both copies, side by side."""
    folder = tmp_path_factory.mktemp("drift")
    running = {"as it is": start(ROOT, folder / "as it is")}
    for name in CHANGES:
        (folder / name).mkdir()
        running[name] = start(changed_copy(folder / name, name), folder / f"{name} results")
    found = {}
    for name, process in running.items():
        out, err = process.communicate(timeout=600)
        found[name] = process.returncode, out, err
    return found


def drifted(table):
    return {line.split()[1] for line in table.splitlines() if "DRIFT in" in line}


def test_as_it_is_there_is_no_drift(checks):
    status, table, errors = checks["as it is"]
    assert status == 0, errors
    assert drifted(table) == set()
    assert table.split()[:7] == [
        *("artefact", "column", "expected", "now", "tolerance", "rows", "verdict")
    ]


@pytest.mark.parametrize("name", list(CHANGES))
def test_a_change_is_caught(checks, name):
    status, table, errors = checks[name]
    assert status == 1, errors
    assert "Drift." in errors
    assert COLUMN[name] in drifted(table)


def test_a_cost_leaves_the_scores_alone(checks):
    _, table, _ = checks["cost"]
    assert drifted(table) == {"prediction_ms"}
