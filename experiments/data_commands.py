"""The commands ``data list | fetch NAME | verify | addresses | prune``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import click

from datasets.registered import images_named
from experiments import data_addresses, data_kinds
from experiments.command_options import DATA_SET, echo_json, in_columns, json_option


class DataProblem(RuntimeError):
    """Data that are unavailable, or are not what they should be: exit status 3."""

    @classmethod
    @contextlib.contextmanager
    def translated(cls, datasets) -> Iterator[None]:
        """Turn the exceptions of :mod:`datasets` into this one; each says what to do next."""
        try:
            yield
        except (datasets.DataUnavailable, datasets.ChecksumMismatch) as error:
            raise cls(str(error)) from error
        except datasets.DamagedData as error:
            advice = "put a whole file in its place, or delete it to have it fetched again."
            raise cls(f"{error}\n  Next: {advice}") from error


@click.group("data", invoke_without_command=True)
@json_option
@click.pass_context
def data_group(context: click.Context, as_json: bool) -> None:
    """List, fetch and verify data sets."""
    if context.invoked_subcommand is None:
        context.invoke(list_data, as_json=as_json)


@data_group.command("list")
@json_option
@click.pass_obj
def list_data(suite, as_json: bool) -> None:
    """List all data sets: source, size, terms, presence."""
    if as_json:
        echo_json(suite.datasets.status())
        return
    table = [("data set", "source", "here", "size", "synthetic", "terms")]
    for record in suite.datasets.status():
        here = "yes" if record["present"] else "no"
        synthetic = "yes" if record["synthetic"] else "none"
        size = _size(record["bytes"])
        table.append((record["name"], record["source"], here, size, synthetic, record["terms"]))
    click.echo(in_columns(table))
    click.echo("Fetch one with: python -m experiments data fetch NAME")


@data_group.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=DATA_SET)
@click.pass_obj
def fetch(suite, names: Sequence[str]) -> None:
    """Download data sets, whatever their size."""
    _check_names(suite, names)
    terms = {record["name"]: record["terms"] for record in suite.datasets.status()}
    for name in names:
        click.echo(f"{name}: {terms[name]}")
        with DataProblem.translated(suite.datasets):
            _list_files(suite.datasets.fetch(name))


@data_group.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", type=DATA_SET)
@click.pass_obj
def verify(suite, names: Sequence[str]) -> None:
    """Compare files with their recorded checksums.

    Without NAME those of all data sets on this machine.
    """
    _check_names(suite, names)
    here = [record["name"] for record in suite.datasets.status() if record["present"]]
    problems = []
    for name in names or here:
        try:
            with DataProblem.translated(suite.datasets):
                records = suite.datasets.verify(name)
        except DataProblem as problem:
            click.echo(f"{name}: NOT as recorded")
            problems.append(f"{name}: {problem}")
            continue
        click.echo(f"{name}: {len(records)} file(s) as recorded")
        _list_files(records)
    if problems:
        raise DataProblem("\n".join([f"{len(problems)} data set(s) damaged or absent", *problems]))


@data_group.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", type=DATA_SET)
@click.pass_obj
def addresses(suite, names: Sequence[str]) -> None:
    """Ask official addresses whether they answer.

    Nothing is downloaded. Without NAME all data sets are asked for.
    """
    _check_names(suite, names)
    every = [record["name"] for record in suite.datasets.status()]
    silent = []
    for name in names or every:
        for address in data_addresses.addresses(suite.datasets.describe(name)):
            refusal = data_addresses.refusal(address)
            click.echo(f"{name}: {address}: {refusal or 'answers'}")
            if refusal:
                silent.append(f"{name}: {address}: {refusal}")
    if silent:
        raise DataProblem("\n".join([f"{len(silent)} address(es) do not answer", *silent]))


@data_group.command()
@click.option("--remove", is_flag=True, help="Remove them; without this they are only listed.")
def prune(remove: bool) -> None:
    """List outdated computed features, or remove them.

    Outdated are those in the cache that no current version can use.
    """
    from datasets.features import pruning

    folders = pruning.unused()
    for record in folders:
        click.echo(f"  {_size(record['bytes']):>8s}  {record['folder']}: {record['reason']}")
        if remove:
            pruning.remove(record["folder"])
    total = _size(sum(record["bytes"] for record in folders))
    if not folders:
        click.echo("Nothing to prune.")
    elif remove:
        click.echo(f"{len(folders)} folder(s) removed, {total}.")
    else:
        click.echo(f"{len(folders)} folder(s), {total}. Remove them with: data prune --remove")


def _check_names(suite, names: Sequence[str]) -> None:
    for name in names:
        try:
            suite.datasets.describe(name)
        except suite.datasets.UnknownDataset as error:
            raise click.UsageError(str(error)) from None


def _list_files(records) -> None:
    for record in records:
        click.echo(
            f"  {_size(record['bytes']):>8s}  {record['sha256'] or '-':64s}  {record['file']}"
        )


def _size(n_bytes: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes} B" if n_bytes else "-"


ABSENT = "not computed; what is published of it is shown in grey"


def sources(
    datasets, names: Sequence[str], scale: str, data_mode: str
) -> dict[str, tuple[str, bool]]:
    """Say for each data set what a run would use, without fetching anything.

    Parameters
    ----------
    datasets : module
        ``status`` of :mod:`datasets`.
    names : sequence of str
        Data sets.
    scale, data_mode : str
        Options of the run.

    Returns
    -------
    dict of str to (str, bool)
        A line, and whether something would be used. What is to be fetched counts as used: that it
        fails shows when it is tried.
    """
    records = {record["name"]: record for record in datasets.status()}
    lines = {}
    for name in names:
        if name == data_kinds.NAME:
            lines[name] = ("nothing is read", True)
            continue
        record = records[images_named(name)]
        nowhere = record["source"] == "none"
        if record["source"] == "bundled":
            lines[name] = ("real, bundled with a dependency", True)
        elif scale == "smoke" or data_mode == "synthetic":
            absent = "left out" if data_mode == "synthetic" else "the run will fail"
            line = "synthetic" if record["synthetic"] else f"{absent}: it has no synthetic form"
            lines[name] = (line, record["synthetic"])
        elif nowhere and data_mode == "real":
            lines[name] = ("unavailable here: the run will fail", False)
        elif nowhere:
            lines[name] = (f"not here: {ABSENT}", True)
        elif record["present"]:
            lines[name] = (f"real, from the {record['source']}", True)
        else:
            otherwise = "the run fails"
            if data_mode == "auto":
                otherwise = ABSENT
            line = f"real, to be fetched ({record['source']}); else {otherwise}"
            lines[name] = (line, True)
    return lines
