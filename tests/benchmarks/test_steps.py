"""Which rises of a made-up history are listed, and which reasons are taken."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks import steps
from tests.experiments.publishing.test_report_history import write_history

UP, DOWN = [1, 1.01, 1, 1.5, 1.51, 1.5], [2, 2, 2, 1, 1]
UP_A_LITTLE = [1, 1.01, 1, 1.07, 1.08, 1.07]
RISE = "quiet: toy.Toy.time_fit, a: 1 to 1.5 s (+50 %) between 22222222 and 33333333, 1970-01-01"
REASON = {"benchmark": "toy.Toy.time_fit", "commit": "33333333", "reason": "It does more."}


def run(folder, values, *reasons, **changes):
    runs = [(str(i), i, [value, 2.0], "now") for i, value in enumerate(values)]
    write_history(folder / "asv", *runs, **changes)
    lines = ("".join(f'{k} = "{v}"\n' for k, v in reason.items()) for reason in reasons)
    (folder / "accepted.toml").write_text("".join(f"[[accepted]]\n{line}" for line in lines))
    arguments = ["--history", str(folder / "asv"), "--reasons", str(folder / "accepted.toml")]
    return CliRunner().invoke(steps.main, arguments)


def test_a_step_is_listed_with_its_commit(tmp_path):
    result = run(tmp_path, UP)
    assert result.exit_code == 1
    assert f"slower: {RISE}\n" in result.output
    assert "1 rises of more than 10% without a reason, 0 with one." in result.output


@pytest.mark.parametrize(
    ("values", "changes"),
    [(UP_A_LITTLE, {}), (DOWN, {}), ([*UP, 1, 1.01, 1.02], {}), (UP, {"type": "track"})],
    ids=["a little", "down", "taken back", "accuracy"],
)
def test_what_is_no_regression(tmp_path, values, changes):
    result = run(tmp_path, values, **changes)
    assert (result.exit_code, result.output[:1]) == (0, "0")


@pytest.mark.parametrize("more", [{}, {"line": "a"}])
def test_a_reason_is_taken(tmp_path, more):
    result = run(tmp_path, UP, REASON | more)
    assert (result.exit_code, result.output[-12:]) == (0, "1 with one.\n")


@pytest.mark.parametrize(
    "other", [{"line": "b"}, {"commit": "44444444"}, {"benchmark": "toy.Toy.peakmem_fit"}]
)
def test_a_reason_of_something_else_is_none_and_needless(tmp_path, other):
    result = run(tmp_path, UP, REASON | other)
    assert result.exit_code == 1
    assert RISE in result.output
    assert "needed by nothing" in result.output


@pytest.mark.parametrize("broken", [{"reason": " "}, {"commit": "33"}, {"why": "?"}])
def test_a_reason_that_is_none(tmp_path, broken):
    result = run(tmp_path, UP, REASON | broken)
    assert isinstance(result.exception, ValueError)


def test_the_committed_history_has_no_rise_without_a_reason():
    result = CliRunner().invoke(steps.main, [])
    assert result.exit_code == 0, result.output
