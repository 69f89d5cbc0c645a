"""A model as plain C: the walk down its trees, and the bill that the walk runs up."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..boosted_trees.estimator import BoostedTrees
from ..costs import GridPrices
from ..raw_tables import RawColumn, TableModel
from ..raw_tables.columns import GONE
from .exported import Exported, apart, check_texts, exported

_PER_LINE = 8
# Words of C and of its library's macros that could not be a function's name.
_SHAPE_OF_A_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")

_HEADER = """\
/* {kind} with {n_trees} trees of {n_nodes} nodes, for rows of {n_features} numbers.
 *
 * double {name}_predict(const double *x, double *scores);
 *   Walks down all trees. x: {n_features} values, NaN where one is missing. scores: room for
 *   {n_scores} raw score(s): {meaning}.
 *   Returns what the prediction costs, in the unit of the prices: each purchase once, at its first
 *   use, and each evaluated split node.
{codes} *
 * C99; compile without -ffast-math: scores and costs are then those of the model, bit for bit. The
 * costs are whole steps of 2^{exponent}, so that their sum is exact in any order.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

"""

_WALK = """\
double {name}_predict(const double *x, double *scores)
{{
    uint64_t owned[{n_words}];
    int64_t paid = 0;
    memset(owned, 0, sizeof owned);
    for (int k = 0; k < {n_scores}; k++)
        scores[k] = initial[k];
    for (int t = 0; t < {n_trees}; t++) {{
        int32_t node = root[t];
        while (left[node] >= 0) {{
            const int32_t m = feature[node], u = unit[m], own = {n_units} + m;
            paid += split_price[m];
            if (!(owned[u >> 6] >> (u & 63) & 1)) {{
                owned[u >> 6] |= UINT64_C(1) << (u & 63);
                paid += unit_price[u];
            }}
            if (!(owned[own >> 6] >> (own & 63) & 1)) {{
                owned[own >> 6] |= UINT64_C(1) << (own & 63);
                paid += own_price[m];
            }}
            if (x[m] != x[m])
                node = left[node] + 1 - missing_left[node];
{by_set}            else
                node = left[node] + (x[m] > value[node]);
        }}
        scores[t % {n_scores}] += value[node];
    }}
    return ldexp((double)paid, {exponent});
}}
"""


# A code that there is not goes right, as in the model; memory is not read by it.
_BY_SET = """\
            else if (set_of[node] >= 0) {
                const int code = x[m] >= 0 && x[m] < 256 ? (int)x[m] : -1;
                const uint64_t *set = left_set + 4 * set_of[node];
                node = left[node] + (code < 0 || !(set[code >> 6] >> (code & 63) & 1));
            }
"""


_SAID_OF_CODES = """\
 *
 * double {name}_code_of_{kind}(int column, {argument}category);
 *   What x[column] must be for a category of column {columns}: its code, NaN for one that the model
 *   does not know.
"""

_CODE_OF = """\
double {name}_code_of_{kind}(int column, {argument}category)
{{
    for (int i = 0; i < {n}; i++)
        if ({kind}_column[i] == column && {is_it})
            return {kind}_code[i];
    return NAN;
}}

"""

_SAID_OF_COLUMNS = """\
 *
 * void {name}_set_number(double *x, int column, double value);
 * void {name}_set_text(double *x, int column, const char *text);
 *   Put a value of the table's column into x, where each that the model asks for must be. NAN and
 *   NULL are missing; a text has no blanks around it. The columns are, bytes that are no plain
 *   character as % and three octal digits:
{listed}"""

_KINDS_OF_COLUMNS = ("number", "two", "numbers", "columns", "category")

_BY_CODE = "text ? {name}_code_of_text(place_of[column], text) : NAN"

_FUNCTIONS_OF_COLUMNS = """\
void {name}_set_number(double *x, int column, double value)
{{
    x[place_of[column]] = value;
}}

void {name}_set_text(double *x, int column, const char *text)
{{
    const int first = first_level[column], n = first_level[column + 1] - first;
    double *made = x + place_of[column];
    int found = -1;
    for (int k = 0; k < n; k++)
        if (strcmp(level[first + k], text ? text : {gone}) == 0)
            found = k;
    if (kind_of[column] == 4)
        made[0] = {by_code};
    else if (kind_of[column] == 3)
        for (int k = 0; k < n; k++)
            made[k] = k == found;
    else
        made[0] = found;
}}

"""

_TEXT = "char *const"
_ARGUMENT = {"text": "const char *", "number": "double "}
_IS_IT = {"text": "strcmp(text[i], category) == 0", "number": "number[i] == category"}


def export_c(model: BoostedTrees | TableModel, *, name: str = "model") -> str:
    """Write a model as C: one function that predicts a row and returns what that cost.

    Parameters
    ----------
    model : fitted estimator of boosted trees, or TableModel of one
        GBRT, CEGB or Greedy Miser; the prices are its own.
    name : str
        What the function's name begins with: ``<name>_predict``.

    Returns
    -------
    str
        Source of one file in C99 that needs nothing but the standard library (``-lm``). The scores
        are those of ``decision_function``, or ``predict`` of a regressor, and the cost that of
        ``prediction_cost``, bit for bit, on machines with IEEE's doubles. Of a model that knows
        categories there is ``<name>_code_of_text(column, category)``, or ``_of_number``: the row
        holds the codes that these give. Of a TableModel ``<name>_set_number(x, column, value)`` and
        ``<name>_set_text(x, column, text)`` put a value of the table into the row.

    Raises
    ------
    TypeError
        If it is no model of boosted trees.
    ValueError
        If `name` is no name in C, or a category holds what no text in C does, such as a NUL.

    Examples
    --------
    >>> from algorithms.exporting import export_c
    >>> from algorithms.gbrt import GBRTRegressor
    >>> model = GBRTRegressor(n_estimators=2, min_samples_leaf=1).fit([[0.0], [1.0]], [0, 1])
    >>> "double tiny_predict(const double *x, double *scores)" in export_c(model, name="tiny")
    True
    """
    model, columns = apart(model)
    what = exported(model, "C")
    for known in [*what.categories.values(), *(column.values for column in columns or ())]:
        check_texts(known, "C")
    if not isinstance(name, str) or not _SHAPE_OF_A_NAME.fullmatch(name):
        raise ValueError(
            f"name must be a name in C: a letter, then letters, digits or _, got {name!r}."
        )
    grid = model._grid_prices()
    forest, n_scores = what.forest, len(what.initial)
    n_units, n_features = len(grid.unit_price), what.n_features
    meaning = "the prediction"
    if what.classes is not None:
        meaning = "log-odds of the second class" if n_scores == 1 else "one for each class"
    values = {
        "codes": _said_of_codes(what, name) + _said_of_columns(columns, name),
        "by_set": _BY_SET if what.categories else "",
        "kind": type(model).__name__,
        "name": name,
        "n_trees": forest.n_trees,
        "n_nodes": len(forest.feature),
        "n_features": n_features,
        "n_scores": n_scores,
        "meaning": meaning,
        "n_units": n_units,
        "n_words": -(-(n_units + n_features) // 64),
        "exponent": -grid.exponent,
    }
    codes = _functions_of_codes(what, name) + _functions_of_columns(what, columns, name)
    return _HEADER.format(**values) + _tables(what, grid) + codes + _WALK.format(**values)


def _tables(what: Exported, grid: GridPrices) -> str:
    forest = what.forest
    split = forest.left >= 0
    tables = [
        ("double", "initial", what.initial),
        ("int32_t", "root", forest.tree[:-1]),
        ("int32_t", "feature", forest.feature),
        ("int32_t", "left", forest.left),
        ("uint8_t", "missing_left", forest.missing_left),
        # A split's threshold, a leaf's contribution.
        ("double", "value", np.where(split, forest.threshold, what.contribution)),
        ("int32_t", "unit", grid.unit),
        ("int64_t", "unit_price", grid.unit_price),
        ("int64_t", "own_price", grid.own_price),
        ("int64_t", "split_price", grid.split_price),
    ]
    if what.categories:
        by_set = forest.by_set.astype(bool)
        number = np.where(by_set, np.cumsum(by_set) - 1, -1)  # of the set that a node has
        tables += [
            ("int32_t", "set_of", number),
            ("uint64_t", "left_set", forest.left_set[by_set].ravel()),
        ]
    return "".join(_table(kind, name, values.tolist()) for kind, name, values in tables)


def _table(kind: str, name: str, values: list) -> str:
    """An array in C; of no values it has one, for C knows no empty arrays."""
    texts = [_in_c(kind, value) for value in values] or ["0"]
    lines = ",\n    ".join(", ".join(part) for part in _batches(texts))
    return f"static const {kind} {name}[] = {{\n    {lines}\n}};\n\n"


def _batches(texts: list[str]) -> Iterable[list[str]]:
    for start in range(0, len(texts), _PER_LINE):
        yield texts[start : start + _PER_LINE]


def _in_c(kind: str, value: Any) -> str:
    if kind == "double":
        return float(value).hex() if math.isfinite(value) else ("-" * (value < 0) + "INFINITY")
    if kind == _TEXT:
        return _quoted(value)
    wide = {"int64_t": "INT64_C({})", "uint64_t": "UINT64_C({})"}
    return wide.get(kind, "{}").format(value)


# --- columns of categories ------------------------------------------------------------------------


def _by_kind(what: Exported) -> dict[str, dict[int, list]]:
    """Columns of text and of numbers, with their categories."""
    kinds: dict[str, dict[int, list]] = {"text": {}, "number": {}}
    for column, known in what.categories.items():
        kinds["text" if known.dtype.kind == "O" else "number"][column] = known.tolist()
    return {kind: columns for kind, columns in kinds.items() if columns}


def _said_of_codes(what: Exported, name: str) -> str:
    """Lines of the comment that opens the file; none without categories."""
    return "".join(
        _SAID_OF_CODES.format(
            name=name, kind=kind, argument=_ARGUMENT[kind], columns=", ".join(map(str, columns))
        )
        for kind, columns in _by_kind(what).items()
    )


def _functions_of_codes(what: Exported, name: str) -> str:
    """Functions that give the codes of categories, with their tables."""
    made = []
    for kind, columns in _by_kind(what).items():
        labels = [label for known in columns.values() for label in known]
        column = [column for column, known in columns.items() for _ in known]
        code = [code for known in columns.values() for code in range(len(known))]
        made += [
            _table(_TEXT if kind == "text" else "double", kind, labels),
            _table("int32_t", f"{kind}_column", column),
            _table("int32_t", f"{kind}_code", code),
            _CODE_OF.format(
                name=name, kind=kind, argument=_ARGUMENT[kind], n=len(labels), is_it=_IS_IT[kind]
            ),
        ]
    return "".join(made)


# --- columns of a table ---------------------------------------------------------------------------


def _said_of_columns(columns: list[RawColumn] | None, name: str) -> str:
    """Lines of the comment that opens the file; none without a table."""
    if columns is None:
        return ""
    listed = [f" *   {m}: {_in_a_comment(column.name)}\n" for m, column in enumerate(columns)]
    return _SAID_OF_COLUMNS.format(name=name, listed="".join(listed))


def _in_a_comment(name: str) -> str:
    """Write a name so that no comment ends, and no line goes on."""
    return _quoted(name)[1:-1].replace("\\", "%").replace("*", "%052")


def _functions_of_columns(what: Exported, columns: list[RawColumn] | None, name: str) -> str:
    """Functions that put a value of the table into a row, with their tables."""
    if columns is None:
        return ""
    n_made = [len(column.made) for column in columns]
    n_levels = [len(column.values) for column in columns]
    kinds = [_KINDS_OF_COLUMNS.index(column.kind) for column in columns]
    tables = (
        ("int32_t", "kind_of", kinds),
        ("int32_t", "place_of", list(itertools.accumulate(n_made[:-1], initial=0))),
        ("int32_t", "first_level", list(itertools.accumulate(n_levels, initial=0))),
        (_TEXT, "level", [value for column in columns for value in column.values]),
    )
    by_code = _BY_CODE.format(name=name) if "text" in _by_kind(what) else "NAN"
    functions = _FUNCTIONS_OF_COLUMNS.format(name=name, by_code=by_code, gone=_quoted(GONE))
    return "".join(_table(*table) for table in tables) + functions


def _quoted(text: str) -> str:
    """Text as a string of C: in UTF-8, each byte that is no plain character as three octal digits.

    So no sequence of bytes is a trigraph, an escape or the end of the string.
    """
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'
