"""Features and price list of a user; whatever does not fit is refused in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algorithms.costs import LARGEST_PRICE
from algorithms.raw_tables.fields import MISSING, key, number_of
from algorithms.validation.prices import listed
from experiments.compare import limits
from experiments.compare.fields import Column, Complaints, Refused, spelling
from experiments.compare.reading import Table, read_table, shown

__all__ = ["Prices", "Refused", "feature_matrix", "read_prices", "read_table", "shown", "take"]


@dataclass(frozen=True)
class Prices:
    """What features cost."""

    feature_costs: np.ndarray  # (d,) float64
    # Label of what is acquired together; a feature that comes alone has its own name
    feature_groups: list[str] | None
    group_costs: dict[str, float] | None  # Price of each label, where features are paid besides
    origin: str  # Who says so, for the axis and the summary
    notes: tuple[str, ...] = ()  # What the user should know of how the list was read

    def cheapest(self) -> float:
        """Least that a row pays for its first feature."""
        if self.group_costs is None:
            return float(np.min(self.feature_costs))
        groups = [self.group_costs[label] for label in self.feature_groups]
        return float(np.min(self.feature_costs + np.array(groups)))

    def positive(self) -> np.ndarray:
        """Prices above 0 that a first use can have: (n,) float64."""
        groups = [] if self.group_costs is None else list(self.group_costs.values())
        prices = np.concatenate([self.feature_costs, groups])
        return prices[prices > 0]


def take(table: Table, name: str | None, option: str) -> Column | None:
    """Give a column that an option names, without missing values; Refused if it is not there."""
    if name is None:
        return None
    own = table.named(name)
    if own is None:
        raise Refused(
            f"{table.file} has no column {name!r}, which {option} asks for: it has "
            f"{listed(list(table))}."
        )
    n_missing = int(table.columns[own].is_missing().sum())
    if n_missing:
        raise Refused(
            f"Column {own!r} of {table.file} ({option}) has {n_missing} missing values: "
            "leave these rows out."
        )
    return table.columns[own]


def feature_matrix(table: Table, names: list[str], codes: Mapping[str, Any]) -> np.ndarray:
    """Give features as numbers."""
    file = table.file
    if not names:
        raise Refused(f"{file} has no features left beside the columns that the options name.")
    odd = [n for n in names if n not in codes and table.columns[n].numbers is None]
    if odd:
        raise Refused(
            f"Features must be numbers, and these columns of {file} are not, which are in the "
            f"other file: {listed(odd)} ({odd[0]!r} has {table.columns[odd[0]].odd})."
        )
    complaints = Complaints()
    for name in names:
        if name not in codes and (pair := table.columns[name].alike):
            complaints.said.append(
                f"Column {name!r} of {file} has whole numbers that are one in double precision "
                f"({pair[0]} and {pair[1]}): subtract the smallest from all of them, let each "
                "begin with a letter if they are codes, or leave the column out with --drop."
            )
    blocks = [
        codes[n].encode(table.columns[n].texts())
        if n in codes
        else table.columns[n].numbers[:, None]
        for n in names
    ]
    X = np.ascontiguousarray(np.hstack(blocks))
    owner = [n for n, block in zip(names, blocks, strict=True) for _ in range(block.shape[1])]
    infinite = np.isinf(X)
    if infinite.any():
        those = [owner[m] for m in np.flatnonzero(infinite.any(axis=0))]
        n_rows = int(infinite.any(axis=1).sum())
        complaints.said.append(
            f"{file} has infinite values in {n_rows} rows, in the columns {listed(those)}: "
            "leave them empty (missing), or leave rows or columns out."
        )
    with complaints.heard():
        limits.check_features(np.where(infinite, 0.0, X), owner, file)
    complaints.refuse()
    return X


def read_prices(path: Path | None, names: list[str], others: Sequence[str] = ()) -> Prices:
    """Read the price list and put it into the order of the features.

    Its columns are ``feature`` and ``cost``, and optionally ``group``. Features of one group are
    acquired together for one price. A line whose feature is the name of a group prices the group;
    its features are then paid besides. Lines for `others`, columns that are no features, are not
    used.
    """
    if path is None:
        return Prices(np.ones(len(names)), None, None, "1 for each feature (no price list given)")
    lines = read_table(path)
    file = lines.file
    asked = {name: lines.named(name) for name in ("feature", "cost", "group")}
    if lines.nameless:
        raise Refused(f"{file} has a column without a name, number {lines.nameless[0]}: leave it "
                      "out.")  # fmt: skip
    if None in (asked["feature"], asked["cost"]) or set(lines) - set(asked.values()):
        raise Refused(
            f"{file} must have the columns feature and cost, and at most group besides; it "
            f"has {listed(list(lines))}."
        )
    texts = {name: lines.columns[own].text for name, own in asked.items() if own is not None}
    own_name = {key(name): name for name in names}  # as the table spells it
    complaints, group_of = Complaints(), {}
    there = np.array([label is not None for label in texts["feature"]], dtype=bool)
    if not there.all():
        complaints.said.append(
            f"{file} has a line without the name of a feature: name it, or leave it out."
        )
        texts = {name: values[there] for name, values in texts.items()}
    labels = [own_name.get(key(label), key(label)) for label in texts["feature"]]
    used, unused = _used(labels, texts.get("group"), others)
    labels = [labels[i] for i in used]
    texts = {name: values[used] for name, values in texts.items()}
    with complaints.heard():
        group_of = _groups(texts.get("group"), labels, own_name, file)
    priced = set(group_of.values()) - set(names)  # groups that may have a line of their own
    with complaints.heard():
        _refuse_mismatch(labels, names, priced, file)
    with complaints.heard():
        cost = _costs(texts["cost"], labels, file)
    complaints.refuse()
    feature_costs = np.array([cost[name] for name in names])
    groups = group_costs = None
    if group_of:
        groups = [group_of.get(name, name) for name in names]
        if priced & set(labels):
            group_costs = {label: cost[label] if label in priced else 0.0 for label in groups}
        else:
            _refuse_unequal(groups, feature_costs, file)
    if not np.any(feature_costs > 0) and not any((group_costs or {}).values()):
        raise Refused(f"All costs of {file} are 0: there is nothing to save.")
    notes = _notes(set(group_of.values()), unused, file)
    return Prices(feature_costs, groups, group_costs, file, notes)


def _used(
    labels: Sequence[str], groups: np.ndarray | None, others: Sequence[str]
) -> tuple[list[int], list[str]]:
    """Give the lines that are used, and the labels of those for columns that are no features."""
    group_of = [""] * len(labels) if groups is None else [key(g or "") for g in groups]
    known = {key(name) for name in others}
    lines = range(len(labels))
    left = {g for i, g in zip(lines, group_of, strict=True) if g and key(labels[i]) not in known}
    idle = known | {g for g in group_of if g}
    used = [i for i in lines if key(labels[i]) not in idle or key(labels[i]) in left]
    return used, [labels[i] for i in lines if i not in used]


def _notes(groups: set[str], unused: list[str], file: str) -> tuple[str, ...]:
    words = sorted(group for group in groups if group.lower() in MISSING)
    notes = (f"{listed(words)} in {file} is taken as the name of a group",) if words else ()
    if unused:
        notes += (f"{file} has costs for {listed(unused)}, which are not used: no features",)
    return notes


def _groups(
    groups: np.ndarray | None, labels: list[str], own_name: dict[str, str], file: str
) -> dict[str, str]:
    """Group of each feature that has one."""
    if groups is None:
        return {}
    pairs = zip(labels, groups, strict=True)
    group_of = {
        label: own_name.get(key(group), key(group)) for label, group in pairs if group is not None
    }
    names = set(own_name.values())
    clash = [g for g in dict.fromkeys(group_of.values()) if g in names and group_of.get(g) != g]
    if clash:
        raise Refused(
            f"{file} has groups with the name of a feature ({listed(clash)}): rename them."
        )
    return group_of


def _refuse_mismatch(labels, names, groups: set[str], file: str) -> None:
    priced, known = set(labels), set(names) | groups
    problems = (
        ([n for n in names if n not in priced], "no cost for the columns"),
        ([n for n in labels if n not in known], "costs for what is no feature:"),
        ([n for n, count in Counter(labels).items() if count > 1], "more than one cost for"),
        (
            sorted(groups - priced) if groups & priced else [],
            "a price for some groups and none for",
        ),
    )
    complaints = [f"{words} {listed(those)}" for those, words in problems if those]
    if complaints:
        raise Refused(
            f"{file} has {' and '.join(complaints)}: give each feature one line"
            f"{' (or leave a column out with --drop)' if problems[0][0] else ''}."
        )


def _costs(texts: np.ndarray, labels: list[str], file: str) -> dict[str, float]:
    values = [None if text is None else number_of(text) for text in texts]
    wrong = [
        label
        for label, value in zip(labels, values, strict=True)
        if value is None or not 0 <= value <= LARGEST_PRICE
    ]
    if wrong:
        raise Refused(
            f"Costs must be finite numbers of 0 or more, at most {LARGEST_PRICE:g}; {file} has "
            f"others for {', '.join([listed(wrong), *filter(None, [spelling(texts)])])}."
        )
    return {label: value + 0.0 for label, value in zip(labels, values, strict=True)}  # no -0.0


def _refuse_unequal(groups: list[str], feature_costs: np.ndarray, file: str) -> None:
    first: dict[str, float] = {}
    unequal = [
        label
        for label, cost in zip(groups, feature_costs, strict=True)
        if first.setdefault(label, cost) != cost
    ]
    if unequal:
        raise Refused(
            f"Features of one group are acquired together and must have one cost; in {file} they "
            f"differ within {listed(list(dict.fromkeys(unequal)))}: make them equal, or give each "
            "group a line of its own with its price."
        )
