"""The folder of compiled kernels, who may write to it, and what becomes of damaged files."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba import int64, typeof
from numba.types import UniTuple

import algorithms
from algorithms.kernels import cache
from algorithms.trees.miser_penalty import MiserPenalty
from algorithms.trees.penalty import mark_rows

ROOT = Path(algorithms.__file__).resolve().parent.parent


@pytest.fixture
def folder(tmp_path):
    """Make a folder of our own; its parents are those of pytest, in the temporary folder."""
    path = tmp_path / "folder"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def choice(tmp_path, monkeypatch):
    """Choose the folder anew, from an environment of ours."""
    for name in ("NUMBA_CACHE_DIR", "COST_AWARE_BOOSTING_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "temporary").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return cache.cache_folder.__wrapped__


# --- the key ---------------------------------------------------------------------------------


def hashes_of_copy(tmp_path, change=None) -> list[str]:
    """Hashes of a copied tree, after a change to it, by whether they reach the trees' prices."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "algorithms", copy / "algorithms", ignore=ignore)
    if change:
        change(copy / "algorithms")
    command = (
        "from algorithms.kernels import cache as c\n"
        "print(*(c.reach_hash(c._PACKAGE / f) for f in ('trees/grower.py', 'kernels/simd.py')))"
    )
    environment = os.environ | {"PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True, text=True, cwd=copy, env=environment, check=True,
    ).stdout.split()  # fmt: skip


@pytest.mark.slow
def test_only_an_edit_of_what_a_kernel_can_reach_moves_it(tmp_path):
    def edit(path, old, new):
        def change(folder):
            text = (folder / path).read_text()
            assert old in text
            (folder / path).write_text(text.replace(old, new, 1))

        return change

    files = ("trees/grower.py", "kernels/simd.py")
    same = hashes_of_copy(tmp_path)
    assert same == [cache.reach_hash(cache._PACKAGE / one) for one in files]
    changes = {
        (True, True): edit("kernels/simd.py", "import", "import  "),
        (True, False): edit("trees/penalty.py", "import", "import  "),
        (False, False): edit("cegb.py", "import", "import  "),
    }
    for moved, change in changes.items():
        new = hashes_of_copy(tmp_path, change)
        assert tuple(a != b for a, b in zip(same, new, strict=True)) == moved
    words = edit("trees/penalty.py", '"""', '"""Other words.\n\n# and lines\n\n')
    assert hashes_of_copy(tmp_path, words) == same


def test_only_words_for_readers_are_left_out_of_the_key():
    for path in cache._PACKAGE.rglob("*.py"):
        content, texts, docstrings = path.read_bytes(), set(), set()
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.update(range(node.lineno, node.end_lineno + 1))
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                docstrings.update(range(node.lineno, node.end_lineno + 1))
        for found in cache._UNSEEN.finditer(content):
            line = content.count(b"\n", 0, found.start()) + 1
            outside = line not in texts and found[0].lstrip().startswith(b"#")
            assert line in docstrings or outside, (path, line)


def test_code_that_a_class_chooses_counts_where_no_import_leads_to_it():
    signature = typeof(MiserPenalty(*map(np.zeros, range(len(MiserPenalty._fields)))))
    reached = cache._reach_by_types((int64, UniTuple(signature, 2)))
    assert reached == (cache.reach_hash(cache._PACKAGE / "trees/miser_penalty.py"),)
    assert cache._reach_by_types((int64, UniTuple(int64, 2))) == ()
    assert cache._reach_by_types((typeof(mark_rows),)) != ()


# --- the folder ------------------------------------------------------------------------------


def test_where_the_cache_is(choice, tmp_path, monkeypatch):
    assert choice() == tmp_path / "home" / "cost-aware-boosting" / "numba"
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "chosen"))
    assert choice() == tmp_path / "chosen" / "numba"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert choice() == tmp_path / "own"  # the user's own wish comes first
    assert choice() == tmp_path / "own"  # and again, now that it exists
    for made in (tmp_path / "own", tmp_path / "chosen" / "numba"):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "below"),
    [("NUMBA_CACHE_DIR", ""), ("COST_AWARE_BOOSTING_CACHE", "numba"),
     ("XDG_CACHE_HOME", "cost-aware-boosting/numba")],
)  # fmt: skip
def test_home_is_found_where_no_shell_expands_it(choice, tmp_path, monkeypatch, name, below):
    """As in a file of variables, or between quotes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv(name, "~/kept here")
    monkeypatch.chdir(tmp_path)
    assert choice() == tmp_path / "kept here" / below
    assert not (tmp_path / "~").exists()


def test_a_user_without_a_home_keeps_kernels_in_the_temporary_folder(choice, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it is then
    monkeypatch.chdir(tmp_path)
    assert choice().parent == tmp_path / "temporary"
    assert not (tmp_path / "~").exists()


def test_a_folder_of_our_own_is_private(folder):
    assert cache.is_private(folder)
    folder.chmod(0o755)  # others may read
    assert cache.is_private(folder)


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not(folder, mode):
    folder.chmod(mode)
    assert not cache.is_private(folder)


def test_nor_is_a_folder_in_one_where_others_can_exchange_it(folder):
    (folder / "inner").mkdir(mode=0o700)
    folder.chmod(0o777)
    assert not cache.is_private(folder / "inner")
    folder.chmod(0o1777)  # sticky, as the temporary folder: only the owner moves an entry
    assert cache.is_private(folder / "inner")


def test_nor_is_another_user_s_folder(folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    assert not cache.is_private(folder)


def test_nor_is_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert not cache.is_private(tmp_path / "link")
    (tmp_path / "file").write_text("")
    assert not cache.is_private(tmp_path / "file")


def test_what_others_can_write_to_is_not_used(choice, tmp_path):
    taken = tmp_path / "home" / "cost-aware-boosting" / "numba"
    taken.mkdir(parents=True)
    taken.chmod(0o777)
    instead = choice()
    assert instead.parent == tmp_path / "temporary"
    assert stat.S_IMODE(instead.stat().st_mode) == 0o700


def test_a_home_that_is_no_folder(choice, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("COST_AWARE_BOOSTING_CACHE", str(tmp_path / "file"))
    assert choice().parent == tmp_path / "temporary"


@pytest.mark.parametrize("plant", ["writable", "link", "foreign"])
def test_a_planted_folder_is_not_used(choice, tmp_path, monkeypatch, plant):
    """The name of the folder in the temporary one can be guessed: whoever is first makes it."""
    (tmp_path / "home").write_text("in the way")
    guessed = tmp_path / "temporary" / f"cost-aware-boosting-{os.geteuid()}"
    if plant == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        guessed.symlink_to(tmp_path / "elsewhere")
    else:
        guessed.mkdir(mode=0o700)
    if plant == "writable":
        guessed.chmod(0o777)
    if plant == "foreign":
        real = os.lstat
        owner = (os.geteuid() + 1,)

        def foreign(path, **options):
            entry = real(path, **options)
            return os.stat_result((*entry[:4], *owner, *entry[5:])) if path == guessed else entry

        monkeypatch.setattr(os, "lstat", foreign)
    assert choice() is None


def test_without_a_folder_kernels_are_compiled_and_not_kept(tmp_path):
    command = (
        "import os; os.geteuid = lambda: 12345\n"  # nothing belongs to us
        "from algorithms.kernels.cache import cache_folder\n"
        "from algorithms.trees.penalty import mark_rows\n"
        "print(cache_folder(), type(mark_rows._cache).__name__)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "own")}
    output = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True, text=True, cwd=ROOT, env=environment, check=True,
    ).stdout  # fmt: skip
    assert output.split() == ["None", "NullCache"]
    assert not list(tmp_path.rglob("*.nb?"))


# --- the files -------------------------------------------------------------------------------

KERNELS = """
from algorithms.kernels.decorators import kernel

@kernel
def twice(x):
    return x + x

@kernel
def doubled(x, out):
    for i in range(x.shape[0]):
        out[i] = twice(x[i])
"""

# A child spoils the files of the first run in one way after another, and each time imports the
# module anew: what does numba load, and is the result right?
CHILD = """
import importlib.util, json, sys
from pathlib import Path
import numpy as np
from algorithms.kernels.cache import cache_folder

def use():
    spec = importlib.util.spec_from_file_location("kernels_of_mine", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = np.zeros(5)
    module.doubled(np.arange(5.0), out)
    right = out.tolist() == [0, 2, 4, 6, 8] and module.twice(3) == 6 and module.twice(0.5) == 1
    compiled = module.twice, module.twice.inner, module.doubled
    counts = [sum(f.stats.cache_misses.values()) for f in compiled]
    return right, sum(counts)

def spoilt(content, other):
    yield b""
    yield content[:20]
    yield content[: len(content) // 2]
    yield content[:-1]
    yield bytes(len(content))
    yield content + b"x"
    yield other
    for place in (0, 31, 32, 40, len(content) // 2, len(content) - 1):
        wrong = bytearray(content)
        wrong[place] ^= 16
        yield bytes(wrong)

first = [use(), use()]
# The form for other kernels is not read when those themselves are kept.
files = sorted(p for p in cache_folder().rglob("*.nb?") if ".inner" not in p.name
               and ("kernels_of_mine" in str(p) or "mine" in p.name))
results = []
for path in files:
    content, (other, *_) = path.read_bytes(), [p.read_bytes() for p in files
                                              if p != path and p.suffix == path.suffix]
    for wrong in spoilt(content, other):
        path.write_bytes(wrong)
        results.append((path.suffix, use(), use()))
print(json.dumps([first, [path.suffix for path in files], results]))
"""


@pytest.mark.slow
def test_damaged_files_are_compiled_again(tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "mine.py")],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    first, files, results = json.loads(run.stdout)
    assert first == [[True, 4], [True, 0]]  # compiled, then loaded
    assert sorted(files) == [".nbc"] * 3 + [".nbi"] * 2
    assert len(results) == 13 * len(files)
    for suffix, spoilt, healed in results:
        assert spoilt[0] is True, suffix
        assert spoilt[1] > 0, suffix  # compiled again
        assert healed == [True, 0], suffix  # and kept


THEIRS = """
from collections import namedtuple

Penalty = namedtuple("Penalty", "price")
"""

# A kernel of ours compiles for a class of somebody's module, and for a number.
WITH_THEIRS = """
import sys
sys.path.insert(0, sys.argv[1])
import mine
if len(sys.argv) > 2:
    import theirs
    mine.twice(theirs.Penalty(3.0).price)
    print(mine.first(theirs.Penalty(3.0)), mine.first((2,)))
else:
    print(mine.first((2,)), "theirs" in sys.modules)
print(sum(mine.first.stats.cache_misses.values()), sum(mine.first.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_a_class_of_a_caller_that_is_gone_harms_nobody(tmp_path):
    """Its module is neither needed nor imported where it is not used, and may change."""
    (tmp_path / "mine.py").write_text(
        KERNELS + "\n@kernel\ndef first(values):\n    return values[0] + values[0]\n"
    )
    theirs = tmp_path / "theirs.py"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*more):
        output = subprocess.run(
            [sys.executable, "-c", WITH_THEIRS, str(tmp_path), *more],
            capture_output=True, text=True, cwd=ROOT, env=environment, check=True,
        ).stdout  # fmt: skip
        return output.split()

    theirs.write_text(THEIRS)
    assert run("theirs") == ["6.0", "4", "2", "0"]
    assert run() == ["4", "False", "0", "1"]
    assert run("theirs") == ["6.0", "4", "0", "2"]
    theirs.write_text(THEIRS.replace('"price"', '"price, other", defaults=[1.0]'))
    assert run("theirs") == ["6.0", "4", "1", "1"]  # another class of that name
    theirs.write_text("raise RuntimeError('not to be imported')")
    assert run() == ["4", "False", "0", "1"]
    theirs.unlink()
    assert run() == ["4", "False", "0", "1"]


@pytest.mark.slow
def test_numba_s_own_files_would_stop_the_run(tmp_path):
    """Why they have checksums: what numba does with a damaged file of its own."""
    kernel = "import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x + x\nprint(f(2))\n"
    (tmp_path / "own.py").write_text(kernel)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "own.py")]
    assert subprocess.run(command, env=environment, capture_output=True).returncode == 0
    for path in tmp_path.rglob("*.nbi"):
        path.write_bytes(path.read_bytes()[:-8])
    assert subprocess.run(command, env=environment, capture_output=True).returncode != 0


def test_a_full_disk_costs_time_only(tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    command = (
        "import runpy, sys\n"
        "from numba.core.caching import IndexDataCacheFile\n"
        "def full(self, path):\n    raise OSError(28, 'No space left on device')\n"
        "IndexDataCacheFile._open_for_write = full\n"
        "print(runpy.run_path(sys.argv[1])['twice'](4))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", command, str(tmp_path / "mine.py")],
        capture_output=True, text=True, cwd=ROOT, env=environment, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == "8"
    assert "cannot be kept" in run.stderr
    assert "No space left on device" in run.stderr


# --- several processes -----------------------------------------------------------------------

# A child says when it is ready, waits for a line, and says how many of the kernels it compiled.
AT_ONCE = """
import sys
import numpy as np
from algorithms.kernels import cache
sys.path.insert(0, sys.argv[1])
cache._PATIENCE = float(sys.argv[2])
import mine
if len(sys.argv) > 3:
    mine.doubled._cache._impl.locator.ensure_cache_path()
    mine.doubled._cache._lock.acquire()
print("ready", flush=True)
input()
out = np.zeros(3)
mine.doubled(np.arange(3.0), out)
assert out.tolist() == [0, 2, 4]
compiled = mine.doubled, mine.twice.inner
print(sum(sum(one.stats.cache_misses.values()) for one in compiled))
"""


@pytest.fixture
def child(tmp_path):
    """Start children that share a cache."""
    (tmp_path / "mine.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    children = []

    def start(*more, patience=3000.0):
        children.append(
            subprocess.Popen(
                [sys.executable, "-c", AT_ONCE, str(tmp_path), str(patience), *more],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
            )
        )  # fmt: skip
        assert children[-1].stdout.readline() == "ready\n"
        return children[-1]

    yield start
    for one in children:
        one.kill()
        one.communicate()


def go_on(child):
    child.stdin.write("\n")
    child.stdin.flush()


@pytest.mark.slow
def test_processes_that_begin_together_compile_a_kernel_once(child):
    together = [child() for _ in range(3)]
    for one in together:
        go_on(one)
    assert sorted(int(one.communicate(timeout=600)[0]) for one in together) == [0, 0, 2]


@pytest.mark.slow
def test_a_kernel_is_waited_for_with_patience_and_not_of_a_process_that_is_killed(child):
    holder, patient, impatient = child("holds it"), child(), child(patience=0.1)
    go_on(patient)
    go_on(impatient)
    assert impatient.communicate(timeout=600)[0] == "2\n"
    assert patient.poll() is None
    holder.kill()
    assert patient.communicate(timeout=600)[0] == "0\n"  # it finds what the other has compiled


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_forked_process_compiles_what_its_parent_has_not(tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    program = (
        "import os, sys, mine\n"
        "import numpy as np\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit(mine.doubled(np.arange(3.0), np.zeros(3)))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
