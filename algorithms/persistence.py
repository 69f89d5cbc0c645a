"""Fitted models as files: arrays and JSON with a version and a checksum, never pickle.

One format for all estimators: the header names the class, which says what else it stores.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

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


def plain(name: str, value):
    """Turn a parameter into what JSON can hold.

    Raises
    ------
    ValueError
        If it cannot be.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | range):
        return [plain(name, one) for one in value]
    if hasattr(value, "__array__"):
        return [plain(name, one) for one in np.asarray(value).tolist()]
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


def _write(path: Path, header: dict, arrays: bytes) -> None:
    """Write a file; it appears whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            archive.writestr("header.json", json.dumps(header, indent=1))
            archive.writestr("arrays.npz", arrays)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read(path) -> tuple[dict, bytes]:
    """Header and arrays of a file whose format, version and checksum are right."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            arrays = archive.read("arrays.npz")
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise ValueError(f"{path} is not a saved model, or it is damaged ({error}).") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a saved model of this package.")
    if header.get("version") != _VERSION:
        raise ValueError(
            f"{path} has format version {header.get('version')!r}; this is version {_VERSION}."
        )
    if header.get("sha256") != _digest(header, arrays):
        raise ValueError(f"{path} is damaged: its checksum does not match.")
    return header, arrays


class SavedModel:
    """Files of an estimator; a mixin.

    A subclass defines `_stored` and `_restore`, and for parameters that are more than names,
    numbers and lists of them `_stored_params` and `_restored_params`.
    """

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        """What was fitted: entries for the header, and arrays."""
        raise NotImplementedError

    def _restore(self, header: dict, arrays) -> None:
        """Take over what was fitted."""
        raise NotImplementedError

    def _stored_params(self) -> dict:
        """Parameters as JSON can hold them."""
        return {name: plain(name, value) for name, value in self.get_params(deep=False).items()}

    @staticmethod
    def _restored_params(params: dict) -> dict:
        """Parameters as the constructor takes them."""
        return params

    def save(self, path) -> None:
        """Write the fitted model to a file: arrays and JSON with a checksum, never pickle.

        The file appears whole or not at all.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ValueError
            If a parameter or the classes cannot be written, such as a function as `eval_metric`.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        fitted, arrays = self._stored()
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "class": type(self).__name__,
            "params": self._stored_params(),
            "classes": _classes(self),
            "n_features": int(self.n_features_in_),
            "feature_names": None if names is None else names.tolist(),
            **fitted,
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        header["sha256"] = _digest(header, buffer.getvalue())
        _write(Path(path), header, buffer.getvalue())

    @classmethod
    def load(cls, path):
        """Read a model written by :meth:`save`.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        estimator

        Raises
        ------
        ValueError
            If the file is damaged, not a model of this class, or of a newer version.
        FileNotFoundError
            If there is none.
        """
        header, arrays = _read(path)
        if header["class"] != cls.__name__:
            raise ValueError(
                f"{path} holds a model of class {header['class']}, not {cls.__name__}."
            )
        params = cls._restored_params(header["params"])
        unknown = sorted(set(params) - set(cls._get_param_names()))
        if unknown:
            raise ValueError(
                f"{path} was saved by a newer version of this package: {cls.__name__} has no "
                f"parameter {unknown[0]!r} here."
            )
        estimator = cls(**params)
        estimator.n_features_in_ = header["n_features"]
        if header["feature_names"] is not None:
            estimator.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        if header["classes"] is not None:
            classes = header["classes"]
            estimator.classes_ = np.array(classes["values"], dtype=classes["dtype"])
        try:
            with np.load(io.BytesIO(arrays), allow_pickle=False) as stored:
                estimator._restore(header, stored)
        except _UNREADABLE as error:
            raise ValueError(f"{path} does not hold a whole {cls.__name__} ({error}).") from None
        return estimator
