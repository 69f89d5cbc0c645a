"""The tables of parameters: every parameter is documented once, and checked by what they say."""

from __future__ import annotations

import inspect
from typing import ClassVar

import numpy as np
import pytest

from algorithms.estimators.parameters import (
    Parameter,
    check_choice,
    check_flag,
    check_number,
    check_whole_number,
    checked_parameters,
    documented,
)
from algorithms.registry.registered import ESTIMATORS


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_help_shows_every_parameter_and_attribute_with_its_text(cls):
    doc = inspect.getdoc(cls)
    assert "{parameters}" not in doc
    assert "{attributes}" not in doc
    lines = doc.splitlines()
    assert max(map(len, lines)) <= 100
    for name, parameter in inspect.signature(cls).parameters.items():
        (heading,) = (i for i, line in enumerate(lines) if line.startswith(f"{name} : "))
        assert lines[heading].endswith(repr(parameter.default).replace("'", '"'))
        assert lines[heading + 1].startswith("    ")
        assert parameter.kind is parameter.KEYWORD_ONLY or name in ("estimator", "forest")
    assert doc.index("\nParameters\n") < doc.index("\nAttributes\n") < doc.index("\nExamples\n")
    assert doc.count("\nn_features_in_ : int\n") == 1


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_tables_and_constructors_name_the_same_parameters(cls):
    assert set(cls._parameters) == set(cls().get_params())
    assert set(checked_parameters(cls())) <= set(cls().get_params())


def test_a_parameter_without_a_line_in_the_table_is_noticed():
    class Forgetful:
        """One.

        {parameters}
        """

        _parameters: ClassVar = {"a": Parameter("int", "First.")}
        _attributes: ClassVar = {}

        def __init__(self, *, a=1, b=2):
            self.a, self.b = a, b

    with pytest.raises(KeyError, match="b"):
        documented(Forgetful)
    Forgetful._parameters |= {"b": Parameter("int", "Second.")}
    expected = "One.\n\na : int, default=1\n    First.\nb : int, default=2\n    Second."
    assert inspect.getdoc(documented(Forgetful)) == expected


def test_checks_give_what_the_estimator_works_with():
    assert type(check_number("a", np.float32(0.5))) is float
    assert type(check_whole_number("a", np.uint8(3), 0)) is int
    assert check_whole_number("a", None, 0, or_none=True) is None
    assert check_flag("a", np.True_) is True
    assert check_choice("a", "x", ("x", "y")) == "x"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_number("a", -1), r"a must be a finite number >= 0, got -1\."),
        (lambda: check_number("a", 0, positive=True), r"a must be a finite number > 0, got 0\."),
        (lambda: check_whole_number("a", 9, 1, most=8), r"a must be a whole number from 1 to 8, "),
        (
            lambda: check_whole_number("a", 0.5, 1, or_none=True),
            r"a must be None or a whole number >= 1, got 0\.5\.",
        ),
        (lambda: check_choice("a", "z", ("x", "y")), r"a must be 'x' or 'y', got 'z'\."),
        (lambda: check_choice("a", np.ones(2), ("x", "y")), r"a must be 'x' or 'y', got array"),
        (lambda: check_flag("a", 1), r"a must be True or False, got 1\."),
        (
            lambda: check_number("a", "b" * 200),
            r"a must be .* >= 0, got 'b{76}\.\.\.\.",
        ),
    ],
)
def test_messages(check, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        check()
