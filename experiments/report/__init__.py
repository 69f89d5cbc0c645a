"""The page of everything that is published: ``python -m experiments report``."""

from experiments.report.page import build, write

__all__ = ["build", "write"]
