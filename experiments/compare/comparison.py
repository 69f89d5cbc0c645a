"""Runs a comparison: which methods, their trials, an answer whenever there is a better one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from algorithms.selection.scoring import is_within
from experiments.cell import Cell
from experiments.compare import limited
from experiments.compare.answering import Answering
from experiments.compare.computing import Computing
from experiments.compare.likelihoods import gives
from experiments.compare.outcome import Outcome, Search, Trained
from experiments.compare.plan import plain
from experiments.compare.preparing import Asked, Prepared, prepare
from experiments.compare.tables import Refused
from experiments.compare.training import n_cells, train
from experiments.looks import name_of
from experiments.methods.method import Method
from experiments.methods.table import METHODS, method_of
from experiments.methods.users_class import allows_nan, imported, takes_weights
from experiments.running.run import CellsFailed
from experiments.running.store import Store
from experiments.running.workers import Workers

log = logging.getLogger(__name__)


class TrialFailed(RuntimeError):
    """A method that must not fail did; the text is what it said."""


def compare(
    asked: Asked, search: Search, out: Path, workers: Workers, *, progress: bool = False
) -> Outcome:
    """Compare all methods that fit on a table, and write what came out.

    Finished trials are kept in ``trials/`` of the folder, under a hash of data, method, parameters
    and sources: the same command goes on where it stopped, and other budgets train anew only what
    depends on budgets.

    Parameters
    ----------
    asked : Asked
        The table and what its columns are.
    search : Search
    out : Path
        Folder for the results; created.
    workers : Workers
        Who trains.
    progress : bool
        Draw progress bars on standard error.

    Raises
    ------
    Refused
        If an input does not fit, or all budgets are below the cheapest model.
    CellsFailed
        If a method of the suite raised, or the user's own class in all its trials; all files are
        written by then.
    """
    out.mkdir(parents=True, exist_ok=True)
    prepared = prepare(asked, out / "trials")
    methods, left_out = _methods(prepared, search)
    budgets = sorted(set(search.budgets))
    least = prepared.prices.cheapest() + asked.split_cost  # every row passes the root of a tree
    possible = [budget for budget in budgets if is_within(least, budget)]
    why = f"one tree on the cheapest feature costs {least:g} a prediction"
    if not possible and not search.own:
        raise Refused(
            f"The budget {plain(max(budgets))} is below the cheapest model there can be: {why}."
        )
    asked_for = budgets if search.own else possible  # a class of the user's may cost less
    too_small = {
        budget: f"no model within {plain(budget)} was found: there can be none, {why}"
        for budget in budgets
        if budget not in asked_for
    }
    log.info(
        "%s by %s; methods: %d, draws of each: %d", prepared.task, prepared.metric, len(methods),
        search.trials,
    )  # fmt: skip
    total = n_cells(methods, search, len(possible))
    store = Store(out / "trials")
    with Computing(prepared, store, workers, total, progress, search.seconds) as computing:
        answering = Answering(
            asked, search, prepared, methods, left_out, asked_for, too_small, out, computing
        )
        try:
            cells, trained = train(
                prepared, methods, search, asked.seed, possible, asked.split_cost, computing,
                answering.early,
            )  # fmt: skip
            _refuse_if_all_failed(trained, methods)
            outcome = answering.last(cells, trained)
        except KeyboardInterrupt:
            if answering.so_far:
                log.warning("%s has the answer %s", out / "README.txt", answering.so_far)
            raise
    _name_what_must_not_fail(trained, methods, cells)
    return outcome


def _methods(prepared: Prepared, search: Search) -> tuple[list[Method], list[str]]:
    """Give the methods that fit, and a line for each that is left out."""
    unknown = [slug for slug in search.only if slug not in METHODS]
    if unknown:
        raise Refused(f"--only must be of {', '.join(METHODS)}, not {unknown[0]!r}.")
    methods, left_out = [], []
    for slug in search.only or [s for s, m in METHODS.items() if not m.chooses_features]:
        method = METHODS[slug]
        why = method.why_not(prepared.facts)
        if why:
            left_out.append(f"{name_of(method.slug)}: {why}")
        else:
            methods.append(method)
    for name in search.own:
        try:
            kind = imported(name)
        except ValueError as error:
            raise Refused(str(error)) from None
        if prepared.facts.some_missing and not allows_nan(kind):
            left_out.append(f"{name}: its tags do not say that it supports missing values")
        elif prepared.facts.class_weighted and not takes_weights(kind):
            left_out.append(f"{name}: its fit takes no sample_weight, as weights of classes need")
        elif not gives(kind, prepared.facts.asks):
            left_out.append(f"{name}: it gives no {prepared.facts.asks}, which the metric asks for")
        else:
            methods.append(method_of(name))
    if not methods:
        raise Refused(f"No method is left to compare ({'; '.join(left_out)}).")
    return methods, left_out


def _refuse_if_all_failed(trained: Trained, methods: Sequence[Method]) -> None:
    if trained.rows.empty and trained.failed:
        raise Refused(f"Every method failed: {'; '.join(trained.lost(methods))}.")


def _name_what_must_not_fail(
    trained: Trained, methods: Sequence[Method], cells: Sequence[Cell]
) -> None:
    """Raise for a method of the suite that failed once, or a class of the user's that always did.

    A library that fails loses its trials; README.txt names it.
    """
    failures = []
    for method in methods:
        said = trained.failed.get(method.slug, [])
        said = [why for why in said if not why.startswith(limited.TOO_LONG)]
        if (method.ours and said) or (
            method.of_the_user and said and len(said) == trained.n_trained[method.slug]
        ):
            cell = next(cell for cell in cells if cell.algorithm == method.slug)
            failures.append((cell, TrialFailed(said[0])))
    if failures:
        raise CellsFailed("the comparison", failures)
