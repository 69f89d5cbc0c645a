"""What the gate names, of made-up ratios; and that what it follows can be timed."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from benchmarks import gate, kernels, ratios
from benchmarks.followed import suite


@pytest.mark.parametrize(
    ("turns", "named"),
    [
        ([2.4, 2.4, 2.4], ["a: 1"]),
        ([2.4, 2.1], []),
        ([2.4, 2.4, 2.1], []),
        ([2.19], []),
        ([1.0], []),
    ],
    ids=["a fifth slower", "once", "twice", "within the bound", "faster"],
)
def test_what_is_slower_every_time_is_named(monkeypatch, turns, named):
    """Before, a took 2 and b 5; what is suspected is timed again, alone, and nothing more often."""
    left, asked = list(turns), []

    def made_up(folder, pattern):
        if folder == "before":
            return {"a: 1": 2.0, "b": 5.0}
        asked.append(pattern)
        found = {"a: 1": left.pop(0), "b": 5.0}
        return {name: value for name, value in found.items() if re.search(pattern, name)}

    monkeypatch.setattr(gate, "ratios", made_up)
    assert gate.slower("before", "now", "") == named
    assert not left
    assert asked == ["", *["^a:\\ 1$"] * (len(turns) - 1)]


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"a": 1.0}, {"a": "ValueError: no"}, "a: ValueError: no"),
        ({}, {}, "No benchmark's name matches x"),
        ({"a": "ImportError: no"}, {"a": 9.0}, None),
    ],
)
def test_what_cannot_be_measured_is_said(monkeypatch, capsys, before, now, words):
    of = {"before": before, "now": now}
    monkeypatch.setattr(gate, "ratios", lambda folder, pattern: of[folder])
    if words:
        with pytest.raises(click.ClickException, match=words):
            gate.slower("before", "now", "x")
    else:
        assert gate.slower("before", "now", "x") == []
        assert "a: not there before (ImportError: no)" in capsys.readouterr().out


def test_the_command_takes_the_newest_point_before(monkeypatch):
    points, unpacked = {"a" * 40: 7, "b" * 40: 2, "c" * 40: 0}, []
    monkeypatch.setattr(gate, "points", lambda: points)
    monkeypatch.setattr(gate, "unpack", lambda commit, folder: unpacked.append(commit[0]))
    monkeypatch.setattr(gate, "slower", lambda before, now, pattern: ["slow"] * (pattern == "s"))
    run = CliRunner().invoke
    result = run(gate.main, ["--bench", "s"])
    assert (result.exit_code, result.output.splitlines()[0]) == (1, "slower: slow")
    assert run(gate.main, []).exit_code == 0
    assert run(gate.main, ["--base", "d"]).exit_code == 0
    assert unpacked == ["b", "b", "d"]
    points.clear()
    assert run(gate.main, []).exit_code == 2


def test_a_ratio_is_of_the_benchmarks_time():
    """Of five fixed kernels; wide bounds, for speed is no matter of tests."""
    assert 2 < ratios.ratio(lambda: [ratios.fixed_kernel() for _ in range(5)], 0.05) < 12


def test_what_is_followed_has_a_name_and_is_made_ready(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite, "IN_CHILD", False)
    found = dict(ratios.followed())
    names = {name.partition(":")[0] for name in found}
    assert {"kernels", "tracked.Cegb.time_fit", "rows.Cronus.time_predict_rows"} < names
    assert "special.OnDask.time_fit" not in names
    found["tracked.Gbrt.time_predict: 10000, dense"]()()


@pytest.mark.slow
@pytest.mark.parametrize("name", kernels.KERNELS)
def test_every_kernel_runs(name):
    kernels.KERNELS[name]()()
