"""What several commands take."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiments import cli
from experiments.command_options import UserPath
from experiments.compare import command


@click.command()
@click.option("--out", type=UserPath(file_okay=False, path_type=Path))
@click.option("--there", type=UserPath(exists=True, path_type=Path))
def shows(out, there):
    """Print what is given."""
    click.echo(f"{out} {there}")


def test_a_path_below_home_is_found_where_no_shell_expands_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "costs.csv").write_text("")
    done = CliRunner().invoke(shows, ["--out=~/results", "--there=~/costs.csv"])
    assert done.output.split() == [str(tmp_path / "results"), str(tmp_path / "costs.csv")]
    plain = CliRunner().invoke(shows, ["--out", "results~"])
    assert plain.output.split() == ["results~", "None"]


@pytest.mark.parametrize("one", [cli.reproduce, cli.check, command.compare_command])
def test_every_path_of_a_command_is_such(one):
    paths = [p.type for p in one.params if isinstance(p.type, click.Path)]
    assert paths
    assert {type(path) for path in paths} == {UserPath}
