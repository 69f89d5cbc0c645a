"""Standard output that cannot have every letter: a Windows pipe, an old terminal."""

import io
import json
import sys

import pytest

from experiments.cli import main
from experiments.publishing import scoreboard

COMMANDS = (["reproduce", "--help"], ["claims", "cegb"])


@pytest.fixture(scope="module", autouse=True)
def boards():
    """The claims of all papers, judged once."""
    honest, found = scoreboard.boards, []

    def once(*arguments):
        found.extend([] if found else honest(*arguments))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoreboard, "boards", once)
        yield


def printed(monkeypatch, encoding, arguments):
    """Run a command whose standard output has an encoding; return what arrives, decoded."""
    bytes_ = io.BytesIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(bytes_, encoding=encoding))
        assert main(arguments) == 0
        sys.stdout.flush()
        return bytes_.getvalue().decode(encoding)


def test_what_cannot_be_written_is_replaced(monkeypatch):
    for arguments, encoding in zip(COMMANDS, ("cp437", "cp1252"), strict=True):
        whole = printed(monkeypatch, "utf-8", arguments)
        text = printed(monkeypatch, encoding, arguments)
        assert text == whole.encode(encoding, "replace").decode(encoding) != whole


def test_json_loses_nothing(monkeypatch):
    arguments = ["claims", "cegb", "--json"]
    there = json.loads(printed(monkeypatch, "latin-1", arguments))
    assert there == json.loads(printed(monkeypatch, "utf-8", arguments))
    assert "\N{GREEK SMALL LETTER LAMDA}" in json.dumps(there, ensure_ascii=False)
