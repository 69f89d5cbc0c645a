"""Tries the gate: ``python -m benchmarks.gate_trial``, on an idle machine.

In a copy the histogram kernel sums a fifth of the rows twice; it must be named, and nothing else.
Then nothing is changed, thirty times, of which one at most may be complained about.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from .gate import ROOT, slower

GROUP = "^kernels: (histogram|split|lazy)"
KERNEL = Path("algorithms", "trees", "histogram.py")
SUM = "        _accumulate(layout, tile, rows, begin, end, stop, hists.words, packed)\n"
SUMS = """\
        for whole in range(2):
            until = end if whole else begin + (end - begin) // 5
            _accumulate(layout, tile, rows, begin, until, stop, hists.words, packed)
            if not whole:
                packed[:] = 0
"""


@click.command()
@click.option("--runs", default=30, show_default=True, help="Times that nothing is changed.")
def main(runs: int) -> None:
    """Say what was named; exit status 1 unless it is as it must be."""
    with TemporaryDirectory() as same, TemporaryDirectory() as slow:
        shutil.copytree(ROOT / "algorithms", Path(slow, "algorithms"))
        source = Path(slow, KERNEL).read_text("utf-8")
        if source.count(SUM) != 1:
            raise click.ClickException(f"{KERNEL} has no line {SUM.strip()!r} to slow down.")
        Path(slow, KERNEL).write_text(source.replace(SUM, SUMS), "utf-8")
        named = slower(Path(same), Path(slow), GROUP)
        unchanged = [slower(Path(same), Path(same), GROUP) for _ in range(runs)]
    complaints = [names for names in unchanged if names]
    click.echo(f"a slower histogram kernel: {named}")
    click.echo(f"nothing changed: {len(complaints)} complaints in {runs} runs {complaints or ''}")
    if not named or any("histogram" not in name for name in named) or len(complaints) > 1:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
