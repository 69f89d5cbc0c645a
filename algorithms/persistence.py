"""Fitted models as files: arrays and JSON with a version and a checksum, never pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np

from algorithms.boosting import Boosted
from algorithms.trees.forest import Forest

_FORMAT = "cost-aware-boosting model"
_VERSION = 1

# What zipfile, zlib and json raise on a file with a wrong byte.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    OSError,
    RuntimeError,
    ValueError,
)


def _plain(name: str, value):
    """Turn a parameter into what JSON can hold."""
    if isinstance(value, np.ndarray | list | tuple):
        return np.asarray(value).tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"Cannot save a model whose {name} is {value!r}: use a name or a number.")


def _classes(estimator):
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return None
    if classes.dtype == object and not all(isinstance(c, str) for c in classes):
        raise ValueError("Cannot save a model whose classes are neither numbers nor strings.")
    return {
        "dtype": "str" if classes.dtype.kind in "OU" else classes.dtype.str,
        "values": classes.tolist(),
    }


def _digest(header: dict, arrays: bytes) -> str:
    text = json.dumps({k: v for k, v in header.items() if k != "sha256"}, sort_keys=True)
    return hashlib.sha256(text.encode() + arrays).hexdigest()


def save(estimator, path) -> None:
    """Write a fitted estimator; the file appears whole or not at all.

    Parameters
    ----------
    estimator : BoostedTrees
    path : str or path-like

    Raises
    ------
    ValueError
        If a parameter or the classes cannot be written.
    """
    params = {k: _plain(k, v) for k, v in estimator.get_params(deep=False).items()}
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "class": type(estimator).__name__,
        "params": params,
        "classes": _classes(estimator),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "n_estimators": int(estimator.n_estimators_),
        "learning_rate": estimator._learning_rate,
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        initial_scores=estimator.initial_scores_,
        validation_scores=estimator.validation_scores_,
        **estimator.trees_._asdict(),
    )
    arrays = buffer.getvalue()
    header["sha256"] = _digest(header, arrays)
    path = Path(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            archive.writestr("header.json", json.dumps(header, indent=1))
            archive.writestr("arrays.npz", arrays)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read(path) -> tuple[dict, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("header.json")), archive.read("arrays.npz")
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise ValueError(f"{path} is not a saved model, or it is damaged ({error}).") from None


def load(cls, path):
    """Read an estimator of class `cls`.

    Parameters
    ----------
    cls : type
    path : str or path-like

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file is damaged, of another kind or class, or of a newer version.
    FileNotFoundError
        If there is none.
    """
    header, arrays = _read(path)
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a saved model of this package.")
    if header.get("version") != _VERSION:
        raise ValueError(
            f"{path} has format version {header.get('version')!r}; this is version {_VERSION}."
        )
    if header.get("sha256") != _digest(header, arrays):
        raise ValueError(f"{path} is damaged: its checksum does not match.")
    if header["class"] != cls.__name__:
        raise ValueError(f"{path} holds a {header['class']}, not a {cls.__name__}.")
    estimator = cls(**header["params"])
    with np.load(io.BytesIO(arrays), allow_pickle=False) as stored:
        forest = Forest(**{name: stored[name] for name in Forest._fields})
        initial = stored["initial_scores"]
        estimator.validation_scores_ = stored["validation_scores"]
    estimator.n_features_in_ = header["n_features"]
    if header["feature_names"] is not None:
        estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    if header["classes"] is not None:
        classes = header["classes"]
        estimator.classes_ = np.array(classes["values"], dtype=classes["dtype"])
    fitted = Boosted(forest, initial, header["n_estimators"])
    estimator._set_fitted(fitted, header["learning_rate"])
    return estimator
