"""Archives of small pictures and texts, for the tests of data sets."""

import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from datasets.sources.find import RawFile
from datasets.sources.pictures import PictureError


def packed(picture: np.ndarray, kind: str = "png", **options) -> bytes:
    """Give a picture as the content of a file, by its usual ending."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, Image.registered_extensions()[f".{kind}"], **options)
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
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return stream.getvalue()


def changed(contents: dict[str, bytes], change: dict[str, bytes | None]) -> dict[str, bytes]:
    """Replace or add some contents, or remove those that are to be None."""
    return {name: one for name, one in (contents | change).items() if one is not None}


def recorded(raw: RawFile, content: bytes) -> RawFile:
    """Give a file's first form with this content on record."""
    digest = hashlib.sha256(content).hexdigest()
    return replace(raw, forms=(replace(raw.forms[0], sha256=digest, size=len(content)),))


def put(monkeypatch, cache, module, filename: str, content: bytes) -> None:
    """Put an archive into the cache, and its digest on record if the form has one."""
    form = next(form for form in module.FILE.forms if form.filename == filename)
    if form.sha256 is not None:
        form = replace(form, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(module, "FILE", replace(module.FILE, forms=(form,)))
    folder = cache / module.FILE.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / filename).write_bytes(content)


def check_refused(images, folder, message: str, kind: type[Exception] = PictureError) -> None:
    """No kind of data takes the place of a bad archive, and nothing of it stays decoded."""
    for data in ("real", "auto"):
        with pytest.raises(kind, match=f"(?s){message}"):
            images(data=data)
    assert not list((folder / "decoded").glob("*/*.npy"))
