"""What became slower: ``python -m benchmarks.gate``, or ``make bench-gate``.

Each benchmark is timed at two versions of the package, the working tree and an earlier commit, by
processes that take turns on this machine: no number of another machine or day is needed. In each
process stands the benchmark's time over that of a fixed kernel (:mod:`benchmarks.ratios`). What is
slower than the bound is timed again by fresh processes, and named if it is so every time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
HISTORY = ROOT / "results" / "asv"
BOUND, TIMES = 1.1, 3
"""A time so many times the earlier one, and so often in a row, is slower."""

_ALONE = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def points(history: Path = HISTORY, repository: Path = ROOT) -> dict[str, int]:
    """Commits with a point in asv's history, and how many that change algorithms came since."""
    found = {}
    for path in history.glob("*/*.json"):
        if path.name != "machine.json":
            commit = json.loads(path.read_text("utf-8"))["commit_hash"]
            command = ["git", "rev-list", "--count", f"{commit}..HEAD", "--", "algorithms"]
            since = subprocess.run(command, cwd=repository, capture_output=True, text=True)
            if since.returncode == 0:  # else of a branch that is gone
                found[commit] = int(since.stdout)
    return found


def unpack(commit: str, folder: Path) -> None:
    """Put the package as it was at a commit into a folder."""
    archive = folder / "package.tar"
    command = ["git", "archive", "--output", str(archive), commit, "algorithms"]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.unpack_archive(archive, folder, filter="data")


def ratios(folder: Path, pattern: str) -> dict[str, float | str]:
    """Time the package that stands in a folder, or if there is none the working tree's."""
    out = folder / "ratios.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.ratios", str(out), pattern],
        check=True, cwd=folder, env=os.environ | _ALONE | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return json.loads(out.read_text("utf-8"))


def slower(before: Path, now: Path, pattern: str) -> list[str]:
    """Name what is slower in a folder than in another, and print what each turn found.

    Raises
    ------
    click.ClickException
        If a benchmark cannot be measured now, or there is none.
    """
    for _ in range(TIMES):
        old, new, names = ratios(before, pattern), ratios(now, pattern), []
        for name, value in new.items():
            then = old[name]
            if isinstance(value, str):
                raise click.ClickException(f"{name}: {value}")
            if isinstance(then, str):
                click.echo(f"{name}: not there before ({then})")
                continue
            click.echo(f"{name}: {then:.3g} to {value:.3g} fixed kernels ({value / then - 1:+.0%})")
            if value > BOUND * then:
                names.append(name)
        if not names:
            break
        pattern = "|".join(f"^{re.escape(name)}$" for name in names)
    if not new:
        raise click.ClickException(f"No benchmark's name matches {pattern}.")
    return names


@click.command()
@click.option("--base", help="The earlier commit.  [default: that of the newest point of asv's]")
@click.option("--bench", default="", help="Only benchmarks whose names match this.")
def main(base: str | None, bench: str) -> None:
    """Name what is slower in the working tree; exit status 1 if there is anything."""
    if base is None:
        earlier = {since: commit for commit, since in points().items() if since}
        if not earlier:
            raise click.UsageError("asv's history has no earlier commit: name one with --base.")
        base = earlier[min(earlier)]
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as now:
        unpack(base, Path(before))
        names = slower(Path(before), Path(now), bench)
    for name in names:
        click.echo(f"slower: {name}")
    click.echo(f"{len(names)} slower than at {base[:8]} by more than {BOUND - 1:.0%}.")
    if names:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
