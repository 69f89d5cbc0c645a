"""Which artefacts there are, a module each in the papers' folders, and what a name stands for."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.artefact import Artefact

PAPERS = {
    "cegb_2017": "Cost efficient gradient boosting (Peter, Diego, Hamprecht & Nadler, NIPS 2017)",
    "adaptive_sampling_2014": "Adaptive sampling for large scale boosting "
    "(Dubout & Fleuret, JMLR 2014)",
    "greedy_miser_2012": "The Greedy Miser (Xu, Weinberger & Chapelle, ICML 2012)",
    "cronus_2012": "Classifier cascade for minimizing feature evaluation cost "
    "(Chen, Xu, Weinberger, Chapelle & Kedem, AISTATS 2012)",
    "mddag_2012": "Fast classification using sparse decision DAGs "
    "(Benbouzid, Busa-Fekete & Kégl, ICML 2012)",
}
"""The papers of the suite, the latest first: the order of every list of them."""

NAMES = {
    "cegb_2017": "CEGB",
    "adaptive_sampling_2014": "Adaptive sampling",
    "greedy_miser_2012": "Greedy Miser",
    "cronus_2012": "Cronus",
    "mddag_2012": "MDDAG",
}
"""For each paper the name that people use."""

_NUMBERED = re.compile(r"(figure|table)\d+\w*")


class UnknownArtefact(ValueError):
    """A name that stands for no artefact; the message says which names there are."""


def short_name(paper: str) -> str:
    """Return the command line's name of a paper: ``greedy_miser_2012`` is ``miser``."""
    return paper.rsplit("_", 1)[0].rsplit("_", 1)[-1]


_DECLARING = ("figure", "table", "extra_")
"""How the names of modules begin that declare an artefact."""


def of_paper(paper: str) -> list[Artefact]:
    """Return the artefacts that the modules of a paper's folder declare."""
    folder = importlib.import_module(f"experiments.{paper}")
    names = [one.name for one in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}.")]
    declaring = [name for name in names if name.rpartition(".")[2].startswith(_DECLARING)]
    return [importlib.import_module(name).ARTEFACT for name in declaring]


def discover() -> list[Artefact]:
    """Return the artefacts of all papers."""
    papers = list(PAPERS)

    def place(artefact: Artefact) -> tuple[int, bool, str]:
        numbered = _NUMBERED.fullmatch(_short_names(artefact)[1]) is not None
        return papers.index(artefact.paper), not numbered, artefact.id

    # Imported when they are asked for: all that papers compute with takes seconds to import.
    return sorted((one for paper in papers for one in of_paper(paper)), key=place)


def _short_names(artefact: Artefact) -> tuple[str, str]:
    """Return the paper's short name, and the artefact's own without it: ``figure2``."""
    return short_name(artefact.paper), artefact.id.partition("-")[2]


@dataclass(frozen=True)
class Registry:
    """The artefacts a command can name."""

    # :func:`discover` finds those of the suite; a test passes its own
    artefacts: Sequence[Artefact]

    def resolve(self, names: Sequence[str]) -> tuple[list[Artefact], list[str]]:
        """Find what names stand for."""
        chosen, notes = set(), []
        for name in names:
            matches = [a for a in self.artefacts if self._stands_for(name, a)]
            if not matches:
                raise UnknownArtefact(self._explain(name))
            chosen.update(a.id for a in matches)
            if _NUMBERED.fullmatch(name):
                missing = [p for p in PAPERS if p not in {a.paper for a in matches}]
                if missing:
                    papers = ", ".join(short_name(paper) for paper in missing)
                    notes.append(f"{name} is not built yet for: {papers}")
        return [a for a in self.artefacts if a.id in chosen], notes

    @staticmethod
    def _stands_for(name: str, artefact: Artefact) -> bool:
        return name in ("all", artefact.id, artefact.paper, *_short_names(artefact))

    def names(self) -> list[str]:
        """Return every name that stands for something."""
        names = {"all"}
        for a in self.artefacts:
            names |= {a.id, *_short_names(a)}
        return sorted(names)

    def _explain(self, name: str) -> str:
        for paper, citation in PAPERS.items():
            if name in (paper, short_name(paper)):
                return f"Nothing of {short_name(paper)} is built yet: {citation}."
        near = difflib.get_close_matches(name, self.names(), n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "See: python -m experiments list"
        return f"There is no artefact {name!r}. {hint}"
