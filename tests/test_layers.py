"""Where files stand, and what they may import; who may import whom stands in pyproject.toml."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("reference", "algorithms", "datasets", "experiments", "benchmarks")
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


def without_twin(folder: Path) -> list[str]:
    """What stands at the top of algorithms/ and has no twin in reference/."""
    twins = {path.stem for path in (folder / "reference").rglob("*.py")}
    return [path.name for path in (folder / "algorithms").glob("*.py") if path.stem not in twins]


def test_the_top_of_algorithms_has_twins_and_rooms_only(tmp_path):
    assert without_twin(ROOT) == []
    for file in ("reference/cegb.py", "algorithms/cegb.py", "algorithms/trees/grower.py",
                 "algorithms/grower.py"):  # fmt: skip
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert without_twin(tmp_path) == ["grower.py"]


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
        for name in PACKAGES
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
        for name in (*PACKAGES, "tests")
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


@pytest.mark.slow
def test_an_import_that_runs_upwards_stops_the_linter(tmp_path):
    """The contracts are read, and none is empty."""
    for name in (*PACKAGES, "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    for path in (ROOT / "algorithms").rglob("*.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=False)
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    assert "9 kept, 0 broken" in run(command).stdout
    wrong = {
        "algorithms/costs.py": "def late():\n    from .trees import grower\n",
        "algorithms/trees/grower.py": "from ..registry import registered\n",
        "algorithms/cronus.py": "from .decision_dag import walk\n",
        "algorithms/parlour.py": "",
        "reference/trees.py": "import algorithms\n",
        "datasets/toy.py": "from experiments import cli\n",
    }
    for file, line in wrong.items():
        path = tmp_path / file
        before = path.read_text() if path.exists() else None
        path.write_text(line)
        assert run(command).returncode == 1, file
        path.unlink() if before is None else path.write_text(before)
