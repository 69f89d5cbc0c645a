"""A command of the command line, run in this process."""

import pytest

from experiments.cli import main


@pytest.fixture
def run(capsys):
    """Run a command; return its exit status and what it printed."""

    def command(tests_suite, *arguments):
        status = main(list(arguments), tests_suite)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return status, captured.out, captured.err

    return command
