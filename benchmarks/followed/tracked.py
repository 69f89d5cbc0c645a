"""asv: every algorithm of :mod:`benchmarks.followed.table`, as a class each."""

from __future__ import annotations

from .suite import suite_of
from .table import TABLE

globals().update({name: suite_of(name, line, __name__) for name, line in TABLE.items()})
