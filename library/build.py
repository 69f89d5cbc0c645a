"""Build the wheel: ``python library/build.py FOLDER``, or ``make wheel``.

The package ``cost_aware_boosting`` is ``algorithms/``, file by file; only where a docstring names a
module does it say the new name. Everything is staged in a temporary folder, so that nothing of an
earlier build gets into the wheel.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PACKAGE = "cost_aware_boosting"

# What the estimators import; how new it must be says the suite's pyproject.toml.
NEEDED = ("filelock", "numba", "numpy", "scikit-learn", "scipy", "threadpoolctl")
# What they import only to train on rows of several machines: the extra `distributed`.
FOR_MANY_MACHINES = ("dask",)

_NAMED = re.compile(r"\balgorithms(?=\.[a-z_])")


def stage(folder: Path) -> None:
    """Put everything that the wheel is built from into an empty folder.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ValueError
        If the suite does not say how new a needed package must be.
    """
    suite = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = {re.split(r"[<>=!~\[ ]", line)[0]: line for line in suite["dependencies"]}
    if absent := [name for name in (*NEEDED, *FOR_MANY_MACHINES) if name not in required]:
        raise ValueError(f"Add {absent[0]} to the dependencies in pyproject.toml.")
    for file, names in (("", NEEDED), ("-distributed", FOR_MANY_MACHINES)):
        lines = "".join(f"{required[name]}\n" for name in names)
        (folder / f"requirements{file}.txt").write_text(lines, "utf-8")
    for file in (HERE / "pyproject.toml", HERE / "README.md", ROOT / "LICENSE"):
        shutil.copy(file, folder)
    package = folder / PACKAGE
    for source in sorted((ROOT / "algorithms").rglob("*.py")):
        target = package / source.relative_to(ROOT / "algorithms")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_NAMED.sub(PACKAGE, source.read_text("utf-8")).encode())
    with (package / "__init__.py").open("a", encoding="utf-8") as file:
        file.write(f'\n__version__ = "{suite["version"]}"\n')
    (package / "py.typed").touch()


def build(folder: Path) -> Path:
    """Build the wheel, without an index and with the setuptools that is installed.

    Parameters
    ----------
    folder : Path
        Where the wheel goes; it is made if it is not there.

    Returns
    -------
    Path
        The wheel.

    Raises
    ------
    subprocess.CalledProcessError
        If pip fails; what it said is on standard error.
    """
    with tempfile.TemporaryDirectory() as staged, tempfile.TemporaryDirectory() as built:
        stage(Path(staged))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        offline = ["--no-deps", "--no-build-isolation", "--no-index"]
        subprocess.run([*pip, "wheel", *offline, "--wheel-dir", built, staged], check=True)
        (wheel,) = Path(built).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, folder / wheel.name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say where the wheel goes: python library/build.py dist")
    print(build(Path(sys.argv[1])))
