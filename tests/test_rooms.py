"""Which room of algorithms/ may ask which, read from the sources: down only, one family a room."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

OTHERS = "every other module at the top of algorithms/"
# From the ground up: rooms, and the modules at the top of algorithms/ that others import.
ORDER = (
    "validation",
    "kernels",
    "grid",
    "metrics",
    "costs",
    "trees",
    "losses",
    "lambdarank",
    "boosting",
    "forest_costs",
    "edge_models",
    "sample_sizes",
    "estimators",
    "stumps",
    "cost_meter",
    "distributed",
    "boosted_trees",
    "gbrt",
    "cegb",
    "greedy_miser",
    "adaptive_sampling",
    "feature_sampling",
    "adaboost_mh",
    "interop",
    "exits",
    "reweighted_trees",
    "stump_cascades",
    "decision_dag",
    "forests",
    "budget_forest",
    OTHERS,
    "exporting",
    "pipelines",
    "selection",
    "on_demand",
    "registry",
)
# Rooms of one family, and its modules at the top of algorithms/.
FAMILIES = {
    "reweighted_trees": {"cronus", "raykar_cascade", "and_or_cascade"},
    "stump_cascades": {"viola_jones", "fcboost", "bourdev_cascade"},
    "decision_dag": {"mddag"},
    "forests": {"budget_forest", "budget_prune"},
}


def rooms(folder: Path) -> set[str]:
    """Folders of algorithms/ that hold code."""
    return {path.parent.name for path in (folder / "algorithms").glob("*/*.py")}


def asked(path: Path, package: tuple[str, ...]) -> Iterator[str]:
    """Rooms and top modules that a module's relative imports name, wherever they stand."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            place = [part for part in base if part][1:]
            yield from place[:1] or [alias.name for alias in node.names]


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file, its room or top module, the other one it asks for)."""
    for path in sorted((folder / "algorithms").rglob("*.py")):
        inside = path.relative_to(folder).with_suffix("").parts
        for other in asked(path, inside[:-1]):
            if other != inside[1]:
                yield path.relative_to(folder).as_posix(), inside[1], other


def height(name: str) -> int:
    """Place in the order, from the ground."""
    return ORDER.index(name if name in ORDER else OTHERS)


def upward(folder: Path) -> list[str]:
    """Name each import that does not run from a higher place to a lower one."""
    return [f"{file} asks {b}" for file, a, b in imports(folder) if height(a) <= height(b)]


def strangers(folder: Path) -> list[str]:
    """Name each import of a family's room by neither its own family nor a shared room above."""
    return [
        f"{file} asks {b}, the room of {', '.join(sorted(FAMILIES[b]))}"
        for file, a, b in imports(folder)
        if b in FAMILIES
        and a not in FAMILIES[b]
        and (a in FAMILIES or a not in rooms(folder) or height(a) <= height(b))
    ]


def test_every_room_has_its_place():
    assert rooms(ROOT) <= {*ORDER}
    modules = {path.stem for path in (ROOT / "algorithms").glob("*.py")}
    assert {*ORDER} - {OTHERS} - rooms(ROOT) <= modules
    assert len({*ORDER}) == len(ORDER)
    assert {*FAMILIES} < {*ORDER}
    assert set().union(*FAMILIES.values()) <= modules


def test_no_import_runs_upwards():
    assert len(list(imports(ROOT))) > 300
    assert upward(ROOT) == []


def test_one_family_a_room():
    assert strangers(ROOT) == []


@pytest.fixture
def house(tmp_path):
    """A small algorithms/ in which nothing is wrong, and a function that adds to it."""

    def add(file, line):
        path = tmp_path / "algorithms" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.read_text() if path.exists() else ''}{line}\n")
        return tmp_path

    for room in ("decision_dag", "exits", "kernels", "on_demand", "registry"):
        add(f"{room}/__init__.py", "")
    add("trees/grower.py", "from ..kernels.decorators import kernel\nfrom .splitter import best\n")
    add("costs.py", "import numpy\nfrom .validation.prices import labelled\n")
    add("mddag.py", "from . import costs\nfrom .decision_dag.estimator import DecisionDAGEstimator")
    add(
        "cronus.py",
        "from .reweighted_trees import mixed_norms\nfrom .exits.hard_cascade import walk",
    )
    add("on_demand/plans.py", "from ..decision_dag.walk import DecisionDAG")
    folder = add("registry/registered.py", "from .. import cronus, mddag")
    assert len(list(imports(folder))) == 9
    assert upward(folder) == []
    assert strangers(folder) == []
    return add


@pytest.mark.parametrize(
    ("file", "line", "other"),
    [
        ("costs.py", "from .trees.grower import grow", "trees"),
        ("trees/grower.py", "from .. import boosting", "boosting"),
        ("trees/deep/grower.py", "from ...estimators import files", "estimators"),
        ("kernels/cache.py", "def late():\n    from ..registry.registered import X", "registry"),
        ("exits/files.py", "from ..registry import registered", "registry"),
        ("exits/files.py", "if later:\n    from ..early_exit import EarlyExit", "early_exit"),
        ("cronus.py", "from .mddag import MDDAGClassifier", "mddag"),
        ("decision_dag/walk.py", "from ..mddag import MDDAGClassifier", "mddag"),
    ],
)  # fmt: skip
def test_an_import_that_runs_upwards_is_found(house, file, line, other):
    assert upward(house(file, line)) == [f"algorithms/{file} asks {other}"]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("cronus.py", "from .decision_dag.rewards import Cells"),
        ("early_exit.py", "from . import decision_dag"),
        ("reweighted_trees/pools.py", "def late():\n    from ..decision_dag import rewards"),
        ("exits/hard_cascade.py", "from ..decision_dag import walk"),
    ],
)
def test_an_import_from_another_familys_room_is_found(house, file, line):
    assert strangers(house(file, line)) == [
        f"algorithms/{file} asks decision_dag, the room of mddag"
    ]
