"""From what is trained to an answer: the choice, trained again, judged, written."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.selection.scoring import is_within
from datasets.sources.storage import write_atomically
from experiments.cell import Cell, rounded
from experiments.compare import show
from experiments.compare.choosing import (
    CONSTANT,
    N_LEADING,
    choose,
    gaps,
    judge,
    leading,
    unreached,
)
from experiments.compare.computing import Computing
from experiments.compare.constant import always_alike
from experiments.compare.metrics import Units
from experiments.compare.outcome import Outcome, Search, Trained
from experiments.compare.plan import Trial, plain
from experiments.compare.preparing import Asked, Prepared
from experiments.compare.problem import load
from experiments.compare.tables import Refused
from experiments.compare.trials import run_chosen
from experiments.methods.method import Method

log = logging.getLogger(__name__)

_WORTH = 20.0
"""Seconds to go, for fewer of which nobody wants an answer before the last."""


class Answering:
    """Writes an answer whenever it is asked for one; the last is as if there were no others.

    Parameters
    ----------
    budgets : sequence of float
        Those that are answered.
    too_small : mapping of float to str
        Those that no model can be within, each with a sentence.
    """

    def __init__(
        self,
        asked: Asked,
        search: Search,
        prepared: Prepared,
        methods: list[Method],
        left_out: list[str],
        budgets: Sequence[float],
        too_small: Mapping[float, str],
        out: Path,
        computing: Computing,
    ) -> None:
        self._asked, self._search, self._prepared = asked, search, prepared
        self._methods, self._left_out = methods, left_out
        self._budgets, self._too_small = budgets, dict(too_small)
        self._out, self._computing = out, computing
        self._begin = time.monotonic()
        self.so_far = ""  # What the last early answer rests on

    def early(self, cells: Sequence[Cell], trained: Trained) -> None:
        """Write an answer by what is trained, if there is some and the next is far off."""
        computing = self._computing
        if computing.seconds_to_go < _WORTH:
            return
        n = sum(trained.n_trained.values())
        so_far = (
            f"from {n} of about {n + computing.n_to_come} trainings and one division of the rows"
        )
        try:
            outcome = self._answer(cells, trained, so_far)
        except Refused:  # there is no model yet
            return
        which, self.so_far = "a better answer" if self.so_far else "first answer", so_far
        log.info(
            "after %.0f s: %s, %s; going on, about %.2g minutes; Ctrl-C keeps what is there (%s)"
            "\n%s",
            time.monotonic() - self._begin, which, so_far, computing.seconds_to_go / 60,
            self._out / "page.html", "\n".join(f"  {s}" for s in show.recommendation(outcome)),
        )  # fmt: skip

    def last(self, cells: Sequence[Cell], trained: Trained) -> Outcome:
        """Write the answer by all trainings."""
        return self._answer(cells, trained, "")

    def _answer(self, cells: Sequence[Cell], trained: Trained, so_far: str) -> Outcome:
        prepared, seed = self._prepared, self._asked.seed
        missed = self._too_small | unreached(trained.rows, self._budgets)
        chosen, whole = self._chosen(cells, trained.rows, bool(so_far))
        answer, valid_score, units = always_alike(load(str(prepared.path)))
        measured = {key: Units.of_json(row) for key, row in whole.items()}
        table, differences, constant = judge(chosen, measured | {CONSTANT: units}, seed)
        models = _models(self._out, table, whole)
        outcome = Outcome(
            prepared, self._methods, self._left_out, trained, table, differences,
            {"answer": answer, "valid_score": valid_score, **constant},
            gaps(trained.rows, self._budgets), missed,
            {budget: model for budget, (model, _) in models.items()}, so_far,
        )  # fmt: skip
        files = show.files(self._out, outcome, self._asked, self._search)
        for budget in self._search.budgets:  # of an earlier answer, perhaps
            _path(self._out, budget).unlink(missing_ok=True)
        for budget, (_, content) in models.items():
            if content is not None:
                files[_path(self._out, budget)] = content
        for path, content in files.items():
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, content)
        return outcome

    def _chosen(
        self, cells: Sequence[Cell], rows: pd.DataFrame, early: bool
    ) -> tuple[pd.DataFrame, dict[tuple, dict]]:
        """Choose for each budget and train it again; choose anew where that fails."""
        by_key = {(cell.algorithm, cell.params["trial"]): cell for cell in cells}
        while True:
            chosen = choose(rows, self._budgets)
            chosen = leading(chosen, N_LEADING) if early else chosen
            least = chosen.groupby(["method", "trial", "cut"], sort=False)["budget"].min()
            kept = [
                Trial(cell.dataset, cell.algorithm, {**cell.params, "cut": cut, "budget": budget})
                for (method, trial, cut), budget in least.items()
                for cell in [by_key[method, trial]]
            ]
            self._computing.expect(len(kept), besides=early)
            trained = self._computing.rows(run_chosen, kept)
            whole = dict(zip(least.index, (rows[0] for rows in trained), strict=True))
            lost = [key for key, row in whole.items() if "failed" in row]
            if not lost:
                break
            keys = pd.MultiIndex.from_frame(rows[["method", "trial", "cut"]])
            rows = rows[~keys.isin(lost)]
            if rows.empty or not is_within(rows["valid_cost"].min(), max(self._budgets)):
                why = whole[lost[0]]["failed"]
                raise Refused(f"What was chosen cannot be trained again: {why}.")
        at = [tuple(line) for line in chosen[["method", "trial", "cut"]].itertuples(index=False)]
        return chosen.assign(
            test_cost=[rounded(whole[key]["test_cost"]) for key in at],
            not_retrained=[whole[key]["not_retrained"] or "" for key in at],
        ), whole


def _path(out: Path, budget: float) -> Path:
    return out / "models" / f"budget-{plain(budget)}.zip"


def _models(
    out: Path, table: pd.DataFrame, whole: Mapping[tuple, dict]
) -> dict[float, tuple[dict[str, Any], bytes | None]]:
    """Say of each budget's recommended model how it is loaded; give its file, if it has one."""
    models = {}
    for line in table[table["recommended"]].itertuples():
        row = whole[line.method, line.trial, line.cut]
        content = None if row["model"] is None else base64.b64decode(row["model"])
        said = {name: row[name] for name in ("module", "class", "says")}
        path = None if content is None else _path(out, line.budget)
        models[line.budget] = {"path": path, **said, "method": line.method}, content
    return models
