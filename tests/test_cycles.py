"""No module imports, even through others, what imports it: every picture of the house is a tree.

Imports inside functions and for type checkers count like any other.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from experiments.running.closure import statements

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("algorithms", "datasets", "experiments", "reference")


def modules_of(folder: Path, packages=PACKAGES) -> dict[str, Path]:
    """Modules by name; a package stands for its ``__init__.py``."""
    found = {}
    for package in packages:
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name: str, path: Path, modules: dict[str, Path]) -> set[str]:
    """Names of the modules that a file imports, wherever in it."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1]
                base = ".".join([*above, *filter(None, [base])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in modules else base)
    return found & modules.keys()


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """One circle, from a module back to it; empty if there is none."""
    done, path = set(), []

    def visit(name: str) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        path.append(name)
        for other in sorted(graph[name]):
            if found := visit(other):
                return found
        done.add(path.pop())
        return []

    for name in sorted(graph):
        if found := visit(name):
            return found
    return []


def circle_in(folder: Path, packages=PACKAGES) -> list[str]:
    """One circle among the modules of packages."""
    modules = modules_of(folder, packages)
    return cycle({name: imports_of(name, path, modules) for name, path in modules.items()})


def test_no_module_imports_itself_through_others():
    assert len(modules_of(ROOT)) > 100
    assert circle_in(ROOT) == []


def test_what_is_beyond_the_papers_comes_by_one_argument():
    modules = modules_of(ROOT, ["reference"])
    papers = [name for name in modules if not name.startswith("reference.beyond")]
    asked = set().union(*(imports_of(name, modules[name], modules) for name in papers))
    assert {name for name in asked if name.startswith("reference.beyond")} == {"reference.beyond"}


@pytest.mark.parametrize(
    "back",
    [
        "from algorithms import trees",
        "import algorithms.trees",
        "from . import trees",
        "from .trees import grow",
        "def late():\n    from algorithms.trees import grow",
        "if TYPE_CHECKING:\n    from algorithms.trees import Tree",
    ],
)
def test_the_guard_fires(tmp_path, back):
    (tmp_path / "algorithms").mkdir()
    for name, text in (("__init__", ""), ("trees", "from .costs import price"), ("costs", back)):
        (tmp_path / "algorithms" / f"{name}.py").write_text(text + "\n")
    circle = ["algorithms.costs", "algorithms.trees", "algorithms.costs"]
    assert circle_in(tmp_path, ["algorithms"]) == circle
