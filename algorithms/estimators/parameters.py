"""Parameters of the estimators: what each one means and what it may be, said once.

A table maps the name of a parameter to a :class:`Parameter`. :func:`documented` writes the
docstring of an estimator from its table, and :func:`checked_parameters` refuses what is not
allowed. What an estimator has beside the parameters here stands in its own file.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import check_random_state

from ..kernels.decorators import resolve_n_threads
from ..trees.binning import MAX_BINS
from ..validation.categories import check_categorical_features
from .constraints import check_monotonic_cst
from .threads import threads_of

_Class = TypeVar("_Class")

_WIDTH = 100  # of a line of documentation
_MOST_COUNTED = 2**53  # larger whole numbers are no floats
MOST_ROUNDS = 2**31 - 1  # 32 bits number the nodes of a forest
LARGEST_FACTOR = 1e100  # of an objective: products of several, and their squares, stay numbers


# --- checks -------------------------------------------------------------------------------------


def shown(value: object) -> str:
    """Return a value as an error message can hold it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_number(
    name: str, value: object, *, positive: bool = False, most: float | None = None
) -> float:
    """Give a parameter as a float; refuse what is not a finite number >= 0, or > 0.

    With `most` it may not be larger, nor if it is `positive` smaller than ``1 / most``.
    """
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    try:
        number = number and np.isfinite(float(value))
    except OverflowError:  # a whole number beyond any float
        number = False
    if not number or value < 0 or (positive and value == 0):
        least = "> 0" if positive else ">= 0"
        raise ValueError(f"{name} must be a finite number {least}, got {shown(value)}.")
    number = float(value)
    if most is not None and (number > most or (positive and number < 1.0 / most)):
        limits = f"from {1.0 / most:g} to {most:g}" if positive else f"at most {most:g}"
        raise ValueError(f"{name} must be {limits}, got {shown(value)}.")
    return number + 0.0  # -0.0 becomes 0.0


def check_rate(name: str, value: object) -> float:
    """Give a rate as a float; refuse what is not in (0, 1]."""
    rate = check_number(name, value, positive=True)
    if rate > 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {shown(value)}.")
    return rate


def check_factor(name: str, value: float, prices: float, and_of: str | None = None) -> None:
    """Refuse a price of costs by which an objective would be no number."""
    if not value * prices <= LARGEST_FACTOR:
        others = "all prices" if and_of is None else f"all prices and the powers of {and_of}"
        raise ValueError(
            f"{name} ({value:g}) times {others} ({prices:g}) must be at most {LARGEST_FACTOR:g}."
        )


def check_whole_number(
    name: str, value: object, least: int, *, most: int | None = None, or_none: bool = False
) -> int | None:
    """Give a parameter as an int (or None, if allowed); refuse what is not a whole number."""
    if or_none and value is None:
        return None
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    most = _MOST_COUNTED if most is None and whole and value > _MOST_COUNTED else most
    if not whole or value < least or (most is not None and value > most):
        expected = "None or a whole number" if or_none else "a whole number"
        limits = f">= {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {expected} {limits}, got {shown(value)}.")
    return int(value)


def check_seed_or_state(name: str, value: Any) -> Any:
    """Give what random numbers begin with as it is; refuse all but None, seeds, a RandomState."""
    if isinstance(value, Integral) and not isinstance(value, bool | np.bool_):
        return check_whole_number(name, value, 0)
    if value is not None and not isinstance(value, np.random.RandomState):
        raise ValueError(
            f"{name} must be None, a whole number >= 0 or a RandomState, got {shown(value)}."
        )
    return value


def check_seed(name: str, value: object) -> int:
    """Give a number from a seed; None draws one, and a RandomState is asked for one."""
    value = check_seed_or_state(name, value)
    return value if isinstance(value, int) else int(check_random_state(value).randint(2**31 - 1))


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Give a parameter that is one of several words; refuse any other."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(map(repr, choices))
        raise ValueError(f"{name} must be {listed}, got {shown(value)}.")
    return value


def check_flag(name: str, value: object) -> bool:
    """Give a parameter that is True or False; refuse anything else."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}.")
    return bool(value)


def check_rounds(rounds: Iterable[int] | None, n_rounds: int) -> list[int]:
    """Give rounds as a list; refuse what does not ascend or is not among the `n_rounds`."""
    checked = [check_whole_number("A round", one, 1, most=n_rounds) for one in rounds]
    if any(one >= following for one, following in pairwise(checked)):
        raise ValueError(f"rounds must ascend, got {shown(checked)}.")
    return checked


# --- tables -------------------------------------------------------------------------------------


class Parameter(NamedTuple):
    """A line of a table."""

    kind: str  # What it may be, in the words of the documentation
    text: str  # What it means
    # ``(name, value) -> value`` that the estimator works with, or a ValueError. None: checked
    # together with the data, or not at all
    check: Callable[[str, Any], Any] | None = None


def number(kind: str, text: str, *, positive: bool = False, most: float | None = None) -> Parameter:
    """Return a parameter that is a finite number >= 0, or > 0; see :func:`check_number`."""
    return Parameter(
        kind, text, lambda name, v: check_number(name, v, positive=positive, most=most)
    )


def whole(
    kind: str, text: str, least: int, *, most: int | None = None, or_none: bool = False
) -> Parameter:
    """Return a parameter that is a whole number, or None if that is allowed."""
    return Parameter(
        kind, text, lambda name, v: check_whole_number(name, v, least, most=most, or_none=or_none)
    )


def choice(text: str, *choices: str) -> Parameter:
    """Return a parameter that is one of several words."""
    kind = "{" + ", ".join(f'"{word}"' for word in choices) + "}"
    return Parameter(kind, text, lambda name, v: check_choice(name, v, choices))


def flag(text: str) -> Parameter:
    """Return a parameter that is True or False."""
    return Parameter("bool", text, check_flag)


def check_class_weight(name: str, value: object) -> Any:
    """Give weights of classes as they are; refuse all but None, "balanced" and numbers > 0."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(
            f'{name} must be None, "balanced" or a dict from class labels to numbers > 0, got '
            f"{shown(value)}."
        )
    for label, weight in value.items():
        check_number(f"{name} of {label!r}", weight, positive=True)
    return value


_BY_COLUMN = "array-like of shape (n_features,), dict, Series or None"
_BY_NAME = "A dict or a Series is matched by the names of the columns."

N_THREADS = Parameter(
    "int or None",
    "Threads; None means all. The result does not depend on it.",
    lambda _, value: resolve_n_threads(value),
)
N_JOBS = Parameter(
    "int or None",
    "scikit-learn's name of `n_threads`: -1 means all, -2 all but one. None: as `n_threads` says. "
    "Given both, they must agree.",
)
CLASS_WEIGHT = Parameter(
    '"balanced", dict or None',
    "Factor > 0 on the weight of each row by its class label, 1 where a label is not there. "
    '"balanced": the weight of all rows / (number of classes * weight of the class).',
    check_class_weight,
)
# Of an estimator that does not look at prices while it trains.
METERED = {
    "split_cost": Parameter("float", "Cost of evaluating one split node, for the cost meter."),
    "feature_costs": Parameter(
        _BY_COLUMN,
        "Acquisition cost per row and feature, in the user's own unit, for the cost meter; None "
        f"means free. {_BY_NAME}",
    ),
    "feature_groups": Parameter(
        "array-like of int or str of shape (n_features,), dict, Series or None",
        "Features with the same label are acquired together; their costs must be equal, unless "
        f"there are `group_costs`. {_BY_NAME}",
    ),
    "group_costs": Parameter(
        "dict or None",
        "Price of each group by its label, paid once at the first use of any of its features; "
        "`feature_costs` are then what each feature costs besides. None: the features of a group "
        "have one price together.",
    ),
    "feature_sharing": Parameter(
        _BY_COLUMN,
        "Number of rows that share one evaluation on the feature; the split cost is divided by "
        f"it. {_BY_NAME}",
    ),
}
# Of an estimator that does.
PENALISED = METERED | {
    "tradeoff": number(
        "float",
        "lambda of Eq. (2), with the 1/2 of Eq. (12): gain of the loss, summed over rows, that a "
        "unit of cost must bring. 0 ignores all costs. (LightGBM's `cegb_tradeoff` is twice this.)",
    ),
    "split_cost": Parameter("float", "alpha: cost of evaluating one split node for one row."),
    "feature_costs": Parameter(
        _BY_COLUMN,
        "beta: acquisition cost per row and feature, in the user's own unit, paid when a row uses "
        f"the feature for the first time; None means free. {_BY_NAME}",
    ),
    "model_feature_costs": Parameter(
        _BY_COLUMN,
        "gamma: cost of computing the feature for all rows at once, paid when the model uses it "
        f"for the first time; None means free. {_BY_NAME}",
    ),
    "feature_sharing": Parameter(
        _BY_COLUMN,
        "eps of section 5.2: number of rows (pixels) that share one value of the feature; a split "
        f"on it costs split_cost / eps. {_BY_NAME}",
    ),
    "stop_on_negative_gain": flag(
        "Whether only splits with a positive net gain are made. False splits on up to "
        "`max_leaves`, as the authors' program does."
    ),
    "second_order": flag(
        'Whether hessians are used. False sets them to 1 ("first-order terms only"), Greedy '
        "Miser's setting."
    ),
}
# Of all boosted trees.
TREES = {
    "n_estimators": whole(
        "int",
        "Rounds K at most. Fewer are kept if a round finds no split, or by early stopping "
        "(`n_estimators_`).",
        0,
        most=MOST_ROUNDS,
    ),
    "learning_rate": number("float", "Factor on each leaf value."),
    "max_leaves": whole("int or None", "Leaves of a tree at most.", 2, or_none=True),
    "max_depth": whole(
        "int or None", "Splits between the root and a leaf at most.", 1, or_none=True
    ),
    "min_samples_leaf": whole(
        "int", "Row weight (number of rows, if unweighted) that a leaf holds at least.", 1
    ),
    "growth": choice(
        "Whether the leaf with the best net gain is split next, or the oldest one.",
        "best_first",
        "breadth_first",
    ),
    "max_bins": whole(
        "int",
        "Bins per feature at most, and one more for missing values; see "
        ":func:`algorithms.trees.binning.bin_edges`.",
        2,
        most=MAX_BINS,
    ),
    "categorical_features": Parameter(
        'None, "from_dtype", or array-like of str, int or bool',
        "Columns of categories, by names, places or a mask: text, or numbers of which only "
        "equality means something. A split sends a set of them left "
        "(:mod:`reference.beyond.categories` has the rule), and a row pays for the column, once. "
        '"from_dtype": those columns of a '
        "table whose dtype is of categories or text. Categories that weigh less than "
        "`min_samples_leaf`, those beyond the `max_bins` heaviest, and new ones count as missing.",
        check_categorical_features,
    ),
    "init": choice("Start from the best constant, which costs nothing, or from 0.", "mean", "zero"),
    "min_hessian_leaf": number(
        "float",
        "Sum of hessians that a leaf holds at least, or its value is 0: there -G/H means nothing.",
    ),
    "early_stopping_rounds": whole(
        "int or None",
        "Stop after so many rounds without a better validation score, and keep the rounds up to "
        "the best.",
        1,
        or_none=True,
    ),
    "eval_metric": Parameter(
        "str or callable", "Validation score, see :func:`algorithms.metrics.validation_score`."
    ),
    "objective": Parameter(
        '{None, "lambdarank"}',
        "None: squared loss, of a classifier logistic or multinomial loss. Of a regressor "
        '"lambdarank": `y` are grades from 0, and pairs of documents within each query '
        "(`query_id` of `fit`) are put in order, weighted by what that moves of NDCG; the rules "
        "are those of :mod:`reference.beyond.lambdarank`. `init` does not matter then.",
        lambda name, v: v if v is None else check_choice(name, v, ("lambdarank",)),
    ),
    "lambdarank_truncation": whole(
        "int or None",
        "Only pairs with a document among so many first places count, and the best DCG is that of "
        "these. None: 30. Refused without `objective`.",
        1,
        most=10_000,
        or_none=True,
    ),
    "subsample": Parameter(
        "float",
        "Share in (0, 1] of the rows that a tree is grown on, drawn anew for each tree without "
        "replacement. The others walk down it: their scores move, and they own what they pass.",
        check_rate,
    ),
    "colsample_bytree": Parameter(
        "float", "Share in (0, 1] of the features that a tree may test, drawn for each.", check_rate
    ),
    "reg_lambda": number(
        "float",
        "L2 penalty on leaf values: so much more in each sum of hessians, in gains and in values.",
    ),
    "monotonic_cst": Parameter(
        "array-like of shape (n_features,), dict of column to int, or None",
        "Of each column 1 (scores never fall along it), -1 (they never rise) or 0, or those of "
        "some columns by name; :mod:`reference.beyond.monotonic` has the rule. Refused of "
        "categories, of more than two classes and of rows of Dask.",
        check_monotonic_cst,
    ),
    "warm_start": flag(
        "Whether `fit` goes on from the earlier fit, to `n_estimators` rounds, owning and owing "
        "what its trees bought. On the same rows it gives the model of one fit, bit for bit: a "
        "drawn seed is kept, and what decides the trees must be as it was."
    ),
    "n_threads": N_THREADS,
    "n_jobs": N_JOBS,
    "class_weight": CLASS_WEIGHT._replace(
        text=f"{CLASS_WEIGHT.text} A regressor refuses it, and so does a fit to rows of Dask."
    ),
    "verbose": whole(
        "int", "Print a line after every so many rounds: splits, validation score. 0: none.", 0
    ),
    "random_state": Parameter(
        "int, RandomState or None",
        "Seed of `subsample` and `colsample_bytree`. Without them nothing is drawn at random.",
        check_seed_or_state,
    ),
}


# --- what estimators do with their table ----------------------------------------------------------


def keep(estimator: object, values: Mapping[str, Any]) -> None:
    """Keep what a constructor was given as scikit-learn wants it: each under its name, untouched.

    Parameters
    ----------
    estimator : estimator
    values : mapping
        The ``locals()`` of its constructor.
    """
    for name in estimator._get_param_names():
        setattr(estimator, name, values[name])


def checked_parameters(estimator: object) -> dict[str, Any]:
    """Check the parameters of an estimator that have a check in its table."""
    names = _names(type(estimator))
    checked = {
        name: parameter.check(name, getattr(estimator, name))
        for name, parameter in estimator._parameters.items()
        if parameter.check is not None and name in names
    }
    return checked | ({"n_threads": threads_of(estimator)} if "n_jobs" in names else {})


_known_names: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def _names(cls: type) -> frozenset[str]:
    """Names of a constructor's parameters, which scikit-learn reads anew each time."""
    names = _known_names.get(cls)
    if names is None:
        names = _known_names[cls] = frozenset(cls._get_param_names())
    return names


def documented(cls: type[_Class]) -> type[_Class]:
    """Write the docstring of an estimator: ``{parameters}`` and ``{attributes}`` from its tables.

    Parameters
    ----------
    cls : type
        With tables `_parameters`, for every parameter of its constructor, and `_attributes`.

    Returns
    -------
    type
        The same.
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    signature = inspect.signature(cls.__init__).parameters
    parameters = [
        (f"{name} : {cls._parameters[name].kind}, default={_default(value.default)}", name)
        for name, value in signature.items()
        if name != "self"
    ]
    attributes = [(f"{name} : {part.kind}", name) for name, part in cls._attributes.items()]
    cls.__doc__ = _filled(cls.__doc__, "parameters", parameters, cls._parameters)
    cls.__doc__ = _filled(cls.__doc__, "attributes", attributes, cls._attributes)
    return cls


def _default(value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _filled(doc: str, place: str, headings: list[tuple[str, str]], table: Mapping) -> str:
    """Docstring with its line ``{place}`` replaced by headings and, indented, their texts."""

    def block(match: re.Match) -> str:
        indent = match.group(1)
        lines = []
        for heading, name in headings:
            lines.append(indent + heading)
            lines += textwrap.wrap(
                table[name].text,
                _WIDTH,
                initial_indent=indent + "    ",
                subsequent_indent=indent + "    ",
                break_on_hyphens=False,
            )
        return "\n".join(lines)

    return re.sub(rf"^( *)\{{{place}\}}$", block, doc, flags=re.MULTILINE)
