"""A paper's README says of minutes what the artefacts declare, and names files that there are."""

from __future__ import annotations

import json
import re

import pytest

from experiments.publishing.output import read_cell_times, read_meta
from experiments.publishing.report.content import elapsed
from experiments.registry import discover
from experiments.running.provenance import ROOT
from tests.experiments.published_rows import fresh, lines
from tests.recomputed.greedy_miser import falls

PAPERS = (
    "cegb_2017",
    "adaptive_sampling_2014",
    "greedy_miser_2012",
    "cronus_2012",
    "mddag_2012",
)


def text_of(paper: str, name: str = "README.md") -> str:
    return (ROOT / "experiments" / paper / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_results_that_a_readme_points_to_exist(paper):
    named = re.findall(r"`(results/[\w./-]+)`", text_of(paper))
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("paper", PAPERS)
def test_every_artefact_has_its_minutes_and_the_scale_of_what_is_published(paper):
    text = text_of(paper)
    for artefact in discover():
        if artefact.paper == paper:
            record = ROOT / "results" / artefact.id / "meta.json"
            scale = "–"
            if record.exists():
                scale = json.loads(record.read_text(encoding="utf-8"))["scale"]
            laptop, overnight = (artefact.minutes[one] for one in ("laptop", "overnight"))
            line = f"`make reproduce-{artefact.id}` | {laptop:g} | {overnight:g} | {scale} |"
            assert line in text, line


@pytest.mark.parametrize("paper", PAPERS)
def test_no_artefact_announces_much_more_than_its_published_run_took(paper):
    """Other work can make a run last longer, never shorter: what it took bounds the minutes."""
    for artefact in discover():
        folder = ROOT / "results" / artefact.id
        if artefact.paper == paper and (folder / "meta.json").exists():
            meta = read_meta(folder)
            if len(read_cell_times(folder)) == len(artefact.cells(meta["scale"])):
                took = elapsed(folder, artefact, meta, 2) / 60
                assert artefact.minutes[meta["scale"]] <= max(1.5 * took, 0.5), artefact.id


def _in_tables() -> list[tuple[float, float, float]]:
    """Return effect and interval of all claims: on these data, for new ones, by set, as read."""
    kinds = (
        ("effect", "low", "high"),
        ("effect", "new_low", "new_high"),
        ("of_sets", "low_of_sets", "high_of_sets"),
        ("own_effect", "own_low", "own_high"),
    )
    found = []
    for line in (*lines(".", "primary_claims.csv"), *lines(".", "primary_readings.csv")):
        for kind in kinds:
            columns = [line.get(one, "").split() for one in kind]
            found += [tuple(map(float, each)) for each in zip(*columns, strict=False)]
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_interval_in_what_holds_is_one_of_the_tables_rounded_once(paper):
    """Either way round: "above by" and "below by" are the same interval."""
    answer = text_of(paper).split("## Does it hold?")[1].split("\n## ")[0]
    known = _in_tables()
    n_intervals = 0
    for bullet in re.split(r"\n\* |\n\n", answer):
        for interval in re.finditer(r"\[(-?[\d.]+),\s+(-?[\d.]+)\]", bullet):
            low, high = interval.groups()
            digits = len(low.partition(".")[2])
            effects = {
                f"{abs(effect):.{digits}f}"
                for effect, *ends in known
                for a, b in (ends, [-ends[1], -ends[0]])
                if [float(f"{a:.{digits}f}"), float(f"{b:.{digits}f}")] == [float(low), float(high)]
            }
            said = re.findall(r"\d+\.\d+", bullet[: interval.start()])
            assert effects & set(said), interval.group()
            n_intervals += 1
    assert n_intervals


def test_of_which_price_the_used_share_rises_with_lambda_on_web_search():
    assert "price 5 alone rises with λ in half of the repetitions" in text_of("greedy_miser_2012")
    of_each = falls(fresh("miser-figure2", "yahoo_ltr_sample"))
    rising = {price: sum(one[price] < 0 for one in of_each) for price in of_each[0]}
    assert (len(of_each), rising.pop(5.0), max(rising.values())) == (20, 10, 2)
