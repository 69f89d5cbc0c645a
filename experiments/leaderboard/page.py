"""The leaderboard's page, and its card on the overview: from the published files alone."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from datasets.sources.storage import write_atomically
from experiments.leaderboard import answers, pictures, ratings
from experiments.leaderboard.kept import CONSTANT
from experiments.leaderboard.nested import nested
from experiments.leaderboard.problems import METRICS
from experiments.leaderboard.questions import ABLATION
from experiments.looks import look_of, name_of
from experiments.publishing.report.site import Linked, site
from experiments.registry import NAMES, short_name
from experiments.style import house_style, picture_bytes

UNITS = {
    "dollars": "dollars",
    "milliseconds": "ms",
    "seconds": "CPU seconds",
    "published": "published relative cost",
    "table": "our relative cost, by kind of feature",
    "uniform": "features",
}


RANKINGS = ("mq2008", "yahoo_ltr_sample", "mslr", "clueweb09")

FAMILIES = {
    "our boosted trees": ("cegb", "greedy_miser", "gbrt", "early_exit"),
    "features chosen first": ("priced_subset", "blind_subset"),
    "forests and the optimal tree": ("budget_prune", "budget_forest", "streed"),
    "CatBoost": ("catboost", "catboost_first_use", "catboost_per_object"),
    "LightGBM": ("lightgbm", "lightgbm_cegb", "lightgbm_early_stop", "lightgbm_lambdarank"),
    "libraries without prices": ("lightgbm", "xgboost", "catboost", "hist_gradient_boosting"),
    "cascades": (
        *("cronus", "raykar_cascade", "and_or_cascade"),
        *("viola_jones", "fcboost", "bourdev_cascade"),
    ),
    "decision DAGs and stumps": ("mddag", "mddag_stumps", "adaboost_mh"),
}
"""Methods that are coloured together; the first family is, where no script runs."""

_SALT = "leaderboard"
_NEAR = 0.99  # of the best score: "within 1 %"


def read(folder: Path) -> dict[str, pd.DataFrame]:
    """Read what was published, by the names of the files without their endings."""
    names = ("scores", "areas", "ranking", "skipped", "lost")
    return {name: pd.read_csv(folder / f"{name}.csv") for name in names}


def cheapest_near_best(scores: pd.DataFrame) -> pd.DataFrame:
    """Give for each field the method that costs least among those within 1 % of the best score.

    Read off the test rows, so that it is a description of them and no promise.
    """
    lines = []
    for (dataset, prices), field in scores.groupby(["dataset", "prices"], sort=True):
        best = field["score"].max()
        near = field[(field["score"] >= _NEAR * best) & (field["method"] != CONSTANT)]
        if near.empty:
            continue
        line = near.sort_values(["cost", "score"], ascending=[True, False]).iloc[0]
        found = (dataset, prices, line["method"], line["score"], line["cost"], best)
        lines.append(found)
    return pd.DataFrame(lines, columns=["dataset", "prices", "method", "score", "cost", "best"])


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Count data sets on which the method of a line has the larger area than that of a column.

    Means over the price lists of a data set that both were trained on are compared.
    """
    methods = sorted(table["method"].unique())
    counted = pd.DataFrame("", index=methods, columns=methods)
    for one in methods:
        for other in methods:
            if one != other:
                gaps = answers.differences(table, one, other)
                means = np.array([gap.mean() for gap in gaps])
                counted.loc[one, other] = f"{int((means > 0).sum())}–{int((means < 0).sum())}"
    return counted


def write(folder: Path, page: Path) -> None:
    """Write the page of a folder of results.

    Parameters
    ----------
    folder : Path
        With the tables that :func:`read` takes and ``meta.json``.
    page : Path
        The file; it holds all it needs.
    """
    write_atomically(page, rendered(folder).encode())


def rendered(folder: Path) -> str:
    """Give the page as HTML."""
    tables = read(folder)
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    table, ranked = tables["areas"], tables["ranking"]
    scores, lost = (t[~t["method"].isin(ABLATION)] for t in (tables["scores"], tables["lost"]))
    order = ranked["method"].tolist()
    methods = table[table["method"].isin(order)]
    critical, found = ratings.critical(methods), answers.answers(methods)
    own = Path(__file__).resolve().parent
    papers = [Linked(f"{short_name(paper)}.html", name) for paper, name in NAMES.items()]
    environment = site(papers, own)
    environment.globals["has_leaderboard"] = True
    environment.filters["label"] = name_of
    divisions = [len(found) for found in meta["fields"].values()]
    return environment.get_template("page.html").render(
        script=Markup((own / "filter.js").read_text(encoding="utf-8")),
        meta=meta,
        divisions=f"{min(divisions)} to {max(divisions)}" if len(set(divisions)) > 1
        else str(divisions[0]),
        n_sets=table["dataset"].nunique(),
        lead=said_of_lead(tables),
        sentences=sentences(found),
        by_task=by_task(methods),
        ranking=ranked.to_dict("records"),
        critical=critical,
        critical_picture=None if critical is None else _svg(pictures.critical_difference, critical),
        fields=_fields(scores),
        families=_families(order),
        marks=[(slug, look_of(slug).colour) for slug in order],
        answers_picture=_svg(pictures.of_answers, found) if found else "",
        cheapest=cheapest_near_best(scores).to_dict("records"),
        one_feature=one_feature(scores, order),
        ablation=ablation(table),
        times=of_times(folder),
        order=order,
        pairs=pairs(methods),
        skipped=_reasons(tables["skipped"]),
        lost=lost.to_dict("records"),
    )  # fmt: skip


def _families(order: list[str]) -> list[tuple[str, str]]:
    """Give what can be coloured together, and all: names, and methods as a script reads them."""
    found = {name: [m for m in methods if m in order] for name, methods in FAMILIES.items()}
    found["all"] = order
    return [(name, " ".join(methods)) for name, methods in found.items() if methods]


def by_task(table: pd.DataFrame) -> dict[str, str]:
    """Give CEGB's difference to Greedy Miser by task, and on the sets of its paper's figure."""
    named = {
        "rankings": table["dataset"].isin(RANKINGS),
        "classes": ~table["dataset"].isin(RANKINGS),
        "figure": table["dataset"].isin(("miniboone", "covertype")),
    }
    found = {}
    for name, those in named.items():
        gaps = answers.differences(table[those], "cegb", "greedy_miser")
        gap = nested(gaps) if gaps else None
        if gap is not None and gap.n_sets > 1:
            found[name] = f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
    return found if len(found) == len(named) else {}


def sentences(found: Sequence[answers.Answer]) -> list[tuple[str, str]]:
    """Give the declared questions, and their answers in words."""
    names = {q: name_of(q) for a in found for q in (a.question.first, a.question.second)}
    return [(answer.question.asks, answers.sentence(answer, names)) for answer in found]


def said_of_lead(tables: dict[str, pd.DataFrame]) -> str:
    """Say whether anybody leads; nothing, where nobody has a rank."""
    ranked = tables["ranking"]
    order = ranked.loc[ranked["rank"].notna(), "method"].tolist()
    if not order:
        return ""
    found = answers.lead(ratings.imputed(tables["areas"]), order)
    return answers.said_of_lead(found, {name: name_of(name) for name in order})


def one_feature(scores: pd.DataFrame, order: list[str]) -> list[dict[str, Any]]:
    """Give for each field the method that is best within the cheapest purchase."""
    below = scores[(scores["one_feature"] == 1) & scores["method"].isin([*order, CONSTANT])]
    # Who has no model within the budget is what answers always alike, and not named for it.
    below = below.assign(trained=below["method"] != CONSTANT)
    order_of_merit = {"score": False, "cost": True, "trained": True}
    best = below.sort_values([*order_of_merit], ascending=[*order_of_merit.values()], kind="stable")
    return best.drop_duplicates(["dataset", "prices"]).sort_values(["dataset", "prices"]).to_dict(
        "records"
    )  # fmt: skip


def ablation(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Give the difference of each of our variants to CEGB, where it was trained."""
    found = []
    for slug, words in ABLATION.items():
        gaps = answers.differences(table, slug, "cegb")
        if gaps:
            found.append({"words": words, "difference": nested(gaps)})
    return found


def of_times(folder: Path) -> dict[str, Any]:
    """Give each method's times over data sets, the quickest trained first; nothing before any."""
    if not (folder / "times.csv").exists():
        return {}
    table = pd.read_csv(folder / "times.csv")
    by = table.groupby("method", sort=True)
    lines = pd.DataFrame({"train": by["train_s"].median(), "longest": by["train_s"].max(),
                          "predict": by["predict_us"].median(), "n_sets": by.size()})  # fmt: skip
    lines = lines.sort_values("train", kind="stable").reset_index()
    return {"lines": lines.to_dict("records"), "processors": sorted(table["processor"].unique())}


def _fields(scores: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for (dataset, prices), field in scores.groupby(["dataset", "prices"], sort=True):
        metric = METRICS["ranking" if dataset in RANKINGS else "classification"]
        picture = _svg(pictures.of_field, field, metric, UNITS.get(prices, prices))
        found.append({"dataset": dataset, "prices": prices, "picture": picture})
    return found


def _reasons(skipped: pd.DataFrame) -> list[dict[str, str]]:
    """Give each method and reason once, with the fields."""
    lines = []
    for (method, why), pool in skipped.groupby(["method", "why"], sort=True):
        where = ", ".join(
            f"{d} ({p})" for d, p in zip(pool["dataset"], pool["prices"], strict=True)
        )
        lines.append({"method": str(method), "why": str(why), "where": where})
    return lines


def _svg(draw, *arguments) -> Markup:
    with house_style(_SALT):
        figure: Figure = draw(*arguments)
        text = picture_bytes(figure, "svg", _SALT).decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"\s*\n\s*", "\n", text)
    # Beyond this no place of a point is seen.
    text = re.sub(r"(?<=[ LM\"(])(-?\d+\.\d\d)\d+(?=[ \n\")])", r"\1", text)
    # Several pictures are in one page: what is named in each must be named differently.
    prefix = f"p{zlib.crc32(text.encode())}-"
    text = re.sub(r'<g id="line-(\w+)"', _line, text)
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\1{prefix}", text)
    return Markup(text)  # our own drawing


def _line(found: re.Match) -> str:
    """Give the tag of a method's curve."""
    method = found[1]
    chosen = " chosen" if method in next(iter(FAMILIES.values())) else ""
    return f'<g class="line{chosen}" data-method="{method}"'
