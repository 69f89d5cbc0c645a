"""Writes what came out: tables, picture, and how the chosen models are loaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd

from algorithms.selection.scoring import is_within
from experiments.compare import plan
from experiments.compare.choosing import CONSTANT, N_LEADING
from experiments.compare.outcome import Outcome, Search
from experiments.compare.page import html
from experiments.compare.picture import picture
from experiments.compare.plan import plain
from experiments.compare.preparing import Asked
from experiments.compare.reading import shown
from experiments.looks import name_of
from experiments.methods.table import method_of
from experiments.style import house_style, picture_bytes

WHEEL = "cost_aware_boosting"
"""What the package ``algorithms`` is called in the wheel."""

_SALT = "compare"


def files(folder: Path, outcome: Outcome, asked: Asked, search: Search) -> dict[Path, bytes]:
    """Give all files of a comparison but the models.

    Parameters
    ----------
    folder : Path
    outcome : Outcome
    asked, search
        What the command was asked.
    """
    texts = {
        "rows.csv": _csv(outcome.rows),
        "table.csv": _csv(outcome.table),
        "table.md": markdown(outcome),
        "differences.csv": _csv(outcome.differences),
        "README.txt": summary(outcome, asked, search, folder) + "\n",
        "page.html": html(outcome, asked, search, recommendation(outcome), so_far(outcome)),
    }
    # A user's names are no formulas, and may have letters that the font lacks.
    as_it_is = matplotlib.rc_context({"text.parse_math": False})
    with house_style(_SALT), as_it_is, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        drawn = picture_bytes(picture(outcome, asked, search), "png", _SALT)
    written = {name: shown(text).encode() for name, text in texts.items()}
    return {folder / name: content for name, content in {**written, "picture.png": drawn}.items()}


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def _labels(outcome: Outcome) -> dict[str, str]:
    return {method.slug: name_of(method.slug) for method in outcome.methods}


def said(outcome: Outcome) -> dict[str, Any]:
    """Give what the results as JSON say beside the tables."""
    trained = outcome.trained
    return {
        "constant": outcome.constant,
        "gaps": outcome.gaps,
        "unreached": {plain(budget): why for budget, why in outcome.unreached.items()},
        "without_models": trained.without_models(outcome.methods),
        "failed": trained.lost(outcome.methods),
        "n_trained": trained.n_trained,
    }


# --- text ---------------------------------------------------------------------------------------


def markdown(outcome: Outcome) -> str:
    """Give the table of each budget, best validation score first, and the differences."""
    lines = []
    for budget in sorted([*outcome.unreached, *outcome.table["budget"].unique()]):
        if budget in outcome.unreached:
            lines += [f"Budget {plain(budget)}: {outcome.unreached[budget]}.", ""]
        else:
            lines += [*_table(outcome, budget), ""]
    trained = outcome.trained
    complaints = [*trained.without_models(outcome.methods), *trained.lost(outcome.methods)]
    return "\n".join([*lines, *(f"{line}." for line in complaints)])


def _table(outcome: Outcome, budget: float) -> list[str]:
    labels, metric = _labels(outcome), outcome.prepared.metric
    different = outcome.differences.set_index(["budget", "method"])
    pool = outcome.table[outcome.table["budget"] == budget]

    def versus(method: str) -> str:
        d = different.loc[(budget, method)]
        real = "yes" if d["real"] else "no"
        return f"{d['difference']:+.4f} ({d['low']:+.4f} to {d['high']:+.4f}) | {real}"

    lines = [
        f"Budget {plain(budget)}: {labels[pool.loc[pool['recommended'], 'method'].iloc[0]]}",
        "",
        f"| method | trained on | validation {metric} | test {metric} | 95 % interval | test cost "
        "| less the recommended | real? |",
        "|---|---|--:|--:|---|--:|---|---|",
    ]
    for line in pool.sort_values("valid_score", ascending=False, kind="stable").itertuples():
        beside = "recommended | " if line.recommended else versus(line.method)
        lines.append(
            f"| {labels[line.method]} | {line.kind} | {line.valid_score:.4f} | "
            f"{line.test_score:.4f} | {line.test_low:.4f} to {line.test_high:.4f} | "
            f"{line.test_cost:.4g} | {beside} |"
        )
    c = outcome.constant
    lines.append(
        f"| {c['answer']} | | {c['valid_score']:.4f} | {c['test_score']:.4f} | "
        f"{c['test_low']:.4f} to {c['test_high']:.4f} | 0 | {versus(CONSTANT[0])} |"
    )
    rows = outcome.rows
    cheapest = rows.groupby("method")["valid_cost"].min()
    lacking = [
        f"{labels[slug]} (its cheapest costs {cheapest[slug]:.4g})"
        for slug in labels
        if slug in cheapest.index and not is_within(cheapest[slug], budget)
    ]
    if lacking:
        lines += ["", f"No model within this budget: {', '.join(lacking)}."]
    found = [gap for gap in outcome.gaps if gap["budget"] == budget]
    if found:
        each = [
            f"{labels.get(gap['method'], 'all methods together')} {gap['below']:.4g} and "
            f"{gap['above']:.4g}"
            for gap in found
        ]
        lines += ["", f"Nothing better was found between costs of: {'; '.join(each)}."]
    kept = [f"{labels[r.method]} ({r.not_retrained})" for r in pool.itertuples() if r.not_retrained]
    if kept:
        lines += ["", f"Kept as trained on the training rows alone: {'; '.join(kept)}."]
    return lines


def so_far(outcome: Outcome) -> str:
    """Say of an answer before the last what it rests on; nothing of the last."""
    return outcome.so_far and (
        f"this answer is {outcome.so_far}. Of each budget the {N_LEADING} methods that validate "
        "best are judged. The same command goes on to the answer by all trainings"
    )


def recommendation(outcome: Outcome) -> list[str]:
    """Give a line for each budget: the method, its test score and cost, and what to know of it."""
    labels = _labels(outcome)
    lines = {
        line.budget: f"budget {plain(line.budget)}: {labels[line.method]} [{line.kind}], test "
        f"{outcome.prepared.metric} {line.test_score:.4f} ({line.test_low:.4f} to "
        f"{line.test_high:.4f}) at a cost of {line.test_cost:.4g}; "
        + "; ".join(_besides(outcome, line))
        for line in outcome.table[outcome.table["recommended"]].itertuples()
    }
    lines |= {budget: f"budget {plain(budget)}: {why}" for budget, why in outcome.unreached.items()}
    return [lines[budget] for budget in sorted(lines)]


def _besides(outcome: Outcome, line) -> list[str]:
    """Say of a recommended model how it stands to the constant, to others and to its budget."""
    labels, constant = _labels(outcome), outcome.constant
    pool = outcome.differences[outcome.differences["budget"] == line.budget].set_index("method")
    zero, others = pool.loc[CONSTANT[0]], pool.drop(CONSTANT[0])
    words = [f"{constant['answer']} has {constant['test_score']:.4f}"]
    if not (zero["real"] and zero["difference"] < 0):
        words.append("IT IS NOT REALLY BETTER than this constant, which costs nothing")
    worse = [labels[m] for m in others.index[others["real"] & (others["difference"] < 0)]]
    better = [labels[m] for m in others.index[others["real"] & (others["difference"] > 0)]]
    if worse:
        words.append(f"really worse: {', '.join(worse)}")
    if better:
        words.append(f"really better on the test rows: {', '.join(better)}")
    if len(others) and not worse and not better:
        words.append("no difference to another method is real")
    words += [
        f"nothing better was found between costs of {gap['below']:.4g} and {gap['above']:.4g}, by "
        "any method"
        for gap in outcome.gaps
        if gap["budget"] == line.budget and gap["method"] is None
    ]
    if line.test_cost > line.budget:
        words.append("on the test rows it costs more than the budget, within which it was on the "
                     "validation rows")  # fmt: skip
    if line.not_retrained:
        words.append(f"kept as trained on the training rows alone ({line.not_retrained})")
    return words


def loading(model: dict[str, Any], task: str) -> list[str]:
    """Give the four lines that load a model and use it."""
    if model["path"] is None:
        return [
            f"# {model['method']} is not kept in a file: train it with the parameters in rows.csv."
        ]
    path, of_users = repr(str(model["path"])), model["class"] is not None
    lines = [
        f"from algorithms.registry import load_model  # of the wheel alone: {WHEEL}.registry",
        f"model = load_model({path})",
    ]
    takes = "columns by name, text as it is"
    if of_users:
        lines = [
            f"from {model['module']} import {model['class']}",
            f"model = {model['class']}.load({path})",
        ]
        takes = "its features in their order, numbers in the place of text"
    if task == "ranking" and method_of(model["method"]).ranks_within_queries:
        return [
            *lines,
            "scores = model.ranking_score(table, query)  # a query's rows stand together",
            "print(model.prediction_cost(table, query).mean())",
        ]
    return [
        *lines,
        f"predictions = model.{model['says']}(table)  # {takes}",
        "print(model.prediction_cost(table).mean())",
    ]


def summary(outcome: Outcome, asked: Asked, search: Search, folder: Path) -> str:
    """Give README.txt: what was compared, what came out, how far to trust it, how to go on."""
    prepared, trained = outcome.prepared, outcome.trained
    complaints = [*trained.without_models(outcome.methods), *trained.lost(outcome.methods)]
    lines = [
        *_what_was_done(outcome, asked, search),
        *(f"Note: {line}." for line in outcome.prepared.notes),
        *(f"Left out: {line}." for line in outcome.left_out),
        *(f"{line}." for line in complaints),
        *([f"SO FAR: {so_far(outcome)}."] if outcome.so_far else []),
        "",
        *recommendation(outcome),
        "",
        *_limits(outcome),
        "",
        "table.md, table.csv: every method at every budget. differences.csv: which are real.",
        "rows.csv: every trial. picture.png: score against cost; page.html: the same, to be "
        "pointed at. trials/: what need not be computed again.",
    ]
    for budget, model in outcome.models.items():
        lines += ["", f"# the model for budget {plain(budget)}", *loading(model, prepared.task)]
    return "\n".join(lines)


def _what_was_done(outcome: Outcome, asked: Asked, search: Search) -> list[str]:
    prepared, n = outcome.prepared, outcome.prepared.n_rows
    for_each = outcome.trained.n_further
    lines = [
        f"{shown(asked.table)}: {prepared.task} of {asked.target!r}, {prepared.metric} (larger is "
        "better).",
        f"{n['train']} rows train, {n['valid']} choose, {n['test']} judge. Costs: "
        f"{prepared.prices.origin}; each evaluated split costs {asked.split_cost:g}.",
        f"Each method had {search.trials} draws of its parameters, the same for all, up to "
        f"{search.rounds} rounds, and was measured at many rounds (or thresholds) of each.",
        f"For each budget it had {for_each} trainings more, on features that are affordable within "
        f"it together; {plan.n_bisected(for_each)} of them, where a method has a price of cost "
        "(λ), bisect λ towards the budget instead, and Greedy Miser takes the budget itself in "
        "every second of the others.",
        "For each budget the best validation score within it was chosen, and that setting trained "
        "again on training and validation rows; where that would cost more than the budget, the "
        "chosen model was kept.",
        "Scores and costs here are those of the test rows, intervals and differences from "
        f"resampled {prepared.resampled} (95 %, differences corrected after Holm).",
    ]
    if asked.weight is not None:
        lines.append(
            "Weights are scaled to a mean of 1 over the training rows, since the least rows of a "
            "leaf count weight."
        )
    if asked.class_weight:
        lines.append(
            f"Classes are weighted in training ({', '.join(asked.class_weight)}); scores are not."
        )
    return lines


def _limits(outcome: Outcome) -> list[str]:
    n_trained, n_models = sum(outcome.trained.n_trained.values()), len(outcome.rows)
    return [
        f"Limits: {n_models} models of {n_trained} trainings were looked at. The best of so many "
        "validation scores is too high; go by the test score.",
        "Intervals are of this one split and of the models chosen on it: another --seed splits and "
        "draws anew, and may choose others.",
        "A score is not to be chosen by test rows: whoever picks another line of table.md for its "
        "test score needs new rows to judge it.",
    ]
