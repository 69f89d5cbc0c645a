"""Renders a paper's ``README.md`` and the artefacts' ``table.md`` as part of the page.

HTML in the source is shown as text. Headings are shifted so that the page has one outline, links
are rebased to where the page lies, and tables scroll in a box of their own.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_LOWEST = 6
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def render(
    text: str,
    *,
    folder: str,
    prefix: str,
    level: int,
    caption: str,
    pages: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Return markdown as HTML.

    Parameters
    ----------
    text : str
        Markdown with tables. A title (``#``) at its head is left out: the page has its own.
    folder : str
        Folder of the source, relative to the page's; relative links start from there.
    prefix : str
        Begins the ids of its headings, which must be unique on the page.
    level : int
        Level of its highest heading.
    caption : str
        Caption of a table that stands before any heading; the others take their heading's text.
    pages : Mapping of str to str
        For Markdown files, relative to the page's folder, the pages that say the same. A link to
        another Markdown file becomes the file's name: a browser shows no Markdown.

    Returns
    -------
    Markup
        Safe to be put into a page.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    _shift_headings(tokens, level, prefix)
    for token in tokens:
        if token.children:
            token.children = list(_rebased(token.children, folder, prefix, pages))
        if token.attrs.get("style") == "text-align:right":  # of thousands of fields
            token.attrs = {"class": "r"}
    framed = list(_framed(tokens, caption))
    return Markup(parser.renderer.render(framed, parser.options, {}))


def render_folded(
    text: str,
    *,
    folds: Collection[str] | None = None,
    folder: str,
    prefix: str,
    level: int,
    caption: str,
    pages: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Return markdown as :func:`render` does, with parts (``##``) of it folded."""
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    titles = [part.partition("\n")[0].strip() for part in parts]
    folded = set(titles[1:] if folds is None else folds)
    given = {"folder": folder, "prefix": prefix, "level": level, "caption": caption, "pages": pages}
    shown, open_part = [], head
    for title, part in zip(titles, parts, strict=True):
        if title not in folded:
            open_part += f"## {part}"
            continue
        shown.append(render(open_part, **given))
        open_part = ""
        own = f"{prefix}-{_slug(title)}"
        inside = given | {"prefix": own if folds is None else prefix, "caption": title}
        fold = Markup('<details class="fold">\n<summary id="{}">{}</summary>\n{}</details>\n')
        shown.append(fold.format(own, title, render(part.partition("\n")[2], **inside)))
    return Markup("").join([*shown, render(open_part, **given)])


def _shift_headings(tokens: list[Token], level: int, prefix: str) -> None:
    """Give headings the levels from `level` on, without skipping one, and ids."""
    open_levels: list[int] = []
    seen: dict[str, int] = {}
    for i, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        own = int(token.tag[1])
        open_levels = [other for other in open_levels if other < own]
        open_levels.append(own)
        shifted = min(level + len(open_levels) - 1, _LOWEST)
        token.tag = tokens[i + 2].tag = f"h{shifted}"
        slug = _slug(tokens[i + 1].content)
        seen[slug] = seen.get(slug, 0) + 1
        count = f"-{seen[slug]}" if seen[slug] > 1 else ""
        token.attrSet("id", f"{prefix}-{slug}{count}")


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "part"


def _rebased(
    children: list[Token], folder: str, prefix: str, pages: Mapping[str, str]
) -> Iterator[Token]:
    """Yield inline tokens with links that start from the page.

    A picture from the network becomes a link to it: the page loads nothing from there.
    """
    named = ""
    for child in children:
        if child.type == "link_open":
            target = _rebase(str(child.attrGet("href")), folder, prefix, pages)
            named = "" if _REMOTE.match(target) else target.partition("#")[0]
            if named.endswith(".md"):
                continue
            child.attrSet("href", target)
        elif child.type == "link_close" and named.endswith(".md"):
            yield from _file(named)
            named = ""
            continue
        elif child.type == "image":
            source = str(child.attrGet("src"))
            if _REMOTE.match(source):
                yield Token("link_open", "a", 1, attrs={"href": source})
                yield Token("text", "", 0, content=child.content or source)
                yield Token("link_close", "a", -1)
                continue
            child.attrSet("src", _rebase(source, folder, prefix, pages))
        yield child


def _file(path: str) -> Iterator[Token]:
    """Yield the name of a file of the repository, in brackets."""
    yield Token("text", "", 0, content=" (")
    yield Token("code_inline", "code", 0, content=posixpath.normpath(f"results/{path}"))
    yield Token("text", "", 0, content=")")


def _rebase(target: str, folder: str, prefix: str, pages: Mapping[str, str]) -> str:
    if _REMOTE.match(target):
        return target
    if target.startswith("#"):
        return f"#{prefix}-{target[1:]}"
    path, mark, fragment = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, path))
    if path in pages:  # its headings begin with the paper's name there
        paper = posixpath.basename(posixpath.dirname(path))
        return pages[path] + (f"#{paper}-{fragment}" if fragment and paper != ".." else "")
    return path + mark + fragment


def _framed(tokens: list[Token], caption: str) -> Iterator[Token]:
    """Yield tokens with each table in a box that scrolls, with caption and scopes."""
    table: list[Token] | None = None
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            caption = tokens[i + 1].content
        if token.type == "table_open":
            table = []
        if table is None:
            yield token
            continue
        table.append(token)
        if token.type == "table_close":
            yield from _frame(table, caption.replace("`", ""))
            table = None


def _frame(table: list[Token], caption: str) -> Iterator[Token]:
    label = escape(f"Table: {caption}")
    yield _html(f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n')
    yield table[0]
    yield _html(f'<caption class="hidden">{escape(caption)}</caption>\n')
    _set_scopes(table)
    yield from table[1:]
    yield _html("</div>\n")


def _set_scopes(table: list[Token]) -> None:
    """Mark the cells that name a column and, under an empty corner, those that name a row."""
    column, corner_is_empty, in_head = 0, False, True
    for i, token in enumerate(table):
        if token.type == "tbody_open":
            in_head = False
        elif token.type == "tr_open":
            column = 0
        elif token.type in ("th_open", "td_open"):
            empty = not table[i + 1].content
            if in_head:
                corner_is_empty |= column == 0 and empty
                if empty:
                    token.tag = table[i + 2].tag = "td"
                else:
                    token.attrSet("scope", "col")
            elif column == 0 and corner_is_empty:
                token.tag = table[i + 2].tag = "th"
                token.attrSet("scope", "row")
            column += 1


def _html(content: str) -> Token:
    return Token("html_block", "", 0, content=content)
