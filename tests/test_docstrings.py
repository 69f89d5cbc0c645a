"""Every example in a docstring gives what it says; every estimator has one."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from algorithms.catalogue.registered import ESTIMATORS
from tests.test_layers import ROOT

FOLDERS = ("algorithms", "reference", "datasets", "experiments")


def with_examples():
    """Names of the modules that have an example."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
                yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("name", list(with_examples()))
def test_examples_in_docstrings(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert results.failed == 0


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_estimator_has_an_example(cls):
    """Of its own: a module may have one estimator or several."""
    example = rf">>> .*\b{cls.__name__}\("
    why = f"the docstring of {cls.__name__} needs an example, lines of >>>, that makes one"
    assert re.search(example, cls.__doc__), why
