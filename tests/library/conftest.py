"""The wheel, built once for all tests of it."""

import pytest

from library.build import build


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist") / "new")
