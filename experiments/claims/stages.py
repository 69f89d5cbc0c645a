"""When to look, and how much of the error rate each look may spend.

Repetitions are added until a claim is decided or its declared limit is reached. To look more often
is to err more often, so the looks share the error rate: each has an interval at a level of its own,
and the chance that *any* of them misses is at most the sum of their shares (Bonferroni over looks,
the simplest alpha spending: it needs no assumption on how looks depend on each other, which a t
interval of growing samples would not meet exactly).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ERROR_RATE = 0.05
"""Chance that any interval of a paper's preregistered claims misses, at any look."""

SHARES = {1: (1.0,), 2: (0.4, 0.6), 3: (0.25, 0.25, 0.5), 4: (0.1, 0.2, 0.3, 0.4)}
"""For each number of looks what each may spend: later ones, which have more to decide, more."""


@dataclass(frozen=True)
class Look:
    """One time at which a claim is judged."""

    n: int  # Repetitions of every set
    level: float  # Confidence level of the interval


def looks(repetitions: Sequence[int], n_claims: int) -> list[Look]:
    """Return the looks at a claim."""
    if len(repetitions) not in SHARES:
        raise ValueError(f"A claim has one to four looks, not {len(repetitions)}.")
    if list(repetitions) != sorted(set(repetitions)) or repetitions[0] < 2:
        raise ValueError(f"Looks must rise and begin at 2 or more: {list(repetitions)}.")
    shares = SHARES[len(repetitions)]
    rate = ERROR_RATE / n_claims
    return [Look(n, 1 - rate * share) for n, share in zip(repetitions, shares, strict=True)]


def next_after(all_looks: Sequence[Look], n: int) -> Look | None:
    """Return the next look that needs more than `n` repetitions, or None after the last."""
    return next((look for look in all_looks if look.n > n), None)
