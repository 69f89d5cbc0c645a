"""asv: every algorithm of :mod:`benchmarks.followed.table`, asked for 300 rows one by one."""

from __future__ import annotations

from .suite import ONE_BY_ONE, suite_of
from .table import TABLE

for _name, _line in TABLE.items():
    _first = dict(list(_line.variants.items())[:1])
    _one = _line._replace(variants=_first, sizes=_line.sizes[:1])
    globals()[_name] = suite_of(_name, _one, __name__, ONE_BY_ONE)
