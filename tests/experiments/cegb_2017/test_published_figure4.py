"""What is published of CEGB's Figure 4, computed another way: plain Python on rows.csv."""

from __future__ import annotations

from itertools import combinations

from matplotlib.text import Annotation, Text

from experiments.cegb_2017 import figure4
from experiments.cegb_2017.show.frames import PANEL
from experiments.publishing.output import read_published
from experiments.style import house_style
from tests.experiments.pictures import unreadable
from tests.experiments.published_rows import ROOT, effects_of, readme
from tests.recomputed import cegb

README = readme("cegb_2017")
MODELS, FRAMES = cegb.segmentations()


def test_effects_on_the_real_frames():
    plain, cheap, held = cegb.at_half_the_cost()
    assert MODELS[held]["test_cost"] <= MODELS[plain]["test_cost"] / 2
    effects = effects_of("cegb-figure4")
    assert {len(FRAMES[name]) for name in (plain, cheap, held, *cegb.by_resolution())} == {12}
    lost = 0.01 - effects["b3-similar"]
    assert plain[4:] == (0.0, 8)
    score, cost = MODELS[plain]["test_score"], MODELS[plain]["test_cost"]
    assert f"(8 rounds) has SEG {score:.3f} at {cost:.1f} split evaluations a pixel" in README
    held_cost = MODELS[held]["test_cost"]
    assert f"held to half of that costs {held_cost:.1f} and loses {lost:.4f}." in README
    assert held_cost < cost / 5
    said = f"a fifth of plain boosting's cost of a pixel CEGB loses {lost:.3f} SEG."
    assert said in README
    assert f"SEG rises by {-effects['b3-coarser-worse']:.4f}." in README
    assert f"at half the cost CEGB leads by {effects['b3-better-at-half']:+.4f}." in README
    said = f"a pixel costs {effects['b3-coarser-cheaper']:.2f} decades less than with the finest"
    assert said in README


def test_names_of_tradeoffs_can_be_read():
    """No name lies on another, nor any point of a curve in one."""
    with house_style("cegb-figure4"):
        figure = figure4.render(*read_published(ROOT / "results" / "cegb-figure4"))
        assert unreadable(figure) == []
    (ax,) = (ax for ax in figure.axes if ax.get_label() == PANEL)
    names = [text for text in ax.texts if isinstance(text, Annotation)]
    assert {name.get_text() for name in names} == {"λ=0", "λ=0.001", "λ=0.01", "λ=0.1"}
    words = [Text.get_window_extent(name) for name in names]
    assert not any(one.overlaps(other) for one, other in combinations(words, 2))
    for line in ax.get_lines():
        path = line.get_transform().transform_path(line.get_path())
        assert not any(path.intersects_bbox(word, filled=False) for word in words)
