"""The largest profit of a closed set of splits, by one minimum cut on whole numbers.

Splits bring a profit, or cost one; with a split stays its parent, and whatever it makes rows buy is
paid once. That is a minimum cut between a source, which offers the profits, and a sink, which
collects the prices (J.-C. Picard 1976). A maximal flow is found as E. A. Dinic (1970) has it. The
twin is ``smallest_optimum`` in :mod:`reference.budget_prune`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import allocating_kernel, kernel


class Closure(NamedTuple):
    """Splits with gains and prices, and purchases that they share."""

    # gain, price: (n_splits,) int64: errors that a split saves, and what the rows pay that pass it
    gain: np.ndarray
    price: np.ndarray
    parent: np.ndarray  # (n_splits,) int32: -1 if none is needed. Parents come first
    start: np.ndarray  # (n_purchases + 1,) int64
    # (n_edges,) int32: splits of which any makes the purchase, one purchase after the other
    splits: np.ndarray
    bought: np.ndarray  # (n_purchases,) int64: price of each purchase, of all its rows; > 0


class _Flow(NamedTuple):
    """A flow and the network it is in. Vertices are the splits, then the purchases."""

    offered: np.ndarray  # (n_splits,) int64: profit not yet sent
    wanted: np.ndarray  # (n_vertices,) int64: what a vertex may still send to the sink
    to_parent: np.ndarray  # (n_splits,) int64: flow to the parent
    along: np.ndarray  # (n_edges,) int64: flow from the split to the purchase
    first_child: np.ndarray  # (n_splits,) int32: of two at most, -1 if there is none
    next_child: np.ndarray
    own_start: np.ndarray  # (n_splits + 1,) int64: where a split's edges begin in `own_edges`
    own_edges: np.ndarray  # (n_edges,) int32: numbers of its edges
    buyer: np.ndarray  # (n_edges,) int32: purchase of each edge
    level: np.ndarray  # (n_vertices,) int32: arcs from the source, -1 out of reach
    turn: np.ndarray  # (n_vertices,) int64: next arc to try
    queue: np.ndarray  # (n_vertices,) int32
    arcs: np.ndarray  # (n_vertices,) int64: arcs that the path at hand took


@kernel
def _lay_out(closure, flow):
    """Fill the lists of children, and of each split's edges."""
    n_splits = closure.gain.shape[0]
    flow.first_child[:] = -1
    for j in range(n_splits):
        parent = closure.parent[j]
        if parent >= 0:
            flow.next_child[j], flow.first_child[parent] = flow.first_child[parent], j
        else:
            flow.next_child[j] = -1
    flow.own_start[:] = 0
    for edge in range(closure.splits.shape[0]):
        flow.own_start[closure.splits[edge] + 1] += 1
    for j in range(n_splits):
        flow.own_start[j + 1] += flow.own_start[j]
        flow.turn[j] = flow.own_start[j]
    for s in range(closure.bought.shape[0]):
        for edge in range(closure.start[s], closure.start[s + 1]):
            j = closure.splits[edge]
            flow.own_edges[flow.turn[j]], flow.buyer[edge] = edge, s
            flow.turn[j] += 1


@kernel
def _n_arcs(closure, flow, v):
    """How many arcs leave a vertex but for that to the sink: parent, two children, purchases."""
    n_splits = closure.gain.shape[0]
    if v < n_splits:
        return 3 + flow.own_start[v + 1] - flow.own_start[v]
    return closure.start[v - n_splits + 1] - closure.start[v - n_splits]


@kernel
def _head(closure, flow, v, arc):
    """Vertex that an arc leads to, -1 if there is none or nothing fits through it."""
    n_splits = closure.gain.shape[0]
    if v >= n_splits:  # back to a split that sent something
        edge = closure.start[v - n_splits] + arc
        return closure.splits[edge] if flow.along[edge] > 0 else -1
    if arc == 0:
        return closure.parent[v]
    if arc < 3:  # back to a child that sent something
        child = flow.first_child[v]
        if arc == 2 and child >= 0:
            child = flow.next_child[child]
        return child if child >= 0 and flow.to_parent[child] > 0 else -1
    return n_splits + flow.buyer[flow.own_edges[flow.own_start[v] + arc - 3]]


@kernel
def _reach(closure, flow):
    """Levels of all vertices in the residual graph; return whether the sink is within reach."""
    flow.level[:] = -1
    n_found, found_sink = 0, False
    for j in range(closure.gain.shape[0]):
        if flow.offered[j] > 0:
            flow.level[j], flow.queue[n_found] = 0, j
            n_found += 1
    place = 0
    while place < n_found:
        v = flow.queue[place]
        place += 1
        if flow.wanted[v] > 0:
            found_sink = True
        for arc in range(_n_arcs(closure, flow, v)):
            head = _head(closure, flow, v, arc)
            if head >= 0 and flow.level[head] < 0:
                flow.level[head], flow.queue[n_found] = flow.level[v] + 1, head
                n_found += 1
    return found_sink


@kernel
def _room(closure, flow, v, arc):
    """How much fits through an arc that goes back; -1 if there is no limit."""
    n_splits = closure.gain.shape[0]
    if v >= n_splits:
        return flow.along[closure.start[v - n_splits] + arc]
    return flow.to_parent[_head(closure, flow, v, arc)] if 0 < arc < 3 else -1


@kernel
def _send(closure, flow, v, arc, amount):
    """Send an amount through an arc."""
    n_splits = closure.gain.shape[0]
    if v >= n_splits:
        flow.along[closure.start[v - n_splits] + arc] -= amount
    elif arc == 0:
        flow.to_parent[v] += amount
    elif arc < 3:
        flow.to_parent[_head(closure, flow, v, arc)] -= amount
    else:
        flow.along[flow.own_edges[flow.own_start[v] + arc - 3]] += amount


@kernel
def _augment(closure, flow, length):
    """Send what fits from the first vertex of the path (in `queue`) to the sink.

    Returns where the path goes on: before the first arc that is now full, or -1.
    """
    last = flow.queue[length]
    amount = min(flow.offered[flow.queue[0]], flow.wanted[last])
    for k in range(length):
        room = _room(closure, flow, flow.queue[k], flow.arcs[k])
        if room >= 0:
            amount = min(amount, room)
    flow.offered[flow.queue[0]] -= amount
    flow.wanted[last] -= amount
    goes_on = length
    for k in range(length - 1, -1, -1):
        if _room(closure, flow, flow.queue[k], flow.arcs[k]) == amount:
            goes_on = k
        _send(closure, flow, flow.queue[k], flow.arcs[k], amount)
    return goes_on if flow.offered[flow.queue[0]] > 0 else -1


@kernel
def _block(closure, flow):
    """Send flow along shortest paths until none is left."""
    flow.turn[:] = 0
    for j in range(closure.gain.shape[0]):
        if flow.offered[j] == 0:
            continue
        length, flow.queue[0] = 0, j
        while length >= 0:
            v = flow.queue[length]
            if flow.wanted[v] > 0:
                length = _augment(closure, flow, length)
                continue
            if flow.turn[v] == _n_arcs(closure, flow, v):
                length -= 1
                if length >= 0:
                    flow.turn[flow.queue[length]] += 1
                continue
            head = _head(closure, flow, v, flow.turn[v])
            if head >= 0 and flow.level[head] == flow.level[v] + 1:
                flow.arcs[length] = flow.turn[v]
                length += 1
                flow.queue[length] = head
            else:
                flow.turn[v] += 1


@kernel
def _maximise(closure, q, p, flow, kept):
    n_splits = closure.gain.shape[0]
    _lay_out(closure, flow)
    flow.to_parent[:] = 0
    flow.along[:] = 0
    for j in range(n_splits):
        profit = q * closure.gain[j] - p * closure.price[j]
        flow.offered[j], flow.wanted[j] = max(profit, 0), max(-profit, 0)
    for s in range(closure.bought.shape[0]):
        flow.wanted[n_splits + s] = p * closure.bought[s]
    while _reach(closure, flow):
        _block(closure, flow)
    for j in range(n_splits):
        kept[j] = flow.level[j] >= 0


def smallest_optimum(closure: Closure, q: int, p: int) -> np.ndarray:
    """Smallest closed set that maximises q times its gains minus p times its prices.

    It is unique, whichever way the flow was found: what the source still reaches.
    """
    n_splits, n_edges = len(closure.gain), len(closure.splits)
    n_vertices = n_splits + len(closure.bought)
    flow = _Flow(
        np.empty(n_splits, dtype=np.int64),
        np.empty(n_vertices, dtype=np.int64),
        np.empty(n_splits, dtype=np.int64),
        np.empty(n_edges, dtype=np.int64),
        np.empty(n_splits, dtype=np.int32),
        np.empty(n_splits, dtype=np.int32),
        np.empty(n_splits + 1, dtype=np.int64),
        np.empty(n_edges, dtype=np.int32),
        np.empty(n_edges, dtype=np.int32),
        np.empty(n_vertices, dtype=np.int32),
        np.empty(n_vertices, dtype=np.int64),
        np.empty(n_vertices, dtype=np.int32),
        np.empty(n_vertices, dtype=np.int64),
    )
    kept = np.empty(n_splits, dtype=np.bool_)
    _maximise(closure, q, p, flow, kept)
    return kept


@allocating_kernel
def best_free(gain: np.ndarray, parent: np.ndarray, allowed: np.ndarray, kept: np.ndarray) -> None:
    """Smallest closed set among `allowed` with the largest gain, where nothing costs anything."""
    n_splits = gain.shape[0]
    worth = np.zeros(n_splits, dtype=np.int64)
    for j in range(n_splits - 1, -1, -1):  # children come later
        worth[j] += gain[j]
        if allowed[j] and worth[j] > 0 and parent[j] >= 0:
            worth[parent[j]] += worth[j]
    for j in range(n_splits):
        kept[j] = allowed[j] and worth[j] > 0 and (parent[j] < 0 or kept[parent[j]])


@kernel
def _count_kept(closure, kept, dropped, sizes):
    """(Purchases, edges) that are left, and the size of each purchase, 0 if it is not."""
    n_purchases = n_edges = 0
    for s in range(closure.bought.shape[0]):
        size, gone = 0, False
        for edge in range(closure.start[s], closure.start[s + 1]):
            j = closure.splits[edge]
            gone |= dropped[j]
            size += 1 if kept[j] else 0
        sizes[s] = 0 if gone else size
        n_purchases += 1 if sizes[s] > 0 else 0
        n_edges += sizes[s]
    return n_purchases, n_edges


@kernel
def _write_kept(closure, kept, number, sizes, start, splits, bought):
    s = edge = 0
    for old in range(closure.bought.shape[0]):
        if sizes[old] > 0:
            start[s], bought[s] = edge, closure.bought[old]
            s += 1
            for k in range(closure.start[old], closure.start[old + 1]):
                if kept[closure.splits[k]]:
                    splits[edge] = number[closure.splits[k]]
                    edge += 1
    start[s] = edge


def part_of(closure: Closure, kept: np.ndarray, paid: np.ndarray) -> Closure:
    """Problem of some splits, when others stay in any case, and the rest in none."""
    number = np.cumsum(kept, dtype=np.int32) - 1
    old = closure.parent[kept]
    has_parent = (old >= 0) & kept[old]
    sizes = np.empty(len(closure.bought), dtype=np.int64)
    n_purchases, n_edges = _count_kept(closure, kept, paid, sizes)
    part = Closure(
        closure.gain[kept],
        closure.price[kept],
        np.where(has_parent, number[old], -1).astype(np.int32),
        np.empty(n_purchases + 1, dtype=np.int64),
        np.empty(n_edges, dtype=np.int32),
        np.empty(n_purchases, dtype=np.int64),
    )
    _write_kept(closure, kept, number, sizes, part.start, part.splits, part.bought)
    return part
