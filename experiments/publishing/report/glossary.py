"""Marks the words of ``docs/glossary.md`` on the pages, which show their meaning on hover.

The file is the one source: its table is the page ``glossary.html``, and a word that is marked on
another page has the meaning as its title and leads to that page, so that nothing needs a script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from experiments.running.provenance import ROOT

FILE = ROOT / "docs" / "glossary.md"
PAGE = "glossary.html"

_UNMARKED = re.compile(
    r"a|button|caption|cite|code|dt|h[1-6]|label|pre|script|select|style|summary|svg|textarea"
)
"""Elements in which nothing is marked: links, headings, quotes, what is typed, pictures. Nor is it
in a paper's answer, which is the same on two pages."""


@dataclass(frozen=True)
class Term:
    """A line of the glossary."""

    names: tuple[str, ...]  # The word, and others that are explained with it
    meaning: str

    @property
    def anchor(self) -> str:
        """Its id on the glossary's page."""
        return "word-" + re.sub(r"\W+", "-", self.names[0].lower()).strip("-")


def read(path: Path = FILE) -> list[Term]:
    """Return the lines of the file's table."""
    lines = re.findall(r"^\| (.+?) \| (.+?) \|$", path.read_text(encoding="utf-8"), re.MULTILINE)
    terms = [Term(tuple(words.split(", ")), meaning) for words, meaning in lines[1:]]
    names = [name for term in terms for name in term.names]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{path} has no table of words, or one word twice.")
    return terms


def marked(page: str, terms: Sequence[Term]) -> str:
    """Mark each word in the main part of a page where it first stands in a section."""
    before, main, rest = page.partition("<main")
    inside, end, after = rest.partition("</main>")
    return before + main + _marked(inside, terms) + end + after


def _marked(text: str, terms: Sequence[Term]) -> str:
    known = {name.lower(): term for term in terms for name in term.names}
    longest_first = sorted(map(re.escape, known), key=len, reverse=True)
    word = re.compile(rf"(?<![\w-])({'|'.join(longest_first)})(s?)(?![\w²-])", re.IGNORECASE)
    seen: set[str] = set()

    def mark(found: re.Match) -> str:
        term = known[found.group(1).lower()]
        if term.anchor in seen:
            return found.group()
        seen.add(term.anchor)
        return Markup('<a class="term" href="{}#{}" title="{}">{}</a>').format(
            PAGE, term.anchor, term.meaning, Markup(found.group())
        )

    symbols = {term.anchor for term in terms if len(term.names[0]) == 1}
    parts, within = re.split(r"(<[^>]*>)", text), ""
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = part if within else word.sub(mark, part)
            continue
        slash, name = re.match(r"<(/?)([\w-]*)", part).groups()
        if name == "section":
            seen &= symbols
        if slash:
            within = "" if name == within else within
        elif not within and (_UNMARKED.fullmatch(name) or 'class="answer"' in part):
            within = name
    return "".join(parts)


def explained(terms: Sequence[Term]) -> list[tuple[str, str, Markup]]:
    """Return for the glossary's page each line's id, words and meaning."""
    return [(term.anchor, ", ".join(term.names), escape(term.meaning)) for term in terms]
