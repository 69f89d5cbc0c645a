"""The published pages: up to date, valid HTML, no dead link, every claim in its place."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from experiments import registry
from experiments.claims import verdicts
from experiments.claims.declared import discover as declared_claims
from experiments.publishing import report
from experiments.publishing.report import papers
from experiments.registry import PAPERS, discover, short_name
from experiments.running import provenance

RESULTS = provenance.ROOT / "results"
NAMES = ("index.html", *(f"{short_name(paper)}.html" for paper in PAPERS))
ALL = (*NAMES, "speed.html", "own-data.html", "glossary.html")


def published(name):
    return (RESULTS / name).read_text(encoding="utf-8")


def text_of(page):
    page = re.sub(r'<a class="term"[^>]*>([^<]*)</a>|<wbr>', r"\1", page)
    words = re.sub(r"<(style|script)\b[^>]*>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", words)


# --- up to date -------------------------------------------------------------------------------


def test_the_published_pages_are_up_to_date():
    """They are what `report` would write now from what is published and from the notes."""
    now = report.build(RESULTS, discover(), declared=declared_claims())
    there = {path.name for path in RESULTS.glob("*.html")} - {"leaderboard.html"}
    assert there == set(now), "results/*.html: write them with make report, remove others"
    for name, text in now.items():
        before, after = published(name), text
        lines = zip(before.split("\n"), after.split("\n"))  # noqa: B905
        differ = [f"< {a}\n> {b}" for a, b in lines if a != b]
        assert before == after, f"results/{name} is out of date; write it with: make report\n" + (
            "\n".join(differ[:3])
        )


@pytest.mark.parametrize("present", [ALL, ALL[:-1]], ids=["another page", "one less"])
def test_the_guard_notices_changed_pages(monkeypatch, tmp_path, present):
    for name in present:
        (tmp_path / name).write_text("<p>of yesterday</p>\n")
    here = "tests.experiments.publishing.test_report_pages"
    monkeypatch.setattr(f"{here}.RESULTS", tmp_path)
    monkeypatch.setattr(report, "build", lambda *_, **__: dict.fromkeys(ALL, "<p>of today</p>"))
    with pytest.raises(AssertionError, match="make report"):
        test_the_published_pages_are_up_to_date()


@pytest.mark.parametrize("name", ALL)
def test_a_page_can_be_committed(name):
    """A commit takes no file of a megabyte; length is watched where the page is looked at."""
    assert len(published(name).encode()) < 1_000_000


# --- valid ------------------------------------------------------------------------------------

VOID = {"meta", "link", "img", "br", "wbr", "input", "hr"}
DRAWN = {"path", "circle", "rect", "line", "polyline", "text", "title", "g", "svg"}


class Checker(HTMLParser):
    """Notes tags that are not closed in their order and values without quotation marks."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.ids, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.note(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.note(attrs)
        if tag not in VOID | DRAWN:
            self.faults.append(f"<{tag}/>")

    def note(self, attrs):
        raw = self.get_starttag_text()
        without_values = re.sub(r'="[^"]*"', "", raw)
        if "=" in without_values or "'" in without_values:
            self.faults.append(raw[:80])
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")


def checked(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    checker.faults += [f"<{tag}> is open" for tag in checker.open]
    return checker


@pytest.fixture(scope="module")
def pages():
    return {name: checked(published(name)) for name in ALL}


@pytest.mark.parametrize("name", ALL)
def test_every_tag_is_closed_and_every_value_quoted(pages, name):
    assert pages[name].faults == []
    assert len(set(pages[name].ids)) == len(pages[name].ids)
    assert not re.search(r"<p>\s*<(p|ul|table|div)\b", published(name))


@pytest.mark.parametrize(
    "page", ["<p>a", "<p><b>a</p></b>", "<p class=a>b</p>", "<p class='a'>b</p>", "</p>", "<p/>"]
)
def test_what_is_not_valid_is_noticed(page):
    assert checked(page).faults


def dead_links(pages):
    dead = []
    for name, page in pages.items():
        for link in page.links:
            path, _, fragment = link.partition("#")
            if re.match(r"(https?|data|mailto):", link):
                continue
            path = path or name
            if (
                not (RESULTS / path).exists()
                or path.endswith(".md")
                or (fragment and "=" not in fragment and fragment not in pages[path].ids)
            ):
                dead.append(f"{name}: {link}")
    return dead


def test_no_link_is_dead_and_none_leads_to_markdown(pages):
    assert sum(len(page.links) for page in pages.values()) > 500
    assert dead_links(pages) == []
    some = '<a href="nowhere.html">a</a><a href="#b">b</a><a href="claims.md">c</a>'
    assert len(dead_links({"index.html": checked(some)})) == 3


# --- claims -----------------------------------------------------------------------------------


def test_the_overview_has_a_card_for_each_paper():
    """The name people use, the answer, the counts, which add up, and the picture."""
    assert set(papers.FACES) == set(PAPERS)
    page, declared = published("index.html"), declared_claims()
    cards = re.findall(r'<li class="card">.*?</p>\n</li>', page, re.DOTALL)
    *cards, of_all = cards
    assert '<h3><a href="leaderboard.html">' in of_all
    for (paper, face), card in zip(papers.FACES.items(), cards, strict=True):
        short, name = short_name(paper), registry.NAMES[paper]
        assert f'<h3><a href="{short}.html">{name}</a></h3>' in card
        assert f'src="{face}/figure.png"' in card
        counts = [int(n) for n in re.findall(r"<strong>(\d+)</strong>", card)]
        assert sum(counts) == len(declared[short])
        said = re.findall(r'<p class="answer">(.*?)</p>', card)
        assert 1 <= len(said) <= 4
        for one in said:
            assert re.search(r"[+−][\d.]+ [a-zA-Z]", one), "a number and its unit"
            assert f'<p class="answer">{one}</p>' in published(f"{short}.html")


@pytest.mark.parametrize("paper", declared_claims())
def test_a_papers_page_begins_with_its_claims(paper):
    """All of them, the decided ones first, before figures and notes."""
    page = published(f"{paper}.html")
    rows = re.findall(r'<tr id="primary-([^"]+)">\s*<td class="verdict ([^"]+)"', page)
    assert {claim for claim, _ in rows} == {one.id for one in declared_claims()[paper]}
    slugs = [re.sub("[^a-z]+", "-", one).strip("-") for one in verdicts.VERDICTS]
    order = [slugs.index(verdict) for _, verdict in rows]
    assert order == sorted(order)
    assert page.index('<table class="board">') < page.index("<article")
    assert page.index("</article>") < page.index(
        'class="notes" aria-labelledby="' + paper_of(paper)
    )


def paper_of(short):
    (paper,) = [one for one in PAPERS if short_name(one) == short]
    return f"{paper}-notes"


@pytest.mark.parametrize("name", ALL)
def test_the_navigation_names_nothing_twice(name):
    (nav,) = re.findall(r"<nav.*?</nav>", published(name), re.DOTALL)
    entries = re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', nav)
    assert len(entries) > len(PAPERS)
    for column in zip(*entries, strict=True):
        assert len(set(column)) == len(column)
    assert f'<a href="{name}" aria-current="page">' in nav


@pytest.mark.parametrize("name", ALL)
def test_a_page_reads_as_written_by_a_person(name):
    """No Python among the words, no "1 seeds", no minutes that are none."""
    page = text_of(published(name))
    assert not re.search(r"{&#39;|&#39;: |\bnan\b|<!--|&lt;!--", page)
    assert not re.search(r"(?<![\d.,])1 (seeds|claims|cells|workers|minutes|commits)\b", page)
    assert not re.search(r"\d\.0\d* minutes measured|\de[+-]\d+ minutes", page)
    assert not re.search(r"(?<![\d.,])\d{4,} (features|rows|cells|of|training|test)\b", page)
