"""What C needs of columns of categories: their codes, and the sets that go left."""

from __future__ import annotations

import numpy as np

from .exported import Exported

_OF_TEXT = """\
double {name}_code_of_text(int column, const char *category)
{{
    for (int i = 0; i < {n}; i++)
        if (text_column[i] == column && strcmp(text[i], category) == 0)
            return text_code[i];
    return NAN;
}}

"""

_OF_NUMBER = """\
double {name}_code_of_number(int column, double category)
{{
    for (int i = 0; i < {n}; i++)
        if (number_column[i] == column && number[i] == category)
            return number_code[i];
    return NAN;
}}

"""

_SAID = """\
 *
 * double {name}_code_of_{kind}(int column, {argument} category);
 *   What x[column] must be for a category of column {columns}: its code, NaN for one that the model
 *   does not know.
"""


def _by_kind(what: Exported) -> dict[str, dict[int, np.ndarray]]:
    """Columns of text and of numbers, with their categories."""
    kinds: dict[str, dict[int, np.ndarray]] = {"text": {}, "number": {}}
    for column, known in what.categories.items():
        kinds["text" if known.dtype.kind == "O" else "number"][column] = known
    return {kind: columns for kind, columns in kinds.items() if columns}


def said_of_codes(what: Exported, name: str) -> str:
    """Lines of the comment that opens the file; none without categories."""
    arguments = {"text": "const char *", "number": "double"}
    return "".join(
        _SAID.format(name=name, kind=kind, argument=arguments[kind],
                     columns=", ".join(map(str, columns)))
        for kind, columns in _by_kind(what).items()
    )  # fmt: skip


def functions_of_codes(what: Exported, name: str) -> str:
    """Functions that give the codes of categories, with their tables."""
    made = []
    for kind, columns in _by_kind(what).items():
        labels = [label for known in columns.values() for label in known.tolist()]
        n = len(labels)
        of = [column for column, known in columns.items() for _ in known]
        codes = [code for known in columns.values() for code in range(len(known))]
        shown = map(_quoted if kind == "text" else float.hex, labels)
        element = "char *const" if kind == "text" else "double"
        for kind_in_c, called, values in (
            (element, kind, shown),
            ("int32_t", f"{kind}_column", map(str, of)),
            ("int32_t", f"{kind}_code", map(str, codes)),
        ):
            lines = ",\n    ".join(values)
            made.append(f"static const {kind_in_c} {called}[] = {{\n    {lines or 0}\n}};\n\n")
        made.append((_OF_TEXT if kind == "text" else _OF_NUMBER).format(name=name, n=n))
    return "".join(made)


def _quoted(text: str) -> str:
    """Text as a string of C: in UTF-8, each byte that is no plain character as three octal digits.

    So no sequence of bytes is a trigraph, an escape or the end of the string.
    """
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def tables_of_sets(what: Exported) -> list[tuple[str, str, np.ndarray]]:
    """Tables of which set a node has, and of the sets; none without categories."""
    if not what.categories:
        return []
    by_set = what.forest.by_set.astype(bool)
    number = np.where(by_set, np.cumsum(by_set) - 1, -1)
    return [
        ("int32_t", "set_of", number),
        ("uint64_t", "left_set", what.forest.left_set[by_set].ravel()),
    ]
