"""What is predicted: the task, the metric, and the target as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.raw_tables.fields import number_of
from algorithms.validation.columns import one_in_float64
from algorithms.validation.prices import listed
from experiments.compare import limits, metrics
from experiments.compare.fields import Column, Refused, spelling, whole_numbers
from experiments.compare.labels import (
    as_numbers,
    classes_of,
    numbers_of_classes,
    refuse_unknown,
    words_beside_numbers,
)
from experiments.methods.facts import HIGHEST_GRADE

_MOST_CLASSES = 20  # a target of more whole numbers is regressed


@dataclass(frozen=True)
class Target:
    """A target."""

    name: str
    task: str
    metric: str
    values: np.ndarray  # Numbers of classes, or numbers
    classes: list | None  # What is numbered
    notes: list[str]  # What may surprise

    @classmethod
    def of(
        cls, y: Column, name: str, task: str | None, query: str | None, metric: str | None
    ) -> Target:
        """Give the target of a table."""
        task = _task(y, name, task, query)
        asked = None if metric is None else _metric(metric, task)
        if task != "classification":
            metric = asked or metrics.DEFAULT[task]
            return cls(name, task, metric, _numbers(y, name, task, metric), None, [])
        values, classes = classes_of(y, name)
        _refuse_one_value(values, y, name)
        words = words_beside_numbers(y)
        notes = [f"{listed(words)} in column {name!r} is taken as a class"] if words else []
        metric = asked or metrics.proposed(values)
        if asked is None and metric != metrics.DEFAULT[task]:
            notes.append(_not_accuracy(values, classes, metric))
        if metric in metrics.OF_TWO:
            if len(classes) > 2:
                raise Refused(
                    f"--metric {metric} is of two classes, and column {name!r} has {len(classes)}: "
                    "take balanced_accuracy or neg_log_loss."
                )
            rarer = classes[metrics.rarer(values)]
            notes.append(f"{metric} is of the class {rarer!r}, the rarer one")
        return cls(name, task, metric, values, classes, notes)

    def of_another_file(self, y: Column, file: str, own_file: str) -> np.ndarray:
        """Give the target of the test file, numbered alike; Refused if it does not fit."""
        if self.classes is None:
            return _numbers(y, self.name, self.task, self.metric)
        values, unknown = numbers_of_classes(y, self.classes)
        refuse_unknown(unknown, file, own_file)
        _refuse_one_value(values, y, self.name)
        return values


def _task(y: Column, name: str, task: str | None, query: str | None) -> str:
    """Give the task: as told, by a query column, or by what the target is."""
    if query is not None and task not in (None, "ranking"):
        raise Refused(f"--query is for ranking, and --task says {task}: leave one out.")
    if task == "ranking" and query is None:
        raise Refused("Ranking needs the column that names each row's query: --query COLUMN.")
    if task is not None:
        return task
    if query is not None:
        return "ranking"
    values = y.numbers if y.typed else as_numbers(y)  # a file that has types has said what is text
    if values is not None and not y.boolean:
        return "regression" if _many(values) else "classification"
    if spelled := spelling(y.text):
        raise Refused(
            f"Column {name!r} (--target) has {spelled}, or say --task classification if they are "
            "classes."
        )
    words = words_beside_numbers(y)
    if words:
        others = Column(None, np.array([t for t in y.text if t not in words], dtype=object))
        if _many(as_numbers(others)):
            raise Refused(
                f"Column {name!r} (--target) has {listed(words)} beside numbers: leave these rows "
                "out, or say --task classification if that is a class."
            )
    return "classification"


def _many(values: np.ndarray) -> bool:
    """Whether numbers are rather amounts than classes."""
    return bool(np.any(values != np.rint(values))) or len(np.unique(values)) > _MOST_CLASSES


def _not_accuracy(values: np.ndarray, classes: list, metric: str) -> str:
    counts = np.bincount(values)
    share = counts.max() / counts.sum()
    return (
        f"{share:.1%} of the rows are {classes[int(np.argmax(counts))]!r}: who always says so has "
        f"an accuracy of {share:.4f}, which is no metric here; {metric} is, by which models are "
        "chosen and judged (--metric accuracy if you want that all the same)"
    )


def _metric(asked: str, task: str) -> str:
    metric = metrics.called(asked)
    if not metrics.known(task, metric):
        raise Refused(
            f"--metric of {task} must be {' or '.join(metrics.CHOICES[task])}, not {metric!r}."
        )
    return metric


def _numbers(y: Column, name: str, task: str, metric: str) -> np.ndarray:
    """Give a target of numbers, or of grades that the metric takes."""
    values = as_numbers(y)
    if values is None:
        first = next(text for text in y.text if number_of(text) is None)
        has = spelling(y.text) or repr(first)
        raise Refused(f"The target {name!r} must be numbers for {task}, and has {has}.")
    if not np.all(np.isfinite(values)):
        raise Refused(f"The target {name!r} must be finite numbers for {task}.")
    _refuse_one_value(values, y, name)
    if pair := one_in_float64(whole_numbers(y.text)):
        raise Refused(
            f"The target {name!r} has whole numbers that are one in double precision ({pair[0]} "
            f"and {pair[1]}): subtract the smallest from all of them."
        )
    limits.check_target(values, name)
    whole = np.all((values >= 0) & (values == np.rint(values)) & (values <= HIGHEST_GRADE))
    if "ndcg" in metric and not whole:
        raise Refused(f"{metric} needs grades 0, 1, 2, …; the target {name!r} has others.")
    advice = "give relevant documents such a grade"
    metrics.check_relevant(metric, values, f"the target {name!r}", advice)
    return values


def _refuse_one_value(values: np.ndarray, y: Column, name: str) -> None:
    if np.all(values == values[0]):
        raise Refused(
            f"The target {name!r} has one value only ({y.text[0]}): there is nothing to learn."
        )
