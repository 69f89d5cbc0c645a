"""The wheel, installed beside a package named `datasets`, gives the suite's numbers bit for bit."""

from __future__ import annotations

import ast
import email
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier
from experiments.compare import show
from experiments.compare.comparison import Search, compare
from experiments.compare.preparing import Asked
from library.build import HERE, PACKAGE, ROOT, build
from tests.experiments.compare.test_comparison import InThisProcess

CEGB = {
    "n_estimators": 3, "min_samples_leaf": 5, "tradeoff": 1e-3, "split_cost": 0.1, "n_threads": 1,
    "feature_costs": [1.0, 2.0, 3.0], "random_state": 0,
}  # fmt: skip

# `-I` leaves out the working directory and every variable of the environment, this package too.
USER = f"""
import gc, json, sys
import numba
gc.set_threshold(200_000, 20, 50)  # a compiler makes many objects and few of them are garbage
compiled = numba.njit
numba.njit = lambda parallel=False, **options: compiled(**options)  # loops in turn: a third less
sys.path.insert(0, sys.argv[1])
import datasets
assert datasets.MINE
import numpy as np
import {PACKAGE}
from {PACKAGE}.cegb import CEGBClassifier
from {PACKAGE}.interop import from_scikit_learn
from {PACKAGE}.on_demand import OnDemandPredictor
loaded = CEGBClassifier.load("model.zip")
given = np.load("given.npz")
X, y = given["X"], given["y"]
fitted = CEGBClassifier(**{CEGB!r}).fit(X, y)
for name, model in (("loaded", loaded), ("fitted", fitted)):
    for wanted, values in (
        ("decision_function", model.decision_function(X)),
        ("prediction_cost", model.prediction_cost(X)),
        ("threshold", model.trees_.threshold),
    ):
        assert values.tobytes() == given[wanted].tobytes(), (name, wanted)
table = json.load(open("rows.json"))  # raw columns: text, new levels, missing values, another order
for lines, wanted in json.load(open("chosen.json")):
    names = {{"table": table}}
    exec(lines, names)  # it prints the mean cost
    given = np.load(wanted)
    assert names["predictions"].tobytes() == given["predictions"].tobytes(), lines
    assert names["model"].prediction_cost(table).tobytes() == given["prediction_cost"].tobytes()
ours = {{m for m in sys.modules if m.split(".")[0] in ("algorithms", "experiments", "reference")}}
assert not ours, ours
assert not {{"dask", "distributed"}} & set(sys.modules)  # an extra, for arrays of Dask alone
print({PACKAGE}.__version__, {PACKAGE}.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist") / "new")


def test_the_wheel_is_the_room_file_by_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name: archive.read(name) for name in archive.namelist()}
    sources = {
        path.relative_to(ROOT / "algorithms").as_posix(): path.read_text("utf-8")
        for path in (ROOT / "algorithms").rglob("*.py")
    }
    package = {name for name in shipped if ".dist-info/" not in name}
    assert package == {f"{PACKAGE}/{name}" for name in (*sources, "py.typed")}
    for name, source in sources.items():
        if name == "__init__.py":
            continue
        text = shipped[f"{PACKAGE}/{name}"].decode()
        assert not re.search(r"\balgorithms\.[a-z]", text), name
        assert text.replace(PACKAGE, "algorithms") == source


def test_what_the_wheel_says_of_itself(wheel):
    suite = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(archive.read(path))
    assert said["Version"] == suite["version"]
    assert f"\nversion: {suite['version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert said["Name"] != suite["name"]  # the one must not uninstall the other
    required = said.get_all("Requires-Dist")
    needed = [line for line in required if "extra ==" not in line]
    extra = [line.split(";") for line in required if "extra ==" in line]
    assert [(line.strip(), of.strip()) for line, of in extra] == [
        (line, 'extra == "distributed"') for line in suite["dependencies"] if "dask" in line
    ]
    assert set(needed) <= set(suite["dependencies"])
    imported = {
        "numpy",
        "scipy",
        "sklearn",
        "numba",
        "threadpoolctl",
        "filelock",
    }  # llvmlite is numba's
    third = {name.split(".")[0] for path in (ROOT / "algorithms").rglob("*.py")
             for name in imported_by(path.read_text("utf-8"))}  # fmt: skip
    assert third - sys.stdlib_module_names - {"llvmlite"} <= imported
    assert len(needed) == len(imported)


def imported_by(source: str) -> set[str]:
    nodes = ast.parse(source).body  # of a library that is optional the import is in a function
    return {
        name
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom) and not getattr(node, "level", 0)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }


def chosen_by_compare(folder, X, y):
    """Models that ``compare`` chooses, ours and another library's, on raw columns."""
    rows = np.where(np.arange(len(X))[:, None] % 4 == np.arange(3), np.nan, X)
    town = np.where(np.arange(len(X)) % 9, np.array(["north", "south", "west"])[y], "")
    raw = pd.DataFrame(rows, columns=list("abc")).assign(town=town)
    raw.assign(y=y).to_csv(folder / "t.csv", index=False)
    raw = raw.assign(town=raw["town"].replace({"north": " north ", "": "elsewhere"}))[
        [*"cba", "town"]
    ]
    chosen, names = [], {"table": raw}
    for method in ("cegb", "hist_gradient_boosting"):
        search = Search((4.0,), trials=1, rounds=3, only=[method])
        out = compare(Asked(folder / "t.csv", "y"), search, folder / method, InThisProcess())
        lines = "\n".join(show.loading(out.models[4.0], "classification"))
        exec(lines, names)
        costs = names["model"].prediction_cost(names["table"])
        assert np.ptp(costs) > 0
        np.savez(folder / f"{method}.npz", predictions=names["predictions"], prediction_cost=costs)
        chosen.append((lines.replace("from algorithms", f"from {PACKAGE}"), f"{method}.npz"))
        assert f"{PACKAGE}.registry" in lines.split("#")[1]
    columns = {name: values.tolist() for name, values in raw.items()}  # NaN is one of JSON's here
    (folder / "rows.json").write_text(json.dumps(columns))
    (folder / "chosen.json").write_text(json.dumps(chosen))


@pytest.mark.slow
def test_installed_beside_datasets_it_gives_the_suites_numbers(wheel, tmp_path):
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", site, wheel], check=True)
    (site / "datasets").mkdir()
    (site / "datasets" / "__init__.py").write_text("MINE = True\n")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    model = CEGBClassifier(**CEGB).fit(X, y)
    assert model.prediction_cost(X).max() > 1
    model.save(tmp_path / "model.zip")
    np.savez(
        tmp_path / "given.npz",
        X=X,
        y=y,
        decision_function=model.decision_function(X),
        prediction_cost=model.prediction_cost(X),
        threshold=model.trees_.threshold,
    )
    chosen_by_compare(tmp_path, X, y)
    # Compiled without optimising, which takes less time and must not change a bit.
    quick = {"NUMBA_OPT": "1", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
    user = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", USER, site],
        cwd=tmp_path,
        env=os.environ | quick,
        capture_output=True,
        text=True,
    )
    assert user.returncode == 0, user.stderr
    suite = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert user.stdout.split()[-2:] == [suite["version"], str(site / PACKAGE / "__init__.py")]


def test_its_readme_runs_and_names_what_there_is(tmp_path, monkeypatch, capsys):
    text = (HERE / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 50  # one screen
    table = text.split("|---|---|")[1].split("\n\n")[0]
    listed = set(re.findall(r"`([a-z_]+)`", table))
    assert len(listed) > 10
    assert listed <= {path.stem for path in (ROOT / "algorithms").iterdir()}
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example.replace(PACKAGE, "algorithms"), {})
    accuracy, cost = map(float, capsys.readouterr().out.split())
    assert accuracy > 0.9
    assert 0 < cost < 90
