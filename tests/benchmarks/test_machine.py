"""Which earlier commits are measured, and what is known of the machine."""

from __future__ import annotations

import json
import platform

import pytest
from click.testing import CliRunner

from benchmarks import machine
from benchmarks.gate import ROOT
from tests.benchmarks.test_newest_point import git


def test_the_chosen_commits_are_in_order():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("a shallow clone, or no repository: there is no history to look at")
    dates = []
    for line in (ROOT / "benchmarks" / "commits.txt").read_text("utf-8").splitlines():
        commit, _, reason = line.partition(" ")
        assert git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0, commit
        assert reason, commit
        dates.append(int(git("log", "-1", "--format=%ct", commit).stdout))
    assert dates == sorted(dates)
    assert dates


def test_the_machine_is_known_by_more_than_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert CliRunner().invoke(machine.main, ["quiet"]).exit_code == 0
    kept = json.loads((tmp_path / ".asv-machine.json").read_text())["quiet"]
    assert kept["machine"] == "quiet"
    assert kept["os"] == platform.system()
    assert int(kept["num_cpu"]) > 0
    assert kept["cpu"]
    assert kept["ram"]
