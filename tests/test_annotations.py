"""Every public function and method of algorithms/ says what it takes and returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "algorithms").rglob("*.py"))


def public(body: list[ast.stmt], of: str = "") -> Iterator[tuple[str, ast.FunctionDef, bool]]:
    """Public functions of a module with their names, and whether the first argument is theirs."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef) and (
            not node.name.startswith("_") or (of and node.name == "__init__")
        ):
            decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
            yield of + node.name, node, bool(of) and "staticmethod" not in decorators


def unsaid(source: str) -> list[str]:
    """What of a module's public functions has no annotation: ``function: argument``."""
    found = []
    for name, node, bound in public(ast.parse(source).body):
        given = node.args
        arguments = [*given.posonlyargs, *given.args][bound:] + given.kwonlyargs
        arguments += [one for one in (given.vararg, given.kwarg) if one]
        found += [f"{name}: {one.arg}" for one in arguments if one.annotation is None]
        if node.returns is None:
            found.append(f"{name}: what it returns")
    return found


def test_every_public_function_is_annotated():
    found = {path: unsaid(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: lacking for path, lacking in found.items() if lacking} == {}


def test_what_is_not_annotated_is_found():
    source = """
def whole(x: int, *more: int, key: str = "") -> None: ...
def half(x, *, key: int): ...
def _own(x): ...
class Model:
    def __init__(self, a): ...
    @staticmethod
    def made(x) -> int: ...
    def predict(self, X: list) -> list: ...
"""
    assert unsaid(source) == [
        *("half: x", "half: what it returns"),
        *("Model.__init__: a", "Model.__init__: what it returns", "Model.made: x"),
    ]
