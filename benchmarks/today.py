"""How fast today, beside others: one machine, one commit, one day, one file.

``python -m benchmarks.today measure RUN.json`` runs the programs in turn and keeps what it has
after each part, so that an interrupted run goes on; it refuses to go on at another commit, on
another day or machine. ``python -m benchmarks.today write RUN.json PAGE.md`` writes the table of
such a file between the lines ``<!-- today -->`` and ``<!-- end of today -->`` of a page, and the
picture of its trees beside the page, as ``scale.svg``. The file::

    {"machine": "2 cores of …", "commit": "0123abcd…", "day": "2026-11-25",
     "rows": [{"part": "normal data", "what": "a tree, 10,000 rows", "unit": "ms", "ours": 1.0,
               "peer": "LightGBM", "theirs": 2.0, "most": 0.6, "of": "ratio", "drawn": 10000}],
     "parts": ["normal-data"]}

``most`` is the goal, of the ratio or of ``ours``, and then written with its unit; it and ``peer``
with ``theirs`` may be null. ``drawn`` are the training rows of what the picture shows, else 0.
``parts`` are those that are there whole.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import click

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- today -->", "<!-- end of today -->"
PEER, OWN = "LightGBM", "our own"
HEAD = ("", "ours", "peer", "theirs", "ours / theirs", "goal")


class Row(NamedTuple):
    """A line of the table; see above."""

    part: str
    what: str
    unit: str
    ours: float
    peer: str | None = None
    theirs: float | None = None
    most: float | None = None
    of: Literal["ratio", "ours"] = "ratio"
    drawn: int = 0

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return None if self.theirs is None else self.ours / self.theirs

    def goal(self) -> str:
        """Say the goal, and whether it is missed; as printed, so that nothing is contradicted."""
        if self.most is None:
            return ""
        value, unit = (self.ratio, "") if self.of == "ratio" else (self.ours, f" {self.unit}")
        if value is None:
            raise ValueError(f"{self.what}: a goal of a ratio, and nothing to divide by.")
        missed = "" if float(short(value)) <= self.most else ", missed"
        return f"{self.most:g}{unit}{missed}"


class Run(NamedTuple):
    """One machine, one commit, one day."""

    machine: str
    commit: str
    day: str
    rows: tuple[Row, ...] = ()
    parts: tuple[str, ...] = ()


def short(value: float) -> str:
    """Three digits, and no more than two after the point: 0.66, 12.3, 1040."""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


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
    lines = [f"| {' | '.join(HEAD)} |", "|---" + "|--:" * (len(HEAD) - 1) + "|"]
    for row in run.rows:
        theirs = "" if row.theirs is None else f"{short(row.theirs)} {row.unit}"
        ratio = "" if row.ratio is None else short(row.ratio)
        cells = (f"{row.part}: {row.what}", f"{short(row.ours)} {row.unit}", row.peer or "", theirs)
        lines.append(f"| {' | '.join((*cells, ratio, row.goal()))} |")
    return f"{run.day}, commit {run.commit[:8]}, {run.machine}.\n\n" + "\n".join(lines)


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


# --- what is measured ---------------------------------------------------------------------------


def normal_data() -> list[Row]:
    """Normal features: growth with the rows, and prices."""
    from . import scale

    rows, part = [], "normal data"
    for n in scale.SIZES:
        turns = 11 if n <= 100_000 else 3  # short fits differ more, and take less
        line = scale.measure(n, 20, turns, priced_peer=n <= 1_000_000)
        at = f"{n:,} rows"
        tree, priced = f"a tree, {at}", f"a tree with prices, {at}"
        rows += [
            Row(part, f"whole fit, {at}", "s", line.ours_whole, PEER, line.lightgbm_whole, 0.6),
            Row(part, tree, "ms", line.ours, PEER, line.lightgbm, 0.6, drawn=n),
            Row(part, tree, "ms", line.ours, "scikit-learn", line.scikit_learn),
            Row(part, priced, "ms", line.prices, OWN, line.ours, 1.05, drawn=n),
        ]
        if line.lightgbm_prices == line.lightgbm_prices:
            dear = ("LightGBM, prices", line.lightgbm_prices, 0.1)
            rows.append(Row(part, priced, "ms", line.prices, *dear))
    return rows


def real_data() -> list[Row]:
    """MiniBooNE and Covertype, whole fits."""
    from . import peers

    rows = []
    for name, (X, y) in peers.training_sets().items():
        most = 0.6 if "Mini" in name else 0.7
        s = peers.compare_training(X, y, 5, lazy=False)
        rows.append(Row(name, "whole fit", "s", s["ours"], "LightGBM", s["LightGBM"], most))
        rows.append(Row(name, "whole fit", "s", s["ours"], "XGBoost", s["XGBoost"]))
        s = peers.compare_training(X, y, 3, lazy=True)
        rows.append(Row(name, "with prices", "s", s["ours"], "LightGBM", s["LightGBM"], 0.1))
    return rows


def prediction() -> list[Row]:
    """500 trees of 31 leaves on one thread: many rows of MiniBooNE, and one."""
    from . import peers, single_row

    name, (X, y) = next(iter(peers.training_sets().items()))
    micros = peers.prediction_micros(X, y, 5)
    ours, unit = micros.pop("ours"), "µs a row"
    rows = [Row("500 trees", name, unit, ours, *peer, 0.8, "ours") for peer in micros.items()]
    one = single_row.one_row(5, single_row.TREES)
    single = "LightGBM, C function for single rows"
    ways = {
        "predict": ("ours, predict", "LightGBM, Booster.predict", 5.0),
        "fast_predictor": ("ours, fast_predictor()", single, 2.0),
    }
    return rows + [
        Row("500 trees", f"one row, {way}", "µs", one[own], peer, one[peer], most, "ours")
        for way, (own, peer, most) in ways.items()
    ]


def decision_dags() -> list[Row]:
    """SARSA's steps at the paper's size, and scanning a picture, both on one thread."""
    from . import mddag
    from .followed import scanning

    X, y, kind = mddag.rows_of("vj_faces")
    rows, part = [], f"MDDAG, 1,000 stumps on faces ({kind})"
    base = mddag.stumps_of(X, y)
    for beta in mddag.BETAS:
        learned = mddag.sarsa(base, X, y, beta)
        what, most = f"a step of SARSA, β = {beta:g}", mddag.STEP_NANOSECONDS
        step = 1e9 * learned.seconds / learned.n_steps
        rows.append(Row(part, what, "ns", step, None, None, most, "ours"))
    lines, kind = scanning.scan_all()
    part = f"detector of faces ({kind}) scans a picture"
    for name, line in lines.items():
        what, most = f"an evaluation, {name}", scanning.TARGET
        rows.append(Row(part, what, "ns", line.nanoseconds, None, None, most, "ours"))
    return rows


def cascade() -> list[Row]:
    """A row's way through Cronus over 5,000 trees, on one thread.

    Beside it stands what all trees take, divided by how many times fewer the row passes.
    """
    from . import cronus

    X, y, weights, costs, forest = cronus.yahoo_sized(cronus.ROWS, cronus.TREE_ROWS, cronus.TREES)
    few = slice(0, 1000)
    cronus.timed_fit(forest, (X[few], y[few], weights[few]), costs, max_cycles=1)  # compiles
    model, *_ = cronus.timed_fit(forest, (X, y, weights), costs, tradeoff=1e-5, max_cycles=0)
    fast = cronus.speed_up(model, forest, X[:10_000])
    peer = ("all trees / counted speed-up", fast.all_trees / fast.counted, 1 / cronus.OF_COUNTED)
    return [Row("Cronus, 5,000 trees (synthetic)", "a row", "µs", fast.cascade, *peer)]


_FIRST_FIT = """\
import time
import numpy as np
from algorithms.cegb import CEGBClassifier

X = np.random.default_rng(0).normal(size=(2000, 10))
begin = time.perf_counter()
CEGBClassifier(n_estimators=5, feature_costs=np.ones(10)).fit(X, X[:, 0] > 0)
print(time.perf_counter() - begin)
"""


def new_machine() -> list[Row]:
    """The first fit where no kernel is compiled yet: nearly all of it is compiling."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"COST_AWARE_BOOSTING_CACHE": folder}
        environment.pop("NUMBA_CACHE_DIR", None)
        said = subprocess.run(
            [sys.executable, "-c", _FIRST_FIT],
            check=True, capture_output=True, text=True, cwd=ROOT, env=environment,
        ).stdout  # fmt: skip
    what = "first fit, kernels compiled"
    return [Row("a new machine", what, "s", float(said), None, None, 10.0, "ours")]


PARTS: Mapping[str, Callable[[], list[Row]]] = {
    "normal-data": normal_data,
    "real-data": real_data,
    "prediction": prediction,
    "decision-dags": decision_dags,
    "cascade": cascade,
    "new-machine": new_machine,
}
"""In the order of the table; a part's rows are kept when all of them are there."""


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


def gone_on(now: Run, path: Path, parts: Mapping[str, Callable[[], list[Row]]] = PARTS) -> Run:
    """Measure the parts that the file lacks, and keep each."""
    run = read(path) if path.exists() else now
    if run[:3] != now[:3]:
        raise click.ClickException(f"{path} is of {run[:3]}, and this is {now[:3]}: name another.")
    for name, measure in parts.items():
        if name not in run.parts:
            run = run._replace(rows=(*run.rows, *measure()), parts=(*run.parts, name))
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
    from .backfill import refuse_if_busy

    if not busy:
        refuse_if_busy(os.getloadavg())
    click.echo(table(gone_on(here(machine), path)))


@main.command("write")
@click.argument("path", type=Path)
@click.argument("page", type=Path)
def write_command(path: Path, page: Path) -> None:
    """Write the table of PATH into PAGE, and its picture beside it."""
    from .scale import picture

    run = read(path)
    page.write_text(into(page.read_text("utf-8"), run), "utf-8")
    (page.parent / "scale.svg").write_bytes(picture(*curves(run)))


if __name__ == "__main__":
    main()
