"""The commands: what is asked wrongly, and what there must be."""

import pytest

from experiments.cli import main
from experiments.leaderboard import problems


@pytest.fixture
def no_data(monkeypatch):
    """Nothing is compiled, and no data set can be had."""
    import datasets
    from algorithms.registry import ahead

    def unavailable(name, **_):
        raise datasets.DataUnavailable(f"{name} cannot be had.")

    monkeypatch.setattr(ahead, "compile_all", lambda: 0)
    monkeypatch.setattr(problems, "load_dataset", unavailable)


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["run", "--only", "xgboost"], 2, "--only must be of cegb"),
        (["run", "--scale", "paper"], 2, "Invalid value for '--scale'"),
        (["run", "--dataset", "iris"], 2, "Invalid value for '--dataset'"),
        (["add", "nowhere:Nothing"], 2, "nowhere cannot be imported"),
        (["add", "nothing"], 2, "must be package.module:Class"),
    ],
)
def test_what_is_asked_wrongly(arguments, status, sentence, capsys):
    assert main(["leaderboard", *arguments]) == status
    assert sentence in capsys.readouterr().err


def test_a_set_that_cannot_be_had_is_named(no_data, capsys):
    assert main(["leaderboard", "run", "--scale", "check", "--jobs", "1"]) == 3
    assert "digits cannot be had." in capsys.readouterr().err
