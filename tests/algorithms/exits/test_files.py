"""A wrapped model's class is found among those that registered themselves, and nowhere else."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import is_classifier

from algorithms.boosted_trees.estimator import BoostedTrees
from algorithms.early_exit import EarlyExit
from algorithms.estimators.files import known_classes
from algorithms.gbrt import GBRTRegressor
from algorithms.registry.registered import ESTIMATORS

MODELS = [cls for cls in ESTIMATORS if issubclass(cls, BoostedTrees)]


def around(cls):
    """An early exit from a small model."""
    X = np.arange(100.0).reshape(50, 2)
    model = cls(n_estimators=2, n_threads=1).fit(X, (X[:, 0] > 50).astype(int))
    rule = "likelihood" if is_classifier(model) else "proximity"
    return EarlyExit(model, rule=rule, threshold=0.9)


def test_all_boosted_trees_of_the_registry_are_known():
    known = known_classes(BoostedTrees)
    assert list(known) == sorted(cls.__name__ for cls in MODELS)
    assert all(known[cls.__name__] is cls for cls in MODELS)
    assert "BoostedTrees" not in known
    assert "BoostedRegressor" not in known


@pytest.mark.slow
def test_files_are_read_where_nothing_else_was_imported(tmp_path):
    for cls in MODELS:
        around(cls).save(tmp_path / cls.__name__)
    program = (
        "import sys\nfrom algorithms.early_exit import EarlyExit\n"
        f"for name in {[cls.__name__ for cls in MODELS]}:\n"
        f"    model = EarlyExit.load({str(tmp_path)!r} + '/' + name).model\n"
        "    assert type(model).__name__ == name\n"
        "print([name for name in sys.modules if 'algorithms.registry' in name])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_a_class_of_the_package_is_known_as_soon_as_it_is_there(tmp_path):
    attributes = {"__module__": "algorithms.my_algorithm", "__init__": GBRTRegressor.__init__}
    new = type("MyRegressor", GBRTRegressor.__bases__, attributes)
    around(new).save(tmp_path / "model")
    assert type(EarlyExit.load(tmp_path / "model").model) is new
    del new, attributes
    gc.collect()
    assert "MyRegressor" not in known_classes(BoostedTrees)
    with pytest.raises(ValueError, match="its model is of class MyRegressor, not one of CEGBCl"):
        EarlyExit.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["Mine", "GBRTRegressor"])
def test_a_class_of_somebody_else_is_not(tmp_path, name):
    mine = type(name, (GBRTRegressor,), {"__module__": "mine", "__init__": GBRTRegressor.__init__})
    with pytest.raises(ValueError, match=f"EarlyExit of a {name}: only these are saved with it"):
        around(mine).save(tmp_path / "model")
