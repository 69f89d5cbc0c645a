"""``check`` of one panel of Figure 2 at smoke scale: python -m tests.experiments.one_panel FOLDER.

Nothing is imported before the workers are told to use one thread, as in ``python -m experiments``.
"""

import sys

PANEL = "d"  # digits: real, small, and full of ties


def check(folder: str) -> int:
    import dataclasses
    from pathlib import Path

    import datasets
    from experiments.cegb_2017.figure2 import ARTEFACT
    from experiments.cli import main
    from experiments.publishing import output
    from experiments.registry import Registry
    from experiments.running.provenance import ROOT
    from experiments.running.suite import Suite

    def one_panel(scale, seeds):
        cells = ARTEFACT.make_cells(scale, seeds)
        return [cell for cell in cells if cell.params["panel"] == PANEL]

    name = f"{ARTEFACT.id}.csv"
    rows = output.read_rows(ROOT / "results" / "expected" / name)
    expected = Path(folder) / "expected"
    expected.mkdir(parents=True)
    (expected / name).write_bytes(output.csv_bytes(rows[rows["panel"] == PANEL]))
    artefact = dataclasses.replace(ARTEFACT, make_cells=one_panel)
    suite = Suite(Registry((artefact,)), datasets, Path(folder))
    return main(["check", "--jobs", "1", "--quiet"], suite)


if __name__ == "__main__":
    sys.exit(check(sys.argv[1]))
