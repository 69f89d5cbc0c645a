"""Tell asv what it runs on, under a name: ``python -m benchmarks.machine NAME``.

``asv machine --yes --machine NAME`` keeps the name alone, and a history says of which processor it
is only if asv was asked without one. What asv finds by itself is kept here under any name.
"""

from __future__ import annotations

import platform

import click


def known(name: str | None) -> dict[str, str]:
    """Say what asv finds of this machine, under a name; the system without its build."""
    from asv.machine import Machine

    found = Machine.get_defaults() | {"os": platform.system()}
    return found | ({"machine": name} if name else {})


@click.command()
@click.argument("name", required=False)
def main(name: str | None) -> None:
    """Keep it where asv looks for it, in the user's home."""
    from asv.machine import Machine

    facts = known(name)
    Machine.load(machine_name=facts["machine"], **facts)
    click.echo(", ".join(f"{key}: {value}" for key, value in facts.items()))


if __name__ == "__main__":
    main()
