"""Picture files (PNG, JPEG, PGM) inside an archive, decoded one by one; a damaged one is named.

Nothing is written to the disk on the way. Every picture becomes red, green and blue, 8 bits each;
other depths, palettes and real transparency are refused rather than guessed at.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from datasets.errors import DamagedData
from datasets.sources.archives import DAMAGE as ARCHIVE_DAMAGE
from datasets.sources.archives import members

FORMATS = ("PNG", "JPEG")
MODES = ("RGB", "RGBA", "L")
DAMAGE = (*ARCHIVE_DAMAGE, OSError)
MOST_PIXELS = 40_000_000
"""Of one picture: a few kilobytes can state any size, and each pixel takes three bytes."""
_PGM_HEADER = re.compile(rb"P5\s+(?:#[^\n]{0,200}\n\s*)?(\d{1,6})\s+(\d{1,6})\s+(\d{1,6})\s")


class PictureError(DamagedData):
    """An archive of pictures or a picture in it is damaged, incomplete or of the wrong size."""


def names_of(archive: Path, wanted: Callable[[str], bool], inner: str | None = None) -> list[str]:
    """Name the wanted pictures of an archive, sorted."""
    try:
        names = sorted({name for name, _ in members(archive, wanted, inner)})
    except DAMAGE as error:
        raise PictureError(f"{archive}: damaged or incomplete archive ({error})") from error
    if not names:
        raise PictureError(f"{archive}: none of the pictures expected is in this archive")
    return names


def pictures(
    archive: Path, wanted: Callable[[str], bool], inner: str | None = None
) -> Iterator[tuple[str, np.ndarray]]:
    """Decode the wanted pictures of an archive, in its order."""
    walk = members(archive, wanted, inner)
    while True:
        try:
            name, read = next(walk)
            content = read()
        except StopIteration:
            return
        except DAMAGE as error:
            raise PictureError(f"{archive}: damaged or incomplete archive ({error})") from error
        yield name, decode(f"{archive}, {name}", content)


def decode(name: str, content: bytes) -> np.ndarray:
    """Decode a PNG or JPEG file."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise PictureError(f"{name}: {opened.width}×{opened.height} pixels are too many")
            opened.load()
            picture = opened.copy()
    except PictureError:
        raise
    # Pillow raises SyntaxError and struct.error for broken chunks of a PNG file.
    except (OSError, SyntaxError, ValueError, struct.error, zlib.error) as error:
        raise PictureError(f"{name}: damaged or no PNG or JPEG file ({error})") from error
    except Image.DecompressionBombError as error:
        raise PictureError(f"{name}: {error}") from error
    if picture.mode not in MODES:
        raise PictureError(f"{name}: mode {picture.mode}, expected one of {', '.join(MODES)}")
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() != (255, 255):
        raise PictureError(f"{name}: has transparent pixels")
    return np.array(picture.convert("RGB"))


def check_size(name: str, picture: np.ndarray, height: int, width: int) -> None:
    """Raise :class:`PictureError` unless a picture has this size in pixels."""
    if picture.shape[:2] != (height, width):
        raise PictureError(
            f"{name}: {picture.shape[0]}×{picture.shape[1]} pixels (height × width), "
            f"expected {height}×{width}"
        )


def resized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize a picture, averaging where it shrinks (Pillow's bilinear filter).

    Pillow resizes bytes in integers, so that all processors give the same pixels.
    """
    from PIL import Image

    return np.array(
        Image.fromarray(picture).resize((width, height), Image.Resampling.BILINEAR), dtype=np.uint8
    )


def read_pgm(name: str, content: bytes, shape: tuple[int, int]) -> np.ndarray:
    """Decode a binary PGM file of a window."""
    header = _PGM_HEADER.match(content)
    if header is None:
        raise PictureError(f"{name}: no binary PGM file (P5)")
    width, height, largest = map(int, header.groups())
    if (height, width) != shape:
        raise PictureError(
            f"{name}: {height}×{width} pixels (height × width), expected {shape[0]}×{shape[1]}"
        )
    if largest != 255:
        raise PictureError(f"{name}: grey levels up to {largest}, expected 255 (8 bits)")
    pixels = content[header.end() :]
    if len(pixels) != height * width:
        raise PictureError(f"{name}: {len(pixels)} bytes of pixels, expected {height * width}")
    return np.frombuffer(pixels, dtype=np.uint8).reshape(shape)
