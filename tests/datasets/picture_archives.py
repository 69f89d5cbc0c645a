"""Archives of small pictures, for the tests of sets of images."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
from PIL import Image


def packed(picture: np.ndarray, kind: str = "png", **options) -> bytes:
    """Give a picture as the content of a PNG or JPEG file."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "JPEG" if kind == "jpg" else "PNG", **options)
    return stream.getvalue()


def noise(seed: int, *shape: int) -> np.ndarray:
    """Draw a picture of this shape."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def tar(contents: dict[str, bytes], mode: str = "w", links: dict[str, str] | None = None) -> bytes:
    """Pack contents, and symbolic links, by member name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zipped(contents: dict[str, bytes]) -> bytes:
    """Pack contents into a zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return stream.getvalue()


def put(monkeypatch, cache, module, filename: str, content: bytes) -> None:
    """Put an archive into the cache, and its digest on record if the form has one."""
    form = next(form for form in module.FILE.forms if form.filename == filename)
    if form.sha256 is not None:
        form = replace(form, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(module, "FILE", replace(module.FILE, forms=(form,)))
    folder = cache / module.FILE.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / filename).write_bytes(content)
