"""Figure 4 of the CEGB paper: multi-scale segmentation, SEG against cost per pixel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.segment import trace
from experiments.claims import Claim
from experiments.curves import HALF_THE_COST, curves, saving
from experiments.style import LOOKS, draw_curve, log_cost_axis, stamp

LEVELS = (1, 2, 4, 8)

TRADEOFFS = {
    "smoke": (0.0, 1e-3),
    "laptop": (0.0, 1e-4, 1e-3, 1e-2),
    "overnight": (0.0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "paper": (0.0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
}
"""λ, in decades around the 1e-3 of section 5.1; fixed before any result was seen."""

SHOWN = 1e-3
"""λ of panel c, and of the reading of section 5.2 as printed (``cegb_literal``)."""

ROUNDS = {
    "smoke": (1, 2, 4),
    "laptop": (1, 2, 4, 8, 16),
    "overnight": (1, 2, 4, 8, 16, 32, 64, 128),
    "paper": (1, 2, 4, 8, 16, 32, 64, 128),
}
LEARNING_RATE = {"smoke": 0.3, "laptop": 0.3, "overnight": 0.1, "paper": 0.1}
DETAIL = {"smoke": 64, "laptop": 160, "overnight": 160, "paper": 160}
"""Side of panel c in pixels."""

_METHODS = ("cegb", "gbrt")
_PLACE = 'section 5.2, Fig. 4b: "similar accuracy with a significantly smaller evaluation cost"'


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: seed × method × λ; plain boosting has no λ."""
    settings = {
        "n_estimators": ROUNDS[scale][-1],
        "learning_rate": LEARNING_RATE[scale],
        "max_leaves": 32,
        "min_samples_leaf": 20,
        "checkpoints": list(ROUNDS[scale]),
    }
    models = [("gbrt", 0.0), *(("cegb", tradeoff) for tradeoff in TRADEOFFS[scale])]
    models.append(("cegb_literal", SHOWN))
    return [
        Cell(
            "flies",
            method,
            {
                "tradeoff": tradeoff,
                "settings": settings,
                "detail": DETAIL[scale],
                "drawn": method == "gbrt" or (method, tradeoff) == ("cegb", SHOWN),
            },
            seed,
        )
        for seed in seeds
        for method, tradeoff in models
    ]


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return the claim that CEGB reaches plain boosting's SEG at a lower cost."""
    return [
        Claim(
            id="b-cheaper",
            sentence="Flies: at the highest SEG that both reach, CEGB costs at most half as many "
            "split evaluations per pixel as plain boosting.",
            place=_PLACE,
            dataset="flies",
            smallest_effect=HALF_THE_COST,
            unit="decades of cost",
            effects=lambda rows: saving(rows, "b", "cegb", "gbrt"),
        )
    ]


# --- picture ----------------------------------------------------------------------------------

_LEVEL_COLOURS = ("#000000", "#0072B2", "#56B4E9", "#F0E442", "#FFFFFF")
"""Finest level first, from dark to light, so that they are told apart in grey."""

_OUTLINE = "#D55E00"


def read_picture(rows: pd.DataFrame, panel: str, kind: str, algorithm: str) -> np.ndarray | None:
    """Put a picture together from its lines; None if there is none.

    Parameters
    ----------
    rows : DataFrame
        With the columns ``panel, kind, algorithm, line, pixels``.
    panel, kind, algorithm : str
        Which picture; ``grey`` gives uint8, ``level`` positions in :data:`LEVELS`, others masks.
    """
    mine = (rows["panel"] == panel) & (rows["kind"] == kind) & (rows["algorithm"] == algorithm)
    lines = rows[mine].sort_values("line")["pixels"].str[1:]
    if lines.empty:
        return None
    if kind == "level":
        return np.array([[int(digit, 16) for digit in line] for line in lines])
    packed = np.stack([np.frombuffer(bytes.fromhex(line), np.uint8) for line in lines])
    return packed if kind == "grey" else np.unpackbits(packed, axis=1)[:, : len(lines)] > 0


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw a frame, the curves, and the enlarged detail with the resolutions that decided."""
    figure = Figure(figsize=(12.5, 8.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.25, 1.0))
    frame_ax, curve_ax = top.subplots(1, 2, width_ratios=(1.0, 1.5))
    standin = meta["data"]["flies"]["kind"] != "real"
    _draw_frame(frame_ax, rows)
    _draw_curves(curve_ax, rows, standin)
    _draw_detail(bottom, rows)
    what = " · STAND-IN of ours, not the paper's video" if standin else ""
    figure.suptitle(
        f"CEGB (NIPS 2017), Figure 4 · scale {meta['scale']} · {len(meta['seeds'])} seeds, bands: "
        f"95 % t intervals{what}",
        fontsize=9.5,
    )
    return figure


def _show(ax, picture: np.ndarray, title: str, **how) -> None:
    ax.imshow(picture, interpolation="nearest", **how)
    ax.set_title(title, loc="left")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.grid(False)


def _missing(ax, title: str) -> None:
    ax.set_title(title, loc="left")
    ax.text(0.5, 0.5, "no picture: seed 0 was not run", ha="center", transform=ax.transAxes)
    ax.set_xticks([])
    ax.set_yticks([])


def _outline(ax, mask: np.ndarray, colour: str, width: float) -> None:
    if mask.any() and not mask.all():
        # A border of nothing, so that an insect at the edge has a closed outline, too.
        y, x = (np.arange(-1, n + 1) for n in mask.shape)
        padded = np.pad(mask.astype(float), 1)
        if width > 1:  # cased in white, so that it shows on dark ground in grey, too
            ax.contour(x, y, padded, [0.5], colors="white", linewidths=2.2 * width)
        ax.contour(x, y, padded, [0.5], colors=colour, linewidths=width)
        ax.set_xlim(-0.5, mask.shape[1] - 0.5)
        ax.set_ylim(mask.shape[0] - 0.5, -0.5)


def _draw_frame(ax, rows: pd.DataFrame) -> None:
    grey = read_picture(rows, "a", "grey", "gbrt")
    title = "(a) first test frame\norange: outlines of the true masks; white: the detail in (c)"
    if grey is None:
        _missing(ax, title)
        return
    _show(ax, grey, title, cmap="gray")
    _outline(ax, read_picture(rows, "a", "truth", "gbrt"), _OUTLINE, 0.8)
    _outline(ax, read_picture(rows, "a", "window", "gbrt"), "white", 1.4)


def _draw_curves(ax, rows: pd.DataFrame, standin: bool) -> None:
    """Draw what validation chooses for each budget, over the traces of all models."""
    score = rows[rows["panel"] == "b"]
    for method in _METHODS:
        if (curve := curves(rows, "b", method)) is not None:
            x, y, low, high = curve.summary()
            name = "CEGB, best λ and" if method == "cegb" else "plain boosting (Ψ = 0), best"
            label = f"{name} rounds for each budget"
            draw_curve(ax, method, x, y, low, high, label=label)
    for method in _TRACES:
        models = score[score["algorithm"] == method].groupby("tradeoff")
        for position, (tradeoff, mine) in enumerate(models):
            _draw_trace(ax, method, tradeoff, mine, position)
    log_cost_axis(ax)
    # Room for the legend above whatever the traces cover.
    lowest, highest = score["test_score"].min(), score["test_score"].max()
    margin = max(highest - lowest, 0.01)
    ax.set_ylim(lowest - 0.15 * margin, highest + 0.6 * margin)
    ax.margins(x=0.12)
    ax.set_title(
        "(b) SEG against cost, all test frames\nthin: each model, round by round", loc="left"
    )
    ax.set_xlabel("mean cost of a pixel [split evaluations; one on n×n blocks counts 1/n²]")
    ax.set_ylabel("test SEG")
    ax.legend(loc="upper left", ncols=1)
    if standin:
        stamp(ax, "STAND-IN")


_TRACES = {
    "cegb": ("cegb", "CEGB by λ"),
    "gbrt": ("gbrt", "plain boosting"),
    "cegb_literal": ("cegb_literal", f"CEGB, λ = {SHOWN:g}, priced α·ε as printed"),
}
"""Whose colour a trace has, and its entry in the legend."""


def _draw_trace(ax, method: str, tradeoff: float, rows: pd.DataFrame, position: int) -> None:
    """Draw one model's mean over seeds, at the rounds that every seed has."""
    look, label = _TRACES[method]
    stages = rows.groupby("rounds").agg(
        cost=("test_cost", "mean"), score=("test_score", "mean"), n=("seed", "nunique")
    )
    stages = stages[stages["n"] == rows["seed"].nunique()]
    stages = stages[stages["cost"] > 0]  # a constant has no place on a logarithmic axis
    if stages.empty:
        return
    style = {"cegb": "-", "gbrt": ":", "cegb_literal": "--"}[method]
    known = ax.get_legend_handles_labels()[1]
    ax.plot(
        *(stages["cost"], stages["score"]),
        color=LOOKS[look].colour,
        linestyle=style,
        linewidth=0.8,
        marker=".",
        markersize=3,
        label="_" if label in known else label,
    )
    if method == "cegb":
        end = (stages["cost"].iloc[-1], stages["score"].iloc[-1])
        shown = " (c)" if tradeoff == SHOWN else ""
        # Neighbouring λ end close to each other: above and below in turn.
        below = position % 2
        place = {"xytext": (3, -10 if below else 4), "textcoords": "offset points", "fontsize": 7}
        ax.annotate(f"λ={tradeoff:g}{shown}", end, **place, color=LOOKS[look].colour)


def _last_rounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the whole model, one per seed."""
    return rows[rows["rounds"] == rows.groupby("seed")["rounds"].transform("max")]


def _draw_detail(figure, rows: pd.DataFrame) -> None:
    grey_ax, *level_axes = figure.subplots(1, 3)
    grey, truth = (read_picture(rows, "c", kind, "gbrt") for kind in ("grey", "truth"))
    title = "(c) detail of (a)\norange: outlines of the true masks"
    if grey is None:
        for ax in (grey_ax, *level_axes):
            _missing(ax, title)
        return
    _show(grey_ax, grey, title, cmap="gray")
    _outline(grey_ax, truth, _OUTLINE, 1.2)
    colours = ListedColormap(_LEVEL_COLOURS)
    names = {"cegb": f"CEGB, λ = {SHOWN:g}", "gbrt": "plain boosting"}
    for ax, (method, name) in zip(level_axes, names.items(), strict=True):
        level = read_picture(rows, "c", "level", method)
        if level is None:
            _missing(ax, name)
            continue
        fine = np.mean(level == 0)
        title = (
            f"{name}: finest resolution on a pixel's paths\n"
            f"full resolution for {100 * fine:.3g} % of the pixels"
        )
        _show(ax, level, title, cmap=colours, vmin=-0.5, vmax=len(LEVELS) + 0.5)
        _outline(ax, read_picture(rows, "c", "mask", method), _OUTLINE, 1.2)
    labels = [*(f"{n}×{n} px" for n in LEVELS), "nothing asked"]
    handles = [
        Patch(facecolor=colour, edgecolor="0.4", label=label)
        for colour, label in zip(_LEVEL_COLOURS, labels, strict=True)
    ]
    handles.append(Line2D([], [], color=_OUTLINE, label="outline of what was found"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say what the two methods reach, at what cost, and at which resolution."""
    score = _last_rounds(rows[(rows["panel"] == "b") & (rows["algorithm"] == "gbrt")])
    shown = rows[(rows["panel"] == "b") & (rows["algorithm"] == "cegb")]
    shown = _last_rounds(shown[shown["tradeoff"] == SHOWN])
    effect = saving(rows, "b", "cegb", "gbrt")
    data = "a stand-in video" if meta["data"]["flies"]["kind"] != "real" else "the video"
    text = (
        f"A frame of {data} with outlined insects, and SEG against mean cost of a pixel in split "
        f"evaluations: with all rounds plain boosting has {score['test_score'].mean():.3f} at "
        f"{score['test_cost'].mean():.3g}, CEGB with λ = {SHOWN:g} "
        f"{shown['test_score'].mean():.3f} at {shown['test_cost'].mean():.3g}; at the highest "
        f"SEG that both reach, plain boosting costs {10 ** effect.mean():.3g} times as much."
    )
    levels = [read_picture(rows, "c", "level", method) for method in _METHODS]
    if any(level is None for level in levels):
        return text
    cegb, plain = (f"{100 * np.mean(level == 0):.3g} %" for level in levels)
    return (
        f"{text} Enlarged, a detail with the finest resolution that decided each pixel: the full "
        f"one for {cegb} of the pixels with CEGB, for {plain} with plain boosting."
    )


ARTEFACT = Artefact(
    id="cegb-figure4",
    paper="cegb_2017",
    title="CEGB, Figure 4",
    shows="Multi-scale segmentation: SEG against split evaluations per pixel, CEGB and GBRT, and "
    "which resolution decided each pixel.",
    minutes={"smoke": 0.2, "laptop": 6, "overnight": 400, "paper": 180},
    seeds={"smoke": 2, "laptop": 3, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=trace,
    keys=("panel", "kind", "tradeoff", "rounds", "line"),
    tolerances={
        "valid_score": Tolerance(absolute=0.02),
        "valid_cost": Tolerance(absolute=0.01, relative=0.05),
        "test_score": Tolerance(absolute=0.02),
        "test_cost": Tolerance(absolute=0.01, relative=0.05),
        "test_splits": Tolerance(absolute=0.01, relative=0.05),
        # Recorded only: near a flat maximum it jumps, and SEG judges what comes of it.
        "threshold": Tolerance(absolute=1.0),
    },
    render=render,
    make_claims=make_claims,
    alt=alt,
    paper_numbers="Figure 4 prints a curve without numbers; there is no table to compare with.",
    drawn_columns=("pixels",),
)
