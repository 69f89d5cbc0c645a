"""Speed of earlier commits, measured by today's benchmarks: ``python -m benchmarks.backfill``.

asv builds each commit of ``backfill.toml`` into its environment and runs on it the benchmarks as
they are now. What a commit does not have is skipped. asv keeps a commit's numbers when all of them
are there, so that an interrupted run goes on at the commit where it was. Numbers of one history
are comparable only if one idle machine has measured all of them in one go.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
IDLE = 0.3
"""Most programs that may run meanwhile, as the system's load says."""


class Chosen(NamedTuple):
    """A commit that is measured, and why."""

    hash: str
    reason: str


class Outcome(NamedTuple):
    """Combinations of benchmark and parameters: measured, not there then, failed."""

    measured: int
    skipped: int
    failed: int
    without: tuple[str, ...]  # benchmarks of which everything was skipped


def chosen(path: Path) -> list[Chosen]:
    """Read the commits, oldest first.

    Raises
    ------
    ValueError
        If one has no reason, or stands there twice.
    """
    commits = [Chosen(**line) for line in tomllib.loads(path.read_text("utf-8"))["commit"]]
    for commit in commits:
        if not commit.reason.strip() or [each.hash for each in commits].count(commit.hash) > 1:
            raise ValueError(f"{path.name}: {commit.hash} has no reason, or stands there twice.")
    return commits


def full_hash(commit: str) -> str:
    """Give all digits of a commit's hash."""
    command = ["git", "rev-parse", "--verify", f"{commit}^{{commit}}"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def command_of(hashes: Path, machine: str, bench: str, quick: bool) -> list[str]:
    """Give asv's command for the commits in a file."""
    options = ["--show-stderr", "--skip-existing", "--machine", machine, "--bench", bench]
    options += ["--quick"] if quick else []
    return [sys.executable, "-m", "asv", "run", *options, f"HASHFILE:{hashes}"]


def outcome(folder: Path, commit: str) -> Outcome | None:
    """Count what asv kept of a commit in a machine's folder; None if there is nothing.

    asv keeps null for what failed and NaN for what was skipped; one null alone says that all of a
    benchmark's combinations failed.
    """
    files = sorted(folder.glob(f"{commit[:8]}-*.json"))
    if not files:
        return None
    measured = skipped = failed = 0
    without = []
    for path in files:
        for name, row in json.loads(path.read_text("utf-8"))["results"].items():
            values = row[0] if row[0] is not None else [None]
            nothing = [value is not None and math.isnan(value) for value in values]
            skipped += sum(nothing)
            failed += sum(value is None for value in values)
            measured += len(values) - sum(nothing) - sum(value is None for value in values)
            if all(nothing):
                without.append(name)
    return Outcome(measured, skipped, failed, tuple(sorted(without)))


def line_of(commit: Chosen, found: Outcome | None) -> str:
    """Say what there is of a commit."""
    if found is None:
        return f"{commit.hash}  not measured yet: {commit.reason}"
    classes = sorted({name.split(".")[1] for name in found.without})
    said = f" (not there: {', '.join(classes)})" if classes else ""
    return (
        f"{commit.hash}  {found.measured} measured, {found.skipped} skipped{said}, "
        f"{found.failed} failed: {commit.reason}"
    )


def refuse_if_busy(load: Sequence[float]) -> None:
    """Refuse to measure beside other programs."""
    if max(load[:2]) > IDLE:
        raise click.ClickException(
            f"The machine is not idle: its load is {load[0]:.1f}, over five minutes {load[1]:.1f}. "
            "Wait, or say --busy and do not commit what comes of it."
        )


@click.command()
@click.option("--machine", required=True, help="Name of the history, which says the processor.")
@click.option("--only", multiple=True, help="Only the commits whose hash begins so.")
@click.option("--bench", default="^(?!long)", show_default=True, help="Which benchmarks.")
@click.option("--quick", is_flag=True, help="Run each once: a try, not to be committed.")
@click.option("--busy", is_flag=True, help="Run although other programs do.")
@click.option("--list", "listing", is_flag=True, help="Say what there is, and run nothing.")
def main(
    machine: str, only: Sequence[str], bench: str, quick: bool, busy: bool, listing: bool
) -> None:
    """Measure the commits of backfill.toml that this machine has not measured yet."""
    commits = chosen(HERE / "backfill.toml")
    if only:
        commits = [each for each in commits if each.hash.startswith(tuple(only))]
    hashes = [full_hash(each.hash) for each in commits]
    if not listing:
        if not busy:
            refuse_if_busy(os.getloadavg())
        naming = [sys.executable, "-m", "benchmarks.machine", machine]
        subprocess.run(naming, cwd=ROOT, check=True)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "hashes.txt"
            file.write_text("".join(f"{each}\n" for each in hashes))
            subprocess.run(command_of(file, machine, bench, quick), cwd=ROOT, check=False)
    for commit, each in zip(commits, hashes, strict=True):
        click.echo(line_of(commit, outcome(ROOT / "results" / "asv" / machine, each)))


if __name__ == "__main__":
    main()
