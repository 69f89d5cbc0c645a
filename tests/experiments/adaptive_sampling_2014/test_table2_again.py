"""What the README says of Table 2's new verdicts is what was published."""

import pandas as pd

from experiments.running.provenance import ROOT

CLAIMS = pd.read_csv(ROOT / "results" / "sampling-table2" / "claims.csv").set_index("claim")
README = ROOT / "experiments" / "adaptive_sampling_2014" / "README.md"


def now(line: str) -> str:
    """Last column of the README's line that begins so."""
    lines = README.read_text(encoding="utf-8").splitlines()
    (found,) = [row for row in lines if row.startswith(f"| {line}")]
    return found.strip("| ").split("|")[-1].strip().replace("\N{MINUS SIGN}", "-")


def test_the_new_verdicts_and_effects():
    for rounds in (10, 100, 1000):
        row = CLAIMS.loc[f"laminating-wins-{rounds}"]
        said = now(f"Laminating the winner, T = {rounds:,} ")
        assert said.startswith(f"{row['verdict']} ({row['effect']:+.3f}")
    for name, method in (("mas", "M.A.S."), ("tasting", "Tasting")):
        rows = [CLAIMS.loc[f"{name}-ahead-{rounds}"] for rounds in (10, 100, 1000)]
        assert {row["verdict"] for row in rows} == {"reproduced"}
        effects = ", ".join(f"{row['effect']:+.3f}" for row in rows)
        assert now(f"{method} ahead of the baselines") == f"reproduced ({effects})"
