"""Load a model without knowing its class: the file names it, and only one of ours is built."""

from __future__ import annotations

from typing import Any

from .. import early_exit, interop, raw_tables  # noqa: F401 - their classes register themselves, too
from ..estimators.archives import read_archive
from ..estimators.files import SavedModel, known_classes
from ..validation.types import StrPath
from . import registered  # noqa: F401 - likewise, of all that learn from data


def load_model(path: StrPath) -> Any:
    """Read a model that any class of this package has saved.

    A file may come from anywhere. It names its class, which is looked up among those of this
    package that save models: nothing is imported by that name, and nothing is built before
    checksum, class and all arrays have been checked (:meth:`SavedModel.load
    <algorithms.estimators.files.SavedModel.load>`).

    Parameters
    ----------
    path : str or path-like
        Written by a model's ``save``.

    Returns
    -------
    estimator
        Of the class that saved it: predictions and bills are equal bit for bit.

    Raises
    ------
    TypeError
        If the path is none.
    ValueError
        If the file is damaged, of a class that this package does not have, of a newer version, or
        holds what no fit can have left; or if it is no file.
    FileNotFoundError
        If there is none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from algorithms.registry import load_model
    >>> from algorithms.gbrt import GBRTRegressor
    >>> model = GBRTRegressor(n_estimators=2, min_samples_leaf=1).fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.zip")
    ...     type(load_model(Path(folder) / "model.zip")).__name__
    'GBRTRegressor'
    """
    header, content = read_archive(path)
    name, known = header.get("class"), known_classes(SavedModel)
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"{path} holds a model of class {name!s:.80}, which this package does not have; it has "
            f"{', '.join(known)}."
        )
    return known[name]._from_archive(path, header, content)
