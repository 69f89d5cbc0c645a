"""MATLAB files that hold what they should, and others."""

import numpy as np
import pytest
from scipy.io import savemat

from datasets.errors import DamagedData
from datasets.sources.matlab import read_bytes

SHAPE = (4, 3, 5)
ARRAY = np.arange(60, dtype=np.uint8).reshape(SHAPE)


@pytest.mark.parametrize("compressed", [False, True])
def test_array_is_read(tmp_path, compressed):
    path = tmp_path / "a.mat"
    savemat(path, {"a": ARRAY}, do_compression=compressed)
    np.testing.assert_array_equal(read_bytes(path, "a", SHAPE), ARRAY)


WRONG = {
    "name": {"b": ARRAY},
    "two": {"a": ARRAY, "b": ARRAY},
    "nothing": {},
    "shape": {"a": ARRAY[:3]},
    "numbers": {"a": ARRAY.astype(float)},
    "text": {"a": "text"},
    "cell": {"a": np.array([ARRAY, "x"], dtype=object)},
    "struct": {"a": {"field": ARRAY}},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_other_content_is_named(tmp_path, wrong):
    path = tmp_path / "a.mat"
    savemat(path, WRONG[wrong])
    with pytest.raises(DamagedData, match=r"a\.mat: holds .*expected \[\('a', \(4, 3"):
        read_bytes(path, "a", SHAPE)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"a": ARRAY}, do_compression=True)
    content = path.read_bytes()
    damaged = [b"", b"<html>", content[:100], content[:150], content[:-9]]
    damaged += [content[:140] + b"\xff" * 40 + content[180:], content[:128] + b"\x00" * 400]
    for wrong in damaged:
        path.write_bytes(wrong)
        with pytest.raises(DamagedData, match=r"a\.mat"):
            read_bytes(path, "a", SHAPE)
