"""What the README says of Tables 1, 2 and 4, run again and longer, is what was published."""

import pandas as pd
import pytest

from experiments.running.provenance import ROOT

README = ROOT / "experiments" / "adaptive_sampling_2014" / "README.md"
TEXT = README.read_text(encoding="utf-8")
PART = TEXT.split("run again: what changed")[1].split("\n## ")[0]
LONGER = TEXT.split("## 10,000 rounds on INRIA: what changed")[1].split("\n## ")[0]
TABLES = {"MNIST": 1, "INRIA": 2, "CIFAR-10": 4}
NAMES = {"Laminating the winner": "laminating-wins", "M.A.S. ahead of the baselines": "mas-ahead",
         "Tasting ahead of the baselines": "tasting-ahead",
         "Test errors alike": "alike", "Best family behind": "best-family-behind",
         "Laminating's error no better": "no-better-error"}  # fmt: skip


def lines(name: str, part: str = PART) -> list[list[str]]:
    """Fields of a table's lines in a part of the README."""
    (start,) = (i for i, line in enumerate(part.splitlines()) if line.startswith(f"| {name} |"))
    below = part.splitlines()[start + 2 :]
    end = below.index("")
    return [[field.strip() for field in line.strip("| ").split("|")] for line in below[:end]]


def claims(name: str) -> pd.DataFrame:
    path = ROOT / "results" / f"sampling-table{TABLES[name]}" / "claims.csv"
    return pd.read_csv(path).set_index("claim")


@pytest.mark.parametrize("name", TABLES)
def test_the_new_verdicts_and_effects(name):
    for what, _, now in lines(name, LONGER if name == "INRIA" else PART):
        sentence, rounds = what.split(", T = ")
        rows = [
            claims(name).loc[f"{NAMES[sentence]}-{t.replace(',', '')}"] for t in rounds.split(", ")
        ]
        (verdict,) = {row["verdict"] for row in rows}
        effects = ", ".join(f"{row['effect']:+.3f}" for row in rows)
        said = now.replace("\N{MINUS SIGN}", "-")
        assert said.startswith((f"{verdict} ({effects})", f"{verdict} ({effects}; "))
        if "detected" in said:
            (row,) = rows
            assert f"; {row['detectable']:.3f} could be detected)" in said


@pytest.mark.parametrize("name", TABLES)
def test_no_change_of_a_verdict_is_left_out(name):
    """The claims that are not listed have the verdict that the first seeds had."""
    listed = {
        f"{NAMES[what.split(', T')[0]]}-{t.replace(',', '')}"
        for what, _, _ in lines(name)
        for t in what.split(" = ")[1].split(", ")
    }
    first = {  # of seeds 0 to 4, which stand in the history
        "MNIST": {"mas-ahead": "RRR", "tasting-ahead": "IRR"},
        "INRIA": {},
        "CIFAR-10": {"laminating-wins": "NND", "mas-ahead": "IND", "tasting-ahead": "IRR"},
    }[name]
    letters = {"R": "reproduced", "N": "not reproduced", "I": "inconclusive",
               "D": "denied by the paper's own table"}  # fmt: skip
    table = claims(name)
    for sentence, verdicts in first.items():
        for rounds, letter in zip((10, 100, 1000), verdicts, strict=True):
            if f"{sentence}-{rounds}" not in listed:
                assert table.loc[f"{sentence}-{rounds}", "verdict"] == letters[letter]
    assert len(listed) == {"MNIST": 3, "INRIA": 9, "CIFAR-10": 2}[name]
