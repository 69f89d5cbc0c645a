"""What became slower and stayed so: ``python -m benchmarks.steps``, or ``make bench-steps``.

asv's detection of steps looks at the committed history in ``results/asv``; nothing is timed. Each
rise of a time or a peak of memory by more than 10 %, and by three times what its line usually
changes from commit to commit, must have its reason in ``accepted.toml``, once two measured commits
stand behind it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:  # asv imports this file, too, with versions that have no such thing
    from experiments.publishing.report.history import Rise

HERE = Path(__file__).resolve().parent
HISTORY = HERE.parent / "results" / "asv"
LEAST = 0.1
"""Smallest relative rise that needs a reason."""


class Accepted(NamedTuple):
    """A line of ``accepted.toml``; without ``line`` it is for all lines of the benchmark."""

    benchmark: str
    commit: str
    reason: str
    line: str = ""

    def covers(self, benchmark: str, rise: Rise) -> bool:
        """Whether this is the reason of a rise."""
        return (
            self.benchmark == benchmark
            and self.line in ("", rise.label)
            and self.commit[:8] == rise.first.hash
        )


def accepted(path: Path) -> list[Accepted]:
    """Read the reasons.

    Raises
    ------
    ValueError
        If one lacks a benchmark, a commit of eight digits or a reason, or has anything else.
    """
    reasons = []
    for line in tomllib.loads(path.read_text("utf-8")).get("accepted", []):
        try:
            reason = Accepted(**line)
        except TypeError as error:
            raise ValueError(f"{path.name}: {line}: {error}") from error
        if len(reason.commit) < 8 or not reason.reason.strip():
            raise ValueError(f"{path.name}: {line}: eight digits of a commit, and a reason")
        reasons.append(reason)
    return reasons


def unaccepted(history: Path, reasons: list[Accepted]) -> tuple[list[str], list[str], int]:
    """Say what has no reason, which reasons nothing needs, and how many rises have one."""
    from experiments.publishing.report.history import read_history

    missing, used, n_accepted = [], set(), 0
    for machine in read_history(history):
        for benchmark in machine.benchmarks:
            for rise in benchmark.rises(LEAST):
                covering = [each for each in reasons if each.covers(benchmark.name, rise)]
                used.update(covering)
                n_accepted += bool(covering)
                if not covering:
                    missing.append(f"{machine.name}: {benchmark.name}, {rise}")
    return missing, [str(each) for each in reasons if each not in used], n_accepted


@click.command()
@click.option("--history", type=Path, default=HISTORY, help="asv's results.")
@click.option("--reasons", type=Path, default=HERE / "accepted.toml", help="Accepted rises.")
def main(history: Path, reasons: Path) -> None:
    """List what became slower without a reason; exit status 1 if there is anything."""
    missing, needless, n_accepted = unaccepted(history, accepted(reasons))
    for line in missing:
        click.echo(f"slower: {line}")
    for line in needless:
        click.echo(f"needed by nothing: {line}")
    click.echo(
        f"{len(missing)} rises of more than {LEAST:.0%} without a reason, {n_accepted} with one."
    )
    if missing or needless:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
