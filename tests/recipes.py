"""The recipes of CONTRIBUTING.md: what each adds, and how it is added to a copy of the tree."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Recipe(NamedTuple):
    """What a section of CONTRIBUTING.md adds.

    `files` are its blocks of Python by the path that the text names last before each, `place` and
    `diff` the file and the lines of its registration.
    """

    files: dict[str, str]
    place: str
    diff: str


def recipe(heading: str) -> Recipe:
    """Read the section under a heading."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks, seen = {"python": [], "diff": []}, 0
    for block in re.finditer(r"```(python|diff)\n(.*?)```", section, re.DOTALL):
        path = re.findall(r"`((?:algorithms|datasets|experiments|reference|tests)/[\w/]+\.py|"
                          r"reference/)`", section[seen : block.start()])[-1]  # fmt: skip
        blocks[block[1]].append((path, block[2]))
        seen = block.end()
    ((place, diff),) = blocks["diff"]
    assert len(blocks["python"]) == 2
    return Recipe(dict(blocks["python"]), place, diff)


def registered(source: str, diff: str) -> str:
    """Apply a diff of one added line, which must fit at exactly one place."""
    lines = diff.splitlines()
    assert sorted(line[0] for line in lines) == [" "] * (len(lines) - 1) + ["+"]
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] == " ")
    assert source.count(before) == 1
    return source.replace(before, "".join(f"{line[1:]}\n" for line in lines))


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
    place = tree / recipe.place
    place.write_text(registered(place.read_text("utf-8"), recipe.diff), encoding="utf-8")
