"""Saved models with something wrong in them, and child processes that load and use them.

A mutation changes a saved model's header, arrays or archive and computes the checksum anew, so that
nothing but the checks of what is loaded stands between it and the kernels. Each is drawn from its
own number: `mutated(bases, seed, i)` is always the same file. As a program, this runs many::

    python -m tests.algorithms.estimators.model_mutations 100000 --seed 1
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.estimators import archives
from algorithms.exits.classifier import CascadeClassifier
from algorithms.feature_sampling import UCB, Exp3P
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier
from algorithms.registry.registered import ESTIMATORS
from tests.algorithms.estimators.kinds import REGRESSORS, n_classes, small_size

ROOT = Path(__file__).resolve().parents[3]
CLASSES = {cls.__name__: cls for cls in (*ESTIMATORS, EarlyExit)}
MEMORY = 8 * 2**30  # address space of a child, most of it numba's; a bomb must not get through

AWKWARD_VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 255, 2**24, 2**31 - 1, 2**31, 2**53, 2**63, 2**64, -(2**63),
    10**400, -0.0, 0.5, 1e-320, 1e300, 1.7e308, -1e308, float("nan"), float("inf"), "", "loss",
    "mean", "best_family", "ucb", "<i4", "str", "O", "x" * 100_000, [], [0], [1.0, 2.0], [None],
    [[0], [1]], [[[[[]]]]], [1e308] * 4, [-1] * 4, ["a"] * 4, {}, {"class": "UCB"}, {"a": [1]},
    {"class": "Bandit", "parameters": {}}, {"class": "UCB", "parameters": {"scale": -1}},
    {"class": "Laminating", "parameters": {"n_features": [2]}}, {"dtype": "O", "values": [1]},
    {"dtype": "<U9", "values": ["a"]}, {"dtype": "str", "values": ["b", "a"]},
    {"dtype": "<i8", "values": [0, 2**70]}, {"dtype": "|b1", "values": [False, True]},
]  # fmt: skip
AWKWARD_NUMBERS = [
    -1, 0, 1, 2, 3, 7, -2, -(2**31), 2**31 - 1, 2**62, -(2**63), 1e-320, 1e154, 1e308, -1e308,
    np.nan, np.inf, -np.inf,
]  # fmt: skip
DTYPES = [
    "<i4",
    "<i8",
    ">i4",
    ">i8",
    "<f4",
    "<f8",
    ">f8",
    "|i1",
    "|u1",
    "<u8",
    "<c16",
    "|b1",
    "<U2",
]


# --- the models that are spoilt ------------------------------------------------------------------


def write_bases(folder: Path) -> None:
    """Save a model of each kind into a folder, each named by its class and a number."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(90, 4))
    names, places = np.array(["no", "perhaps", "yes"]), np.digitize(X[:, 0], [-0.5, 0.5])
    labels = names[places]
    small = {"n_estimators": 3, "max_leaves": 4, "min_samples_leaf": 5}
    prices = {"feature_costs": [1.0, 2.0, 2.0, 0.1], "feature_groups": [0, 1, 1, 2]}
    deep = {"n_estimators": 2, "max_leaves": None, "min_samples_leaf": 1}
    models = [
        CEGBRegressor(**small, **prices, split_cost=0.25).fit(X, X[:, 0] * X[:, 1]),
        CEGBClassifier(**small, feature_sharing=[1.0, 4, 4, 1]).fit(X, labels),
        GBRTClassifier(**small).fit(X, X[:, 0] > 0),
        GBRTRegressor(**deep).fit(X, X[:, 0] + X[:, 1] * X[:, 2]),  # walks: too many leaves
        AdaBoostMH(n_estimators=6, random_state=1, sampler=[UCB(2.0), Exp3P(), "laminating"],
                   families=[[0, 1], [2, 3]], **prices).fit(X, labels),
        AdaBoostMH(n_estimators=4, random_state=1).fit(X, X[:, 0] > 0),
        AdaBoostMH(n_estimators=4, weak_learner="hamming_tree", initial_weights="balanced",
                   smoothing=0.01, **prices).fit(X, labels),
        GreedyMiserClassifier(n_estimators=2, max_depth=2, budget=20.0, **prices,
                              group_costs={0: 1.0, 1: 0.5, 2: 0.0}).fit(X, labels),
    ]  # fmt: skip
    models += [
        cls(**small_size(cls)).fit(
            X, X[:, 0] if cls in REGRESSORS else names[np.minimum(places, n_classes(cls) - 1)]
        )
        for cls in ESTIMATORS
        if cls not in map(type, models)
    ]
    models += [
        EarlyExit(models[0], rule="proximity", threshold=0.5, every=1, place=2),
        EarlyExit(models[1], rule="likelihood", threshold=0.6, every=2),
    ]
    for number, model in enumerate(models):
        model.save(folder / f"{type(model).__name__}.{number}")


def read_bases(folder: Path) -> list[tuple[str, dict, dict[str, np.ndarray]]]:
    """Class, header and arrays of each model in a folder, by name."""
    bases = []
    for path in sorted(folder.iterdir()):
        header, content = archives.read_archive(path)
        with np.load(io.BytesIO(content)) as stored:
            bases.append((header["class"], header, {name: stored[name] for name in stored.files}))
    return bases


# --- mutations -----------------------------------------------------------------------------------


def pick(rng, choices):
    """One of a list, itself and not as NumPy would have it."""
    return choices[int(rng.integers(len(choices)))]


def _places(value, path=()):
    """Paths of all values inside a header."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from _places(inner, (*path, k))


def change_header(rng, header, arrays):
    """Replace, delete or add an entry anywhere in the header."""
    places = [p for p in _places(header) if p and p[0] not in ("format", "class", "sha256")]
    path = pick(rng, places)
    inside = header
    for key in path[:-1]:
        inside = inside[key]
    action = rng.integers(8)
    if action == 0:
        del inside[path[-1]]
    elif action == 1 and isinstance(inside, dict):
        inside["another"] = pick(rng, AWKWARD_VALUES)
    else:
        inside[path[-1]] = pick(rng, AWKWARD_VALUES)


def change_parameter(rng, header, arrays):
    """Replace a parameter."""
    header["params"][pick(rng, sorted(header["params"]))] = pick(rng, AWKWARD_VALUES)


def _one(rng, arrays):
    name = pick(rng, sorted(arrays))
    return name, arrays[name]


def flip_bytes(rng, header, arrays):
    """Flip bits of an array's bytes."""
    name, values = _one(rng, arrays)
    content = bytearray(values.tobytes())
    for _ in range(int(rng.integers(1, 5)) if content else 0):
        content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
    arrays[name] = np.frombuffer(bytes(content), values.dtype).reshape(values.shape)


def put_number(rng, header, arrays):
    """Put an awkward number, or one of the array's own, into an array."""
    name, values = _one(rng, arrays)
    values = values.copy()
    if values.size:
        number = pick(rng, AWKWARD_NUMBERS)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = np.array([number], dtype=np.float64).astype(values.dtype)[0]
        if rng.random() < 0.5:
            new = values.flat[rng.integers(values.size)]
        values.flat[rng.integers(values.size)] = new
    arrays[name] = values


def nudge_index(rng, header, arrays):
    """Move a child, a root or a feature by a little: cycles, gaps, nodes with two parents."""
    name = pick(rng, [n for n in ("left", "tree", "feature") if n in arrays])
    values = arrays[name].copy()
    if values.size:
        values[rng.integers(values.size)] += int(rng.integers(-3, 4))
    arrays[name] = values


def duplicate_node(rng, header, arrays):
    """Write one node or stump over another."""
    n_nodes = len(arrays["feature"])
    if n_nodes:
        source, target = rng.integers(n_nodes, size=2)
        for name, values in arrays.items():
            if len(values) == n_nodes:
                arrays[name] = values.copy()
                arrays[name][target] = values[source]


def scale_values(rng, header, arrays):
    """Multiply an array by a huge number, so that sums overflow."""
    floats = [n for n in arrays if arrays[n].dtype == np.float64]
    name = pick(rng, sorted(floats))
    with np.errstate(all="ignore"):
        arrays[name] = arrays[name] * pick(rng, [1e100, 1e200, 1e307, -1e308, np.inf])


def resize(rng, header, arrays):
    """Cut an array off, or make it longer."""
    name, values = _one(rng, arrays)
    flat = values.ravel()
    if rng.random() < 0.5:
        arrays[name] = flat[: rng.integers(len(flat) + 1)]
    else:
        arrays[name] = np.resize(flat, len(flat) + int(rng.integers(1, 9)))
    if values.ndim == 2 and rng.random() < 0.7:
        arrays[name] = np.resize(values, (values.shape[0], int(rng.integers(4))))


def resize_all(rng, header, arrays):
    """Cut all arrays of nodes off alike."""
    n_nodes = len(arrays["feature"])
    kept = int(rng.integers(n_nodes + 1))
    for name, values in arrays.items():
        if len(values) == n_nodes:
            arrays[name] = values[:kept]


def change_dtype(rng, header, arrays):
    """Convert an array, or read its bytes as another dtype."""
    name, values = _one(rng, arrays)
    dtype = pick(rng, DTYPES)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.5 and values.nbytes % np.dtype(dtype).itemsize == 0:
            arrays[name] = np.frombuffer(values.tobytes(), dtype)
        else:
            arrays[name] = values.astype(dtype)


def change_shape(rng, header, arrays):
    """Add, join or turn around dimensions."""
    name, values = _one(rng, arrays)
    shapes = [values[None], values[..., None], np.asfortranarray(values), values.T, values.ravel()]
    arrays[name] = pick(rng, [*shapes, np.zeros(()), values[::-1]])


def exchange(rng, header, arrays):
    """Drop an array, add one, or store one under another's name."""
    name, values = _one(rng, arrays)[0], _one(rng, arrays)[1]
    action = rng.integers(3)
    if action == 0:
        del arrays[name]
    elif action == 1:
        arrays[pick(rng, ["another", "missing_left", "tree"])] = values
    else:
        arrays[name] = values


def set_missing_left(rng, header, arrays):
    """Claim that missing values go left somewhere."""
    arrays["missing_left"] = (rng.random(len(arrays["feature"])) < 0.3).astype(np.uint8)


MUTATIONS = [
    change_header, change_header, change_parameter, flip_bytes, flip_bytes, put_number, put_number,
    nudge_index, nudge_index, duplicate_node, scale_values, resize, resize_all, change_dtype,
    change_shape, exchange, set_missing_left,
]  # fmt: skip


# --- archives ------------------------------------------------------------------------------------


def _spoil_packed(rng, content: bytes) -> bytes:
    """Change bytes of the packed arrays: sizes, names, headers and data of its members."""
    wrong = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        wrong[rng.integers(len(wrong))] ^= 1 << int(rng.integers(8))
    return bytes(wrong)


def _spoil_members(rng, arrays) -> bytes:
    """Pack the arrays with a wrong .npy header, a bomb, a pickle or a member twice."""
    buffer = io.BytesIO()
    target, action = pick(rng, sorted(arrays)), int(rng.integers(6))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, values in arrays.items():
            file = io.BytesIO()
            np.save(file, values)
            content = file.getvalue()
            if name == target:
                if action == 0:  # a huge shape
                    content = content.replace(b"'shape': (", b"'shape': (9999999", 1)
                elif action == 1:  # more than Python's parser takes
                    content = content[:10] + b"(" * (len(content) - 10)
                elif action == 2:  # a bomb
                    content += bytes(30_000_000)
                elif action == 3:
                    file = io.BytesIO()
                    np.save(file, np.array([{}], dtype=object))
                    content = file.getvalue()
                elif action == 4:
                    archive.writestr(f"{name}.npy", content)
                else:  # any character of the header
                    spoilt = bytearray(content)
                    spoilt[int(rng.integers(min(len(spoilt), 80)))] = int(rng.integers(256))
                    content = bytes(spoilt)
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def mutated(bases, seed: int, i: int) -> tuple[str, bytes, str]:
    """Class, content of the file, and name of the mutation number `i`."""
    rng = np.random.default_rng([seed, i])
    cls, header, arrays = pick(rng, bases)
    header, arrays = json.loads(json.dumps(header)), dict(arrays)
    kind = rng.random()
    names = []
    try:
        for _ in range(1 + int(rng.integers(3) == 0)):
            mutation = pick(rng, MUTATIONS)
            if 0.1 <= kind:
                mutation(rng, header, arrays)
                names.append(mutation.__name__)
    except (KeyError, IndexError, TypeError, ValueError):
        pass  # what the first one left is too odd for the second
    if kind < 0.05:
        content = _spoil_members(rng, arrays)
        names = ["members"]
    else:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        content = buffer.getvalue()
        if kind < 0.1:
            content = _spoil_packed(rng, content)
            names = ["packed"]
    header["sha256"] = archives.digest(header, content)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("arrays.npz", content)
    return cls, file.getvalue(), "+".join(names)


# --- one after the other, in a child -------------------------------------------------------------


def use(model) -> None:
    """Call all that predicts or charges; an AssertionError if a result is not finite."""
    d = model.n_features_in_ if model.n_features_in_ <= 64 else 4
    X = np.random.default_rng(3).normal(size=(6, d)) * 2
    results = [model.predict(X), model.prediction_cost(X), model.evaluations(X)]
    for method in ("staged_predict", "staged_cost"):  # not all have stages
        if hasattr(model, method):
            results += list(getattr(model, method)(X))
    if isinstance(model, CascadeClassifier):
        results += [model.exit_stage(X), model.ranking_score(X), model.forest_cost_until_exit(X)]
    acquired = model.acquired_features(X)
    assert acquired.shape == X.shape
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            results.append(getattr(model, method)(X))
            if hasattr(model, f"staged_{method}"):
                results += list(getattr(model, f"staged_{method}")(X))
    for values in results:
        assert len(values) == len(X)
        if values.dtype.kind == "f":
            assert np.all(np.isfinite(values)), "a result is not finite"
    assert np.all(results[1] >= 0), "a cost is negative"


def outcome(cls: str, path: Path) -> str:
    """What comes of a file: "refused", "used", or what must not be."""
    try:
        model = CLASSES[cls].load(path)
    except ValueError:
        return "refused"
    except Exception:
        return f"loading failed: {traceback.format_exc(limit=-2)}"
    try:
        use(model)
    except AssertionError as error:
        return f"wrong result: {error}"
    except Exception as error:
        if isinstance(error, ValueError) and model.n_features_in_ > 64:
            return "refused"  # it claims more features than we give it
        return f"use failed: {traceback.format_exc(limit=-2)}"
    try:
        model.save(path)
    except Exception:
        return f"saving again failed: {traceback.format_exc(limit=-2)}"
    return "used"


def child(folder: Path, seed: int, first: int, last: int) -> None:
    """Try mutations; write the number of each before, and what came of it after."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    bases = read_bases(folder)
    for cls, path in ((p.name.split(".")[0], p) for p in sorted(folder.iterdir())):
        assert outcome(cls, path) == "used", f"the sound model {path.name}: {outcome(cls, path)}"
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "model"
        for i in range(first, last):
            print(json.dumps({"begins": i}), flush=True)
            cls, content, names = mutated(bases, seed, i)
            path.write_bytes(content)
            print(json.dumps({"done": i, "of": names, "what": outcome(cls, path)}), flush=True)


# --- and the parent ------------------------------------------------------------------------------


def _next_line(process, buffer: bytearray, seconds: float) -> dict | None:
    """One message of a child; None at its end; TimeoutError if none comes in time."""
    deadline = time.monotonic() + seconds
    while b"\n" not in buffer:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        content = os.read(process.stdout.fileno(), 65536)
        if not content:
            return None
        buffer += content
    line, _, rest = bytes(buffer).partition(b"\n")
    buffer[:] = rest
    return json.loads(line)


def run(
    folder: Path, seed: int, n_mutations: int, *, seconds_each=20.0, seconds_start=300.0
) -> tuple[Counter, list]:
    """Try mutations in child processes; a child that dies or hangs is replaced.

    Returns
    -------
    counts : Counter
        By "refused", "used", "crashed", "hung" and "failed".
    culprits : list of (int, str, str)
        Number of each mutation that was neither refused nor used, its name, what happened.
    """
    counts, culprits, first = Counter(), [], 0
    while first < n_mutations:
        command = [sys.executable, "-m", __spec__.name if __name__ == "__main__" else __name__]
        command += ["--child", str(folder), str(first), str(n_mutations), "--seed", str(seed)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        buffer, now, seconds = bytearray(), None, seconds_start
        try:
            while first < n_mutations:
                message = _next_line(process, buffer, seconds)
                if message is None:
                    if now is None:
                        raise RuntimeError("A child ended before its first mutation.")
                    counts["crashed"] += 1
                    culprits.append((now, "", f"exit status {process.wait()}"))
                    first = now + 1
                    break
                seconds = seconds_each
                if "begins" in message:
                    now = message["begins"]
                    continue
                first, what = message["done"] + 1, message["what"]
                counts[what if what in ("refused", "used") else "failed"] += 1
                if what not in ("refused", "used"):
                    culprits.append((message["done"], message["of"], what))
        except TimeoutError:
            counts["hung"] += 1
            culprits.append((now, "", f"no answer in {seconds} s"))
            first = -1 if now is None else now + 1
            if now is None:
                raise RuntimeError("A child did not start.") from None
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    return counts, culprits


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_mutations", type=int, nargs="?", default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=3, metavar=("FOLDER", "FIRST", "LAST"))
    arguments = parser.parse_args()
    if arguments.child:
        folder, first, last = arguments.child
        child(Path(folder), arguments.seed, int(first), int(last))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_bases(Path(folder))
        total, culprits, step = Counter(), [], 5000
        for part in range(-(-arguments.n_mutations // step)):
            size = min(step, arguments.n_mutations - part * step)
            counts, wrong = run(Path(folder), 1000 * arguments.seed + part, size)
            total, culprits = total + counts, culprits + wrong
            print(f"{total.total()} mutations: {dict(total)}", flush=True)
            for culprit in wrong:
                print(f"  seed {1000 * arguments.seed + part}, {culprit}", flush=True)
    sys.exit(bool(culprits))


if __name__ == "__main__":
    main()
