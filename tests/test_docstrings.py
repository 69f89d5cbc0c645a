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


def test_every_estimator_has_an_example():
    assert {cls.__module__ for cls in ESTIMATORS} <= set(with_examples())
