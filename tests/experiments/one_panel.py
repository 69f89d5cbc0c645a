"""``check`` of one data set of an artefact: python -m tests.experiments.one_panel FOLDER.

The artefact is one of boosted stumps, whose kernels compile in a fraction of the trees' time.

Nothing is imported before the workers are told to use one thread, as in ``python -m experiments``.
"""

import sys

DATASET = "mnist"  # its smallest, and full of ties
ALGORITHMS = ("uniform_naive", "mas_1q")


def check(folder: str) -> int:
    import dataclasses
    from pathlib import Path

    import datasets
    from experiments.adaptive_sampling_2014.table1 import ARTEFACT
    from experiments.cli import main
    from experiments.publishing import output
    from experiments.registry import Registry
    from experiments.running.provenance import ROOT
    from experiments.running.suite import Suite

    def one_panel(scale, seeds):
        cells = ARTEFACT.make_cells(scale, seeds)
        return [c for c in cells if c.dataset == DATASET and c.algorithm in ALGORITHMS]

    name = f"{ARTEFACT.id}.csv"
    rows = output.read_rows(ROOT / "results" / "expected" / name)
    kept = (rows["dataset"] == DATASET) & rows["algorithm"].isin(ALGORITHMS)
    expected = Path(folder) / "expected"
    expected.mkdir(parents=True)
    (expected / name).write_bytes(output.csv_bytes(rows[kept]))
    artefact = dataclasses.replace(ARTEFACT, make_cells=one_panel)
    suite = Suite(Registry((artefact,)), datasets, Path(folder))
    return main(["check", "--jobs", "1", "--quiet"], suite)


if __name__ == "__main__":
    sys.exit(check(sys.argv[1]))
