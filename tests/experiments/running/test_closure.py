"""Which sources a stored result depends on: along imports, and held to what really runs."""

import ast
import json
import os
import subprocess
import sys

import pytest

from algorithms.kernels import cache
from experiments.registry import discover
from experiments.running import closure
from experiments.running.closure import PACKAGES, ROOT

RUN_MODULES = sorted({artefact.run_cell.__module__ for artefact in discover()})


# --- what really runs ----------------------------------------------------------------------------


TRACED = {
    "experiments.adaptive_sampling_2014.cells.edge_difference": ["sampling-figure2:laminating"],
    "experiments.adaptive_sampling_2014.cells.gaussian_edges": [
        "sampling-figure1:adaptive_sampling"
    ],
    "experiments.adaptive_sampling_2014.cells.measure": ["sampling-table1:laminating"],
    "experiments.cronus_2012.cells.divisions": ["cronus-divisions:all"],
    "experiments.cronus_2012.cells.measure": [
        "cronus-figure2:cronus",
        "cronus-figure2:raykar_cascade",
        "cronus-figure2:and_or_cascade",
    ],
    "experiments.cronus_2012.cells.variants": ["cronus-choices:cronus"],
    "experiments.greedy_miser_2012.cells.methods": [
        "miser-figure1:greedy_miser",
        "miser-figure1:greedy_miser_early_exit",
        "miser-figure1:cronus",
    ],
    "experiments.greedy_miser_2012.cells.scenes": [
        "miser-figure3:svm_averaged_kernel",
        "miser-figure3:l1_raw_descriptors",
    ],
    "experiments.greedy_miser_2012.cells.stopwatch": ["miser-training-time:greedy_miser"],
    "experiments.greedy_miser_2012.cells.usage": ["miser-figure2:greedy_miser"],
    "experiments.greedy_miser_2012.cells.variants": ["miser-choices:greedy_miser"],
    "experiments.mddag_2012.cells.documents": ["mddag-figure3:mddag"],
    "experiments.mddag_2012.cells.measure": [
        "mddag-figure2:mddag",
        "mddag-figure2:viola_jones",
        "mddag-figure2:fcboost",
        "mddag-figure2:bourdev_cascade",
    ],
    "experiments.mddag_2012.cells.priced": ["mddag-costs:mddag", "mddag-costs:cegb"],
    "experiments.greedy_miser_2012.cells.divisions": ["miser-divisions:all"],
    "experiments.greedy_miser_2012.cells.scaling": ["miser-scale:greedy_miser"],
    "experiments.mddag_2012.cells.toy": ["mddag-figure1:mddag"],
    "experiments.mddag_2012.cells.variants": ["mddag-choices:mddag"],
    "experiments.cells.sample_images": ["sampling-figure3:sample_images"],
    "experiments.adaptive_sampling_2014.cells.trials": ["sampling-theorem1:laminating"],
    "experiments.adaptive_sampling_2014.cells.variants": ["sampling-choices:uniform_naive"],
    "experiments.cegb_2017.cells.measure": ["cegb-figure1:cegb"],
    "experiments.cegb_2017.cells.rivals": ["cegb-figure2:cegb", "cegb-figure2:budget_prune"],
    "experiments.cegb_2017.cells.segment": ["cegb-figure4:cegb"],
    "experiments.cegb_2017.cells.stopwatch": ["cegb-training-time:cegb"],
}
"""For each module that defines a ``run_cell`` cells of the smoke scale: artefact, algorithm."""


def test_every_module_that_defines_a_run_cell_is_traced():
    assert sorted(TRACED) == RUN_MODULES


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """What the cells of each module were seen to run."""
    folder, kernels = tmp_path_factory.mktemp("traced"), cache.cache_folder()
    result = subprocess.run(
        [
            *(sys.executable, "-m", "tests.experiments.running.traced_cell"),
            *(str(folder), json.dumps(TRACED)),
        ],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            # The same sources: kernels compiled once are enough.
            **({} if kernels is None else {"NUMBA_CACHE_DIR": str(kernels.parent)}),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"module"')]
    return {seen["module"]: seen for seen in map(json.loads, lines)}


@pytest.mark.slow
@pytest.mark.parametrize("module", TRACED)
def test_every_module_that_a_cell_runs_counts(module, traced):
    """Changing it changes the key of the cell; features are computed anew in the child."""
    seen = traced[module]
    start = module, seen["load"]
    counted = set().union(*(closure.closure(start, name) for name in seen["datasets"]))
    assert module in seen["modules"]
    # The list of data sets does not count: it says which module a name means, and that one does.
    assert set(seen["modules"]) - counted - {closure.LIST} == set()


# --- what cells may import -----------------------------------------------------------------------


def test_cells_import_nothing_that_draws():
    """Of the experiments only what a cell is and measures, simulations, methods, other cells."""
    own = [ROOT / "experiments" / name for name in ("cells", "methods")]
    folders = [*own, *(ROOT / "experiments").glob("*/cells")]
    assert len(folders) > 1
    for path in (path for folder in folders for path in folder.glob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in closure.imports(module):
            if name.startswith("experiments."):
                allowed = name.partition(".")[2] in ("cell", "data_kinds", "evaluate")
                room = {"cells", "methods"} & set(name.split(".")[1:3])
                assert allowed or room, f"{module} imports {name}"
        assert "matplotlib" not in path.read_text(encoding="utf-8"), module


def test_no_cell_can_run_the_table_of_estimators():
    """A new estimator leaves the results of all others as they are."""
    for module in RUN_MODULES:
        for load in ("datasets.loading", "datasets.features.loading"):
            reached = closure.closure((module, load), "mnist")
            assert not [name for name in reached if name.startswith("algorithms.registry")]


def test_no_name_or_colour_of_a_method_counts():
    """Neither for figures, nor for trials of ``compare`` and the leaderboard."""
    trials = ["experiments.compare.trials", "experiments.leaderboard.trials"]
    for module in [*RUN_MODULES, *trials, "experiments.methods.table"]:
        assert "experiments.looks" not in closure.closure((module,), "mnist"), module


def test_packages_hold_imports_only():
    """So that an ``__init__.py`` need not count where no name is asked of it."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("__init__.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                plain = isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
                assert plain or ast.unparse(node).startswith("__all__"), path


def test_nothing_that_cells_run_is_imported_by_a_computed_name():
    """A name that is computed cannot be followed; the digest of the families only reads sources."""
    names = {
        name
        for module in RUN_MODULES
        for load in ("datasets.loading", "datasets.features.loading")
        for name in closure.closure((module, load), "mnist")
    }
    texts = {name: ast.unparse(closure.code_of(name)) for name in names}
    assert len(names) > 100
    assert {
        name for name, text in texts.items() if "import_module(" in text or "__import__(" in text
    } == {"datasets.features.families"}


# --- the rules, on a small tree ------------------------------------------------------------------

TREE = {
    "algorithms/__init__.py": "",
    "algorithms/boosting.py": "from .trees.grower import grow\nfrom . import costs\n",
    "algorithms/costs.py": "import numpy\n",
    "algorithms/trees/__init__.py": "from .penalty import price\n",
    "algorithms/trees/grower.py": "def grow():\n    from ..metrics import score\n",
    "algorithms/trees/penalty.py": "price = 1\n",
    "algorithms/metrics.py": "if TYPE_CHECKING:\n    from .unused import nothing\n",
    "algorithms/unused.py": "",
    "algorithms/pricing.py": "from algorithms.trees import price\n",
    "datasets/__init__.py": "",
    "datasets/loading.py": "from datasets import registered\n",
    "datasets/registered.py": "from datasets import covertype, mnist\n",
    "datasets/covertype.py": "import datasets.splits\n",
    "datasets/mnist.py": "",
    "datasets/splits.py": "",
    "datasets/prices.csv": "1",
    "experiments/paper/cells/measure.py": "from algorithms.boosting import boost\nimport toys\n",
}
CELL = ("experiments.paper.cells.measure", "datasets.loading", "covertype")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Write :data:`TREE`; edits of it are seen at the next call, as a new process would."""
    caches = closure.contents, closure._read, closure.sources_hash

    def forget():
        for cached in caches:
            cached.cache_clear()

    def edit(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        forget()

    monkeypatch.setattr(closure, "ROOT", tmp_path)
    for path, text in TREE.items():
        edit(path, text)
    yield edit
    forget()


def test_imports_are_followed(tree):
    assert closure.closure(CELL[:2], CELL[2]) == {
        "experiments.paper.cells.measure",
        "algorithms.boosting",
        "algorithms.trees.grower",
        "algorithms.costs",
        "algorithms.metrics",
        "datasets.loading",
        "datasets.covertype",
        "datasets.splits",
    }
    through_package = closure.closure(("algorithms.pricing",), "covertype")
    assert through_package == {"algorithms.pricing", "algorithms.trees", "algorithms.trees.penalty"}


@pytest.mark.parametrize(
    "path",
    [
        "experiments/paper/cells/measure.py",
        "algorithms/trees/grower.py",
        "algorithms/metrics.py",
        "datasets/splits.py",
        "datasets/prices.csv",
    ],
)
def test_an_edit_of_what_counts_changes_the_hash(tree, path):
    before = closure.sources_hash(*CELL)
    tree(path, TREE[path] + "\nnew = 2\n")
    assert closure.sources_hash(*CELL) != before
    tree(path, TREE[path])
    assert closure.sources_hash(*CELL) == before


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("algorithms/unused.py", "new = 2\n"),
        ("algorithms/trees/penalty.py", "price = 2\n"),
        ("datasets/mnist.py", "new = 2\n"),
        ("datasets/registered.py", "from datasets import covertype, digits, mnist\n"),
        ("algorithms/costs.py", '"""What is paid."""\nimport numpy  # always\n'),
        ("experiments/paper/figure1.py", "title = 2\n"),
    ],
)
def test_an_edit_elsewhere_computes_nothing(tree, path, text):
    before = closure.sources_hash(*CELL)
    tree(path, text)
    assert closure.sources_hash(*CELL) == before


def test_contents_are_those_of_the_first_look(tree):
    before = closure.sources_hash(*CELL)
    (closure.ROOT / "algorithms" / "costs.py").write_text("new = 2\n")
    other = closure.sources_hash("algorithms.boosting", "datasets.loading", "covertype")
    assert closure.sources_hash(*CELL) == before
    tree("algorithms/costs.py", "new = 2\n")
    assert closure.sources_hash("algorithms.boosting", "datasets.loading", "covertype") != other


def test_a_toy_of_a_test_counts_itself():
    counted = closure.closure(("tests.experiments.toy_cells",), "nearby")
    assert counted == {"tests.experiments.toy_cells"}
    counted = closure.closure(("tests.experiments.toy_artefact",), "nearby")
    assert {"tests.experiments.toy_artefact", "experiments.artefact"} <= counted
