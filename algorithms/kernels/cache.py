"""Where compiled kernels are kept between runs, and how a damaged or planted file does no harm.

numba's cache is pickle: whoever can write to it runs code as whoever reads it. It is therefore kept
only in a folder that belongs to this user and that nobody else can write to, or not at all. And
each file carries its checksum: of one that is damaged, cut off or another kernel's nothing is
unpickled, and the kernel is compiled again. Of several processes that need a kernel at once, one
compiles it, and the others wait for its file.

numba's cache notices an edit of the file that defines a kernel, not of a kernel that it calls in
another file, and would then return stale results. Here a kernel's folder is named after a hash of
the source files that it can reach (DESIGN §4): its module, what that imports of this package, and
the same for the classes that choose code by their type. Comments and docstrings do not count.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import os
import pickle
import re
import stat
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import llvmlite
import numba
import numpy as np
from filelock import FileLock, Timeout
from numba.core import types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)

_PACKAGE = Path(__file__).resolve().parents[1]
_VERSIONS = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, numpy {np.__version__}"
_DIGEST_BYTES = hashlib.sha256().digest_size


# --- what a kernel can reach --------------------------------------------------------------------

# A text that begins a line is a docstring; `tests/algorithms/kernels/test_cache.py` keeps it so.
_UNSEEN = re.compile(rb'^[ \t]*(?:"""(?:[^"\\]|\\.|"(?!""))*"""[ \t]*|#[ \t][^\n]*)$', re.M | re.S)
_BLANK = re.compile(rb"\n\s*\n")
_IMPORT = re.compile(rb"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.M)


class _Source(NamedTuple):
    """A file of the package: a digest of what runs, and the files that it imports."""

    digest: bytes
    imports: tuple[Path, ...]


@functools.cache
def _read_source(path: Path) -> _Source:
    content = path.read_bytes()
    imports = set()
    for dots, module, names in _IMPORT.findall(content):
        folder = path.parents[len(dots) - 1].joinpath(*filter(None, module.decode().split(".")))
        found = [folder, *(folder / name for name in re.findall(r"\w+", names.decode()))]
        imports.update(one.with_suffix(".py") for one in found)
        imports.update(one / "__init__.py" for one in found)
    seen = _BLANK.sub(b"\n", _UNSEEN.sub(b"", content))
    return _Source(hashlib.sha256(seen).digest(), tuple(one for one in imports if one.is_file()))


def _hash_of(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256(_PACKAGE.name.encode())
    for path in paths:
        name = path.relative_to(_PACKAGE) if path.is_relative_to(_PACKAGE) else path.name
        digest.update(os.fsencode(name) + _read_source(path).digest)
    return digest.hexdigest()[:16]


@functools.cache
def source_hash() -> str:
    """Hash of all sources of the package: 16 hexadecimal digits."""
    return _hash_of(sorted(_PACKAGE.rglob("*.py")))


@functools.cache
def reach_hash(path: Path) -> str:
    """Hash of a file and all that it imports of the package: 16 hexadecimal digits.

    Of somebody else's file the imports are not followed: it may reach the whole package.
    """
    if not path.is_relative_to(_PACKAGE):
        return _hash_of([path, *sorted(_PACKAGE.rglob("*.py"))])
    reached, new = set(), [path]
    while new:
        one = new.pop()
        if one not in reached:
            reached.add(one)
            new += _read_source(one).imports
    return _hash_of([path, *sorted(reached)])


def _choosing(kind: object) -> Iterator[Callable]:
    """Classes of named tuples, and kernels, in a type of numba's or in a signature."""
    if isinstance(kind, tuple):
        for one in kind:
            yield from _choosing(one)
    elif isinstance(kind, types.BaseTuple):
        if isinstance(kind, types.BaseNamedTuple):
            yield kind.instance_class
        yield from _choosing(tuple(kind.types))
    elif isinstance(kind, types.Dispatcher):
        yield kind.dispatcher.py_func


def _reach_by_types(signature: object) -> tuple[str, ...]:
    """Hash of the reach of each module whose classes or kernels a signature names."""
    names = {one.__module__ for one in _choosing(signature)}
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(names))
    return tuple(reach_hash(Path(file).resolve()) for file in files if file)


# --- the folder ---------------------------------------------------------------------------------


def is_private(folder: Path) -> bool:
    """Whether nobody but this user (or root) can change what a folder holds, or put another there.

    Parameters
    ----------
    folder : Path
        It exists.

    Returns
    -------
    bool
        False also if it is a link. Where there are no user numbers (Windows), folders are the
        user's own by default, and the answer is True.
    """
    if not hasattr(os, "geteuid"):
        return True
    entry = os.lstat(folder)
    if not stat.S_ISDIR(entry.st_mode) or entry.st_uid != os.geteuid() or entry.st_mode & 0o022:
        return False
    for above in folder.resolve().parents:
        entry = os.stat(above)
        # In a folder with the sticky bit, as the temporary one, only the owner moves an entry.
        replaceable = entry.st_mode & 0o022 and not entry.st_mode & stat.S_ISVTX
        if entry.st_uid not in (0, os.geteuid()) or replaceable:
            return False
    return True


def _usable(folder: Path) -> bool:
    """Make a folder for this user alone, or check one that is there; whether it can be used."""
    try:
        for one in (*reversed(folder.parents), folder):  # as private, whatever the umask is
            if not one.exists():
                one.mkdir(mode=0o700, exist_ok=True)
        if not is_private(folder):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _from_environment(name: str) -> Path | None:
    """A folder that a variable names; no shell expands ``~`` in a file of variables."""
    configured = os.environ.get(name, "").strip()
    return Path(os.path.expanduser(configured)) if configured else None


def _chosen_folder() -> Path | None:
    """Where the user wants compiled kernels; None if nothing is said, and the user has no home."""
    if numba_s := _from_environment("NUMBA_CACHE_DIR"):
        return numba_s.resolve()
    base = _from_environment("COST_AWARE_BOOSTING_CACHE")
    if base is None:
        home_cache = _from_environment("XDG_CACHE_HOME") or Path(os.path.expanduser("~/.cache"))
        base = home_cache / "cost-aware-boosting"
        if base.parts[0] == "~":
            return None
    return (base / "numba").resolve()


@functools.cache
def cache_folder() -> Path | None:
    """Folder of all compiled kernels, chosen once; each kernel's own lies in it.

    In this order: below NUMBA_CACHE_DIR, COST_AWARE_BOOSTING_CACHE, the user's own cache folder;
    then, if that is not private or not writable, below the system's temporary folder.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    fallback = Path(tempfile.gettempdir()).resolve() / f"cost-aware-boosting-{user}"
    for folder in (_chosen_folder(), fallback):
        if folder is not None and _usable(folder):
            return folder
    return None


# --- the files ----------------------------------------------------------------------------------


class _Locator(_CacheLocator):
    """Places the files of a kernel below :func:`cache_folder`."""

    def __init__(self, py_file: str) -> None:
        self._py_file = py_file  # numba names it where it cannot keep a kernel
        self._stamp = reach_hash(Path(py_file).resolve())

    def get_cache_path(self) -> str:
        return str(cache_folder() / self._stamp)

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), mode=0o700, exist_ok=True)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        return cls(py_file)


def _crc(code: CodeType) -> int:
    """Tell functions of one name apart, wherever in their file they stand."""
    values = tuple(one for one in code.co_consts[1:] if not hasattr(one, "co_code"))
    return zlib.crc32(repr((code.co_code, values, code.co_names)).encode())


class _Placement(CompileResultCacheImpl):
    """How numba names and packs a kernel's files; no setting of numba's moves them elsewhere."""

    def __init__(self, py_func, form: str) -> None:
        source = inspect.getfile(py_func)
        self._lineno = _crc(py_func.__code__)  # numba's place for it
        self._locator = _Locator(source)
        name = f"{Path(source).stem}.{py_func.__qualname__}"
        if form:
            name += f".{form}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Entry(NamedTuple):
    """A compiled signature: as text, pickled, and the name of its data file."""

    text: str
    packed: bytes
    name: str


def _name_of(key, entries: list[_Entry]) -> str | None:
    """Name of a signature's data file, or None if it is in no entry."""
    for entry in entries:
        if entry.text == repr(key) and _unpacked(entry.packed) == key:
            return entry.name
    return None


def _unpacked(packed: bytes):
    """Return a signature, or None where a class of it is gone or its module cannot be imported."""
    try:
        return pickle.loads(packed)
    except Exception:  # whatever a module of somebody else's raises when it is imported
        return None


class _Files(IndexDataCacheFile):
    """An index and data files that each begin with the checksum of what they are and hold.

    Another process may replace any file at any time: each is read once, whole, and checked. Two
    processes that add different signatures at once may give both the same number; the signature is
    part of the checksum, so that neither gets the other's code.

    A signature may name a class of whoever called the kernel, as a penalty of one's own. Each is
    therefore unpickled by itself, and only where its text is that of the one looked for: others'
    modules are not imported, and may be gone.
    """

    def save(self, key, data):
        entries = self._load_index()
        name = _name_of(key, entries)
        if name is None:
            taken = {entry.name for entry in entries}
            name = next(n for n in map(self._data_name, itertools.count(1)) if n not in taken)
            entries.append(_Entry(repr(key), self._dump(key), name))
            self._write(self._index_path, "index", self._dump([tuple(e) for e in entries]))
        self._write(self._data_path(name), repr(key), self._dump(data))

    def load(self, key):
        name = _name_of(key, self._load_index())
        content = None if name is None else self._read(self._data_path(name), repr(key))
        return None if content is None else pickle.loads(content)

    def _load_index(self) -> list[_Entry]:
        content = self._read(self._index_path, "index")
        return [] if content is None else [_Entry(*entry) for entry in pickle.loads(content)]

    def _checksum(self, what: str, content: bytes) -> bytes:
        identity = repr((_VERSIONS, self._index_name, self._source_stamp, what))
        return hashlib.sha256(identity.encode() + b"\0" + content).digest()

    def _read(self, path: str, what: str) -> bytes | None:
        """Content of a file, or None if there is no such file that is whole."""
        try:
            content = Path(path).read_bytes()
        except OSError:
            return None
        checksum, content = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return content if checksum == self._checksum(what, content) else None

    def _write(self, path: str, what: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(self._checksum(what, content))
            file.write(content)


_PATIENCE = 300.0  # seconds for which another process may compile a kernel that is needed here


@functools.cache
def _lock_of(path: str, process: int) -> FileLock:
    """One that was made before a fork is the parent's, and cannot be had in the child."""
    return FileLock(path, timeout=_PATIENCE)


class KernelCache(FunctionCache):
    """numba's cache of one kernel, in a private folder and with checksums."""

    def __init__(self, py_func: Callable, form: str = "") -> None:
        self._impl_class = functools.partial(_Placement, form=form)
        super().__init__(py_func)
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )

    @property
    def _lock(self) -> FileLock:
        """The lock of this process, which the system releases when it ends."""
        return _lock_of(f"{self._cache_file._index_path}.lock", os.getpid())

    def _index_key(self, sig, codegen):
        return *super()._index_key(sig, codegen), _reach_by_types(sig)

    def load_overload(self, sig: object, target_context: object) -> object:
        """Return a kept kernel; if there is none, wait until no other process compiles it."""
        found = super().load_overload(sig, target_context)
        if found is None and self._enabled:
            try:
                self._impl.locator.ensure_cache_path()
                self._lock.acquire()
            except (Timeout, OSError):  # it is compiled twice
                return None
            found = super().load_overload(sig, target_context)
        return found

    def let_others_compile(self) -> None:
        """Release the lock, where :meth:`load_overload` has taken it."""
        self._lock.release()

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled kernel; a folder that is full or gone costs time, not the run."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self.disable()
            warnings.warn(
                f"A compiled kernel cannot be kept in {self._cache_path} ({error}): the next run "
                "compiles it again.",
                RuntimeWarning,
                stacklevel=2,
            )
