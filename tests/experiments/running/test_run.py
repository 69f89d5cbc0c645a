"""Running cells: interrupted, damaged, failing, on one worker or many."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dask
import pandas as pd
import pytest
from distributed import LocalCluster

from datasets.sources import unreachable
from experiments.cli import main
from experiments.running import run
from experiments.running import workers as workers_module
from experiments.running.provenance import ROOT
from experiments.running.run import CellsFailed
from tests.experiments import toy_artefact
from tests.experiments.running import offline_data
from tests.experiments.toy_artefact import computing_here, make_toy, suite

N_CELLS = 24


def toy_command(results, sleep, *arguments):
    program = [sys.executable, "-m", "tests.experiments.toy_command"]
    # A shell's background job ignores Ctrl-C, and so would every process it starts.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return {
        "args": [*program, str(results), str(sleep), *arguments],
        "env": {**os.environ, "PYTHONPATH": str(ROOT)},
        "stderr": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "start_new_session": True,
        "preexec_fn": heed if os.name == "posix" else None,
    }


@pytest.fixture
def edited_sources(monkeypatch):
    """Workers say of other sources than those that are loaded."""
    worker_state = run.worker_state

    def state_of_an_edited_tree(*arguments):
        state = worker_state(*arguments)
        return {**state, "sources": dict.fromkeys(state["sources"], "edited")}

    monkeypatch.setattr(run, "worker_state", state_of_an_edited_tree)


def cluster_of(n_workers):
    """A cluster that runs already, as --scheduler expects it."""
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")


def reproduced(results, run_cell, *, jobs=1, **options):
    """Compute the cells of a toy by a function of one's own, and give its rows."""
    options = {"sets": ("nearby",), "n_seeds": 1, **options}
    toy = toy_artefact.with_run_cell(make_toy(**options), run_cell)
    arguments = ["reproduce", "all", "--jobs", str(jobs), "--quiet"]
    assert main(arguments, suite(results, toy)) == 0
    return pd.read_csv(results / "runs" / "toy-figure2" / "rows.csv")


def stored(results):
    return list((results / "runs" / "store").glob("*/*.jsonl"))


def wait_for_cells(process, results, n):
    deadline = time.monotonic() + 60
    while len(stored(results)) < n:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, "no cell was finished in time"
        time.sleep(0.02)


def session_is_gone(leader):
    """Whether no process of a session is left (Linux's /proc; elsewhere taken as true)."""
    if not Path("/proc/self/stat").exists():
        return True
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            return False
    return True


def wait_until_gone(leader, seconds=20):
    deadline = time.monotonic() + seconds
    while not session_is_gone(leader):
        assert time.monotonic() < deadline, "worker processes outlive their driver"
        time.sleep(0.1)


def run_files(results):
    folder = results / "runs" / "toy-figure2"
    names = ("rows.csv", "figure.svg", "figure.png", "meta.json")
    return {name: (folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Files of a run that nothing disturbed."""
    results = tmp_path_factory.mktemp("undisturbed")
    toy = make_toy(n_steps=3, sleep=0.1)
    with computing_here():
        command = ["reproduce", "toy-figure2", "--jobs", "1", "--quiet"]
        assert main(command, suite(results, toy)) == 0
    return results


@pytest.mark.slow
def test_kill_and_resume_gives_the_same_bytes(tmp_path, undisturbed):
    arguments = ("reproduce", "toy-figure2", "--jobs", "1")
    process = subprocess.Popen(**toy_command(tmp_path, 0.1, *arguments))
    wait_for_cells(process, tmp_path, 3)
    process.kill()  # SIGKILL: nothing can be tidied up
    process.communicate()
    n_kept = len(stored(tmp_path))
    assert 3 <= n_kept < N_CELLS
    assert not (tmp_path / "runs" / "toy-figure2").exists()
    wait_until_gone(process.pid)

    resumed = subprocess.run(**toy_command(tmp_path, 0.1, *arguments), timeout=300)
    assert resumed.returncode == 0, resumed.stderr
    assert f"{N_CELLS - n_kept} cells computed, {n_kept} from the store" in resumed.stdout
    assert run_files(tmp_path) == run_files(undisturbed)


@pytest.mark.slow
def test_interrupt_stops_in_order(tmp_path):
    command = toy_command(tmp_path, 0.2, "reproduce", "toy-figure2", "--jobs", "2")
    process = subprocess.Popen(**command)
    wait_for_cells(process, tmp_path, 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: driver and workers
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Finished cells are kept" in err
    assert "Traceback" not in err + out
    wait_until_gone(process.pid)


@pytest.mark.slow
def test_one_worker_two_workers_and_a_scheduler_agree(tmp_path, undisturbed):
    toy = make_toy(n_steps=3, sleep=0.1)
    two = tmp_path / "two"
    assert main(["reproduce", "all", "--jobs", "2", "--quiet"], suite(two, toy)) == 0
    with cluster_of(2) as cluster:
        arguments = ["reproduce", "all", "--scheduler", cluster.scheduler_address, "--quiet"]
        assert main(arguments, suite(tmp_path / "tcp", toy)) == 0
    wanted = run_files(undisturbed)["rows.csv"]
    assert run_files(two)["rows.csv"] == wanted
    assert run_files(tmp_path / "tcp")["rows.csv"] == wanted


@pytest.mark.slow
def test_an_unreachable_address_is_tried_once_a_run(tmp_path, monkeypatch):
    """Not once in each worker; what a run could not reach is written down nowhere."""
    monkeypatch.setenv(offline_data.NOTES, str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "nobody.example")
    unreachable.forget()
    toys = suite(tmp_path, sets=("nearby",), n_steps=3, sleep=0.2)
    toys = replace(
        toys, datasets=SimpleNamespace(**vars(toys.datasets) | {"load": offline_data.load})
    )
    assert main(["reproduce", "all", "--jobs", "2", "--quiet"], toys) == 0
    assert len(set((tmp_path / "loaded").read_text().split())) == 3  # driver and both workers
    assert (tmp_path / "tried").read_text().split() == [str(os.getpid())]
    assert unreachable.noted().keys() == {"nobody.example"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if b"nobody.example" in path.read_bytes()]
    unreachable.forget()


def test_no_scheduler_at_the_address(tmp_path, capsys):
    arguments = ["reproduce", "all", "--scheduler", "tcp://127.0.0.1:9"]
    assert main(arguments, suite(tmp_path)) == 2
    assert "dask scheduler" in capsys.readouterr().err


def test_damaged_entry_is_computed_again(tmp_path, capsys):
    toy = suite(tmp_path, sets=("nearby",))
    arguments = ["reproduce", "all", "--jobs", "1"]
    with computing_here():
        assert main(arguments, toy) == 0
    before = run_files(tmp_path)
    victim = sorted(stored(tmp_path))[0]
    whole = victim.read_bytes()
    victim.write_bytes(whole.replace(b'"score":', b'"score":1', 1))
    capsys.readouterr()
    with computing_here():
        assert main(arguments, toy) == 0
    captured = capsys.readouterr()
    assert f"{victim} is damaged" in captured.err
    assert "1 cells computed, 7 from the store" in captured.out
    assert "identical" not in captured.out  # nothing is published
    assert run_files(tmp_path) == before
    assert victim.read_bytes().partition(b"\n")[2] == whole.partition(b"\n")[2]


def test_failing_cell_fails_the_run_and_is_named(tmp_path, capfd):
    arguments = ["reproduce", "all", "--jobs", "1"]
    with computing_here():
        assert main(arguments, suite(tmp_path, fail_at=1, sets=("nearby",), n_seeds=1)) == 1
    err = capfd.readouterr().err
    assert "2 cell(s) of toy-figure2 failed" in err
    assert "nearby · better · seed 0 · step=1" in err
    assert "ZeroDivisionError: the toy was told to fail (toy_cells.py, line" in err
    assert "Traceback" not in err
    assert len(stored(tmp_path)) == 2  # the two other cells are kept
    assert not (tmp_path / "runs" / "toy-figure2" / "rows.csv").exists()


def row_of(cell, score, part=0):
    return {"step": cell.params["step"], "part": part, "score": score}


def one(cell, dataset):
    return [row_of(cell, 1.0)]


def two(cell, dataset):
    return [row_of(cell, 2.0)]


@pytest.mark.parametrize(("n", "more"), [(5, ""), (8, "  … and 3 more")])
def test_of_many_failures_five_are_told_and_the_others_counted(n, more):
    cell = make_toy(n_steps=1).make_cells("smoke", range(1))[0]
    said = str(CellsFailed("toy", [(cell, ValueError("broken"))] * n)).splitlines()
    assert said[0] == f"{n} cell(s) of toy failed:"
    assert sum("ValueError: broken" in line for line in said) == 5
    assert [line for line in said if "more" in line] == [more] * bool(more)


@pytest.mark.slow
def test_functions_of_one_module_do_not_share_cells_of_one_name(tmp_path):
    for function, score in ((one, 1.0), (two, 2.0)):
        assert set(reproduced(tmp_path, function)["score"]) == {score}


def die(cell, dataset):
    os._exit(1)


@pytest.mark.slow
@pytest.mark.parametrize("elsewhere", [False, True])
def test_dying_worker_fails_the_run_and_names_the_cell(tmp_path, capfd, elsewhere):
    toy = toy_artefact.with_run_cell(make_toy(sets=("nearby",), n_seeds=1, n_steps=1), die)
    where, advice = ["--jobs", "1"], "Fewer --jobs leave each of them more"
    with cluster_of(1) if elsewhere else contextlib.nullcontext() as cluster:
        if elsewhere:
            where, advice = ["--scheduler", cluster.scheduler_address], "The log of the worker tcp"
        assert main(["reproduce", "all", *where], suite(tmp_path, toy)) == 1
    said = capfd.readouterr().err
    assert "nearby · better · seed 0" in said
    assert f"more memory than there is. {advice}" in said
    assert "KilledWorker" not in said


def threads_of_worker(cell, dataset):
    import numba
    from threadpoolctl import threadpool_info

    most = max([info["num_threads"] for info in threadpool_info()], default=1)
    return [row_of(cell, float(max(most, numba.config.NUMBA_NUM_THREADS)))]


@pytest.mark.slow
def test_workers_run_one_thread(tmp_path):
    assert reproduced(tmp_path, threads_of_worker)["score"].tolist() == [1.0] * 4


def record_span(cell, dataset):
    start = time.time()
    time.sleep(0.05)
    return [row_of(cell, start), row_of(cell, time.time(), part=1)]


@pytest.mark.slow
@pytest.mark.parametrize("alone", [True, False])
def test_cells_that_measure_time_run_alone(tmp_path, alone):
    rows = reproduced(tmp_path, record_span, jobs=2, n_seeds=3, alone=alone)
    table = rows.pivot_table(index=["seed", "algorithm", "step"], columns="part", values="score")
    spans = table.sort_values(0).to_numpy()
    overlapping = (spans[1:, 0] < spans[:-1, 1]).any()
    assert overlapping != alone  # two workers do overlap when they may


def fall_asleep(cell, dataset):
    """Stop the whole process once, as it stops when its machine sleeps, and go on later."""
    if (cell.algorithm, cell.params["step"]) == ("better", 1):
        pid = os.getpid()
        subprocess.Popen(["sh", "-c", f"kill -STOP {pid}; sleep 12; kill -CONT {pid}"])
        time.sleep(1)
    return [row_of(cell, 1.0)]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped")
def test_a_worker_that_slept_is_not_taken_for_dead(tmp_path):
    with dask.config.set({"distributed.scheduler.worker-ttl": "1s"}):  # of five minutes
        assert len(reproduced(tmp_path, fall_asleep)) == 4


@pytest.mark.slow
def test_worker_with_other_sources_is_refused(tmp_path, capsys, edited_sources):
    with cluster_of(1) as cluster:
        arguments = ["reproduce", "all", "--scheduler", cluster.scheduler_address]
        assert main(arguments, suite(tmp_path)) == 2
    assert "differs from this machine (sources:" in capsys.readouterr().err


def test_sources_edited_after_the_start_fail_the_cells(tmp_path, capfd, edited_sources):
    with computing_here():
        assert main(["reproduce", "all", "--jobs", "1"], suite(tmp_path)) == 1
    assert "the sources were edited" in capfd.readouterr().err
    assert stored(tmp_path) == []


def test_workers_that_are_gone_do_not_end_the_driver(monkeypatch):
    """psutil takes no process number for this process: the driver would kill itself."""
    ended = []
    monkeypatch.setattr(
        workers_module.psutil,
        "Process",
        lambda pid=None: SimpleNamespace(kill=lambda: ended.append(pid)),
    )
    nannies = {0: SimpleNamespace(pid=None), 1: SimpleNamespace(pid=4321)}
    workers = object.__new__(workers_module.Workers)
    workers._cluster = SimpleNamespace(workers=nannies)
    workers._kill_workers()
    assert ended == [4321]
    assert not any(nanny.auto_restart for nanny in nannies.values())
