"""Fitted models as files: arrays and JSON with a version and a checksum, never pickle.

One format for all estimators (:mod:`algorithms.estimators.archives`): the header names the class,
which says what else it stores. A file is read without trust: every entry and every array is checked
for what the kernels rely on, and a wrong one is a ValueError that says what is wrong.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import re
import reprlib
import warnings
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..validation.prices import by_place, labelled
from ..validation.types import StrPath
from .archives import (
    FORMAT,
    VERSION,
    ArrayKind,
    digest,
    packed,
    path_of_a_file,
    read_archive,
    unpacked,
    write_archive,
)
from .parameters import checked_parameters

MOST_FEATURES = 2**24  # a row of them is 128 MB
_MOST_CHARACTERS = 2**26  # of all class names, each as long as the longest
_LITTLE_PADDING = 2**20  # of names; beyond, an array of text would be much larger than its file

# Parameters whose dicts and Series say which column, or group, a value belongs to.
_MATCHED_BY_NAME = (
    "feature_costs",
    "model_feature_costs",
    "feature_groups",
    "feature_sharing",
    "group_costs",
    "class_weight",
    "monotonic_cst",
)
_INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no infinity

# What classes are in JSON, by the kind of their dtype, and in an array that becomes that list.
_KINDS_OF_CLASSES = {"b": bool, "i": int, "u": int, "f": float, "m": int, "M": int}
_DTYPES_OF_CLASSES = (
    r"[<>|=]?(b1|[iu][1248]|f[248]|f12|f16|[mM]8\[[1-9]?\d{0,5}(Y|M|W|D|h|m|[munpfa]?s)\]|m8)"
)
_LISTED_AS = {"f": np.float64, "m": np.int64, "M": np.int64}

# What a constructor or a check of parameters raises on a value that no parameter can have.
_WRONG_VALUES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def plain(name: str, value: object) -> Any:
    """Turn a parameter into what JSON can hold."""
    if isinstance(value, np.datetime64 | datetime.date):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    pairs = labelled(value) if name in _MATCHED_BY_NAME else None
    if pairs is None and isinstance(value, list | tuple | range):
        return [plain(name, one) for one in value]
    if isinstance(value, set | frozenset):
        return plain(name, sorted(value))
    if isinstance(value, np.random.RandomState):
        warnings.warn(
            "A file cannot hold the state of a random number generator: the loaded model has "
            f"{name}=None.",
            UserWarning,
            stacklevel=2,
        )
        return None
    if pairs is not None:
        labels, values = plain("", pairs.labels), plain("", list(pairs.values))
        if len(set(labels)) < len(labels):
            raise ValueError(f"Cannot save a model whose {name} has two values for one name.")
        return {"labels": labels, "values": values}
    if hasattr(value, "__array__"):
        return [plain(name, one) for one in np.asarray(value).tolist()]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"Cannot save a model whose {name} is {value!r}: use a name or a number.")


def restored(value: object) -> Any:
    """Turn what :func:`plain` stored into a parameter again; a Series comes back as a dict."""
    if isinstance(value, str):
        return _INFINITE.get(value, value)
    if not isinstance(value, dict) or value.keys() != {"labels", "values"}:
        return value
    try:
        return dict(zip(value["labels"], value["values"], strict=True))
    except TypeError:
        raise ValueError("its labels and values are no lists of labels and values") from None


def stored_parameter(model: Any, name: str) -> Any:
    """Give a model's parameter as JSON can hold it (ValueError if it cannot)."""
    return plain(name, by_place(model, name, getattr(model, name)))


def entry(header: Mapping, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
    """Return an entry of a header."""
    if name not in header:
        raise ValueError(f"its header lacks {name!r}")
    value = header[name]
    truth = isinstance(value, bool) and kind is not bool
    if truth or not isinstance(value, kind):
        raise ValueError(f"{name} in its header must be {expected}, got {reprlib.repr(value)}")
    return value


def whole_number(header: Mapping, name: str, least: int, most: int = 2**31 - 1) -> int:
    """Return an entry of a header that is a whole number from `least` to `most`."""
    value = entry(header, name, int, "a whole number")
    if not least <= value <= most:
        raise ValueError(
            f"{name} in its header must be from {least} to {most}, got {reprlib.repr(value)}"
        )
    return value


def known_parameters(cls: type, header: Mapping) -> dict:
    """Return the parameters in a header; refuse one that the class does not have."""
    params = entry(header, "params", dict, "an object")
    if fitted := [name for name in cls._fitted_params if name in params]:
        raise ValueError(f"its {fitted[0]} must be an entry of its header, and no parameter")
    unknown = sorted(set(params) - set(cls._get_param_names()))
    if unknown:
        raise ValueError(
            f"it was saved by a newer version of this package: {cls.__name__} has no parameter "
            f"{reprlib.repr(unknown[0])} here"
        )
    return params


def known_classes(base: type) -> dict[str, type]:
    """Classes of this package that registered themselves under a base, by their names.

    A file names a class, and finds it here: every class below `base` is known as soon as its module
    is imported, so that no table of them is asked for.
    """
    package = __name__.split(".")[0]

    def subclasses(cls: type) -> list[type]:
        return [sub for sub in cls.__subclasses__() if sub.__module__.split(".")[0] == package]

    known, waiting = {}, subclasses(base)
    while waiting:
        cls = waiting.pop()
        waiting += subclasses(cls)
        if not subclasses(cls):
            known[cls.__name__] = cls
    return dict(sorted(known.items()))


@contextlib.contextmanager
def refusing_parameters() -> Iterator[None]:
    """Say of what goes wrong inside, on whatever values, that the parameters do not fit."""
    try:
        yield
    except _WRONG_VALUES as error:
        raise ValueError(f"its parameters do not fit: {error}") from None


def n_score_columns(estimator: object) -> int:
    """Scores of a row: one for a regressor and for up to two classes, else one for each class."""
    n_classes = len(getattr(estimator, "classes_", ()))
    return n_classes if n_classes > 2 else 1


def stored_classes(classes: np.ndarray | None) -> dict | None:
    """Give class labels as JSON can hold them, dates as numbers; ValueError if it cannot."""
    if classes is None:
        return None
    if classes.dtype.kind in "OU":
        if not all(isinstance(label, str) for label in classes):
            raise ValueError("Cannot save a model whose classes are neither numbers nor strings.")
        return {"dtype": "str", "values": classes.tolist()}
    listed = classes.astype(_LISTED_AS.get(classes.dtype.kind, classes.dtype))
    if not np.array_equal(listed.astype(classes.dtype), classes):
        raise ValueError("Cannot save a model whose classes are numbers beyond float64.")
    return {"dtype": classes.dtype.str, "values": listed.tolist()}


def restored_classes(stored: Mapping) -> np.ndarray:
    """Classes from their entry in a header: distinct and ascending."""
    name = entry(stored, "dtype", str, "the name of a dtype")
    values = entry(stored, "values", list, "a list")
    try:
        known = name == "str" or re.fullmatch(_DTYPES_OF_CLASSES, name)
        dtype = np.dtype(name) if known else None
    except TypeError:  # of another machine
        dtype = None
    if dtype is None:
        raise ValueError(f"its classes have the unknown dtype {reprlib.repr(name)}")
    kind = _KINDS_OF_CLASSES.get(dtype.kind, str)
    if not values or any(type(value) is not kind for value in values):
        raise ValueError(f"its classes must be a list of values of dtype {name}")
    if kind is str:
        n_characters = len(values) * max(map(len, values))
        if n_characters > _MOST_CHARACTERS:
            raise ValueError("its classes have too long names")
        padded = n_characters > _LITTLE_PADDING + 8 * sum(map(len, values))
        if padded or any(value.endswith("\0") for value in values):  # which an array cuts off
            dtype = np.dtype(object)
    try:
        classes = np.array(values, dtype=dtype)
    except OverflowError:
        raise ValueError(f"its classes do not fit the dtype {name}") from None
    if dtype.kind in "fmM" and not np.all(np.isfinite(classes)):
        raise ValueError("its classes must be finite")
    if not np.all(classes[:-1] < classes[1:]):
        raise ValueError("its classes must be distinct and in ascending order")
    return classes


def stored_column_numbers(model: object) -> dict:
    """What a header says of columns that a table called by whole numbers; nothing of others.

    Names win: a forest of numbered columns may have been given names since.
    """
    numbers = getattr(model, "_column_numbers_", None)
    named = getattr(model, "feature_names_in_", None) is not None
    return {} if numbers is None or named else {"column_numbers": list(numbers)}


def restore_column_numbers(model: Any, header: Mapping) -> None:
    """Let a model call its columns by the numbers in a header, if it has any (ValueError)."""
    if "column_numbers" not in header:
        return
    numbers = entry(header, "column_numbers", list, "a list")
    if (
        any(type(number) is not int for number in numbers)
        or not len(numbers) == len(set(numbers)) == model.n_features_in_
        or header.get("feature_names") is not None
    ):
        raise ValueError(
            f"it must hold a number of its own for each of {model.n_features_in_} features that "
            "have no names"
        )
    model._column_numbers_ = tuple(numbers)


class SavedModel:
    """Files of an estimator; a mixin.

    A subclass defines `_stored_arrays`, `_stored`, `_restore` and `_check_restored`, and for
    parameters that are more than names, numbers and lists of them `_stored_params` and
    `_restored_params`.
    """

    # Dtype and dimensions of each array in a file, and those that may be absent.
    _stored_arrays: ClassVar[Mapping[str, ArrayKind]] = {}
    _optional_arrays: frozenset[str] = frozenset()
    # Parameters that are models: what was fitted of them stands in the file as such.
    _fitted_params: ClassVar[tuple[str, ...]] = ()
    # Parameters that files had not always, and the value that says nothing and is not written.
    _neutral: ClassVar[Mapping[str, Any]] = {"n_jobs": None, "class_weight": None, "verbose": 0}

    if TYPE_CHECKING:  # parameters are attributes that `keep` sets

        def __getattr__(self, name: str) -> Any: ...

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        """What was fitted: entries for the header, and arrays."""
        raise NotImplementedError

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        """Take over what was fitted; a ValueError says what no fit can have left."""
        raise NotImplementedError

    def _check_restored(self) -> None:
        """Check the parameters of a restored model by the rules of `fit`."""
        raise NotImplementedError

    def _stored_params(self) -> dict:
        """Parameters as JSON can hold them."""
        names = self._get_param_names()
        return {n: stored_parameter(self, n) for n in names if n not in self._fitted_params}

    def _told_params(self) -> dict:
        """Parameters as a file has them: as files were before, where newer ones say nothing."""
        neutral = self._neutral
        return {
            name: value
            for name, value in self._stored_params().items()
            if name not in neutral or value != neutral[name]
        }

    @staticmethod
    def _restored_params(params: dict) -> dict:
        """Parameters as the constructor takes them."""
        return params

    def save(self, path: StrPath) -> None:
        """Write the fitted model to a file: arrays and JSON with a checksum, never pickle.

        The file appears whole or not at all.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        TypeError
            If the path is none.
        ValueError
            If a parameter or the classes cannot be written, such as a function as `eval_metric`, or
            if :meth:`load` would refuse them, such as a parameter that `fit` refuses; or if the
            path is that of a folder, a device or a pipe.
        """
        check_is_fitted(self)
        self._write(path)

    def _write(self, path) -> None:
        path = path_of_a_file(path)
        contents, arrays = self._contents()
        header = {"format": FORMAT, "version": VERSION, **contents}
        try:  # nothing is written that could not be read
            self._from_file(json.loads(json.dumps(header, allow_nan=False)), arrays)
        except ValueError as error:
            raise ValueError(f"Cannot save the {type(self).__name__}: {error}.") from None
        content = packed(arrays)
        header["sha256"] = digest(header, content)
        write_archive(path, header, content)

    def _contents(self) -> tuple[dict, dict[str, np.ndarray]]:
        """All that a file says of this model: header and arrays."""
        names = getattr(self, "feature_names_in_", None)
        fitted, arrays = self._stored()
        return {
            "class": type(self).__name__,
            "params": self._told_params(),
            "classes": stored_classes(getattr(self, "classes_", None)),
            "n_features": int(self.n_features_in_),
            "feature_names": None if names is None else names.tolist(),
            **stored_column_numbers(self),
            **fitted,
        }, arrays

    @classmethod
    def _array_kinds(
        cls, header: dict
    ) -> tuple[Mapping[str, ArrayKind], frozenset[str], Mapping[str, int]]:
        """Arrays in a file with this header, which may be absent, and dimensions at most."""
        classes = entry(header, "classes", dict | None, "an object or null")
        if classes is None:
            most = {"scores": 1}
        else:
            n_classes = len(entry(classes, "values", list, "a list"))
            most = {"classes": n_classes, "scores": n_classes if n_classes > 2 else 1}
        return cls._stored_arrays, cls._optional_arrays, most

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Read a model written by :meth:`save`.

        A file may come from anywhere: whatever it holds, it is either refused or a model that
        predicts finite numbers.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        estimator

        Raises
        ------
        TypeError
            If the path is none.
        ValueError
            If the file is damaged, not a model of this class, of a newer version, or holds what no
            fit can have left; or if it is no file.
        FileNotFoundError
            If there is none.
        """
        return cls._from_archive(path, *read_archive(path))

    @classmethod
    def _from_archive(cls, path: StrPath, header: dict, content: bytes) -> Self:
        """Build an estimator of what a file holds whose checksum is right; see :meth:`load`."""
        if header.get("class") != cls.__name__:
            raise ValueError(
                f"{path} holds a model of class {header.get('class')!s:.80}, not {cls.__name__}."
            )
        try:
            arrays = unpacked(content, *cls._array_kinds(header))
            return cls._from_file(header, arrays)
        except ValueError as error:
            raise ValueError(f"{path} does not hold a whole {cls.__name__}: {error}.") from None

    @classmethod
    def _from_file(cls, header: dict, arrays: dict[str, np.ndarray]):
        """Build an estimator of what a file holds, once all of it has been checked."""
        params = known_parameters(cls, header)
        with refusing_parameters():
            params = {name: restored(value) for name, value in params.items()}
            estimator = cls(**cls._restored_params(params))
            checked_parameters(estimator)
            estimator._stored_params()  # what could not be saved was not
        estimator.n_features_in_ = whole_number(header, "n_features", 1, MOST_FEATURES)
        estimator._restore_names(header)
        estimator._restore(header, arrays)
        with refusing_parameters():
            estimator._check_restored()
        return estimator

    def _restore_names(self, header: dict) -> None:
        """Take over the names of features and classes."""
        names = entry(header, "feature_names", list | None, "a list or null")
        if names is not None:
            if len(names) != self.n_features_in_ or not all(isinstance(n, str) for n in names):
                raise ValueError(
                    f"it does not hold a name for each of {self.n_features_in_} features"
                )
            self.feature_names_in_ = np.array(names, dtype=object)
        restore_column_numbers(self, header)
        classes = entry(header, "classes", dict | None, "an object or null")
        if (classes is not None) != is_classifier(self):
            raise ValueError("it must hold classes if it is a classifier, and only then")
        if classes is not None:
            self.classes_ = restored_classes(classes)


def finite_number(header: Mapping, name: str) -> float:
    """Return an entry of a header that is a finite number >= 0, as a float."""
    value = entry(header, name, Real, "a number")
    if not 0 <= value < 2.0**1000:
        raise ValueError(f"{name} in its header must be a finite number >= 0, got {value!r}")
    return float(value)
