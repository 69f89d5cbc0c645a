"""The command ``compare``."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from algorithms.costs import LARGEST_PRICE
from experiments.command_options import UserPath, echo_json
from experiments.running.provenance import default_jobs
from experiments.running.workers import Workers

# What compares imports all methods, for which no other command should wait.

_TASKS = "classification", "regression", "ranking"
_FILE = UserPath(exists=True, dir_okay=False, path_type=Path)


class _Budgets(click.ParamType):
    """Numbers above 0, with commas between them."""

    name = "numbers"

    def convert(self, value, parameter, context):
        """Give a tuple of floats, ascending, each once."""
        if isinstance(value, tuple):
            return value
        try:
            budgets = sorted({float(text) for text in value.split(",")})
        except ValueError:
            budgets = []
        if not budgets or not all(0 < b <= LARGEST_PRICE for b in budgets):
            self.fail(
                f"must be numbers above 0 with commas between them, at most {LARGEST_PRICE:g}, not "
                f"{value!r}."
            )
        return tuple(budgets)


@click.command("compare")
@click.argument("table", type=_FILE, metavar="TABLE")
@click.option("--target", required=True, metavar="COLUMN", help="What is predicted.")
@click.option(
    "--budgets",
    required=True,
    type=_Budgets(),
    metavar="1,5,10",
    help="Largest mean cost of a prediction, in the unit of the costs.",
)
@click.option(
    "--costs",
    type=_FILE,
    metavar="FILE",
    help="Price list: columns feature, cost and, if several come together, group. Without it each "
    "feature costs 1.",
)
@click.option("--test", type=_FILE, metavar="FILE", help="Rows that judge; else a fifth of TABLE.")
@click.option("--query", metavar="COLUMN", help="Query of each row: a ranking.")
@click.option("--groups", metavar="COLUMN", help="Rows that the split must not tear apart.")
@click.option("--weight", metavar="COLUMN", help="Weight of each row, above 0.")
@click.option(
    "--class-weight",
    multiple=True,
    metavar="balanced|CLASS=NUMBER",
    help="What classes count in training, as in scikit-learn; scores are not weighted by it.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column that is no feature.")
@click.option(
    "--task", type=click.Choice(_TASKS), help="Default: ranking with --query, else by the target."
)
@click.option(
    "--metric",
    help="accuracy, balanced_accuracy, roc_auc, average_precision, f1, neg_log_loss; "
    "neg_mean_squared_error, neg_root_mean_squared_error, neg_mean_absolute_error; ndcg@k, "
    "ndcg_letor@k, average_precision@k, precision@k. Default: by the task; not accuracy where a "
    "class has nine rows of ten.",
)
@click.option(
    "--split-cost",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Cost of evaluating one split of a tree.",
)
@click.option("--unit", metavar="TEXT", help="Unit of the costs, for the picture.")
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Draws of parameters of each method.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Rounds of boosting at most.",
)
@click.option(
    "--method",
    "own",
    multiple=True,
    metavar="PACKAGE:CLASS",
    help="A class of your own with fit, predict and prediction_cost.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Only these methods, such as cegb.")
@click.option(
    "--budget-time",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Processor time of a trial at most, the same for all methods; one that needs more, or "
    "crashes, is lost. Kernels that are not compiled yet count: see make compile.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 2), default=0, show_default=True)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Trials at a time; default: as many as cores."
)
@click.option(
    "--out",
    type=UserPath(file_okay=False, path_type=Path),
    default=Path("comparison"),
    show_default=True,
    help="Folder for the results, and for finished trials.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--quiet", is_flag=True, help="No progress bar and no line per trial.")
def compare_command(
    table, budgets, trials, rounds, own, only, budget_time, jobs, out, as_json, quiet, **asked
):
    """Compare all methods at your budgets, on your own TABLE (CSV or Parquet).

    Every method gets the same number of random draws of its parameters; for each budget the best
    validation score within it is chosen, and judged on test rows. Finished trials are kept in the
    folder of the results.
    """
    from experiments.compare import limited
    from experiments.compare.comparison import compare
    from experiments.compare.outcome import Search
    from experiments.compare.preparing import Asked
    from experiments.compare.tables import Refused

    if quiet or as_json:
        logging.getLogger("experiments").setLevel(logging.WARNING)
    asked = Asked(table, **asked)
    if budget_time is not None and not limited.POSSIBLE:
        raise click.UsageError("--budget-time needs a system that ends processes: not Windows.")
    search = Search(budgets, trials, rounds, own, only, budget_time)
    try:
        with Workers(jobs or default_jobs()) as workers:
            outcome = compare(asked, search, out, workers, progress=not (quiet or as_json))
    except Refused as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        echo_json(_as_json(outcome))
        return
    click.echo((out / "README.txt").read_text(encoding="utf-8"))


def _as_json(outcome) -> dict:
    from experiments.compare import show
    from experiments.compare.plan import plain

    prepared = outcome.prepared
    return {
        "task": prepared.task,
        "metric": prepared.metric,
        "rows": prepared.n_rows,
        "notes": list(prepared.notes),
        "left_out": outcome.left_out,
        "table": outcome.table.to_dict("records"),
        "differences": outcome.differences.to_dict("records"),
        **show.said(outcome),
        "models": {
            plain(budget): {
                "path": None if model["path"] is None else str(model["path"]),
                "load": show.loading(model, prepared.task),
            }
            for budget, model in outcome.models.items()
        },
    }
