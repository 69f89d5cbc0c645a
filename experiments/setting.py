"""An artefact with another choice, or with a class of the user's, never published.

``reproduce --set METHOD.PARAMETER=VALUE``: what can be set are the parameters that the cells of a
method have, nested ones by their own name, but for those that tell rows apart: a grid stays a grid.

``reproduce --method PACKAGE:CLASS``: a further curve. Of a ``search_space`` the class has as many
draws as a method of the figure has λ, and of it is said which version it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.artefact import Artefact, Cell
from experiments.cell import digest
from experiments.methods.users_class import imported, its_draw

COLUMN = "set"
"""Of ``rows.csv``: what was set of the row's method."""


class WrongSetting(ValueError):
    """A method or parameter that an artefact does not have; the message says which it has."""


def parse(texts: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return for each method its parameters and their values, which are JSON or else text."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        method, dot, parameter = name.partition(".")
        if not (equals and dot and method and parameter):
            raise WrongSetting(f"--set {text}: say METHOD.PARAMETER=VALUE")
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found.setdefault(method, {})[parameter] = read
    return found


def applied(artefact: Artefact, scale: str, settings: Mapping[str, Mapping[str, Any]]) -> Artefact:
    """Return the artefact with parameters set in all cells of their methods."""
    cells = artefact.cells(scale, 1)
    for method, parameters in settings.items():
        if is_of_users(method):
            with_class(artefact, method)
            continue
        mine = [cell for cell in cells if cell.algorithm == method]
        if not mine:
            there = ", ".join(sorted({cell.algorithm for cell in cells}))
            raise WrongSetting(f"{artefact.id} has no method {method}; it has: {there}")
        there = {name for cell in mine for name in _names(cell.params)} - set(artefact.keys)
        there |= {*artefact.beside.get(method, ())}
        for name in parameters:
            if name not in there:
                raise WrongSetting(
                    f"{artefact.id} has no parameter {name} of {method} to set; "
                    f"it has: {', '.join(sorted(there))}"
                )

    def make_cells(scale: str, seeds: range) -> list[Cell]:
        made = [_with(cell, settings) for cell in artefact.make_cells(scale, seeds)]
        return list({digest(cell.to_json()): cell for cell in made}.values())

    return replace(artefact, make_cells=make_cells)


def is_of_users(method: str) -> bool:
    """Whether a method is a class of the user's."""
    return ":" in method


def of_classes(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return for each class of the user's which version of its file it is of."""
    try:
        return {name: {"version": its_draw(name, 0)["source"][:8]} for name in names}
    except ValueError as error:
        raise WrongSetting(str(error)) from None


def with_class(artefact: Artefact, name: str) -> Artefact:
    """Return the artefact with the cells of a class of the user's alone."""
    if artefact.of_users is None:
        raise WrongSetting(f"{artefact.id} takes no class of your own")
    method, run_cell = artefact.of_users
    several = getattr(imported(name), "search_space", None) is not None

    def make_cells(scale: str, seeds: range) -> list[Cell]:
        cells = [cell for cell in artefact.make_cells(scale, seeds) if cell.algorithm == method]
        grid = sorted({cell.params["tradeoff"] for cell in cells})
        return [
            replace(
                cell,
                algorithm=name,
                params={**cell.params, "draw": its_draw(name, grid.index(cell.params["tradeoff"]))},
            )
            for cell in cells
            if several or cell.params["tradeoff"] == grid[0]
        ]

    return replace(artefact, make_cells=make_cells, run_cell=run_cell)


def _names(params: Mapping[str, Any]) -> Iterator[str]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _names(value)
        else:
            yield name


def _with(cell: Cell, settings: Mapping[str, Mapping[str, Any]]) -> Cell:
    if not (mine := settings.get(cell.algorithm)):
        return cell
    params, named = _changed(cell.params, mine), {*_names(cell.params)}
    if beside := {name: value for name, value in mine.items() if name not in named}:
        params["given"] = {**params.get("given", {}), **beside}
    return replace(cell, params=params)


def _changed(params: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _changed(old, values) if isinstance(old, Mapping) else values.get(name, old)
        for name, old in params.items()
    }


def words(values: Mapping[str, Any]) -> str:
    """Say what was set of a method."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def in_words(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """Say all that was set."""
    return ", ".join(
        f"{method}.{words({name: value})}"
        for method, values in settings.items()
        for name, value in values.items()
    )


def marked(rows: pd.DataFrame, settings: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows with :data:`COLUMN`."""
    said = {method: words(values) for method, values in settings.items()}
    return rows.assign(**{COLUMN: rows["algorithm"].map(said).fillna("")})


def labels(rows: pd.DataFrame, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return for each curve of a method that was set what its label ends with."""
    ends = {}
    for method, values in settings.items():
        mine = rows[rows["algorithm"] == method]
        curves = [method, *(mine["method"].unique() if "method" in mine else ())]
        ends |= dict.fromkeys(curves, f" · {words(values)}")
    return ends
