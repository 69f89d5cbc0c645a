"""Minutes that a paper's README gives are those that its artefacts state."""

import re

import pytest

from experiments.registry import discover
from experiments.running.provenance import ROOT


@pytest.mark.parametrize("paper", ["adaptive_sampling_2014", "cronus_2012"])
def test_a_readme_has_the_minutes_of_every_artefact(paper):
    text = (ROOT / "experiments" / paper / "README.md").read_text(encoding="utf-8")
    scales = ("smoke", "laptop", "overnight")
    assert f"| artefact | {' | '.join(scales)} |" in text
    told = {}
    for first, minutes in re.findall(r"^\| (`.*?) \| ([\d. |]+) \|$", text, re.MULTILINE):
        for name in re.findall(r"`([\w-]+)`", first):
            told[name] = minutes.split(" | ")
    assert told == {
        artefact.id: [f"{artefact.minutes[scale]:g}" for scale in scales]
        for artefact in discover()
        if artefact.paper == paper
    }
