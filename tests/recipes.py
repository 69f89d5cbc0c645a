"""The recipes of CONTRIBUTING.md: what each adds, and how it is added to a copy of the tree."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Recipe(NamedTuple):
    """What a section of CONTRIBUTING.md adds.

    `files` are its blocks of Python by the path that the text names last before each, `changes`
    the files that it changes and the lines.
    """

    files: dict[str, str]
    changes: list[tuple[str, str]]


def recipe(heading: str) -> Recipe:
    """Read the section under a heading."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks, seen, path = {"python": [], "diff": []}, 0, ""
    for block in re.finditer(r"```(python|diff)\n(.*?)```", section, re.DOTALL):
        folders = "algorithms|benchmarks|datasets|experiments|reference|tests"
        path_of_one = rf"`((?:{folders})/[\w/]+\.(?:py|md)|reference/|pyproject\.toml)`"
        named = re.findall(path_of_one, section[seen : block.start()])
        path = named[-1] if named else path
        blocks[block[1]].append((path, block[2]))
        seen = block.end()
    return Recipe(dict(blocks["python"]), blocks["diff"])


def changed(source: str, diff: str) -> str:
    """Apply a diff, which must fit at exactly one place."""
    lines = [(line[:1] or " ", f"{line[1:]}\n") for line in diff.splitlines()]
    before = "".join(text for mark, text in lines if mark in " -")
    assert source.count(before) == 1, before
    return source.replace(before, "".join(text for mark, text in lines if mark in " +"))


def copy_with(recipe: Recipe, tree: Path, *folders: str) -> None:
    """Copy what a recipe needs of the tree, and add the recipe to the copy."""
    ignore = shutil.ignore_patterns("__pycache__")
    for folder in folders:
        shutil.copytree(ROOT / folder, tree / folder, ignore=ignore)
    for path in ("tests/__init__.py", "tests/conftest.py", "pyproject.toml"):
        (tree / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tree / path)
    for path, text in recipe.files.items():
        assert not (tree / path).exists()
        (tree / path).write_text(text, encoding="utf-8")
    for path, diff in recipe.changes:
        place = tree / path
        place.write_text(changed(place.read_text("utf-8"), diff), encoding="utf-8")
