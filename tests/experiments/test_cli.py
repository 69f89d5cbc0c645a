"""The command line: names, exit status, what it writes, check and claims."""

import ast
import dataclasses
import errno
import hashlib
import json
import os
import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from experiments.artefact import DATA_SCALES, SCALES, Tolerance
from experiments.cli import main
from experiments.publishing import check, output
from experiments.registry import PAPERS, Registry, UnknownArtefact, discover, short_name
from experiments.running.provenance import ROOT
from tests.datasets.server import Server
from tests.experiments.toy_artefact import make_toy, suite


def publish_other_rows(folder, rows):
    """Let other rows pass for published ones: as if an earlier version had computed them."""
    content = output.csv_bytes(rows)
    (folder / "rows.csv").write_bytes(content)
    meta = json.loads((folder / "meta.json").read_text())
    meta["rows_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "meta.json").write_text(json.dumps(meta))


# --- names ------------------------------------------------------------------------------------


def test_short_names_of_the_papers():
    names = sorted(short_name(paper) for paper in PAPERS)
    assert names == ["cegb", "cronus", "mddag", "miser", "sampling"]


def test_discovery_finds_the_figure_of_cegb():
    artefacts = discover()
    assert "cegb-figure2" in [artefact.id for artefact in artefacts]
    for artefact in artefacts:
        assert artefact.id.startswith(short_name(artefact.paper) + "-")
        rooms = (f"experiments.{artefact.paper}.cells.", "experiments.cells.")
        assert artefact.run_cell.__module__.startswith(rooms)
        assert tuple(artefact.minutes) == tuple(artefact.seeds) == SCALES
        assert artefact.minutes["laptop"] <= 15


def test_every_figure_and_table_is_registered():
    """A file without its line would be left out without a word."""
    files = [
        path
        for paper in PAPERS
        for pattern in ("figure*.py", "table*.py", "extra_*.py")
        for path in (ROOT / "experiments" / paper).glob(pattern)
    ]
    assert len(files) == len(discover()) == len({artefact.id for artefact in discover()})
    ids = [artefact.id for artefact in discover()]
    assert ids.index("cegb-figure1") < ids.index("sampling-table4") < ids.index("sampling-choices")


def test_papers_stand_in_the_order_of_the_readme():
    """One order everywhere; lists are made in that of PAPERS."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[[^]]+\]\(experiments/(\w+)/README\.md\)", readme, re.MULTILINE)
    rows = list(dict.fromkeys(rows))  # one table names them, another says how to run them
    assert rows == list(PAPERS)
    assert list(dict.fromkeys(artefact.paper for artefact in discover())) == rows


def test_overnight_has_the_papers_rounds_on_the_data_at_hand():
    """Every artefact declares it, within a night, with enough repetitions for verdicts."""
    assert DATA_SCALES["overnight"] == "laptop"
    for artefact in discover():
        laptop, overnight, paper = (
            len(artefact.cells(scale, 1)) for scale in ("laptop", "overnight", "paper")
        )
        assert laptop <= overnight <= paper
        assert artefact.minutes["laptop"] <= artefact.minutes["overnight"] <= 600
        assert artefact.seeds["overnight"] >= min(5, artefact.seeds["paper"])


def test_names_stand_for_artefacts():
    registry = Registry(
        [
            make_toy(artefact_id="toy-figure2"),
            make_toy(artefact_id="toy-table1"),
        ]
    )
    for name, wanted in (
        ("toy-figure2", ["toy-figure2"]),
        ("toy", ["toy-figure2", "toy-table1"]),
        ("toy_2000", ["toy-figure2", "toy-table1"]),
        ("all", ["toy-figure2", "toy-table1"]),
        ("table1", ["toy-table1"]),
    ):
        found, notes = registry.resolve([name])
        assert [artefact.id for artefact in found] == wanted
        assert bool(notes) == (name == "table1")
    assert "cronus" in registry.resolve(["figure2"])[1][0]
    with pytest.raises(UnknownArtefact, match="Did you mean toy-figure2"):
        registry.resolve(["toy-figur2"])
    with pytest.raises(UnknownArtefact, match="Nothing of miser is built yet"):
        registry.resolve(["miser"])


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["reproduce", "toy-figur2"], "Did you mean toy-figure2"),
        (["reproduce"], "Missing argument"),
        (["reproduce", "all", "--scale", "huge"], "'huge' is not one of"),
        (["reproduce", "all", "--jobs", "0"], "--jobs"),
        (["reproduce", "all", "--scale", "smoke", "--data", "real"], "--scale laptop"),
        (["reproduce", "all", "--scale", "smoke", "--publish"], "publish a larger one"),
        (["reproduse"], "No such command"),
        (["check", "--scale", "laptop", "--update"], "--publish"),
        (["data", "fetch", "neraby"], "did you mean nearby"),
    ],
)
def test_wrong_commands_exit_2_and_say_what_next(tmp_path, run, arguments, hint):
    status, _, err = run(suite(tmp_path), *arguments)
    assert status == 2
    assert hint in err


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("damaged", "expected aa"),
        ("cut_off", "picture 7 is cut off\n  Next: put a whole file in its place"),
    ],
)
def test_data_not_to_be_had_exits_3_before_any_cell(tmp_path, run, name, hint):
    status, _, err = run(suite(tmp_path, sets=("nearby", name)), "reproduce", "all")
    assert status == 3
    assert hint in err
    assert not (tmp_path / "runs" / "store").exists()


@pytest.fixture
def with_far(tmp_path, run, monkeypatch):
    """A toy of two data sets, both published, of which one can no longer be had."""
    toy = suite(tmp_path, sets=("nearby", "far"), n_seeds=1, n_steps=1)
    arguments = ("reproduce", "all", "--jobs", "1", "--quiet")
    with monkeypatch.context() as there:
        there.setenv("TOY_LACKS", "")
        assert run(toy, *arguments, "--publish")[0] == 0
    drawn = []
    seen = dataclasses.replace(
        toy.registry.artefacts[0], render=lambda rows, meta: drawn.append((rows, meta)) or "table"
    )
    toy = dataclasses.replace(toy, registry=Registry((seen,)))
    return toy, arguments, drawn


def test_what_is_not_here_is_shown_as_published_and_nothing_else(tmp_path, run, with_far):
    toy, arguments, drawn = with_far
    status, out, _ = run(toy, *arguments)
    assert status == 0
    assert "1 of 2 panels computed" in out
    assert "far: put it into the mirror." in out
    ((rows, meta),) = drawn
    assert set(rows["dataset"]) == {"nearby", "far"}
    assert meta["data"]["far"]["kind"] == "published"
    run_folder = tmp_path / "runs" / "toy-figure2"
    assert "far: OUR PUBLISHED ROWS" in (run_folder / "table.md").read_text()
    assert set(pd.read_csv(run_folder / "rows.csv")["dataset"]) == {"nearby"}
    assert set(json.loads((run_folder / "meta.json").read_text())["data"]) == {"nearby"}
    assert run(toy, "check", "--scale", "laptop", "--jobs", "1", "--quiet")[0] == 0


def test_what_is_not_here_is_not_published_away(tmp_path, run, with_far):
    toy, arguments, _ = with_far
    before = (tmp_path / "toy-figure2" / "rows.csv").read_bytes()
    status, _, err = run(toy, *arguments, "--publish")
    assert (status, "not published" in err, "put it into the mirror" in err) == (3, True, True)
    status, _, err = run(toy, *arguments, "--publish", "--data", "synthetic")
    assert (status, "synthetic" in err) == (3, True)
    assert (tmp_path / "toy-figure2" / "rows.csv").read_bytes() == before
    assert run(toy, *arguments, "--data", "real")[0] == 3


def test_all_grey_is_fine_too(tmp_path, run, with_far, monkeypatch):
    toy, arguments, drawn = with_far
    monkeypatch.setenv("TOY_LACKS", "far nearby")
    status, out, _ = run(toy, *arguments)
    assert (status, "0 of 2 panels computed" in out) == (0, True)
    assert set(drawn[-1][0]["dataset"]) == {"nearby", "far"}
    assert len(pd.read_csv(tmp_path / "runs" / "toy-figure2" / "rows.csv")) == 0
    assert run(toy, "check", "--scale", "laptop", "--jobs", "1", "--quiet")[0] == 0
    status, _, err = run(toy, *arguments, "--publish")
    assert (status, "not published" in err) == (3, True)


def test_of_several_the_others_are_made_and_the_exit_status_is_3(tmp_path, run):
    lost = make_toy(artefact_id="toy-figure1", sets=("far",))
    arguments = ("reproduce", "all", "--jobs", "1", "--data", "real")
    status, out, err = run(suite(tmp_path, lost, make_toy(sets=("nearby",))), *arguments)
    assert status == 3
    assert "LEFT OUT: far is unavailable. Next: put it into the mirror." in out
    assert "not regenerated for want of data: toy-figure1" in err
    assert (tmp_path / "runs" / "toy-figure2" / "rows.csv").exists()
    assert not (tmp_path / "runs" / "toy-figure1").exists()


def test_data_commands(tmp_path, run):
    toy = suite(tmp_path)
    status, out, _ = run(toy, "data")
    assert status == 0
    assert "nearby" in out
    assert "1.2 kB" in out
    assert run(toy, "data", "list")[1] == out
    assert run(toy, "data", "fetch", "nearby")[0] == 0
    assert "nearby.txt" in run(toy, "data", "verify")[1]
    status, _, err = run(toy, "data", "fetch", "far")
    assert (status, "mirror" in err) == (3, True)
    status, _, err = run(toy, "data", "verify", "damaged")
    assert (status, "expected aa, found bb" in err) == (3, True)


def test_verify_goes_on_after_damage_and_names_all_of_it(tmp_path, run):
    status, out, err = run(suite(tmp_path), "data", "verify", "damaged", "cut_off", "nearby")
    assert status == 3
    assert "nearby: 1 file(s) as recorded" in out
    assert "2 data set(s) damaged or absent" in err
    assert "damaged: " in err
    assert "cut_off: " in err


def test_addresses_are_asked_and_those_that_do_not_answer_named(tmp_path, run, monkeypatch):
    toy = suite(tmp_path)
    with Server() as server:
        here, gone = server.page("/here", content=b"abc"), f"{server.address}/gone"
        described = {"files": [{"forms": [{"addresses": [here, gone]}, {"addresses": [here]}]}]}
        monkeypatch.setattr(toy.datasets, "describe", lambda name: described)
        status, out, err = run(toy, "data", "addresses", "nearby")
        assert out.splitlines() == [
            f"nearby: {here}: answers",
            f"nearby: {gone}: HTTP Error 404: Not Found",
        ]
        assert status == 3
        assert "1 address(es) do not answer" in err
        described["files"][0]["forms"][0]["addresses"].remove(gone)
        assert run(toy, "data", "addresses", "nearby")[0] == 0
    assert server.requests[0] == ("/here", "bytes=0-0")


def test_prune_lists_first_and_removes_when_told(tmp_path, run, monkeypatch):
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "cache"))
    toy = suite(tmp_path)
    assert "Nothing to prune" in run(toy, "data", "prune")[1]
    old = tmp_path / "cache" / "features" / "mnist" / "0123"
    old.mkdir(parents=True)
    (old / "train.u8").write_bytes(bytes(5_000))
    for arguments, stays in (((), True), (("--remove",), False)):
        status, out, _ = run(toy, "data", "prune", *arguments)
        assert (status, old.exists()) == (0, stays)
        assert "5.0 kB" in out
        assert str(old) in out


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files unknown")
@pytest.mark.parametrize("what", ["toy-figure2/meta.json", "store"])
def test_full_disk_is_one_sentence(tmp_path, run, monkeypatch, what):
    """Status 1: the command was right. Nothing half-written stays."""
    from datasets.sources import storage as store

    write = store.os.fsync

    def full(descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if what.split("/")[-1] in path:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(descriptor)

    monkeypatch.setattr(store.os, "fsync", full)
    status, _, err = run(suite(tmp_path), "reproduce", "toy", "--jobs", "1", "--quiet")
    assert status == 1
    assert "No space left on device: " in err
    assert what.split("/")[-1] in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("*.tmp"))


def test_list_and_help(tmp_path, run):
    status, out, _ = run(suite(tmp_path), "list")
    assert status == 0
    assert "toy-figure2" in out
    assert "laptop 0.2 min" in out
    assert run(suite(tmp_path), "--help")[0] == 0


def test_version_and_completion(tmp_path, run, monkeypatch, capsys):
    status, out, _ = run(suite(tmp_path), "--version")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (status, out) == (0, f"{project['name']}, version {project['version']}\n")
    assert project["scripts"] == {"experiments": "experiments.cli:main"}  # what is completed

    for variables, wanted in (
        ({"_EXPERIMENTS_COMPLETE": "zsh_source"}, "#compdef experiments"),
        (
            {
                "_EXPERIMENTS_COMPLETE": "zsh_complete",
                "COMP_WORDS": "experiments reproduce Toy-f",
                "COMP_CWORD": "2",
            },
            "toy-figure2",
        ),
    ):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main([], suite(tmp_path))
        assert ended.value.code == 0
        assert wanted in capsys.readouterr().out


# --- a run and what comes of it ---------------------------------------------------------------


def test_run_publish_and_difference(tmp_path, run):
    toy = suite(tmp_path, n_seeds=5, n_steps=1)
    arguments = ("reproduce", "toy", "--jobs", "1", "--quiet")
    status, out, _ = run(toy, *arguments, "--publish")
    assert status == 0
    assert "Nothing is published yet" in out
    published = tmp_path / "toy-figure2"
    files = {path.name for path in published.iterdir()}
    assert files == {"rows.csv", "timings.csv", "meta.json", "figure.png"}
    meta = json.loads((published / "meta.json").read_text())
    assert meta["seeds"] == [0, 1, 2, 3, 4]
    assert set(meta["data"]["nearby"]["checksums"]) == {"0", "1", "2", "3", "4"}
    assert meta["data"]["nearby"]["rows"] == {"train": 40, "valid": 20, "test": 30}
    assert meta["data"]["nearby"]["test_overlap"] == 0.0
    assert str(tmp_path) not in json.dumps(meta)
    rows = pd.read_csv(published / "rows.csv")
    assert list(rows.columns) == ["step", "dataset", "algorithm", "seed", "part", "score"]
    keys = ["step", "dataset", "algorithm", "seed", "part"]
    assert rows.equals(rows.sort_values(keys, ignore_index=True))

    status, out, _ = run(toy, *arguments)
    assert "0 cells computed, 20 from the store" in out
    assert "60 of 60 rows on the same data are identical to the published ones." in out
    assert f"Figure: {tmp_path / 'runs' / 'toy-figure2' / 'figure.png'}" in out
    assert "artefacts together" not in out

    rows.loc[0, "score"] += 0.25
    publish_other_rows(published, rows)
    out = run(toy, *arguments)[1]
    assert "score: 1 differ, by at most 0.25" in out


def test_redirected_output_has_a_line_per_cell_and_no_progress_bar(tmp_path, run):
    _, _, err = run(suite(tmp_path, n_steps=1), "reproduce", "toy", "--jobs", "1")
    assert err.count("nearby · ") == 4
    assert [int(n) for n in re.findall(r"^\[(\d+)/8\]", err, re.MULTILINE)] == [*range(1, 9)]
    assert "%|" not in err
    assert "\r" not in err


def bars_drawn_into_files(source):
    """Progress bars that do not ask whether they are on a terminal (tqdm: ``disable=None``)."""
    wrong = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        is_bar = ast.unparse(call.func).split(".")[-1] == "tqdm"
        if is_bar and not given.get("disable", "").startswith("None"):
            wrong.append(call.lineno)
        if given.get("progressbar") == "True":
            wrong.append(call.lineno)
    return wrong


def test_every_progress_bar_is_for_terminals_only():
    folders = [ROOT / name for name in ("algorithms", "datasets", "experiments")]
    sources = {path: path.read_text("utf-8") for f in folders for path in f.rglob("*.py")}
    sources = {path: text for path, text in sources.items() if re.search("tqdm|progressbar", text)}
    assert sum("tqdm(" in text for text in sources.values()) >= 4
    assert {
        path: bars for path, text in sources.items() if (bars := bars_drawn_into_files(text))
    } == {}
    assert bars_drawn_into_files("tqdm(x, disable=None)\ntqdm(x)\nF(progressbar=True)") == [2, 3]


def test_synthetic_leaves_out_what_has_none(tmp_path, run):
    toy = suite(tmp_path)
    status, _, _ = run(toy, "reproduce", "toy", "--data", "synthetic", "--jobs", "1")
    assert status == 0
    rows = pd.read_csv(tmp_path / "runs" / "toy-figure2" / "rows.csv")
    assert set(rows["dataset"]) == {"made_up"}


def test_no_synthetic_form_at_all(tmp_path, run):
    """Alone it fails as unavailable data; among others it is left out loudly."""
    lonely = make_toy(artefact_id="toy-figure1", sets=("nearby",))
    both = suite(tmp_path, lonely, make_toy())
    arguments = ("--data", "synthetic", "--jobs", "1", "--quiet")
    status, _, err = run(both, "reproduce", "toy-figure1", *arguments)
    assert status == 3
    assert "none of the data of toy-figure1 has a synthetic form" in err
    status, out, _ = run(both, "reproduce", "toy", *arguments)
    assert status == 0
    assert "LEFT OUT: none of the data of toy-figure1" in out
    assert not (tmp_path / "runs" / "toy-figure1").exists()
    assert (tmp_path / "runs" / "toy-figure2" / "rows.csv").exists()


def test_damaged_results_and_unwritable_folders_are_named(tmp_path, run):
    toy = suite(tmp_path, sets=("nearby",), n_seeds=1, n_steps=1)
    arguments = ("reproduce", "toy", "--jobs", "1", "--quiet")
    assert run(toy, *arguments, "--publish")[0] == 0
    (tmp_path / "toy-figure2" / "meta.json").write_text("{")
    status, _, err = run(toy, "redraw")
    assert status == 1
    assert "cannot be read" in err
    assert run(toy, *arguments)[0] == 1
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    status, _, err = run(toy, *arguments, "--out", str(blocked / "below"))
    assert status == 2
    assert "a_file" in err


# --- check ------------------------------------------------------------------------------------


def test_check_update_pass_and_fire(tmp_path, run):
    toy = suite(tmp_path, sets=("nearby",), n_seeds=1)
    arguments = ("check", "--jobs", "1", "--quiet")
    status, out, _ = run(toy, *arguments)
    assert status == 1
    assert "no expected values yet" in out
    assert run(toy, *arguments, "--update")[0] == 0
    status, out, _ = run(toy, *arguments)
    assert status == 0
    assert "toy-figure2  score" in out
    assert "ok" in out

    path = tmp_path / "expected" / "toy-figure2.csv"
    expected = pd.read_csv(path)
    expected.loc[3, "score"] += 1e-3
    expected.to_csv(path, index=False)
    status, out, err = run(toy, *arguments)
    assert status == 1
    assert "DRIFT in 1" in out
    assert "check --update" in err


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n3", b"\xff\xfe\x00"])
def test_damaged_expected_values_are_named(tmp_path, run, content):
    toy = suite(tmp_path, sets=("nearby",), n_seeds=1, n_steps=1)
    path = tmp_path / "expected" / "toy-figure2.csv"
    path.parent.mkdir()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, _, err = run(toy, "check", "--jobs", "1", "--quiet")
    assert status == 1
    assert "toy-figure2.csv cannot be read" in err
    assert "check --update" in err


def test_check_at_laptop_scale_compares_what_has_the_same_data(tmp_path, run):
    toy = suite(tmp_path, n_seeds=1)
    arguments = ("check", "--scale", "laptop", "--jobs", "1", "--quiet")
    status, out, _ = run(toy, *arguments)
    assert status == 1
    assert "nothing is published" in out
    assert run(toy, "reproduce", "all", "--publish", "--jobs", "1", "--quiet")[0] == 0
    assert run(toy, *arguments)[0] == 0
    meta_path = tmp_path / "toy-figure2" / "meta.json"
    meta = json.loads(meta_path.read_text())
    meta["data"]["nearby"]["checksums"]["0"] = "another copy"
    meta_path.write_text(json.dumps(meta))
    published = tmp_path / "toy-figure2"
    rows = pd.read_csv(published / "rows.csv")
    rows.loc[rows["dataset"] == "nearby", "score"] += 1
    publish_other_rows(published, rows)
    status, out, _ = run(toy, *arguments)
    assert status == 0  # the set that differs is not compared, and that is said
    assert "other data for nearby than published, not compared" in out
    rows.loc[rows["dataset"] == "made_up", "score"] += 1
    publish_other_rows(published, rows)
    assert run(toy, *arguments)[0] == 1


def table(**changes):
    rows = {
        "step": [0, 1, 2],
        "dataset": "d",
        "algorithm": "a",
        "seed": 0,
        "part": 0,
        "score": [1.0, 2.0, 3.0],
    }
    return pd.DataFrame({**rows, **changes})


def test_compare_fires_on_each_kind_of_difference():
    toy = make_toy()
    (column,), problems = check.compare(toy, table(), table(score=[1.0, 2.0, 3.0 + 5e-7]))
    assert column.passed
    assert problems == []
    (column,), _ = check.compare(toy, table(), table(score=[1.0, 2.1, 3.0]))
    assert not column.passed
    assert (column.expected, column.now, column.outside) == (2.0, 2.1, 1)
    (column,), _ = check.compare(toy, table(), table(score=[1.0, float("nan"), 3.0]))
    assert not column.passed
    nan = table(score=[1.0, float("nan"), 3.0])
    assert check.compare(toy, nan, nan)[0][0].passed
    assert "1 rows are missing" in check.compare(toy, table(), table().iloc[:2])[1][0]
    assert "1 rows are new" in check.compare(toy, table().iloc[:2], table())[1][0]
    assert check.compare(toy, table(), table().iloc[:0])[1]
    garbage = table(score=["1.0", "x", "3.0"])
    assert "score differ in kind" in check.compare(toy, garbage, table())[1][0]
    assert (
        "lack the columns score" in check.compare(toy, table().drop(columns="score"), table())[1][0]
    )


def test_rows_are_read_bit_for_bit(tmp_path):
    numbers = [0.1 + 0.2, 1e-300, 123456.78901234567, float("nan"), 2.0]
    written = pd.DataFrame({"panel": list("ab'cd"), "seed": range(5), "score": numbers})
    (tmp_path / "rows.csv").write_bytes(output.csv_bytes(written))
    pd.testing.assert_frame_equal(
        output.read_rows(tmp_path / "rows.csv"), written, check_exact=True, check_dtype=False
    )


def test_tolerance_reads_as_it_acts():
    tolerance = Tolerance(absolute=0.5, relative=0.1)
    assert tolerance.allowed(-10.0) == 1.5
    assert str(tolerance) == "0.5 + 10 %"
    assert str(Tolerance()) == "0"
