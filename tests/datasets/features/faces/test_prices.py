"""What the features of windows of faces cost."""

from __future__ import annotations

import numpy as np
import pytest

from datasets import cbcl_windows
from datasets.features import __main__ as command
from datasets.features import measured_times
from datasets.features.faces import prices
from datasets.features.faces.families import FAMILIES, N_FEATURES
from tests.datasets.face_archives import MIRROR, contents, packed
from tests.datasets.picture_archives import put


def test_prices_add_up_to_what_was_measured():
    measured, table = prices.prices(), prices.read()
    first = 0
    for row in table:
        own = measured.features[first : first + int(row["features"])]
        difference = float(row["whole_ms"]) - float(row["shared_ms"])
        assert own.sum() == pytest.approx(difference, rel=1e-12)
        assert len(np.unique(own)) == 1
        first += int(row["features"])
    assert first == N_FEATURES
    haar = [float(row["shared_ms"]) for row in table if row["family"].startswith("haar")]
    assert measured.groups[0] == np.median(haar)


def test_remeasuring_replaces_the_table(cache, monkeypatch, few_faces, tmp_path, capsys):
    put(monkeypatch, cache, cbcl_windows, MIRROR, packed(contents()))
    monkeypatch.setattr(prices, "TABLE", tmp_path / "milliseconds.csv")
    monkeypatch.setattr(measured_times, "processor", lambda: "Abacus")
    monkeypatch.setattr(prices, "REPETITIONS", 3)
    monkeypatch.setattr(measured_times, "LEAST_SECONDS", 1e-3)
    assert command.main(["--remeasure", "cbcl"]) == 0
    assert "Abacus" in capsys.readouterr().out
    assert [row["family"] for row in prices.read()] == [family.name for family in FAMILIES]
    assert {row["block"] for row in prices.read()} == {"30"}


def test_remeasuring_needs_real_windows(unreachable, capsys):
    before = prices.TABLE.read_bytes()
    assert command.main(["--remeasure", "cbcl"]) == 3
    assert "cbcl.mit.edu" in capsys.readouterr().err
    assert prices.TABLE.read_bytes() == before


def test_damaged_price_tables_are_refused(tmp_path):
    text = prices.TABLE.read_text()
    path = tmp_path / "milliseconds.csv"
    line = text.splitlines()[1].split(",")
    for place, wrong in ((2, "nan"), (2, line[3]), (3, "-1"), (1, "x"), (3, "inf"), (1, "0")):
        changed = [*line[:place], wrong, *line[place + 1 :]]
        path.write_text(text.replace(",".join(line), ",".join(changed)))
        with pytest.raises(ValueError, match=r"haar_two_across.*(no positive|as long)"):
            prices.read(path)
    path.write_text("family,ms\n")
    with pytest.raises(ValueError, match="columns are"):
        prices.read(path)
    with pytest.raises(ValueError, match=r"no measured time.*--remeasure"):
        prices.prices(prices.read()[1:])


def test_least_time_is_that_of_the_work():
    with_more, with_less = np.zeros(100_000), np.zeros(1_000)
    less, more = measured_times.least_seconds(with_less.sum, with_more.sum, repetitions=10)
    assert 0 < less < more
