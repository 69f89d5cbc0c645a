"""What docs/ say of the wheel works from the wheel: in a fresh environment, word for word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv

import numpy as np
import pandas as pd
import pytest
import yaml

from algorithms.cegb import CEGBClassifier
from library.build import HERE, PACKAGE, ROOT
from tests.quick import QUICK
from tests.test_readme import blocks, section

COMPARE = (ROOT / "docs" / "compare.md").read_text("utf-8")
DRIFT = section("Fail a build when accuracy or cost drifts", COMPARE)


@pytest.mark.slow
def test_an_index_would_take_it(wheel):
    pytest.importorskip("twine", reason="make setup installs it, from requirements.lock")
    check = [sys.executable, "-m", "twine", "check", "--strict", wheel]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_names_the_file_that_is_built(wheel):
    named, sources = {}, sorted((ROOT / "algorithms").rglob("*.py"))
    for page in (HERE / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sources):
        text = page.read_text("utf-8")
        named[page.name] = re.findall(r"cost_aware_boosting_library-[\w.-]+\.whl", text)
        assert not re.search(r"pip install \W?cost-aware-boosting", text), page  # no index has it
    assert named["README.md"]
    assert named["compare.md"]
    assert {name for names in named.values() for name in names} == {wheel.name}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A new environment that sees the packages of this one, but neither the suite nor an index."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    at = {"base": str(folder), "platbase": str(folder)}
    scripts, site = (sysconfig.get_path(name, "venv", at) for name in ("scripts", "purelib"))
    # A line of a .pth file is a folder whose own .pth files, the editable install of the suite
    # among them, are not read.
    packages = {sysconfig.get_path("purelib"), os.path.dirname(os.path.dirname(np.__file__))}
    with open(os.path.join(site, "these.pth"), "w") as file:
        file.writelines(f"{path}\n" for path in packages)
    left = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON"))}
    path = {"PATH": scripts + os.pathsep + os.environ["PATH"], "VIRTUAL_ENV": str(folder)}
    return left | QUICK | path | {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}


def run(command, folder, environment):
    """Run a line as a workflow's shell does."""
    return subprocess.run(
        ["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_the_recipes_work_in_a_fresh_environment(wheel, fresh, tmp_path):
    (tmp_path / wheel.name).write_bytes(wheel.read_bytes())
    (requirements,) = blocks(DRIFT, "text")
    (test,) = blocks(DRIFT, "python")
    (tmp_path / "requirements.txt").write_text(requirements)
    (tmp_path / "test_budget.py").write_text(test)

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    y = (X["a"] > 0).astype(int)
    model = CEGBClassifier(
        n_estimators=3, feature_costs=[1.0, 2.0, 3.0], tradeoff=0.01, n_threads=1
    ).fit(X, y)
    model.save(tmp_path / "model.zip")
    X.assign(ill=y).to_csv(tmp_path / "held_out.csv", index=False)

    workflow = yaml.safe_load((ROOT / "docs" / "budget-workflow.yml").read_text("utf-8"))
    install, check = (
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    )
    assert run("python -c 'import algorithms'", tmp_path, fresh).returncode != 0
    assert run(f"python -c 'import {PACKAGE}'", tmp_path, fresh).returncode != 0
    done = run(install, tmp_path, fresh)
    assert done.returncode == 0, done.stderr
    # pytest is one of the packages that were there, so that pip did not write its command.
    check = f'pytest() {{ python -m pytest -p no:cacheprovider "$@"; }}; {check}'
    done = run(check, tmp_path, fresh)
    assert done.returncode == 0, done.stdout + done.stderr
    X.assign(ill=1 - y).to_csv(tmp_path / "held_out.csv", index=False)
    done = run(check, tmp_path, fresh)
    assert done.returncode == 1
    assert "0.95" in done.stdout

    # "The chosen model elsewhere": as it stands there, and of an array where pandas is absent;
    # other libraries are absent both times.
    (lines,) = blocks(section("The chosen model elsewhere", COMPARE), "python")
    (tmp_path / "comparison" / "models").mkdir(parents=True)
    model.save(tmp_path / "comparison" / "models" / "budget-5.zip")
    X.to_csv(tmp_path / "new.csv", index=False)
    np.save(tmp_path / "X.npy", X.to_numpy())
    saved = "import numpy as np; np.savez('out.npz', predictions=predictions, costs=costs)\n"
    bare = re.sub("import pandas as pd\n|table = pd.+", "", lines)
    for absent, script in (
        (["lightgbm", "catboost"], lines),
        (
            ["lightgbm", "catboost", "pandas"],
            f"import numpy as np; table = np.load('X.npy')\n{bare}",
        ),
    ):
        hides = f"import sys; sys.modules.update(dict.fromkeys({absent}))\n"
        (tmp_path / "elsewhere.py").write_text(f"{hides}{script}{saved}")
        done = run("python elsewhere.py", tmp_path, fresh)
        assert done.returncode == 0, done.stderr
        found = np.load(tmp_path / "out.npz")
        np.testing.assert_array_equal(found["predictions"], model.predict(X))
        np.testing.assert_array_equal(found["costs"], model.prediction_cost(X))

    # The lines of the wheel's own README, with the extra.
    (commands,) = [
        text for text in blocks((HERE / "README.md").read_text("utf-8"), "") if "pip " in text
    ]
    done = run(commands, tmp_path, fresh)
    assert done.returncode == 0, done.stderr
    metadata = "import importlib.metadata as m; print(m.requires('cost-aware-boosting-library'))"
    assert "distributed" in run(f'python -c "{metadata}"', tmp_path, fresh).stdout
