"""The glossary: one source, short, and every word of it is explained on a page where it stands."""

from __future__ import annotations

import html
import re

import pytest

from experiments.publishing.report import glossary
from tests.experiments.publishing.test_report_pages import ALL, published

TERMS = [
    glossary.Term(("λ",), "Weight of a cost."),
    glossary.Term(("cell",), "A piece of work."),
    glossary.Term(("deep", "shallow"), "Kinds of trees."),
]


def link(term, text):
    return f'<a class="term" href="glossary.html#{term.anchor}" title="{term.meaning}">{text}</a>'


def marked(body):
    page = glossary.marked(f"<p>cell</p><main>{body}</main><p>cell</p>", TERMS)
    return page.removeprefix("<p>cell</p><main>").removesuffix("</main><p>cell</p>")


def test_a_word_is_marked_where_it_first_stands_in_a_section():
    part = "<section><p>A cell and two cells.</p></section>"
    done = f"<section><p>A {link(TERMS[1], 'cell')} and two cells.</p></section>"
    assert marked(part + part) == done + done
    assert marked("<p>Cells</p>") == f"<p>{link(TERMS[1], 'Cells')}</p>"
    assert marked("<p>shallow</p>") == f"<p>{link(TERMS[2], 'shallow')}</p>"


def test_a_symbol_is_marked_once_on_a_page():
    part = "<section><p>λ = 1, λ²</p></section>"
    once = f"<section><p>{link(TERMS[0], 'λ')} = 1, λ²</p></section>"
    assert marked(part + part) == once + part


@pytest.mark.parametrize(
    "body",
    [
        "<h2>cell</h2>",
        '<a href="#x">a <b>cell</b></a>',
        "<cite>deep <i>cell</i></cite>",
        '<p class="answer">cell</p>',
        '<img alt="cell">',
        "<p>excellent multi-cell deepest λ²</p>",
    ],
)
def test_what_is_not_marked(body):
    assert marked(body) == body
    assert marked(f"{body}<p>cell</p>") == f"{body}<p>{link(TERMS[1], 'cell')}</p>"


def test_a_word_that_is_explained_twice_is_refused(tmp_path):
    path = tmp_path / "glossary.md"
    path.write_text("| word | meaning |\n|---|---|\n| a, b | A. |\n| b | B. |\n")
    with pytest.raises(ValueError, match="one word twice"):
        glossary.read(path)
    path.write_text("Nothing.\n")
    with pytest.raises(ValueError, match="no table"):
        glossary.read(path)


def test_the_published_pages_explain_every_word_as_the_file_does():
    terms = {term.anchor: term for term in glossary.read()}
    explained = set()
    pattern = r'<a class="term" href="glossary\.html#([^"]+)" title="([^"]+)">([^<]+)</a>'
    for name in ALL:
        for anchor, title, word in re.findall(pattern, published(name)):
            assert html.unescape(title) == terms[anchor].meaning
            assert word.lower().removesuffix("s") in [
                one.lower().removesuffix("s") for one in terms[anchor].names
            ]
            explained.add(anchor)
    assert explained == set(terms)
