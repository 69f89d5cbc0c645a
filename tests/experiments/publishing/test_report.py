"""The report: what it says of published, unpublished, damaged results.

The published pages are tested in ``test_report_pages.py``, in a browser in
``test_report_browser.py``.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pandas as pd
import pytest

from experiments.cli import main
from experiments.publishing import output, report
from experiments.publishing.report import content, notes, page
from experiments.registry import PAPERS
from experiments.running import provenance
from experiments.running.run import Result
from tests.experiments import toy_artefact
from tests.experiments.claims.test_command import CLAIMS
from tests.experiments.publishing.test_report_pages import checked, text_of
from tests.experiments.toy_artefact import make_toy, suite

TOY = "toy.html"


def publish(results, artefact, *, workers=2, seconds=30.0, **changes):
    """Write results of the toy as a run does, without processes and time."""
    cells = artefact.cells("laptop")
    rows, data = [], {}
    for cell in cells:
        drawn = toy_artefact.load(cell.dataset, scale="laptop", data="auto", seed=cell.seed)
        data.setdefault(cell.dataset, provenance.describe_data(drawn))
        own = {"dataset": cell.dataset, "algorithm": cell.algorithm, "seed": cell.seed}
        rows += [own | row for row in artefact.run_cell(cell, drawn)]
    timings = pd.DataFrame(
        {
            "dataset": [cell.dataset for cell in cells],
            "algorithm": [cell.algorithm for cell in cells],
            "seed": [cell.seed for cell in cells],
            "cell": [cell.label() for cell in cells],
            "seconds": seconds,
        }
    )
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


# --- artefacts --------------------------------------------------------------------------------


def test_what_it_says_of_an_artefact(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path, toy)
    pages = report.build(tmp_path, [toy], papers_folder=papers)
    html = pages[TOY]
    text = text_of(html)
    picture = 'src="toy-figure2/figure.png" width="288" height="192"'
    assert f'<img loading="lazy" {picture} alt="Toy, Figure 2. Nothing."' in html
    assert f'<img {picture} alt="Toy, Figure 2: Nothing."' in pages["index.html"]
    assert "make reproduce-toy-figure2" in text
    assert "about 0.2 minutes on 2 cores as declared; 4 minutes measured: 16 cells on 2" in text
    assert "made_up simulation cache" in text
    assert "nearby real data cache" in text
    assert "No preregistered claim is declared yet." in text
    assert "40 / 20 / 30" in text
    assert "in coin: invented" in text
    for name in ("rows.csv", "meta.json", "timings.csv"):
        assert f'<a href="toy-figure2/{name}">' in html
    for one in pages.values():
        assert checked(one).faults == []


def test_claims_come_first(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path, toy)
    pages = report.build(tmp_path, [toy], declared={"toy": CLAIMS}, papers_folder=papers)
    assert "? 2 undecided" in text_of(pages["index.html"])
    text = text_of(pages[TOY])
    assert "? undecided not run yet: 3 repetitions of each set" in text
    assert pages[TOY].index('id="board-toy"') < pages[TOY].index("<article")


def test_notes_are_part_of_the_page(tmp_path, papers):
    html = report.build(tmp_path, [make_toy()], papers_folder=papers)[TOY]
    assert '<h3 id="toy_2000-figure-2">Figure 2</h3>' in html
    assert '<h4 id="toy_2000-deviations">Deviations</h4>' in html
    assert '<a href="index.html">' in html
    assert '<th scope="row">rows</th>' in html
    assert "<h1>Toy" not in html


def test_the_answer_in_words_stands_before_the_figures(tmp_path, papers):
    path = papers / "toy_2000" / "README.md"
    path.write_text(
        "# Toy\n\n## Does it hold?\n\nYes, it does.\n\n## What became of its claims\n\n"
        "<!-- scoreboard -->\n| a table |\n|---|\n<!-- end of scoreboard -->\n\nIn decades.\n\n"
        "## Paper and ours\n\nThe same.\n"
    )
    text = text_of(report.build(tmp_path, [make_toy()], papers_folder=papers)[TOY])
    parts = ("Yes, it does.", "In decades.", "Figures and tables", "Not published yet", "The same.")
    places = [text.rindex(part) for part in parts]
    assert places == sorted(places)
    assert "a table" not in text


def test_what_is_not_published_yet(tmp_path):
    pages = report.build(tmp_path, [make_toy()], papers_folder=tmp_path)
    text = text_of(pages[TOY])
    assert "Not published yet. Nothing." in text
    assert "make reproduce-toy-figure2 ARGS=--publish" in text
    assert "Nothing is published yet." in text_of(pages["index.html"])
    for html in pages.values():
        # The page of speed shows the picture of docs/speed.md, whatever is published.
        assert "<img" not in html.replace('<img src="../docs/scale.svg"', "")
        assert checked(html).faults == []
    for title in PAPERS.values():
        assert title.replace("&", "&amp;") in pages["index.html"]


def test_equal_results_give_equal_bytes(tmp_path, papers):
    toy = make_toy()
    publish(tmp_path / "a", toy)
    publish(tmp_path / "b", toy)
    written = report.write(tmp_path / "a", [toy], papers_folder=papers)
    report.write(tmp_path / "b", [toy], papers_folder=papers)
    others = ["speed.html", "own-data.html", "glossary.html"]
    assert [path.name for path in written] == ["index.html", TOY, *others]
    for path in written:
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_table_instead_of_a_picture(tmp_path):
    tables = "# T\n\n| method | score |\n|---|--:|\n| a<b | 1 |\n\n## A\n\nOne.\n\n## B<\n\nTwo.\n"
    toy = dataclasses.replace(make_toy(), render=lambda rows, meta: tables)
    publish(tmp_path, toy)
    html = report.build(tmp_path, [toy], papers_folder=tmp_path)[TOY]
    assert '<caption class="hidden">Toy, Figure 2</caption>' in html
    assert "<td>a&lt;b</td>" in html
    assert '<h4 id="toy-figure2-a">A</h4>' in html
    fold = '<details class="fold">\n<summary id="toy-figure2-b">B&lt;</summary>\n<p>Two.</p>\n'
    assert f"{fold}</details>" in html
    assert "<img" not in html


def test_panels_with_seeds_of_their_own_are_no_more_repetitions(tmp_path):
    plain = make_toy()

    def make_cells(scale, seeds):
        for cell in plain.make_cells(scale, seeds):
            seed = cell.seed + 5 * (cell.dataset == "nearby")
            yield dataclasses.replace(cell, seed=seed)

    toy = dataclasses.replace(plain, make_cells=lambda *given: list(make_cells(*given)))
    publish(tmp_path, toy, seeds=[0, 1, 5, 6])
    page = text_of(report.build(tmp_path, [toy])[TOY])
    assert re.search(r"2 repetitions ?\(seeds: 0, 1, 5, 6\)", page)


def test_time_of_cells_that_ran_alone(tmp_path):
    toy = make_toy(alone=True)
    publish(tmp_path, toy)
    page = text_of(report.build(tmp_path, [toy])[TOY])
    assert "8 minutes measured: 16 cells on 2 workers" in page
    publish(tmp_path, toy, workers=None)
    page = text_of(report.build(tmp_path, [toy])[TOY])
    assert "8 minutes of work in 16 cells, on a cluster" in page


def test_a_run_takes_as_long_as_its_longest_cell(tmp_path):
    toy = make_toy()
    publish(tmp_path, toy, seconds=[3.0] * 15 + [600.0])
    assert "10 minutes measured: 16 cells" in text_of(report.build(tmp_path, [toy])[TOY])


def test_what_the_artefact_itself_timed_is_not_counted_twice(tmp_path):
    toy = make_toy()
    folder = publish(tmp_path, toy)
    with open(folder / "timings.csv", "a") as file:
        file.write("toy,cegb,0,,999\n")
    assert "4 minutes measured: 16 cells" in text_of(report.build(tmp_path, [toy])[TOY])


# --- hostile text and damaged files -----------------------------------------------------------

HOSTILE = "<script>alert('x')</script> & \"q\" <img src=x onerror=y>"


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("meta.json", lambda text: text[:-9], "cannot be read"),
        ("meta.json", lambda text: text.replace('"seeds"', '"sedes"'), "lacks 'seeds'"),
        ("meta.json", lambda text: text.replace('"kind"', '"kynd"'), "'kind' of the data set"),
        ("rows.csv", None, "rows.csv is missing"),
        ("timings.csv", None, "timings.csv is missing"),
        ("timings.csv", lambda text: text.replace("30.0", "fast"), "timings.csv: ValueError"),
        ("figure.png", None, "either figure.png or table.md"),
        ("figure.png", lambda data: b"<svg/>", "figure.png: "),
        ("figure.png", lambda data: data[: len(data) // 2], "figure.png: "),
    ],
)
def test_damaged_results_are_named(tmp_path, capsys, name, damage, message):
    path = publish(tmp_path, make_toy()) / name
    if damage is None:
        path.unlink()
    else:
        content = path.read_bytes() if name.endswith("png") else path.read_text("utf-8")
        damaged = damage(content)
        assert damaged != content
        path.write_bytes(damaged if name.endswith("png") else damaged.encode())
    assert main(["report"], suite(tmp_path)) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "publish anew" in error
    assert "toy-figure2" in error
    assert not list(tmp_path.glob("*.html"))


def test_the_command(tmp_path, capsys):
    publish(tmp_path, make_toy())
    assert main(["report"], suite(tmp_path)) == 0
    assert "index.html" in capsys.readouterr().out
    assert (tmp_path / "index.html").read_text().startswith("<!DOCTYPE html>")
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
    html = rendered("[a](b.csv#c) [d](../../results/e) [f](#g) [h](https://i.org) ![j](k.png)")
    assert re.findall(r'(?:href|src)="([^"]+)"', html) == [
        *("../experiments/toy/b.csv#c", "../results/e", "#toy-g", "https://i.org"),
        "../experiments/toy/k.png",
    ]


def test_a_link_to_markdown_leads_to_its_page_or_names_the_file():
    text = "[a](../other/README.md#x-y), [b](HISTORY.md#old), [c](https://i.org/d.md)."
    pages = {"../experiments/other/README.md": "other.html"}
    html = notes.render(
        text, folder="../experiments/toy", prefix="toy", level=3, caption="c", pages=pages
    )
    assert html == (
        '<p><a href="other.html#other-x-y">a</a>, b (<code>experiments/toy/HISTORY.md</code>), '
        '<a href="https://i.org/d.md">c</a>.</p>\n'
    )


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


def test_hostile_text_is_shown_as_text(tmp_path, papers):
    toy = dataclasses.replace(make_toy(), title=HOSTILE, shows=HOSTILE)
    publish(tmp_path, toy, command=HOSTILE)
    (papers / "toy_2000" / "README.md").write_text(
        f"# T\n\n## {HOSTILE}\n\n{HOSTILE}\n\n[link](javascript:alert(1))\n\n| {HOSTILE} |\n|---|\n"
    )
    pages = report.build(tmp_path, [toy], papers_folder=papers)
    n_scripts = {TOY: 1}
    templates = {TOY: "paper.html"}
    folder = Path(report.__file__).parent
    for name, html in pages.items():
        assert html.count("<script") == html.count("</script") == n_scripts.get(name, 0)
        if name not in n_scripts:
            assert checked(html).faults == []
            continue
        (script,) = re.findall(r"<script>\n(.*)</script>", html, re.DOTALL)
        files = page.SCRIPTS[templates.get(name, name)]
        assert script == "".join((folder / one).read_text(encoding="utf-8") for one in files)
        assert not re.search(r"<[^>]*\sonerror", re.sub(r'"[^"]*"', '""', html))
        assert checked(html).faults == []
        assert not any(link.startswith("javascript:") for link in checked(html).links)
    assert sum(html.count("&lt;script&gt;") for html in pages.values()) > 10
