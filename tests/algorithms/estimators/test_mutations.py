"""Files with something wrong inside and a checksum that fits: refused, or harmless."""

from __future__ import annotations

import pytest

from tests.algorithms.estimators.model_mutations import run, write_bases


@pytest.mark.slow
def test_two_thousand_wrong_files(tmp_path):
    """No crash, no hang, no result that is not finite, in child processes with a time limit."""
    write_bases(tmp_path)
    counts, culprits = run(tmp_path, seed=0, n_mutations=2000)
    assert culprits == []
    assert counts["refused"] + counts["used"] == 2000
    assert counts["refused"] > 1000  # the mutations bite
    assert counts["used"] > 200  # and not all files are refused
