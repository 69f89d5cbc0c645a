"""The page of everything that is published: ``python -m experiments report``."""

from experiments.publishing.report.page import build, write

__all__ = ["build", "write"]
