"""What a data set module declares, and how real or synthetic data are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from datasets.dataset import SCALES, Dataset, dataset_checksum
from datasets.errors import DataUnavailable
from datasets.sources.find import RawFile
from datasets.splits import split_generator

DATA = ("auto", "real", "synthetic")


@dataclass(frozen=True)
class Request:
    """What the caller of ``load`` asked for: name, scale, data and seed, all checked."""

    name: str
    scale: str
    data: str
    seed: int

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}, not {self.scale!r}")
        if self.data not in DATA:
            raise ValueError(f"data must be one of {', '.join(DATA)}, not {self.data!r}")
        split_generator(self.name, self.seed)  # refuses a seed that is no seed


@dataclass(frozen=True)
class DatasetSpec:
    """One data set, as its module declares it.

    Attributes
    ----------
    name, task, title, citation, terms : str
        Plain facts; ``terms`` is the licence.
    shape : str
        Rows and features of the whole set, in words.
    split_rule, cost_rule, missing : str
        How it is split, what its features cost, and what no source here has of it.
    files : tuple of RawFile
        What it is made from; empty if it is bundled with a dependency.
    real : callable
        Request -> Dataset from real data; raises DataUnavailable.
    synthetic : callable or None
        Request -> Dataset, generated; None if there is no synthetic form.
    bundled : bool
        Always there, inside a dependency.
    compact : callable or None
        Gives the compact cache's folder if the real data are there in that form only.
    """

    name: str
    task: str
    title: str
    citation: str
    terms: str
    shape: str
    split_rule: str
    cost_rule: str
    real: Callable[[Request], Dataset]
    synthetic: Callable[[Request], Dataset] | None = None
    files: tuple[RawFile, ...] = ()
    missing: str = "nothing"
    bundled: bool = False
    compact: Callable[[], Any] | None = None


def serve(
    spec: DatasetSpec,
    request: Request,
    *,
    real: Callable[[Request], Any] | None = None,
    synthetic: Callable[[Request], Any] | None = None,
    checksum: Callable[[Any], str] = dataset_checksum,
) -> Dataset:
    """Choose between real and synthetic data by scale and ``data``, and complete the provenance."""
    real, synthetic = real or spec.real, synthetic or spec.synthetic
    if request.data != "synthetic" and (request.scale != "smoke" or spec.bundled):
        return _complete(spec, request, real(request), checksum)
    if synthetic is None:
        raise DataUnavailable(
            f"{spec.name} has no synthetic form. Next: use scale 'laptop' with data 'auto' or "
            "'real', or the set 'digits'."
        )
    if request.data == "real":
        raise DataUnavailable(
            f"{spec.name}: scale 'smoke' never reads real data, and data 'real' was asked for. "
            "Next: use scale 'laptop', or data 'auto'."
        )
    return _complete(spec, request, synthetic(request), checksum)


def _complete(
    spec: DatasetSpec, request: Request, dataset: Dataset, checksum: Callable[[Any], str]
) -> Dataset:
    """Add what every provenance record has."""
    record = {
        "name": spec.name,
        "kind": "real",
        "files": [],
        "terms": spec.terms,
        "citation": spec.citation,
        "missing": spec.missing,
        "split_rule": spec.split_rule,
        "scale": request.scale,
        "seed": int(request.seed),
        **dataset.provenance,
        "checksum": checksum(dataset),
    }
    return replace(dataset, provenance=record)
