"""The dictionary of columns says of every column of the results where it is, and of no other."""

import csv
import lzma
import re
from collections import defaultdict
from pathlib import Path

from experiments.looks import LOOKS
from experiments.running.provenance import ROOT

RESULTS = ROOT / "results"
METHOD = re.compile(rf"({'|'.join(sorted(LOOKS, key=len, reverse=True))}|step_0\.\d+)(_\w+)?")


def head(path: Path) -> list[str]:
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def files() -> dict[str, list[Path]]:
    """The files of the results by what the dictionary calls them."""
    found = defaultdict(list)
    for pattern in ("*.csv*", "*/*.csv*", "primary/*/*.csv*"):
        for path in sorted(RESULTS.glob(pattern)):
            folder, name = path.parent, path.name.partition(".")[0]
            if folder.parts[-1] in ("runs", "asv", "primary"):
                continue
            if folder == RESULTS or name in ("curves", "timings"):
                found[f"{name}.csv"].append(path)
            elif folder.name == "leaderboard":
                found[f"leaderboard/{name}.csv"].append(path)
            else:
                artefact = name if folder.name == "expected" else folder.name
                found[artefact.partition("@")[0]].append(path)  # what is set of it stands behind
    return found


def columns() -> dict[str, str]:
    """What the dictionary has to say of where each column is."""
    places = defaultdict(set)
    for source, paths in files().items():
        for path in paths:
            for name in head(path):
                if source == "timings.csv" and name not in ("cell", "seconds"):
                    source_of_times = path.parent.name
                    places[name].add(source_of_times)
                    continue
                of_method = METHOD.fullmatch(name) if source.endswith("-divisions") else None
                places[f"METHOD{of_method[2] or ''}" if of_method else name].add(source)
    return {name: ", ".join(shortened(found)) for name, found in sorted(places.items())}


def shortened(places: set[str]) -> list[str]:
    """A paper's name stands for three or more of its artefacts."""
    papers = defaultdict(list)
    for place in places:
        papers["" if ".csv" in place else place.partition("-")[0]].append(place)
    texts = []
    for paper, found in papers.items():
        texts += [paper] if paper and len(found) > 2 else found
    return sorted(texts, key=lambda text: (".csv" in text, text))


def test_the_dictionary_has_every_column_and_no_other():
    page = (ROOT / "docs" / "columns.md").read_text(encoding="utf-8")
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| `")]
    said = {name.strip(" `"): where.strip() for name, _, _, where in lines}
    assert said == columns()
    assert list(said) == sorted(said)
    assert all(meaning.strip() for _, meaning, _, _ in lines)
