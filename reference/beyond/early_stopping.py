"""A score of each round on rows set aside, early stopping, and callbacks.

With ``early_stopping_rounds`` only the rounds up to the best are kept. Callbacks are beyond after
every round, ``(number of rounds, validation scores)``, whether it is the last.
"""

import math
from dataclasses import replace
from itertools import islice

import numpy as np

from reference import metrics
from reference.boosting import Model, staged_scores


def score_new_rounds(beyond, model: Model, loss) -> None:
    """Score the rounds that have no validation score yet."""
    if beyond.eval_set is None:
        return
    X, y, *query_id = (np.asarray(part) for part in beyond.eval_set)
    stages = staged_scores(model, X.astype(np.float64))
    for F in islice(stages, len(model.validation_scores), None):
        score = metrics.validation_score(beyond.eval_metric, loss, F, y, *query_id)
        model.validation_scores.append(score)


def is_last(beyond, model: Model, loss) -> bool:
    """Whether a callback says so, or ``early_stopping_rounds`` have brought no better score."""
    score_new_rounds(beyond, model, loss)
    scores, patience = model.validation_scores, beyond.early_stopping_rounds
    told = [callback(len(model.rounds), scores) for callback in beyond.callbacks]
    if any(told) or patience is None or not scores:
        return any(told)
    return len(scores) - (best_round(scores, beyond.eval_metric != "loss") or 0) >= patience


def chosen(beyond, model: Model, loss) -> Model:
    """The model with its best round, which is the last where training was to stop early."""
    score_new_rounds(beyond, model, loss)
    best = best_round(model.validation_scores, beyond.eval_metric != "loss")
    stops = beyond.early_stopping_rounds is not None and best is not None
    return replace(model, rounds=model.rounds[: best if stops else None], best_round=best)


def best_round(scores: list[float], larger_is_better: bool) -> int | None:
    """Find the first best round, counted from 1; None if no score is a finite number."""
    best = None
    for number, score in enumerate(scores, start=1):
        signed = score if larger_is_better else -score
        if math.isfinite(signed) and (best is None or signed > best[0]):
            best = signed, number
    return None if best is None else best[1]
