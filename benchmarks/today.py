"""How fast today, beside others: one machine, one commit, one day, one file.

``python -m benchmarks.today measure RUN.json`` runs the cases of :mod:`benchmarks.peers` and keeps
what it has after each part, so that an interrupted run goes on; it refuses to go on at another
commit, on another day or machine. ``python -m benchmarks.today write RUN.json PAGE.md`` writes the
table of such a file between the lines ``<!-- today -->`` and ``<!-- end of today -->`` of a page,
and the picture of its trees beside the page, as ``scale.svg``. The file::

    {"machine": "2 cores of …", "commit": "0123abcd…", "day": "2026-11-25",
     "rows": [{"part": "normal data", "what": "a tree, 10,000 rows", "unit": "ms", "ours": 1.0,
               "peer": "LightGBM", "theirs": 2.0, "most": 0.6, "of": "ratio", "drawn": 10000}],
     "parts": ["normal-data"]}

``rows`` are :class:`benchmarks.timing.Row`; ``parts`` are those that are there whole.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from matplotlib.figure import Figure

from experiments.looks import LOOKS
from experiments.style import house_style, picture_bytes

from .peers import CASES, Measure
from .timing import Row, markdown
from .training import FEATURES, LEAVES, OWN, PEER

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- today -->", "<!-- end of today -->"
IDLE = 0.3
"""Most programs that may run meanwhile, as the system's load says."""


class Run(NamedTuple):
    """One machine, one commit, one day."""

    machine: str
    commit: str
    day: str
    rows: tuple[Row, ...] = ()
    parts: tuple[str, ...] = ()


def read(path: Path) -> Run:
    """Read a run."""
    try:
        content = json.loads(path.read_text("utf-8"))
        run = Run(**content)
        return run._replace(rows=tuple(Row(**row) for row in run.rows), parts=tuple(run.parts))
    except (TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is no run of benchmarks.today: {error}") from error


def save(run: Run, path: Path) -> None:
    """Keep a run."""
    content = run._asdict() | {"rows": [row._asdict() for row in run.rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def table(run: Run) -> str:
    """Say where and when, and give the table, as Markdown."""
    if not run.rows:
        raise ValueError("Nothing is measured yet.")
    where = f"{run.day}, commit {run.commit[:8]}, {run.machine}."
    return "\n".join([where, "", *markdown(run.rows)])


def into(page: str, run: Run) -> str:
    """Give the page with the run's table between the two lines."""
    before, begin, rest = page.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest or END in after:
        raise ValueError(f"The page needs a line {BEGIN} and below it a line {END}, once each.")
    return f"{before}{BEGIN}\n{table(run)}\n{END}{after}"


def curves(run: Run) -> tuple[list[int], dict[str, list[float]]]:
    """Give training rows, and what a tree takes by program: ours, ours with prices, LightGBM."""
    drawn = sorted((row for row in run.rows if row.drawn), key=lambda row: row.drawn)
    plain = [row for row in drawn if row.peer == PEER]
    priced = [row for row in drawn if row.peer == OWN]
    times = {
        "ours": [row.ours for row in plain],
        "prices": [row.ours for row in priced],
        "lightgbm": [row.theirs for row in plain],
    }
    return [row.drawn for row in plain], times


def picture(run: Run) -> bytes:
    """Draw milliseconds a tree against training rows, both axes logarithmic, as SVG."""
    rows, times = curves(run)
    drawn = {
        "ours": ("gbrt", "this package"),
        "prices": ("cegb", "this package, with prices"),
        "lightgbm": ("lightgbm", "LightGBM"),
    }
    with house_style("scale"):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        ax = figure.subplots()
        for program, (name, label) in drawn.items():
            look = LOOKS[name]
            how = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
            ax.loglog(rows, times[program], label=label, **how)
        ax.set_xlabel(f"training rows, {FEATURES} features")
        ax.set_ylabel(f"time a tree of {LEAVES} leaves [ms]")
        ax.legend()
        return picture_bytes(figure, "svg", "scale")


def refuse_if_busy(load: Sequence[float]) -> None:
    """Refuse to measure beside other programs."""
    if max(load[:2]) > IDLE:
        raise click.ClickException(
            f"The machine is not idle: its load is {load[0]:.1f}, over five minutes {load[1]:.1f}. "
            "Wait, or say --busy and do not commit what comes of it."
        )


def here(machine: str) -> Run:
    """Say what is measured now: the commit and the day.

    Raises
    ------
    click.ClickException
        If files differ from the commit.
    """
    git = ["git", "-C", str(ROOT)]
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    if changed:
        raise click.ClickException(f"Commit first; a commit is measured:\n{changed}")
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return Run(machine, head.stdout.strip(), f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}")


def gone_on(now: Run, path: Path, parts: Mapping[str, Mapping[str, Measure]] = CASES) -> Run:
    """Measure the parts that the file lacks, and keep each."""
    run = read(path) if path.exists() else now
    if run[:3] != now[:3]:
        raise click.ClickException(f"{path} is of {run[:3]}, and this is {now[:3]}: name another.")
    for name, cases in parts.items():
        if name not in run.parts:
            measured = [row for measure in cases.values() for row in measure()]
            run = run._replace(rows=(*run.rows, *measured), parts=(*run.parts, name))
            save(run, path)
    return run


@click.group()
def main() -> None:
    """Measure today's speed beside others, and write its table."""


@main.command("measure")
@click.argument("path", type=Path)
@click.option("--machine", required=True, help="What it is, in words: its processor and cores.")
@click.option("--busy", is_flag=True, help="Although other programs run: not to be published.")
def measure_command(path: Path, machine: str, busy: bool) -> None:
    """Measure everything and keep it in PATH."""
    if not busy:
        refuse_if_busy(os.getloadavg())
    click.echo(table(gone_on(here(machine), path)))


@main.command("write")
@click.argument("path", type=Path)
@click.argument("page", type=Path)
def write_command(path: Path, page: Path) -> None:
    """Write the table of PATH into PAGE, and its picture beside it."""
    run = read(path)
    page.write_text(into(page.read_text("utf-8"), run), "utf-8")
    (page.parent / "scale.svg").write_bytes(picture(run))


if __name__ == "__main__":
    main()
