"""asv's newest committed point is no older than twenty commits that change algorithms."""

from __future__ import annotations

import json
import subprocess

import pytest

from benchmarks.gate import ROOT, points

MOST = 20


def git(*arguments, folder=ROOT):
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)


def test_the_newest_point_is_not_old():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("a shallow clone, or an archive: how old a point is cannot be seen")
    newest = min(points().values(), default=MOST + 1)
    assert newest <= MOST, "Run `make bench` on an idle machine and commit its point."


def test_points_by_the_commits_since(tmp_path):
    """Of five commits, and one of documents, the second and the third were measured."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    git("init", "-q", folder=tmp_path)
    hashes = []
    (tmp_path / "algorithms").mkdir()
    for name in ("0", "1", "2", "3", "4", "../README"):
        (tmp_path / "algorithms" / name).write_text("")
        git("add", ".", folder=tmp_path)
        made = git(*who, "commit", "-q", "-m", name, folder=tmp_path)
        assert made.returncode == 0, made.stderr
        hashes.append(git("rev-parse", "HEAD", folder=tmp_path).stdout.strip())
    history = tmp_path / "asv"
    (history / "quiet").mkdir(parents=True)
    (history / "quiet" / "machine.json").write_text("{}")
    assert points(history, tmp_path) == {}
    for commit in (*hashes[1:3], "f" * 40):  # the last one is of another branch, which is gone
        point = json.dumps({"commit_hash": commit})
        (history / "quiet" / f"{commit[:8]}-env.json").write_text(point)
    assert points(history, tmp_path) == {hashes[1]: 3, hashes[2]: 2}
