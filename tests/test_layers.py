"""Who may import whom (DESIGN, section 2), read from the sources."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import test_rooms

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = {
    "reference": {"algorithms", "experiments", "datasets", "benchmarks", "tests"},
    "algorithms": {"reference", "experiments", "datasets", "benchmarks", "tests"},
    "datasets": {"reference", "algorithms", "experiments", "benchmarks", "tests"},
    "experiments": {"benchmarks", "tests"},
}
# Names that say nothing about what is inside.
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "tools"}


def imported_packages(source: str, package: str = "", relative: bool = True) -> set[str]:
    """Top-level packages that a module imports, wherever in the file.

    `package` is the module's own package, which relative imports start from; they are left out
    unless `relative`.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level and not relative:
                continue
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                found |= {base[0]} if base else {alias.name for alias in node.names}
            else:
                found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            if name in ("import_module", "__import__") and node.args:
                argument = node.args[0]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    found.add(argument.value.split(".")[0])
    return found


def violations(folder: Path, name: str, forbidden: set[str]) -> list[str]:
    """Name each file of a package that imports what it must not."""
    wrong = []
    for path in sorted((folder / name).rglob("*.py")):
        package = ".".join(path.relative_to(folder).parent.parts)
        for other in sorted(imported_packages(path.read_text("utf-8"), package) & forbidden):
            wrong.append(f"{path.relative_to(folder).as_posix()} imports {other}")
    return wrong


@pytest.mark.parametrize("name", list(FORBIDDEN))
def test_layers(name):
    assert len(list((ROOT / name).rglob("*.py"))) > 1
    assert violations(ROOT, name, FORBIDDEN[name]) == []


@pytest.mark.parametrize(
    "line",
    [
        "import algorithms",
        "import algorithms.trees.grower as g",
        "from algorithms import costs",
        "from algorithms.costs import prediction_cost",
        "def late():\n    from algorithms.cegb import CEGBRegressor",
        "try:\n    import algorithms\nexcept ImportError:\n    pass",
        "import importlib\nimportlib.import_module('algorithms.cegb')",
        "__import__('algorithms')",
        "from .. import algorithms",
        "import numpy, algorithms",
    ],
)
def test_the_guard_fires(tmp_path, line):
    (tmp_path / "reference" / "deep").mkdir(parents=True)
    (tmp_path / "reference" / "fine.py").write_text("import numpy\nfrom reference import trees\n")
    place = "reference/wrong.py" if ".." in line else "reference/deep/wrong.py"
    (tmp_path / place).write_text(line + "\n")
    assert violations(tmp_path, "reference", {"algorithms"}) == [f"{place} imports algorithms"]


def test_the_guard_lets_the_rest_pass(tmp_path):
    (tmp_path / "reference").mkdir()
    source = (
        '"""import algorithms"""\nfrom . import trees\nimport algorithms_of_old  # algorithms\n'
    )
    (tmp_path / "reference" / "fine.py").write_text(source)
    assert violations(tmp_path, "reference", {"algorithms"}) == []


def without_twin(folder: Path) -> list[str]:
    """What stands at the top of algorithms/ and is neither in reference/ nor a named room."""
    twins = {path.stem for path in (folder / "reference").rglob("*.py")}
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / "algorithms").iterdir())
        if (path.suffix == ".py" and path.stem not in twins)
        or (path.name not in test_rooms.ORDER and any(path.rglob("*.py")))
    ]


def test_the_top_of_algorithms_has_twins_and_rooms_only(tmp_path):
    assert without_twin(ROOT) == []
    for file in ("reference/__init__.py", "reference/cegb.py", "algorithms/__init__.py",
                 "algorithms/cegb.py", "algorithms/trees/grower.py", "algorithms/grower.py",
                 "algorithms/parlour/cegb.py"):  # fmt: skip
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert without_twin(tmp_path) == ["algorithms/grower.py", "algorithms/parlour"]


def absolute_imports(folder: Path, name: str) -> list[str]:
    """Files of a package that import it by its full name instead of relatively."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / name).rglob("*.py"))
        if name in imported_packages(path.read_text("utf-8"), relative=False)
    ]


def test_algorithms_import_each_other_relatively(tmp_path):
    """So that the same files can also ship under another name."""
    assert absolute_imports(ROOT, "algorithms") == []
    (tmp_path / "algorithms" / "trees").mkdir(parents=True)
    sources = {
        "fine.py": '"""from algorithms import costs"""\nfrom . import costs\n',
        "trees/fine.py": "from ..kernels.decorators import kernel\nimport numpy\n",
        "wrong.py": "from algorithms import costs\n",
        "trees/late.py": "def f():\n    import algorithms.costs\n",
        "trees/named.py": "import importlib\nimportlib.import_module('algorithms.costs')\n",
    }
    for file, source in sources.items():
        (tmp_path / "algorithms" / file).write_text(source)
    found = absolute_imports(tmp_path, "algorithms")
    assert found == [
        f"algorithms/{file}" for file in ("trees/late.py", "trees/named.py", "wrong.py")
    ]


def homeless_tests(folder: Path) -> list[str]:
    """Test files in tests/<package>/<room>/ for whose package there is no such room."""
    return [
        path.relative_to(folder).as_posix()
        for name in (*FORBIDDEN, "benchmarks")
        for path in sorted((folder / "tests" / name).rglob("*.py"))
        if not (folder / path.parent.relative_to(folder / "tests")).is_dir()
    ]


def test_tests_live_where_what_they_test_lives(tmp_path):
    assert homeless_tests(ROOT) == []
    for file in ("algorithms/trees/grower.py", "tests/algorithms/trees/test_grower.py",
                 "tests/algorithms/stumps/test_lanes.py", "tests/experiments/test_cli.py",
                 "tests/models/make.py", "tests/test_cegb.py"):  # fmt: skip
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert homeless_tests(tmp_path) == [
        "tests/algorithms/stumps/test_lanes.py",
        "tests/experiments/test_cli.py",
    ]


def badly_named(folder: Path) -> list[str]:
    """Modules and packages whose names say nothing."""
    return [
        path.relative_to(folder).as_posix()
        for name in (*FORBIDDEN, "benchmarks", "tests")
        for path in sorted((folder / name).rglob("*"))
        if (path.suffix == ".py" or path.is_dir()) and path.stem in EMPTY_NAMES
    ]


def test_no_module_without_a_proper_name(tmp_path):
    assert badly_named(ROOT) == []
    (tmp_path / "algorithms" / "helpers").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "utils.py").touch()
    assert badly_named(tmp_path) == ["algorithms/helpers", "tests/utils.py"]


def test_references_need_nothing_but_numpy():
    """NumPy, SciPy and the standard library: to be read beside a paper."""
    allowed = {"numpy", "scipy", "reference", "math", "dataclasses", "collections", "typing"}
    allowed |= {"fractions", "functools", "inspect", "itertools", "numbers", "types"}
    for path in sorted((ROOT / "reference").rglob("*.py")):
        assert imported_packages(path.read_text("utf-8"), "reference") <= allowed, path.name
