"""The commands: what is asked wrongly, and what there must be."""

import pytest

import datasets
from experiments.cli import main
from experiments.leaderboard import problems
from experiments.registry import Registry
from experiments.running.suite import Suite


@pytest.fixture
def no_data(monkeypatch):
    """Nothing is compiled, and no data set can be had."""
    from algorithms.registry import ahead

    def unavailable(name, **_):
        raise datasets.DataUnavailable(f"{name} cannot be had.")

    monkeypatch.setattr(ahead, "compile_all", lambda: 0)
    monkeypatch.setattr(problems, "load_dataset", unavailable)


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["edition", "--only", "cegb,iris"], 2, "--only must be of cegb"),
        (["edition", "--scale", "paper"], 2, "Invalid value for '--scale'"),
        (["edition", "--fields", "iris@uniform"], 2, "--fields must be of heart@dollars"),
        (["edition", "--divisions", "1-6"], 2, "--divisions must be within 1-5"),
        (["edition", "--divisions", "x"], 2, "--divisions must be like 1-5"),
        (["add", "nowhere:Nothing"], 2, "nowhere cannot be imported"),
        (["add", "nothing"], 2, "must be package.module:Class"),
    ],
)
def test_what_is_asked_wrongly(arguments, status, sentence, capsys):
    assert main(["leaderboard", *arguments]) == status
    assert sentence in capsys.readouterr().err


def test_a_set_that_cannot_be_had_is_named(no_data, tmp_path, capsys):
    asked = ["edition", "--scale", "check", "--divisions", "1", "--jobs", "1"]
    suite = Suite(Registry(()), datasets, results=tmp_path)
    assert main(["leaderboard", *asked, "--dry-run"], suite) == 0
    assert "1 divisions of fields lack trials: about" in capsys.readouterr().out
    assert main(["leaderboard", *asked], suite) == 3
    assert "digits cannot be had." in capsys.readouterr().err
