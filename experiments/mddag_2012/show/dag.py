"""A decision DAG as a picture: layers from left to right, width multiplicity, colour clusters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import FancyArrowPatch

Edge = tuple[int, int]

BLUE, RED = "#0072B2", "#D55E00"
SHARES = LinearSegmentedColormap.from_list("shares", [RED, "#9A9A9A", BLUE])
"""From all red over half and half to all blue."""

PLAIN = "#0072B2"
_WIDEST, _THINNEST = 7.0, 0.4
_LARGEST = 260.0


def frequent(edges: Mapping[Edge, float], smallest: float) -> dict[Edge, float]:
    """Return the edges that are taken at least so often."""
    return {edge: count for edge, count in edges.items() if count >= smallest}


def layers(edges: Mapping[Edge, float]) -> dict[int, int]:
    """Return the layer of each node: the most edges of any way to it. Edges go to larger nodes."""
    layer = {node: 0 for edge in edges for node in edge}
    for node, after in sorted(edges):
        layer[after] = max(layer[after], layer[node] + 1)
    return layer


def places(
    edges: Mapping[Edge, float], lean: Mapping[int, float]
) -> dict[int, tuple[float, float]]:
    """Return where each node is drawn."""
    layer, heights = layers(edges), {}
    members = defaultdict(list)
    for node in sorted(layer):
        members[layer[node]].append(node)
    for _, nodes in sorted(members.items()):
        wish = {node: lean.get(node, _before(node, edges, heights)) for node in nodes}
        ordered = sorted(nodes, key=lambda node: (wish[node], node))
        middle = (len(ordered) - 1) / 2
        for place, node in enumerate(ordered):
            heights[node] = place - middle if len(ordered) > 1 else wish[node]
    return {node: (float(layer[node]), float(heights[node])) for node in layer}


def _before(node: int, edges: Mapping[Edge, float], heights: Mapping[int, float]) -> float:
    """Return the mean height of the nodes before a node, by multiplicity."""
    coming = [(heights[a], count) for (a, b), count in edges.items() if b == node and a in heights]
    total = sum(count for _, count in coming)
    return sum(height * count for height, count in coming) / total if total else 0.0


def draw_dag(
    ax: Axes,
    edges: Mapping[Edge, float],
    sizes: Mapping[int, float],
    colours: Mapping,
    lean: Mapping[int, float],
) -> None:
    """Draw a DAG."""
    where = places(edges, lean)
    most, largest = max(edges.values()), max(sizes[node] for node in where)
    for edge, count in sorted(edges.items(), key=lambda item: item[1]):
        (x0, y0), (x1, y1) = (where[node] for node in edge)
        bend = 0.0 if x1 - x0 <= 1 else 0.18 * (1 if y0 + y1 >= 0 else -1)
        arrow = FancyArrowPatch(
            (x0, y0), (x1, y1), connectionstyle=f"arc3,rad={-bend}", arrowstyle="-",
            linewidth=_THINNEST + (_WIDEST - _THINNEST) * count / most,
            color=colours[edge], alpha=0.75, zorder=1, capstyle="round",
        )  # fmt: skip
        ax.add_patch(arrow)
    for node, (x, y) in where.items():
        size = 25 + _LARGEST * sizes[node] / largest
        ax.scatter([x], [y], s=size, color=[colours[node]], edgecolor="white", zorder=2)
        ax.annotate(
            str(node), (x, y), textcoords="offset points", xytext=(0, 4 + size**0.5 / 2),
            ha="center", fontsize=7, zorder=3,
        )  # fmt: skip
    heights = np.array([y for _, y in where.values()])
    ax.set_xlim(-0.6, max(x for x, _ in where.values()) + 0.6)
    ax.set_ylim(heights.min() - 0.9, heights.max() + 0.9)
    ax.set_axis_off()
