"""Tables 1 to 4: ours beside the paper's, at equal cost counted in two ways."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from datasets.features import sizes
from experiments.adaptive_sampling_2014.cells import headline
from experiments.adaptive_sampling_2014.cells.grid import (
    KEY_COLUMNS,
    MAX_COST,
    SEEDS,
    TOLERANCES,
    make_cells,
)
from experiments.adaptive_sampling_2014.cells.measure import learning_curve
from experiments.adaptive_sampling_2014.cells.methods import METHODS, NAMES, Method
from experiments.adaptive_sampling_2014.show.orderings import (
    at,
    headline_of,
    of_set,
    paper_at,
)
from experiments.adaptive_sampling_2014.show.paper_tables import ROUNDS, SETS, printed
from experiments.adaptive_sampling_2014.show.ranking import (
    LEVEL,
    PRINTED_APART,
    TOLD_APART,
    Agreement,
    Estimate,
    Order,
    agreement,
    order,
)
from experiments.artefact import Artefact
from experiments.data_kinds import in_words, is_synthetic, kind_in_words
from experiments.tables import number

_COLUMNS = {"log10_loss": ("loss", 3), "test_error": ("error", 2)}
"""Heading and decimals of each quantity."""
BESIDE = (
    *(Method(line, f"Laminating, Q = {Q:,}", "beside") for line, Q in headline.FIXED_SIZES.items()),
    Method(headline.EXHAUSTIVE, "exhaustive search", "beside"),
)
"""Lines below the paper's methods; the paper has none of them."""
_UNITS = {"log10_loss": "decades", "test_error": "points"}


def table_rounds(rows: pd.DataFrame) -> list[int]:
    """Return the T of the table, ascending."""
    return sorted(set(rows.loc[rows["budget"] == "all", "rounds"]))


def render(rows: pd.DataFrame, meta: Mapping, *, dataset: str) -> str:
    """Return both tables, with what was compared above and how far they agree below."""
    features = headline_of(dataset, meta)
    everything, rows = rows, of_set(rows, features)
    rounds = table_rounds(rows)
    parts = [
        *_head(rows, meta, dataset),
        *_rules(everything, dataset),
        "## Equal cost as the paper counts it",
        "",
        f"A round costs {MAX_COST}·N evaluations of a feature on an example: features times "
        "examples, times log₂ Q for Laminating. What Tasting evaluates to choose a family is not "
        "counted, nor the search on all examples for the threshold of the feature that Laminating "
        "or M.A.S. chose.",
        "",
        *_table(rows, dataset, "paper", rounds, (*METHODS, *BESIDE)),
        "",
        *_kept(rows, meta, dataset),
        *_agreements(rows, dataset, rounds),
        "## Equal cost in all evaluations",
        "",
        f"The same trainings, read after the last round within {MAX_COST}·N·T evaluations of any "
        "kind (in brackets: that round, mean over the repetitions). The paper's numbers are those "
        "above, at its own count. † the budget would pay for more rounds than were trained. The "
        "other trainings of the tuned methods (*) are not counted.",
        "",
        *_table(rows, dataset, "all", rounds),
        *_done_otherwise(everything, meta, dataset, rounds),
    ]
    return "\n".join(parts) + "\n"


def _rules(rows: pd.DataFrame, dataset: str) -> list[str]:
    """Say what was tuned and which line is no competitor; nothing of a table without them."""
    if headline.EXHAUSTIVE not in set(rows["algorithm"]):
        return []
    weighted = (
        "Examples are weighted so that the classes have the shares they have in the paper, in "
        "training and in test errors. "
        if dataset in headline.CLASS_COUNTS
        else ""
    )
    return [
        f"{weighted}**The baselines with a * are tuned for the last round, Laminating, M.A.S. and "
        f"Tasting are not.** Laminating begins with the largest power of two Q that leaves at "
        f"least {headline.LEAST_EXAMPLES} examples; lines of their own have other Q. The "
        "exhaustive search takes the largest edge of all features on all examples in every round, "
        "at whatever cost; it draws nothing, so that it is trained once. By its losses one sees "
        "how low a method could get with these features, one round at a time.",
        "",
    ]


def _done_otherwise(
    rows: pd.DataFrame, meta: Mapping, dataset: str, rounds: list[int]
) -> list[str]:
    """Return the tables of what was done otherwise than above, at equal cost as the paper counts.

    Each with its agreement with the printed numbers.
    """
    features, parts = headline_of(dataset, meta), []
    unweighted = of_set(rows, features)
    unweighted = unweighted[unweighted["algorithm"].str.startswith(headline.UNWEIGHTED)]
    variants = {
        "Examples not weighted": unweighted.assign(
            algorithm=unweighted["algorithm"].str.removeprefix(headline.UNWEIGHTED)
        )
    }
    if features != dataset:
        record = meta["data"][dataset]
        said = f"{record['n_features']:,} features in {len(record['families'])} families"
        variants[f"The first families ({said}), all else as above"] = of_set(rows, dataset)
    for title, mine in variants.items():
        if mine.empty:
            continue
        trained = [t for t in rounds if t in set(mine["rounds"])]
        parts += ["", f"## {title}", "", *_table(mine, dataset, "paper", trained), ""]
        parts += _agreements(mine, dataset, trained)[:-1]
    return parts


def _head(rows: pd.DataFrame, meta: Mapping, dataset: str) -> list[str]:
    """Say what is compared: sizes of ours and the paper's, data, repetitions."""
    paper, record = SETS[dataset], meta["data"][headline_of(dataset, meta)]
    families = f"{paper.n_families} subsets"
    note = f" The paper's images: {paper.note}." if paper.note else ""
    sizes = record["rows"]
    return [
        f"# Table {paper.table}: {paper.title} (scale {meta['scale']})",
        "",
        f"Mean training loss (log₁₀) and test error (%) after T rounds: *{_spread(rows)} (paper, "
        "means over ten)*. "
        f"{_repeated(record)} **Bold**: our smallest mean of a column.",
        "",
        "| | training images | test images | features |",
        "|---|---:|---:|---:|",
        f"| ours | {sizes['train']:,} | {sizes['test']:,} | {record['n_features']:,} |",
        f"| paper | {paper.train:,} | {paper.test:,} | {paper.n_features:,} in {families} |",
        "",
        f"Data: {_data_note(record)}.{note}",
        "",
    ]


def _repeated(record: Mapping) -> str:
    """Say what differs between repetitions."""
    if is_synthetic(record):
        return "The repetitions differ in what the methods draw, and in the drawn images."
    return "The repetitions differ in what the methods draw, not in the images."


def _spread(rows: pd.DataFrame) -> str:
    """Say what stands before and behind ±."""
    n = rows["seed"].nunique()
    if n == 1:
        return "ours, 1 repetition"
    return f"ours ± standard deviation over {n} repetitions"


def kind_of(record: Mapping) -> str:
    """Say whether data are real, a part of the real ones, or of another kind."""
    return kind_in_words(record) if record["kind"] == "real" else in_words(record)


def _data_note(record: Mapping) -> str:
    """Say whether the data are real, a part, or of another kind."""
    if record["kind"] != "real":
        return f"**{in_words(record)}**"
    missing = record.get("missing", "nothing")
    said = f"real, from the {record['source']}"
    if record.get("selection", "all") != "all":
        said += f"; used: {record['selection']}"
    return said if missing == "nothing" else f"{said}; missing: {missing}"


def _table(
    rows: pd.DataFrame, dataset: str, budget: str, rounds: list[int], methods=METHODS
) -> list[str]:
    mine = rows[rows["budget"] == budget]
    heads = [f"T = {t:,}: {name}" for t in rounds for name, _ in _COLUMNS.values()]
    lines = [f"| method | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    best = {
        (t, column): _means(mine, t, column).round(decimals).min()
        for t in rounds
        for column, (_, decimals) in _COLUMNS.items()
    }
    for method in methods:
        of_method = mine[mine["algorithm"] == method.key]
        if of_method.empty:
            continue
        texts = [
            _cell(of_method[of_method["rounds"] == t], dataset, method, t, column, best[t, column])
            for t in rounds
            for column in _COLUMNS
        ]
        lines.append(f"| {method.name}{'*' * method.tuned} | {' | '.join(texts)} |")
    return lines


def _means(rows: pd.DataFrame, rounds: int, column: str) -> pd.Series:
    """Mean over the repetitions of each method that could afford a round."""
    mine = rows[(rows["rounds"] == rounds) & (rows["used_rounds"] > 0)]
    mine = mine[mine["algorithm"].isin(NAMES)]
    return mine.groupby("algorithm")[column].mean()


def _cell(
    rows: pd.DataFrame, dataset: str, method: Method, rounds: int, column: str, best: float
) -> str:
    """Return *ours ± sd (paper)*, with the round read where it is not T."""
    position, decimals = list(_COLUMNS).index(column), _COLUMNS[column][1]
    if rows.empty:
        return "–"
    paper = printed(dataset, method.key, rounds) if method.key in NAMES else None
    beside = "" if paper is None else f" ({_as_printed(paper[position])})"
    if (rows["used_rounds"] == 0).any():
        return f"no round{beside}"
    values = rows[column]
    text = number(values.mean(), f".{decimals}f")
    if np.round(values.mean(), decimals) == best:
        text = f"**{text}**"
    if len(values) > 1:
        text += f" ± {values.std(ddof=1):.{decimals}f}"
    if (rows["budget"] == "all").all() and column == "log10_loss":
        text += f" [{rows['used_rounds'].mean():.5g}{'†' * int(rows['short'].max())}]"
    return text + beside


def _as_printed(value: float) -> str:
    """Return a number of the paper with its decimals: two, mostly one from 10 on."""
    short = abs(value) >= 10 and round(value, 1) == value
    return number(value, ".1f" if short else ".2f")


def _kept(rows: pd.DataFrame, meta: Mapping, dataset: str) -> list[str]:
    """Say which of the trainings of each tuned method was kept."""
    families = []
    for method in METHODS:
        kept = rows[(rows["algorithm"] == method.key)].drop_duplicates("seed")
        if not method.tuned or kept.empty:
            continue
        values = kept.sort_values("seed")["kept"].tolist()
        if method.key == "best_family":
            features = headline_of(dataset, meta)
            texts = _family_names(features, meta["data"][features], values)
        else:
            texts = [f"2^{k}" for k in values]
        families.append(f"{method.name}: {', '.join(texts)}")
    if not families:
        return []
    return [
        "\\* tuned: trained with each family, or each of 2⁰ … 2¹¹, and the training with the "
        f"smallest final loss is kept, for each repetition. Kept: {'; '.join(families)}.",
        "",
    ]


def _family_names(dataset: str, record: Mapping, numbers: list[int]) -> list[str]:
    """Return the names of families by their numbers, as a training counts them.

    The order is that of the set's own list: ``meta.json`` sorts the names it records by the
    alphabet. Where it records other families than the set has now, only their numbers are known.
    """
    names = list(sizes(dataset))
    if set(names) != set(record["families"]):
        return [f"family number {k} of the run" for k in numbers]
    return [names[k] for k in numbers]


def agreements(rows: pd.DataFrame, dataset: str, rounds: int) -> dict[str, Agreement]:
    """Return how ours and the paper's agree at T rounds, by loss and by error."""
    return {
        column: agreement(at(rows, rounds, column), paper_at(dataset, rounds, position).iloc[0])
        for position, column in enumerate(_COLUMNS)
    }


def _agreements(rows: pd.DataFrame, dataset: str, rounds: list[int]) -> list[str]:
    lines = [
        "How ours agree with the paper's: the order of the methods (Spearman's ρ, Kendall's τ-b) "
        "and the mean over the methods of our number less the paper's (in decades, factors of ten "
        f"of the loss, or percentage points of error; in brackets {100 * LEVEL:g} % of resampled "
        "repetitions):",
        "",
        "| column | methods | Spearman's ρ | Kendall's τ-b | mean difference |",
        "|---|---:|---:|---:|---:|",
    ]
    for t in rounds:
        if t not in ROUNDS:
            continue
        for column, found in agreements(rows, dataset, t).items():
            name, decimals = _COLUMNS[column]
            lines.append(
                f"| T = {t:,}: {name} | {found.n} | {_interval(found.rho, 2)} | "
                f"{_interval(found.tau, 2)} | "
                f"{_interval(found.difference, decimals, '+')} {_UNITS[column]} |"
            )
    return [*lines, "", *_orders(rows, dataset, rounds)]


def orders(rows: pd.DataFrame, dataset: str, rounds: list[int]) -> dict[int, Order]:
    """Return for each T that the paper prints our order of losses against its own."""
    return {t: order(at(rows, t), paper_at(dataset, t).iloc[0]) for t in rounds if t in ROUNDS}


def order_table(rows: pd.DataFrame, meta: Mapping, *, dataset: str) -> pd.DataFrame:
    """Return :func:`orders` of the headline's features as a table, see `Artefact.orders`."""
    mine = of_set(rows, headline_of(dataset, meta))
    lines = [
        {
            "rounds": t,
            "agree": found.agree,
            "disagree": len(found.against),
            "undecided": found.undecided,
            "other_way": " ".join(f"{a}>{b}" for a, b in found.against),
        }
        for t, found in orders(mine, dataset, table_rounds(mine)).items()
    ]
    return pd.DataFrame(lines)


def _orders(rows: pd.DataFrame, dataset: str, rounds: list[int]) -> list[str]:
    """Return the pairs of methods that both tell apart; nothing of one repetition."""
    if rows["seed"].nunique() < 2:
        return []
    lines = [
        "Order against order, by loss: pairs of methods that the paper tells apart (printed losses "
        f"differ by {PRINTED_APART:g} or more) and so do we (paired t interval at "
        f"{100 * TOLD_APART:g} % without 0), the same way round or not. Of the latter the paper "
        "has the first ahead.",
        "",
        "| T | same way | other way | not told apart | pairs the other way |",
        "|---:|---:|---:|---:|---|",
    ]
    for t, found in orders(rows, dataset, rounds).items():
        against = ", ".join(f"{NAMES[a]} – {NAMES[b]}" for a, b in found.against) or "none"
        counts = f"{found.agree} | {len(found.against)} | {found.undecided}"
        lines.append(f"| {t:,} | {counts} | {against} |")
    return [*lines, ""]


def _interval(estimate: Estimate, decimals: int, plus: str = "") -> str:
    """Return *value [low, high]*; `plus` is the sign of a number above 0."""
    if np.isnan(estimate.value):
        return "–"
    texts = [plus * (one > 0) + number(one, f".{decimals}f") for one in estimate]
    return texts[0] if np.isnan(estimate.low) else f"{texts[0]} [{texts[1]}, {texts[2]}]"


def make_table(
    dataset: str,
    minutes: Mapping[str, float],
    cells=make_cells,
    seeds: Mapping[str, int] = SEEDS,
) -> Artefact:
    """Declare the table of a data set."""
    paper = SETS[dataset]
    return Artefact(
        id=f"sampling-table{paper.table}",
        paper="adaptive_sampling_2014",
        title=f"Adaptive sampling, Table {paper.table}: {paper.title}",
        shows=f"Training loss and test error of thirteen methods on {paper.title} at equal cost.",
        minutes=minutes,
        seeds=seeds,
        make_cells=partial(cells, dataset),
        run_cell=learning_curve,
        keys=KEY_COLUMNS,
        tolerances=TOLERANCES,
        render=partial(render, dataset=dataset),
        paper_numbers=f"Table {paper.table}, complete: in the table, in brackets.",
        data_form="features",
        orders=partial(order_table, dataset=dataset),
        beside=headline.BESIDE,
    )
