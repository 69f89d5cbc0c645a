"""Which earlier commits are measured, and what is said of them."""

from __future__ import annotations

import json
import platform
import subprocess

import click
import pytest
from click.testing import CliRunner

from benchmarks import backfill, machine

FILE = backfill.HERE / "backfill.toml"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=backfill.ROOT, capture_output=True, text=True)


def test_the_chosen_commits():
    commits = backfill.chosen(FILE)
    assert 15 <= len(commits) <= 25
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("a shallow clone, or no repository: there is no history to look at")
    dates = []
    for commit in commits:
        assert git("merge-base", "--is-ancestor", commit.hash, "HEAD").returncode == 0, commit
        dates.append(int(git("log", "-1", "--format=%ct", commit.hash).stdout))
    assert dates == sorted(dates)


@pytest.mark.parametrize("reasons", [[" "], ["b", "b"]], ids=["no reason", "twice"])
def test_commits_without_a_reason_or_twice(tmp_path, reasons):
    path = tmp_path / "backfill.toml"
    lines = (f'[[commit]]\nhash = "a"\nreason = "{reason}"\n' for reason in reasons)
    path.write_text("".join(lines))
    with pytest.raises(ValueError, match="no reason, or stands there twice"):
        backfill.chosen(path)


def test_what_is_there_of_a_commit(tmp_path):
    nan = float("nan")
    results = {
        "tracked.Old.time_fit": [[1.0, 2.0], []],
        "tracked.New.time_fit": [[nan, nan], []],
        "tracked.New.track_cost": [[nan], []],
        "tracked.Part.time_fit": [[nan, 1.0, None], []],
        "tracked.Bad.time_fit": [None, []],
    }
    (tmp_path / "01234567-env.json").write_text(json.dumps({"results": results}))
    found = backfill.outcome(tmp_path, "0123456789")
    assert found[:3] == (3, 4, 2)
    assert found.without == ("tracked.New.time_fit", "tracked.New.track_cost")
    commit = backfill.Chosen("0123456", "A reason.")
    said = "0123456  3 measured, 4 skipped (not there: New), 2 failed: A reason."
    assert backfill.line_of(commit, found) == said
    assert backfill.outcome(tmp_path, "ffffffff") is None
    assert "not measured yet" in backfill.line_of(commit, None)


def test_a_busy_machine_is_refused(monkeypatch):
    backfill.refuse_if_busy((0.2, 0.1, 9.0))
    with pytest.raises(click.ClickException, match="not idle: its load is 0"):
        backfill.refuse_if_busy((0.1, 1.0, 0.0))
    monkeypatch.setattr(backfill, "full_hash", lambda commit: commit)
    monkeypatch.setattr(backfill.os, "getloadavg", lambda: (4.0, 4.0, 4.0), raising=False)
    monkeypatch.setattr(backfill.subprocess, "run", lambda *a, **k: pytest.fail("it ran"))
    assert CliRunner().invoke(backfill.main, ["--machine", "x"]).exit_code == 1


def test_a_run_goes_on_where_it_was(monkeypatch):
    calls = []

    def noting(command, **options):
        calls.append(command)
        if command[-1].startswith("HASHFILE:"):
            with open(command[-1].removeprefix("HASHFILE:")) as file:
                calls.append(file.read().split())

    monkeypatch.setattr(backfill, "full_hash", lambda commit: commit * 5)
    monkeypatch.setattr(backfill.subprocess, "run", noting)
    first, second, *_ = backfill.chosen(FILE)
    options = [f"--only={first.hash}", f"--only={second.hash[:5]}", "--busy", "--machine=x"]
    result = CliRunner().invoke(backfill.main, options)
    assert result.output.count("not measured yet") == 2
    machine, run, hashes = calls
    assert machine[-2:] == ["benchmarks.machine", "x"]
    assert "--skip-existing" in run
    assert hashes == [5 * first.hash, 5 * second.hash]


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
