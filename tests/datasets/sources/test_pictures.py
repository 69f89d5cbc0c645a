"""Picture files in archives: decoded exactly, a damaged one is named."""

import io

import numpy as np
import pytest
from PIL import Image

from datasets.sources.pictures import PictureError, check_size, decode, names_of, pictures, resized
from tests.datasets.picture_archives import noise, packed, tar, zipped

PICTURE = noise(0, 20, 10, 3)


def is_png(name: str) -> bool:
    return name.endswith(".png")


def test_png_is_decoded_exactly():
    np.testing.assert_array_equal(decode("a", packed(PICTURE)), PICTURE)
    opaque = np.concatenate([PICTURE, np.full((20, 10, 1), 255, dtype=np.uint8)], axis=2)
    np.testing.assert_array_equal(decode("a", packed(opaque)), PICTURE)
    grey = decode("a", packed(PICTURE[..., 0]))
    np.testing.assert_array_equal(grey, np.repeat(PICTURE[..., :1], 3, axis=2))


def test_jpeg_is_decoded():
    flat = np.full((16, 24, 3), (200, 100, 50), dtype=np.uint8)
    found = decode("a", packed(flat, "jpg", quality=95))
    assert found.shape == (16, 24, 3)
    assert np.abs(found.astype(int) - flat).max() <= 3


def other_mode(mode: str) -> bytes:
    stream = io.BytesIO()
    Image.new(mode, (4, 4)).save(stream, "PNG")
    return stream.getvalue()


def gif() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(PICTURE).save(stream, "GIF")
    return stream.getvalue()


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


DAMAGED = {
    "nothing": (b"", "damaged or no PNG or JPEG"),
    "text": (b"<html>please log in", "damaged or no PNG or JPEG"),
    "gif": (gif(), "damaged or no PNG or JPEG"),
    "png cut": (packed(PICTURE)[:-200], "damaged or no PNG or JPEG"),
    "png cut in its header": (packed(PICTURE)[:20], "damaged or no PNG or JPEG"),
    "png bits": (flipped(packed(PICTURE), 300), "damaged or no PNG or JPEG"),
    "png header bits": (flipped(packed(PICTURE), 19), "damaged or no PNG or JPEG"),
    "jpeg cut": (packed(noise(1, 64, 64, 3), "jpg")[:-700], "truncated"),
    "jpeg cut in its header": (packed(PICTURE, "jpg")[:150], "damaged or no PNG or JPEG"),
    "16 bits": (other_mode("I;16"), "mode I;16, expected one of RGB"),
    "palette": (other_mode("P"), "mode P, expected one of RGB"),
    "transparent": (other_mode("RGBA"), "has transparent pixels"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_picture_is_named(damage):
    content, message = DAMAGED[damage]
    with pytest.raises(PictureError, match=f"(?s)^folder/a.png: .*{message}"):
        decode("folder/a.png", content)


def test_picture_that_would_fill_the_memory(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    with pytest.raises(PictureError, match=r"a\.png: .*exceeds limit"):
        decode("a.png", packed(PICTURE))


def test_wrong_size_is_named():
    check_size("a.png", PICTURE, 20, 10)
    with pytest.raises(PictureError, match=r"^a\.png: 20×10 pixels .*expected 10×20"):
        check_size("a.png", PICTURE, 10, 20)


def test_resizing_averages():
    squares = np.zeros((8, 8, 3), dtype=np.uint8)
    squares[::2, ::2] = squares[1::2, 1::2] = 200
    assert np.abs(resized(squares, 2, 2).astype(int) - 100).max() <= 1
    assert resized(PICTURE, 6, 8).shape == (6, 8, 3)
    np.testing.assert_array_equal(resized(PICTURE, 20, 10), PICTURE)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_archive_is_read_without_writing(tmp_path, mode):
    path = tmp_path / "a.tar"
    contents = {"b.png": packed(PICTURE), "notes.txt": b"no", "a.png": packed(PICTURE[::-1])}
    path.write_bytes(tar(contents, mode, links={"c.png": "/etc/passwd", "d": ".."}))
    assert names_of(path, is_png) == ["a.png", "b.png"]
    found = dict(pictures(path, is_png))
    assert list(found) == ["b.png", "a.png"]  # the archive's order
    np.testing.assert_array_equal(found["b.png"], PICTURE)
    np.testing.assert_array_equal(found["a.png"], PICTURE[::-1])
    assert [p.name for p in tmp_path.rglob("*")] == ["a.tar"]


def test_tar_inside_a_zip(tmp_path):
    path = tmp_path / "a.zip"
    inner = tar({"b.png": packed(PICTURE)}, "w:gz")
    path.write_bytes(zipped({"set/p.tar.gz": inner, "set/other.tar": b"no"}))
    assert names_of(path, is_png, "/p.tar.gz") == ["b.png"]
    ((name, picture),) = pictures(path, is_png, "/p.tar.gz")
    assert name == "b.png"
    np.testing.assert_array_equal(picture, PICTURE)
    with pytest.raises(PictureError, match=r"a\.zip: damaged .*0 members named .*q\.tar"):
        names_of(path, is_png, "/q.tar")
    path.write_bytes(zipped({"set/p.tar.gz": inner[:-300]}))
    with pytest.raises(PictureError, match=r"a\.zip: damaged or incomplete archive"):
        list(pictures(path, is_png, "/p.tar.gz"))


WHOLE = tar({f"{i}.png": packed(noise(i, 40, 40, 3)) for i in range(5)})
BAD_ARCHIVES = {
    "text": (b"<html>please log in", "damaged or incomplete archive"),
    "cut": (WHOLE[:9000], "damaged or incomplete archive"),
    "gzip cut": (tar({"a.png": packed(PICTURE)}, "w:gz")[:-100], "damaged or incomplete"),
    "no pictures": (tar({"a.txt": b""}), "none of the pictures expected"),
}


@pytest.mark.parametrize("damage", BAD_ARCHIVES)
def test_damaged_archive_is_named(tmp_path, damage):
    content, message = BAD_ARCHIVES[damage]
    (tmp_path / "set.tar").write_bytes(content)
    with pytest.raises(PictureError, match=f"set.tar: {message}"):
        names_of(tmp_path / "set.tar", is_png)


def test_damaged_picture_in_an_archive_is_named_with_it(tmp_path):
    path = tmp_path / "set.tar"
    path.write_bytes(tar({"a.png": packed(PICTURE), "deep/b.png": packed(PICTURE)[:-100]}))
    found = pictures(path, is_png)
    assert next(found)[0] == "a.png"
    with pytest.raises(PictureError, match=r"set\.tar, deep/b\.png: damaged"):
        next(found)
