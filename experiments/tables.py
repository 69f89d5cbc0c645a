"""Tables in markdown: how they show numbers, and the page that one stands on."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd


def page(title: str, words: str, table: Iterable[str]) -> str:
    """Return a table under its title and what there is to know of it."""
    return "\n".join([f"# {title}", "", words, "", *table]) + "\n"


def number(value: float, form: str) -> str:
    """Return a number with a true minus sign; what rounds to zero has no minus."""
    text = format(value, form)
    return (format(0.0, form) if float(text) == 0 else text).replace("-", "−")


def mean_and_deviation(values: pd.Series, form: str, spread: str = ".4f") -> str:
    """Return "mean ± standard deviation"; a dash where a value is missing."""
    if values.isna().any():
        return "–"
    text = number(values.mean(), form)
    return text if len(values) < 2 else f"{text} ± {values.std(ddof=1):{spread}}"
