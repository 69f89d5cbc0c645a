"""``reproduce … --dry-run``: what a run would do, and whether it would fail."""

import dataclasses
import re

from tests.experiments.toy_artefact import make_toy, suite


def test_dry_run_sums_up_cells_data_and_time_and_computes_nothing(tmp_path, run):
    toy = suite(tmp_path, sets=("nearby", "far"))
    arguments = ("reproduce", "ALL", "--dry-run", "--seeds", "3")
    status, out, _ = run(toy, *arguments)
    assert status == 0
    assert "nearby · better" not in out
    assert re.search(r"12 cells  far +real, to be fetched \(official\); else not computed", out)
    assert "24 cells, about 0.2 min" in out
    assert run(toy, *arguments, "-v")[1].count("nearby · better") == 6
    assert list(tmp_path.iterdir()) == []


def test_dry_run_exits_3_where_the_run_would(tmp_path, run):
    one = suite(tmp_path, sets=("nearby", "made_up"))
    plan = ("reproduce", "all", "--dry-run", "--data")
    assert run(one, *plan, "auto")[0] == 0
    assert run(one, *plan, "synthetic")[0] == 0  # nearby has none and is left out
    alone = suite(tmp_path, sets=("nearby",))
    assert run(alone, *plan, "synthetic")[0] == run(alone, *plan[:2], "--data", "synthetic")[0] == 3
    two = suite(tmp_path, make_toy(artefact_id="toy-figure1"), make_toy(sets=("nowhere",)))
    assert run(two, *plan, "auto")[0] == 0
    status, out, err = run(two, *plan, "real")
    assert (status, "2 artefacts, 24 cells" in out) == (3, True)
    assert "nowhere  unavailable here: the run will fail" in out
    assert "for want of data: toy-figure2 (nowhere)" in err


def test_the_quickest_comes_first(tmp_path, run):
    slow, quick = make_toy(artefact_id="toy-figure1"), make_toy()
    slow = dataclasses.replace(slow, minutes={scale: 3 * m for scale, m in slow.minutes.items()})
    _, out, _ = run(suite(tmp_path, slow, quick), "reproduce", "all", "--dry-run")
    assert re.findall(r"^toy-figure\d", out, re.MULTILINE) == ["toy-figure2", "toy-figure1"]
