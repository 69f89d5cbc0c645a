"""Microscopy with masks: the reader of its archive, its synthetic set, and the real frames."""

import numpy as np
import pytest

import datasets
from datasets import labelled_frames, phc_c2dl_psc
from datasets.dataset import checksum
from datasets.errors import DamagedData
from tests.datasets.contract import NEEDS_MIRROR, check_contract
from tests.datasets.picture_archives import packed, tar

SMOKE_FRAME = "652000a5166ba3d0b69800fca4e7dfceecdc18d37f97edc9cb465cd26888e1b4"
NUMBERS = [n for part in phc_c2dl_psc.PARTS.values() for n in part]


def archive(path, pictures):
    """Write an archive of TIFF files."""
    path.write_bytes(tar({name: packed(one, "tif") for name, one in pictures.items()}, "w:xz"))
    return path


def pictures():
    """Frames of 16×16 pixels whose first is their number, with two objects, one of two labels."""
    made = {}
    for n in NUMBERS:
        mask = np.zeros((16, 16), dtype=np.uint8)
        mask[2:5, 2:5], mask[4, 5] = 1, 3
        mask[10:12, 10:14] = 1
        made[f"01/t{n:03d}.tif"] = np.full((16, 16), n, dtype=np.uint8)
        made[f"01_ST/SEG/man_seg{n:03d}.tif"] = mask
    return made


def test_archive_is_read_as_it_should_be(tmp_path, monkeypatch):
    monkeypatch.setattr(phc_c2dl_psc, "SIDE", 16)
    phc_c2dl_psc._decode(archive(tmp_path / "a.tar.xz", pictures()), tmp_path)
    for part, numbers in phc_c2dl_psc.PARTS.items():
        images = np.load(tmp_path / f"images_{part}.npy")
        labels = np.load(tmp_path / f"labels_{part}.npy")
        assert images[:, 0, 0].tolist() == list(numbers)
        # Label numbers are not believed: what is connected is one object.
        assert [np.bincount(objects.ravel()).tolist() for objects in labels] == [
            [256 - 10 - 8, 10, 8]
        ] * len(numbers)


def test_damaged_archives_are_named(tmp_path, monkeypatch):
    with pytest.raises(DamagedData, match="16×16 pixels of mode L, expected 1024×1024"):
        phc_c2dl_psc._decode(archive(tmp_path / "a.tar.xz", pictures()), tmp_path)
    monkeypatch.setattr(phc_c2dl_psc, "SIDE", 16)
    incomplete = pictures()
    del incomplete["01_ST/SEG/man_seg041.tif"]
    with pytest.raises(DamagedData, match="frame 41 or its mask is missing"):
        phc_c2dl_psc._decode(archive(tmp_path / "b.tar.xz", incomplete), tmp_path)
    (tmp_path / "c.tar.xz").write_bytes((tmp_path / "a.tar.xz").read_bytes()[:200])
    with pytest.raises(DamagedData, match=r"c\.tar\.xz"):
        phc_c2dl_psc._decode(tmp_path / "c.tar.xz", tmp_path)


def test_no_row_is_drawn_from_the_margin():
    labels = np.zeros((64, 64), dtype=np.int32)
    labels[:20, :20] = 1
    on, near, far = labelled_frames.strata(labels, 100, margin=8)
    for pool, _ in (on, near, far):
        y, x = np.unravel_index(pool, labels.shape)
        assert min(y.min(), x.min()) >= 8
        assert max(y.max(), x.max()) < 56
    assert sum(len(pool) for pool, _ in (on, near, far)) == 48 * 48


def test_synthetic():
    data = datasets.load("phc_c2dl_psc", scale="smoke")
    check_contract(data)
    frames = list(phc_c2dl_psc.frames("test", scale="smoke", seed=0, kind="synthetic"))
    assert checksum({"image": frames[0][0], "labels": frames[0][1]}) == SMOKE_FRAME
    assert len(frames) == 2
    for image, labels in frames:  # bright bodies
        assert image[labels > 0].mean() > image[labels == 0].mean() + 5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"part": "all"}, "part must"), ({"kind": "simulated"}, "kind must"), ({"seed": -1}, "seed")],
)
def test_wrong_requests(wrong, message):
    with pytest.raises(ValueError, match=message):
        phc_c2dl_psc.frames(**{"part": "train", "scale": "smoke", "seed": 0} | wrong)


@NEEDS_MIRROR
def test_real_frames():
    first, *others = phc_c2dl_psc.frames("test", scale="laptop", seed=0)
    assert len(others) == 11
    for image, labels in (first, others[-1]):
        assert image.shape == labels.shape == (1024, 1024)
        assert 60 <= labels.max() <= 90
        assert image[labels > 0].mean() > image[labels == 0].mean() + 20
