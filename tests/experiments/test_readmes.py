"""READMEs of the papers are as short as was asked for."""

import pytest

from experiments.publishing.scoreboard import without_summary
from experiments.running.provenance import ROOT

MOST_WORDS = {"adaptive_sampling_2014": 2_600, "cronus_2012": 1_700}
"""For each paper's folder. The scoreboard, which is generated, does not count."""


@pytest.mark.parametrize("paper", MOST_WORDS)
def test_a_readme_is_short(paper):
    text = (ROOT / "experiments" / paper / "README.md").read_text(encoding="utf-8")
    assert len(without_summary(text).split()) <= MOST_WORDS[paper]
