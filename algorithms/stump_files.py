"""Boosted stumps as files, with the samplers that they were trained with.

A sampler of this package is written as the name of its class and its parameters. Of any other
object nothing can be written: the model is saved without it, and says so.
"""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np

from algorithms.persistence import SavedModel, plain
from algorithms.sampling import Problem, Sampler
from algorithms.stump_boosting import Stumps

_ARRAYS = ("log_train_loss_", "train_loss_", "sampling_cost_", "family_rows_")


class ForgottenSampler(Sampler):
    """In the place of a sampler that a file does not hold; a model can predict with it, not be fit.

    Parameters
    ----------
    description : str
        Class of the sampler that was.
    """

    def __init__(self, description: str) -> None:
        self.description = description

    def begin(self, problem: Problem) -> None:
        """Refuse.

        Raises
        ------
        ValueError
        """
        raise ValueError(
            f"The sampler of this model was an object of class {self.description}, which its file "
            "does not hold: set_params(sampler=…) before fit."
        )


def known_samplers() -> dict[str, type[Sampler]]:
    """Samplers of this package by the names of their classes."""
    found, stack = {}, [Sampler]
    while stack:
        for cls in stack.pop().__subclasses__():
            stack.append(cls)
            if cls.__module__.split(".")[0] == __name__.split(".")[0]:
                found[cls.__name__] = cls
    return found


def stored_sampler(sampler):
    """The parameter `sampler` as JSON can hold it.

    Parameters
    ----------
    sampler : str, object, or list of them

    Returns
    -------
    str, dict or list
    """
    if isinstance(sampler, str):
        return sampler
    if isinstance(sampler, list | tuple):
        return [stored_sampler(one) for one in sampler]
    kind = type(sampler)
    if known_samplers().get(kind.__name__) is kind:
        try:
            parameters = {
                name: plain(name, v) for name, v in sampler.get_params(deep=False).items()
            }
            return {"class": kind.__name__, "parameters": parameters}
        except ValueError:
            pass
    description = f"{kind.__module__}.{kind.__qualname__}"
    warnings.warn(
        f"A file cannot hold the sampler, an object of class {description}: the loaded model "
        "predicts, but is to be given a sampler before it is fitted again.",
        UserWarning,
        stacklevel=2,
    )
    return {"class": ForgottenSampler.__name__, "parameters": {"description": description}}


def restored_sampler(stored):
    """The parameter `sampler` from what a file holds.

    Raises
    ------
    ValueError
        If this package has no such class, or the class no such parameter.
    """
    if isinstance(stored, str):
        return stored
    if isinstance(stored, list):
        return [restored_sampler(one) for one in stored]
    cls = known_samplers().get(stored["class"])
    try:
        return cls(**stored["parameters"])
    except TypeError:  # no such class, or no such parameter
        raise ValueError(
            f"The sampler {stored['class']} was saved by a newer version of this package, or by "
            "another."
        ) from None


class SavedStumps(SavedModel):
    """Files of an estimator of boosted stumps; a mixin."""

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header = {"best_sampler": getattr(self, "best_sampler_", None)}
        return header, {name: getattr(self, name) for name in _ARRAYS} | self.stumps_._asdict()

    def _restore(self, header: dict, arrays) -> None:
        self.stumps_ = Stumps(**{name: arrays[name] for name in Stumps._fields})
        self.n_estimators_ = len(self.stumps_.alpha)
        for name in _ARRAYS:
            setattr(self, name, arrays[name])
        if header["best_sampler"] is not None:
            self.best_sampler_ = header["best_sampler"]

    def _stored_params(self) -> dict:
        params = self.get_params(deep=False)
        seed = params["random_state"]
        if seed is not None and not isinstance(seed, Integral):
            warnings.warn(
                "A file cannot hold the state of a random number generator: the loaded model has "
                "random_state=None.",
                UserWarning,
                stacklevel=3,
            )
            params["random_state"] = None
        params["sampler"] = None  # follows below
        stored = {name: plain(name, value) for name, value in params.items()}
        return stored | {"sampler": stored_sampler(self.sampler)}

    @staticmethod
    def _restored_params(params: dict) -> dict:
        return params | {"sampler": restored_sampler(params["sampler"])}
