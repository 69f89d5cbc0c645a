"""The wheel, installed beside a package named `datasets`, gives the suite's numbers bit for bit."""

from __future__ import annotations

import ast
import ctypes
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
from algorithms.registry import load_model
from experiments.compare import show
from experiments.compare.comparison import Search, compare
from experiments.compare.preparing import Asked
from library.build import HERE, PACKAGE, ROOT
from tests.experiments.compare.test_comparison import InThisProcess
from tests.quick import QUICK

CEGB = {
    "n_estimators": 3, "min_samples_leaf": 5, "tradeoff": 1e-3, "split_cost": 0.1, "n_threads": 1,
    "feature_costs": [1.0, 2.0, 3.0], "random_state": 0,
}  # fmt: skip

# `-I` leaves out the working directory and every variable of the environment, this package too.
BEGIN = """
import gc, json, sys
import numba
gc.set_threshold(200_000, 20, 50)  # a compiler makes many objects and few of them are garbage
compiled = numba.njit
numba.njit = lambda parallel=False, **options: compiled(**options)  # loops in turn: a third less
sys.path.insert(0, sys.argv[1])
"""

USER = f"""{BEGIN}
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


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Where the wheel is installed, and a package of the user's that is called `datasets`."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--target", site, wheel], check=True)
    (site / "datasets").mkdir()
    (site / "datasets" / "__init__.py").write_text("MINE = True\n")
    return site


def run_by_user(program, site, folder):
    """Run a program where the wheel alone is installed; return what it prints."""
    user = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", program, site],
        cwd=folder,
        env=os.environ | QUICK,
        capture_output=True,
        text=True,
    )
    assert user.returncode == 0, user.stderr
    return user.stdout


@pytest.mark.slow
def test_installed_beside_datasets_it_gives_the_suites_numbers(site, tmp_path):
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
    printed = run_by_user(USER, site, tmp_path)
    suite = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert printed.split()[-2:] == [suite["version"], str(site / PACKAGE / "__init__.py")]


# What README.txt of a comparison says, of rows as a service is sent them: text alone.
SERVICE = f"""{BEGIN}
import csv
from {PACKAGE}.exporting import export_c
from {PACKAGE}.registry import load_model
model = load_model("out/models/budget-4.zip")
rows = list(csv.DictReader(open("new.csv", newline="")))
answers = [
    (model.predict_proba({{name: [text] for name, text in row.items()}})[0, 1],
     model.prediction_cost({{name: [text] for name, text in row.items()}})[0])
    for row in rows
]
json.dump(answers, open("answers.json", "w"))
open("model.c", "w").write(export_c(model))
"""


def rare_illness(seed, n):
    """Rows of text, rare levels and missing values, about 4 % of them ill."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(["north", "south", "east", "west", "annex"], n, p=[0.3, 0.3, 0.2, 0.19, 0.01])
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 90, n))
    table = pd.DataFrame({"age": age, "ward": ward, "smokes": rng.random(n) < 0.4})
    table["code"] = rng.choice(["007", "7", "", "B"], n)
    ill = (ward == "north") & (np.nan_to_num(age) > 75) & (rng.random(n) < 0.9)
    return table.assign(ill=np.where(ill, "yes", "no"))


@pytest.mark.slow
def test_from_a_table_to_a_service(site, tmp_path):
    """The command on raw columns, the model served of the wheel alone, and the same as C."""
    rare_illness(0, 900).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "c.csv").write_text("feature,cost\nage,1\nward,3\nsmokes,1\ncode,2\nill,9\n")
    command = [sys.executable, "-m", "experiments", "compare", tmp_path / "t.csv"]
    options = ["--target", "ill", "--costs", tmp_path / "c.csv", "--budgets", "4", "--jobs", "1"]
    small = ["--trials", "2", "--rounds", "8", "--only", "cegb", "--only", "gbrt", "--quiet"]
    made = [*command, *options, *small, "--out", tmp_path / "out"]
    ran = subprocess.run(made, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "which is no metric here; average_precision is" in ran.stdout
    assert "c.csv has costs for 'ill', which are not used" in ran.stdout
    assert "predictions = model.predict_proba(table)" in ran.stdout

    new = rare_illness(1, 60).drop(columns="ill")[["code", "smokes", "ward", "age"]]
    new.loc[::7, "ward"] = "attic"  # a level that nobody knew
    new.to_csv(tmp_path / "new.csv", index=False)
    model = load_model(tmp_path / "out" / "models" / "budget-4.zip")
    run_by_user(SERVICE, site, tmp_path)
    served, costs = np.transpose(json.loads((tmp_path / "answers.json").read_text()))
    table = pd.read_csv(tmp_path / "new.csv", dtype={"code": str})
    assert served.tolist() == model.predict_proba(table)[:, 1].tolist()
    assert costs.tolist() == model.prediction_cost(table).tolist()
    assert 0 < costs.mean() <= 4
    assert np.ptp(served) > 0.05

    subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", "model.c", "-o", "m.so", "-lm"],
                   check=True, cwd=tmp_path)  # fmt: skip
    c = ctypes.CDLL(tmp_path / "m.so")
    row = np.ctypeslib.ndpointer(np.float64, flags="C")
    c.model_predict.restype, c.model_predict.argtypes = ctypes.c_double, [row, row]
    c.model_set_number.argtypes = [row, ctypes.c_int, ctypes.c_double]
    c.model_set_text.argtypes = [row, ctypes.c_int, ctypes.c_char_p]
    x, score = np.zeros(model.model.n_features_in_), np.zeros(1)
    for i in range(len(table)):
        for m, column in enumerate(model.columns):
            value = table[column.name].iloc[i]
            if column.kind == "number":
                c.model_set_number(x, m, value)
            else:
                c.model_set_text(x, m, None if pd.isna(value) else value.encode())
        assert c.model_predict(x, score) == costs[i]
        assert 1 / (1 + np.exp(-score[0])) == pytest.approx(served[i], rel=1e-12)


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
