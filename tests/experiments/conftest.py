"""A command of the command line, run in this process."""

import pytest

from experiments.cli import main
from tests.experiments.toy_artefact import computing_here


@pytest.fixture(scope="module")
def cells_here():
    """Let all tests of a module compute their cells in this process."""
    with computing_here():
        yield


@pytest.fixture
def run(capsys, cells_here):
    """Run a command; return its exit status and what it printed."""

    def command(tests_suite, *arguments):
        status = main(list(arguments), tests_suite)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return status, captured.out, captured.err

    return command
