"""Feature columns on disk: computed once, checked, resumed; and their measured times."""

import errno
import json
import os
import shutil
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest

from datasets import features
from datasets.errors import DataUnavailable
from datasets.features import __main__ as command
from datasets.features import loading, measured_times, prices, pruning, store
from datasets.features.families import Family
from datasets.images import ImageSet

TRAIN = np.random.RandomState(0).randint(0, 256, (7, 4, 4)).astype(np.uint8)
TEST = np.random.RandomState(1).randint(0, 256, (3, 4, 4)).astype(np.uint8)
CALLS: list[str] = []


def shifted(images, by):
    """The pixels plus a number; says that it was called."""
    CALLS.append(str(by))
    return images.reshape(len(images), -1) + np.uint8(by)


def broken(images):
    raise RuntimeError("interrupted")


def family(name, by=0, compute=None):
    return Family(name, "none", lambda shape: 16, compute or partial(shifted, by=by))


FIRST, SECOND, THIRD = family("first", 1), family("second", 2), family("third", 3)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path))
    monkeypatch.setattr(store, "_verified", set())
    CALLS.clear()
    return tmp_path


def make(*families, n_jobs=1):
    columns = store.columns_of("mnist", families, {"train": TRAIN, "test": TEST}, "digest")
    return columns, store.complete(columns, n_jobs, False)


def expected(images):
    flat = images.reshape(len(images), -1)
    return np.concatenate([flat + np.uint8(by) for by in (1, 2, 3)], axis=1).T


def check(columns):
    np.testing.assert_array_equal(columns.open("train"), expected(TRAIN))
    np.testing.assert_array_equal(columns.open("test"), expected(TEST))


@pytest.mark.parametrize("block", [1, 3, 100])
def test_columns_are_computed_once(monkeypatch, block):
    monkeypatch.setattr(store, "block_length", lambda shape: block)
    columns, index = make(FIRST, SECOND, THIRD)
    check(columns)
    assert list(index["train"]) == ["first", "second", "third"]
    CALLS.clear()
    again, index_again = make(FIRST, SECOND, THIRD)
    assert CALLS == []
    assert (again.folder, index_again) == (columns.folder, index)


@pytest.mark.slow
def test_processes_give_the_same():
    columns, _ = make(FIRST, SECOND, THIRD, n_jobs=2)
    assert CALLS == []  # not in this process
    check(columns)


def test_a_daemon_computes_by_itself(monkeypatch):
    """Dask's workers may not have processes of their own."""
    process = store.multiprocessing.current_process()
    monkeypatch.setattr(type(process), "daemon", True)
    columns, _ = make(FIRST, SECOND, THIRD, n_jobs=2)
    assert len(CALLS) == 6
    check(columns)


def test_an_interrupted_computation_goes_on(monkeypatch):
    calls = []
    real = store._compute_task

    def dies(columns, part, k):
        calls.append((part, k))
        if len(calls) == 3:
            columns.rows(part, k, "r+")[:] = 99  # half written
            raise KeyboardInterrupt
        return real(columns, part, k)

    monkeypatch.setattr(store, "_compute_task", dies)
    with pytest.raises(KeyboardInterrupt):
        make(FIRST, SECOND, THIRD)
    monkeypatch.setattr(store, "_compute_task", real)
    CALLS.clear()
    columns, _ = make(FIRST, SECOND, THIRD)
    assert len(CALLS) == 4  # two of six were kept
    check(columns)


def test_a_failing_family_is_no_column():
    with pytest.raises(RuntimeError, match="interrupted"):
        make(FIRST, family("second", compute=broken))


@pytest.mark.parametrize("new_process", [False, True])
def test_damaged_rows_are_named_and_computed_anew(monkeypatch, capsys, new_process):
    columns, index = make(FIRST, SECOND, THIRD)
    with open(columns.path("train"), "r+b") as handle:
        handle.seek(16 * len(TRAIN) + 5)  # in the rows of the second family
        handle.write(b"\x00\xff")
    status = columns.path("train").stat()
    os.utime(columns.path("train"), ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))
    if new_process:
        monkeypatch.setattr(store, "_verified", set())
    CALLS.clear()
    assert [columns.families[k].name for _, k in columns.damaged(index)] == ["second"]
    again, _ = make(FIRST, SECOND, THIRD)
    assert CALLS == ["2"]
    said = capsys.readouterr().err
    assert "train.u8: family second is damaged" in said
    assert index["train"]["second"] in said
    check(again)


@pytest.mark.parametrize("harm", ["cut", "gone", "longer"])
def test_a_file_of_another_size_is_computed_anew(capsys, harm):
    columns, _ = make(FIRST, SECOND, THIRD)
    path = columns.path("test")
    if harm == "gone":
        path.unlink()
    else:
        content = path.read_bytes()
        path.write_bytes(content[:-1] if harm == "cut" else content + b"0")
    CALLS.clear()
    make(FIRST, SECOND, THIRD)
    assert sorted(CALLS) == ["1", "2", "3"]  # the training part is kept
    assert "test.u8 is" in capsys.readouterr().err
    check(columns)


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", '{"train": {}}', '{"train": 1, "test": 2}', "[" * 10**5),
        '{"train": {"first": null, "second": null, "third": null}, "test": {}}',
    ],
)
def test_a_damaged_index_is_no_index(capsys, content):
    columns, index = make(FIRST, SECOND, THIRD)
    (columns.folder / "index.json").write_text(content)
    make(FIRST, SECOND, THIRD)
    assert "index.json is damaged" in capsys.readouterr().err
    assert json.loads((columns.folder / "index.json").read_text()) == index
    check(columns)


@pytest.mark.parametrize("name", ["index.json", "train.u8", "test.u8", "."])
def test_what_is_no_file_is_set_aside(capsys, name):
    columns, index = make(FIRST, SECOND)
    path = columns.folder / name
    if name == ".":
        shutil.rmtree(path.resolve())
        columns.folder.write_text("mine")
    else:
        path.unlink()
        (path / "mine").mkdir(parents=True)
    assert make(FIRST, SECOND)[1] == index
    assert "set aside as" in capsys.readouterr().err
    np.testing.assert_array_equal(columns.open("train"), expected(TRAIN)[:32])


def test_file_in_the_place_of_all_features_is_one_sentence(cache):
    (cache / "features").write_text("mine")
    with pytest.raises(DataUnavailable, match="is in the way"):
        make(FIRST)


@pytest.mark.skipif(os.name != "posix", reason="no limit on the size of files")
def test_columns_that_do_not_fit_leave_an_index_without_them(cache):
    code = """
        import resource
        import numpy as np
        from datasets.errors import CacheFull
        from tests.datasets.features import test_store as own
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        try:
            own.make(own.FIRST, own.SECOND)
        except CacheFull as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert "no space left in" in done.stdout
    assert "while writing features" in done.stdout
    assert not list(cache.rglob("*.tmp"))
    make(FIRST, SECOND)


def test_pruning_finds_what_no_current_family_gives(cache, monkeypatch):
    current = (FIRST, SECOND)
    monkeypatch.setattr(pruning, "families_of", lambda name: current)
    here, _ = make(FIRST, SECOND)
    assert pruning.unused() == []
    old, _ = make(FIRST, THIRD)
    unnoted, _ = make(THIRD)
    (unnoted.folder / store.MADE_FROM).unlink()
    damaged = store.columns_of("cifar10", current, {"train": TRAIN, "test": TEST}, "digest")
    store.complete(damaged, 1, False)
    (damaged.folder / store.MADE_FROM).write_text("{")
    found = {record["folder"]: record["reason"] for record in pruning.unused()}
    assert set(found) == {old.folder, unnoted.folder, damaged.folder}
    assert "other families" in found[old.folder]
    make(THIRD)  # opened: what it was made from is noted, and it is as old as the other
    assert all(record["bytes"] > 16 * 10 for record in pruning.unused())
    for record in pruning.unused():
        pruning.remove(record["folder"])
    assert pruning.unused() == []
    np.testing.assert_array_equal(here.open("train"), expected(TRAIN)[:32])
    monkeypatch.setattr(store.importlib.metadata, "version", lambda library: "0")
    assert [record["reason"] for record in pruning.unused()] == [
        "made with other versions of libraries"
    ]


def test_other_images_families_and_libraries_have_other_places(monkeypatch):
    images = {"train": TRAIN, "test": TEST}

    def place(families=(FIRST,), images=images, checksum="digest"):
        return store.columns_of("mnist", families, images, checksum).folder

    here = place()
    assert place() == here
    assert place(families=(family("first", 2),)) != here
    assert place(families=(FIRST, SECOND)) != here
    assert place(images={"train": TRAIN[:3], "test": TEST}) != here
    assert place(checksum="other") != here
    monkeypatch.setattr(store.importlib.metadata, "version", lambda library: "0")
    assert place() != here


def test_a_folder_that_cannot_be_written_is_named(monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(store, "locked", refused)
    with pytest.raises(DataUnavailable, match="set COST_AWARE_BOOSTING_CACHE to a folder"):
        make(FIRST)


# --- load ----------------------------------------------------------------------------------------


def test_load():
    fs = features.load("mnist", scale="smoke", n_jobs=1, progress=False)
    assert (fs.train.shape, fs.test.shape) == ((16_688, 300), (16_688, 200))
    assert (fs.n_features, len(fs.y_train), len(fs.y_test)) == (16_688, 300, 200)
    assert isinstance(fs.train, np.memmap)
    assert fs.train.dtype == np.uint8
    assert not fs.train.flags.writeable
    np.testing.assert_array_equal(np.concatenate(fs.families), np.arange(16_688))
    assert fs.names == tuple(features.sizes("mnist"))
    assert [len(numbers) for numbers in fs.families] == list(features.sizes("mnist").values())
    images = features.images_of("mnist", scale="smoke")
    np.testing.assert_array_equal(fs.y_test, images.y_test)
    for k in (0, 4, 10, 14, 18):
        part = np.ascontiguousarray(images.test[-5:])
        columns = features.families_of("mnist")[k].columns(part)
        np.testing.assert_array_equal(fs.test[fs.families[k], -5:], columns.T)
    assert fs.provenance["families"] == features.sizes("mnist")
    assert fs.provenance["kind"] == "synthetic"
    assert len(fs.provenance["features_checksum"]) == 64
    assert fs.milliseconds.shape == (19,)
    assert "one thread" in fs.milliseconds_origin
    other = features.load("mnist", scale="smoke", seed=1, n_jobs=1, progress=False)
    assert other.provenance["features_checksum"] != fs.provenance["features_checksum"]


@pytest.mark.parametrize("n_train", [20_000, 500])
def test_the_first_images_are_used_at_laptop_scale(monkeypatch, n_train):
    images = np.zeros((n_train, 32, 32, 3), np.uint8)
    whole = ImageSet(
        name="cifar10",
        train=images,
        y_train=np.arange(n_train),
        test=images[:9],
        y_test=np.arange(9),
        n_valid=n_train // 6,
        provenance={"checksum": "1", "kind": "real"},
    )
    monkeypatch.setattr(loading, "load_images", lambda name, **_: whole)
    used = features.images_of("cifar10")
    n_used = min(n_train, 10_000)
    np.testing.assert_array_equal(used.y_train, np.arange(n_used))
    assert used.n_valid == n_used // 6
    if n_used == n_train:
        assert used is whole
    else:
        assert used.provenance["rows"].startswith(f"the first {n_used:,} of {n_train:,} training")
    assert features.images_of("cifar10", scale="paper") is whole


def test_images_of_another_size_stop_the_load(monkeypatch):
    small = features.images_of("cifar10", scale="smoke")
    monkeypatch.setattr(loading, "load_images", lambda name, **_: small)
    with pytest.raises(ValueError, match=r"mnist: images must be .*28\), not .* 32, 32, 3"):
        features.load("mnist", scale="smoke")


# --- measured times ------------------------------------------------------------------------------


def test_measure_and_replace(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_times, "LEAST_SECONDS", 1e-4)
    path = tmp_path / "milliseconds.csv"
    rows = prices.measure("mnist", (FIRST, SECOND), TRAIN, "real")
    prices.write(rows, path)
    assert [row["family"] for row in prices.read(path)] == ["first", "second"]
    assert 0 < prices.of_family(prices.read(path), "mnist", "second") < 100
    prices.write([{**rows[0], "dataset": "cifar10"}], path)
    prices.write([{**rows[0], "milliseconds": "3.5"}], path)
    table = prices.read(path)
    assert [(row["dataset"], row["family"]) for row in table] == [
        ("cifar10", "first"),
        ("mnist", "first"),
    ]
    assert prices.of_family(table, "mnist", "first") == 3.5
    assert prices.origin(table, "inria_person") == "not measured"


def test_readme_has_the_tables():
    assert command.README.read_text(encoding="utf-8") == command.readme()


def test_remeasure_replaces_table_and_readme(capsys, monkeypatch, tmp_path):
    for path in (prices.TABLE, command.README):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(command, "README", tmp_path / "README.md")
    table = tmp_path / "milliseconds.csv"
    monkeypatch.setattr(prices, "TABLE", table)
    monkeypatch.setattr(measured_times, "LEAST_SECONDS", 1e-6)
    monkeypatch.setattr(prices, "REPETITIONS", 1)
    monkeypatch.setattr(measured_times, "processor", lambda: "Abacus")
    small = features.images_of("mnist", scale="smoke")
    monkeypatch.setattr(command, "images_of", lambda name: small)
    assert command.main(["--remeasure", "mnist"]) == 0
    assert table.read_text().count("Abacus") == 19
    assert "Abacus" in (tmp_path / "README.md").read_text()
    assert "Abacus" in capsys.readouterr().out


@pytest.mark.parametrize("name", [["a"], None, 3])
def test_a_name_that_is_no_text_is_a_sentence(name):
    with pytest.raises(ValueError, match="must be text"):
        features.families_of(name)


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, True, "all"])
def test_a_wrong_number_of_processes_is_named(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number >= 1"):
        features.load("mnist", scale="smoke", n_jobs=n_jobs)
