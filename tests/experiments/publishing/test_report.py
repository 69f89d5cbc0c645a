"""The report: what it says of published, unpublished, damaged results; that it is up to date.

How it looks in a browser is tested in ``test_report_browser.py``.
"""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.lines import Line, LinePanel, Lines
from experiments.primaries.declared import discover as declared_claims
from experiments.publishing import output, report
from experiments.publishing.report import content, notes, page
from experiments.registry import PAPERS, discover
from experiments.running import provenance
from experiments.running.run import Result
from tests.experiments import toy_artefact
from tests.experiments.primaries.test_command import CLAIMS
from tests.experiments.toy_artefact import make_toy, suite

RESULTS = provenance.ROOT / "results"


def publish(results, artefact, *, workers=2, seconds=30.0, **changes):
    """Write results of the toy as a run does, without processes and time."""
    cells = artefact.cells("laptop")
    rows, data = [], {}
    for cell in cells:
        drawn = toy_artefact.load(cell.dataset, scale="laptop", data="auto", seed=cell.seed)
        data.setdefault(cell.dataset, provenance.describe_data(drawn))
        own = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed}
        rows += [own | row for row in artefact.run_cell(cell, drawn)]
    timings = pd.DataFrame({"cell": [cell.label() for cell in cells], "seconds": seconds})
    meta = provenance.describe_run(
        artefact,
        scale="laptop",
        data_mode="auto",
        seeds=range(2),
        data=data,
        command="python -m experiments reproduce toy-figure2",
        jobs=workers,
        source_tree="0" * 64,
    )
    folder = results / artefact.id
    result = Result(pd.DataFrame(rows), timings, data, len(cells), 0)
    output.write_run(folder, artefact, result, meta | changes)
    return folder


@pytest.fixture
def papers(tmp_path):
    """Folder of the papers, with notes on the toy's."""
    (tmp_path / "papers" / "toy_2000").mkdir(parents=True)
    (tmp_path / "papers" / "toy_2000" / "README.md").write_text(
        "# Toy\n\nIntroduction.\n\n## Figure 2\n\n| | paper | ours |\n|---|---|---|\n"
        "| rows | 12 | 13 |\n\n### Deviations\n\n1. None; [claims](../../results/claims.md)."
    )
    return tmp_path / "papers"


def text_of(html):
    html = html.replace("<wbr>", "")
    words = re.sub(r"<(style|script)\b[^>]*>.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", words)


# --- the published page -----------------------------------------------------------------------


def test_the_published_page_is_up_to_date():
    """It is what `report` would write now from what is published and from the notes."""
    now = with_numbers(report.build(RESULTS, discover(), declared=declared_claims()))
    path = RESULTS / "index.html"
    before = with_numbers(path.read_text(encoding="utf-8") if path.exists() else "")
    differ = [f"< {a}\n> {b}" for a, b in zip(before.split("\n"), now.split("\n")) if a != b]  # noqa: B905
    assert before == now, "results/index.html is out of date; write it with: make report\n" + (
        "\n".join(differ[:3])
    )


PACKED = r'(?<=<script type="text/plain">)[^<]+(?=</script>)'


def with_numbers(page):
    """The page with its curves unpacked: another zlib packs them into other bytes."""
    return re.sub(PACKED, lambda text: json.dumps(content.unpacked(text.group())), page)


def test_the_guard_notices_a_changed_page(monkeypatch, tmp_path):
    (tmp_path / "index.html").write_text("<p>of yesterday</p>\n")
    monkeypatch.setattr("tests.experiments.publishing.test_report.RESULTS", tmp_path)
    with pytest.raises(AssertionError, match="out of date; write it with: make report"):
        test_the_published_page_is_up_to_date()


def published_page():
    return (RESULTS / "index.html").read_text(encoding="utf-8")


def test_the_page_is_small():
    assert len(published_page().encode()) < 1_500_000


def n_described():
    """How many effects are published, from the files alone."""
    return sum(len(pd.read_csv(path)) for path in RESULTS.glob("*/claims.csv"))


def test_the_page_counts_primary_claims():
    """By verdict, in all and of each paper; each count leads to a claim of that verdict."""
    page, declared = published_page(), declared_claims()
    total = sum(map(len, declared.values()))
    assert f"became of their {total} primary claims" in text_of(page)
    (counts,) = re.findall(r'<ul class="counts".*?</ul>', page, re.DOTALL)
    assert sum(map(int, re.findall(r"<strong>(\d+)</strong>", counts))) == total
    boards = re.findall(r'<table class="board">.*?</table>', page, re.DOTALL)
    assert len(boards) == len(declared)
    rows = dict(re.findall(r'<tr id="?(primary-[^">]+)"?>(.*?)(?=<tr|</t)', page))
    assert list(rows) == [f"primary-{one.id}" for claims in declared.values() for one in claims]
    (matrix,) = re.findall(r'<table class="matrix">.*?</table>', page, re.DOTALL)
    cells = re.findall(r'href="?#(primary-[^">]+)"?>(\d+)<span class="hidden"> ([^<]+)<', matrix)
    assert sum(int(n) for _, n, _ in cells) == total
    for first, _, verdict in cells:
        assert html.unescape(verdict) in html.unescape(rows[first])


def test_descriptions_are_below_a_fold():
    """Rows have ids, link to themselves, their artefact and its rows."""
    page = published_page()
    head, fold = page.split('<details class="described">')
    fold = fold.partition("</details>")[0]
    assert "<tr id=claim-" not in head
    claims = re.findall(r'<tr id="?(claim-[^">]+)"?>(.*?)(?=<tr|</t)', fold)
    to_panels = 0
    assert len({anchor for anchor, _ in claims}) == len(claims) == n_described()
    for anchor, row in claims:
        assert re.search(f'<a class=anchor href="?#{re.escape(anchor)}"? ', row)
        about, artefact = re.findall(r'href="?#?([a-z0-9-]+)(?:/rows\.csv)?"?>', row)[-2:]
        assert anchor.startswith(f"claim-{artefact}-")
        assert f'<h3 id="{artefact}">' in page
        if about != artefact:
            panel = about.removeprefix(f"{artefact}-panel-").replace("-prime", "&#39;")
            assert anchor.startswith(f"claim-{artefact}-{panel}-")
            assert page.count(f'<span class="panel" id="{about}" style="left:') == 1
        to_panels += about != artefact
    assert to_panels > len(claims) / 2


def test_the_contents_name_nothing_twice():
    (nav,) = re.findall(r"<nav.*?</nav>", published_page(), re.DOTALL)
    entries = re.findall(r'<a href="?([^">]+)"?>([^<]+)</a>', nav)
    assert len(entries) > len(PAPERS)
    for column in zip(*entries, strict=True):
        assert len(set(column)) == len(column)


def test_the_page_reads_as_written_by_a_person():
    """No Python among the words, no "1 seeds", no minutes that are none."""
    page = text_of(published_page())
    assert not re.search(r"{&#39;|&#39;: |\bnan\b|<!--|&lt;!--", page)
    assert not re.search(r"(?<![\d.,])1 (seeds|claims|cells|workers|minutes|commits)\b", page)
    assert not re.search(r"\d\.0\d* minutes measured|\de[+-]\d+ minutes", page)
    assert not re.search(r"(?<![\d.,])\d{4,} (features|rows|cells|of|training|test)\b", page)


# --- artefacts --------------------------------------------------------------------------------


def test_what_it_says_of_an_artefact(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path, toy)
    html = report.build(tmp_path, [toy], papers_folder=papers)
    text = text_of(html)
    picture = 'src="toy-figure2/figure.svg" width="288" height="192"'
    assert f'<img loading="lazy" {picture} alt="Dots; the best' in html
    assert f'<img {picture} alt="Toy, Figure 2: Nothing."' in html  # what the page begins with
    assert "make reproduce-toy-figure2" in text
    assert "about 0.2 minutes on 2 cores as declared; 4 minutes measured: 16 cells on 2" in text
    assert "made_up STAND-IN of ours, not the real data" in text
    assert "nearby real data cache" in text
    assert "Better is better. # section 1 made_up (STAND-IN)" in text
    assert "Better is better. # section 1 nearby (whole set)" in text
    assert "stand-in: contains what we built into it" in text
    assert "Everything else, described: 2 effects without a verdict" in text
    assert "2 effects described on this artefact." in text
    assert "No primary claim is declared yet." in text
    assert "40 / 20 / 30" in text
    assert "in coin: invented" in text
    for name in ("rows.csv", "claims.csv", "meta.json", "timings.csv"):
        assert f"<a href=toy-figure2/{name}>" in html


def test_primary_claims_come_first(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path, toy)
    page = report.build(tmp_path, [toy], declared={"toy": CLAIMS}, papers_folder=papers)
    text = text_of(page)
    assert "became of their 2 primary claims" in text
    assert "2 ? undecided" in text
    assert "? undecided not run yet: 3 repetitions of each set" in text
    assert page.index('id="board-toy"') < page.index('id="described"')
    assert text.index("Better is twenty better.") < text.index("Everything else, described")


def test_notes_are_part_of_the_page(tmp_path, papers):
    html = report.build(tmp_path, [make_toy()], papers_folder=papers)
    assert '<h4 id="toy_2000-figure-2">Figure 2</h4>' in html
    assert '<h5 id="toy_2000-deviations">Deviations</h5>' in html
    assert "<a href=../results/claims.md>" in html
    assert "<th scope=row>rows<t" in html
    assert "<h1>Toy" not in html


def test_what_is_not_published_yet(tmp_path):
    html = report.build(tmp_path, [make_toy()], papers_folder=tmp_path)
    text = text_of(html)
    assert "Not published yet. Nothing." in text
    assert "make reproduce-toy-figure2 ARGS=--publish" in text
    assert "Nothing is published yet." in text
    assert "There is no history yet. make bench" in text
    assert "<img" not in html
    for title in PAPERS.values():
        assert title.replace("&", "&amp;") in html


def test_equal_results_give_equal_bytes(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path / "a", toy)
    publish(tmp_path / "b", toy)
    report.write(tmp_path / "a", [toy], papers_folder=papers)
    report.write(tmp_path / "b", [toy], papers_folder=papers)
    assert (tmp_path / "a/index.html").read_bytes() == (tmp_path / "b/index.html").read_bytes()


def test_only_the_dashboard_links_to_asv_pages(tmp_path):
    report.write(tmp_path, [], name="index.html")
    report.write(tmp_path, [], name="dashboard.html")
    link = "<a href=../.asv/html/index.html>"
    assert link not in (tmp_path / "index.html").read_text()
    assert link in (tmp_path / "dashboard.html").read_text()


def test_a_table_instead_of_a_picture(tmp_path):
    toy = dataclasses.replace(
        make_toy(), render=lambda rows, meta: "# T\n\n| method | score |\n|---|--:|\n| a<b | 1 |\n"
    )
    publish(tmp_path, toy)
    html = report.build(tmp_path, [toy], papers_folder=tmp_path)
    assert '<caption class="hidden">Toy, Figure 2</caption>' in html
    assert "<td>a&lt;b<t" in html
    assert "Dots; the best score" in text_of(html)
    assert "<img" not in html


def test_time_of_cells_that_ran_alone(tmp_path):
    toy = make_toy(alone=True)
    publish(tmp_path, toy)
    page = text_of(report.build(tmp_path, [toy]))
    assert "8 minutes measured: 16 cells on 2 workers" in page
    publish(tmp_path, toy, workers=None)
    page = text_of(report.build(tmp_path, [toy]))
    assert "8 minutes of work in 16 cells, on a cluster" in page


def test_what_the_artefact_itself_timed_is_not_counted_twice(tmp_path):
    toy = make_toy()
    folder = publish(tmp_path, toy)
    with open(folder / "timings.csv", "a") as file:
        file.write(",999\n")
    assert "4 minutes measured: 16 cells" in text_of(report.build(tmp_path, [toy]))


# --- hostile text and damaged files -----------------------------------------------------------

HOSTILE = "<script>alert('x')</script> & \"q\" <img src=x onerror=y>"


def test_hostile_text_is_shown_as_text(tmp_path, papers):
    toy = dataclasses.replace(
        make_toy(), title=HOSTILE, shows=HOSTILE, alt=lambda rows, meta: HOSTILE
    )
    claims = toy.make_claims
    toy = dataclasses.replace(
        toy,
        make_claims=lambda rows, meta: [
            dataclasses.replace(claim, sentence=HOSTILE, place=HOSTILE)
            for claim in claims(rows, meta)
        ],
    )
    point = np.ones(1)
    line = Line(HOSTILE, point, point, point, point, "#000000")
    panel = LinePanel(HOSTILE, HOSTILE, HOSTILE, False, 2, [line], HOSTILE, 1)
    toy = dataclasses.replace(toy, lines=lambda rows, meta: Lines([panel], HOSTILE))
    publish(tmp_path, toy, command=HOSTILE)
    (papers / "toy_2000" / "README.md").write_text(
        f"# T\n\n## {HOSTILE}\n\n{HOSTILE}\n\n[link](javascript:alert(1))\n\n| {HOSTILE} |\n|---|\n"
    )
    html = report.build(tmp_path, [toy], papers_folder=papers)
    assert html.count("<script") == html.count("</script") == 2
    (data,) = re.findall(PACKED, html)
    assert content.unpacked(data)["panels"][0]["title"] == HOSTILE
    (script,) = re.findall(r"<script>\n(.*)</script>", html, re.DOTALL)
    folder = Path(report.__file__).parent
    assert script == "".join((folder / name).read_text(encoding="utf-8") for name in page.SCRIPTS)
    assert not re.search(r"<[^>]*\sonerror", re.sub(r'"[^"]*"', '""', html))
    links = re.findall(r'href="?([^">]*)', html)
    assert links
    assert not any(link.startswith("javascript:") for link in links)
    assert html.count("&lt;script&gt;") > 10


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("meta.json", lambda text: text[:-9], "cannot be read"),
        ("meta.json", lambda text: text.replace('"seeds"', '"sedes"'), "lacks 'seeds'"),
        ("meta.json", lambda text: text.replace('"kind"', '"kynd"'), "'kind' of the data set"),
        ("rows.csv", None, "rows.csv is missing"),
        ("claims.csv", None, "claims.csv is missing"),
        ("claims.csv", lambda text: text.replace("note", "verdict"), "claims.csv: ValueError"),
        ("timings.csv", None, "timings.csv is missing"),
        ("timings.csv", lambda text: text.replace("30.0", "fast"), "timings.csv: ValueError"),
        ("figure.svg", None, "either figure.svg or table.md"),
        ("figure.svg", lambda text: "<svg/>", "does not state its size"),
        ("figure.svg", lambda text: text[: len(text) // 2], "figure.svg has no end"),
        ("claims.csv", lambda text: text[: text[:-1].rindex("\n") + 1], "other claims"),
    ],
)
def test_damaged_results_are_named(tmp_path, capsys, name, damage, message):
    path = publish(tmp_path, make_toy()) / name
    if damage is None:
        path.unlink()
    else:
        text = path.read_text(encoding="utf-8")
        assert damage(text) != text
        path.write_text(damage(text), encoding="utf-8")
    assert main(["report"], suite(tmp_path)) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "publish anew" in error
    assert "toy-figure2" in error
    assert not (tmp_path / "index.html").exists()


def test_the_command(tmp_path, capsys):
    publish(tmp_path, make_toy())
    assert main(["report"], suite(tmp_path)) == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "index.html").read_text().startswith("<!DOCTYPE html>")
    assert main(["report", "--dashboard"], suite(tmp_path)) == 0
    assert (tmp_path / "dashboard.html").exists()
    assert main(["report", "nonsense"], suite(tmp_path)) == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.03, "less than a second"),
        (4.4, "4.4 seconds"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (90, "1.5 minutes"),
        (7980, "133 minutes"),
        (90000, "1,500 minutes"),
    ],
)
def test_times_as_text(seconds, text):
    assert content.duration(seconds) == text


def test_effects_as_text():
    claim = {"effect": -0.01234567, "low": -0.1, "high": 0.05, "unit": "log-loss"}
    assert content._effect(claim) == ("−0.0123 log-loss", "[−0.1000, +0.0500]")
    nothing = float("nan")
    assert content._effect(claim | {"low": nothing, "high": nothing})[1] == ""
    assert content._effect(claim | {"effect": nothing}) == ("no effect measured", "")


# --- notes ------------------------------------------------------------------------------------


def rendered(text):
    return notes.render(text, folder="../experiments/toy", prefix="toy", level=3, caption="first")


def test_headings_are_shifted_and_none_is_skipped():
    html = rendered("# Title\n\n## A\n\n#### B\n\n##### C\n\n### D\n\n## A\n")
    assert "Title" not in html
    found = re.findall(r'<(h\d) id="([^"]+)">(.)</(h\d)>', html)
    assert [level for level, *_ in found] == ["h3", "h4", "h5", "h4", "h3"]
    assert all(opened == closed for opened, _, _, closed in found)
    assert [name for _, name, *_ in found] == ["toy-a", "toy-b", "toy-c", "toy-d", "toy-a-2"]


def test_links_start_from_the_page():
    html = rendered("[a](b.md#c) [d](../../results/e) [f](#g) [h](https://i.org) ![j](k.png)")
    assert re.findall(r'(?:href|src)="([^"]+)"', html) == [
        *("../experiments/toy/b.md#c", "../results/e", "#toy-g", "https://i.org"),
        "../experiments/toy/k.png",
    ]


def test_a_picture_from_the_network_becomes_a_link():
    html = rendered("![words](https://i.org/p.png) ![w](//i.org/p.png)")
    assert "<img" not in html
    assert '<a href="https://i.org/p.png">words</a>' in html


def test_tables_have_captions_and_scopes():
    html = rendered("| a | b |\n|---|---|\n| 1 | 2 |\n\n## `H`\n\n| | b |\n|---|---|\n| r | 2 |\n")
    assert re.findall(r"<caption[^>]*>(.*?)</caption>", html) == ["first", "H"]
    assert html.count('scope="col"') == 3
    assert re.findall(r'<th scope="row">(.)</th>', html) == ["r"]
    assert html.count('tabindex="0"') == html.count("</div>") == 2
