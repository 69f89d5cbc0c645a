"""The site's style and navigation, for the report's own pages and for the leaderboard's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

FOLDER = Path(__file__).resolve().parent


class Linked(NamedTuple):
    """A paper as the navigation names it."""

    page: str
    name: str


def site(papers: Sequence[Any], *folders: Path) -> jinja2.Environment:
    """Give the environment of templates, also of those in further folders."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER / "templates", *folders]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    environment.globals |= {"style": Markup(style), "papers": papers}
    return environment
