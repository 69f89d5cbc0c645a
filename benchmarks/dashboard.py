"""asv's own pages, so that they open from disk and without a network: ``make dashboard``.

asv's page loads its libraries from other servers, and its numbers from its own. The libraries are
in ``vendored/``, with their licences; the numbers become a script beside the page.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENDORED = HERE / "vendored"

_REMOTE = re.compile(r'<(script|link)\b[^>]*?\b(?:src|href)="https?://[^"]*/([^"/]+)"[^>]*>')


def publish(folder: Path) -> None:
    """Have asv write its pages into a folder, which it empties.

    Raises
    ------
    subprocess.CalledProcessError
        If asv fails; what it said is on standard error.
    """
    command = [sys.executable, "-m", "asv", "publish", "--no-pull", "--html-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)


def make_offline(folder: Path) -> None:
    """Change asv's pages in a folder so that they load nothing from elsewhere."""
    page = folder / "index.html"
    text = _REMOTE.sub(_local, page.read_text("utf-8"))
    after_jquery = '<script src="vendored/jquery.min.js"></script>'
    if text.count(after_jquery) != 1:
        raise ValueError(f"{page} does not load jQuery as asv 0.6 does.")
    text = text.replace(after_jquery, f'{after_jquery}\n    <script src="numbers.js"></script>')
    numbers = json.dumps(
        {
            path.relative_to(folder).as_posix(): json.loads(path.read_text("utf-8"))
            for path in sorted(folder.rglob("*.json"))
        }
    )
    script = (HERE / "offline.js").read_text("utf-8")
    (folder / "numbers.js").write_text(f"var asvFiles = {numbers};\n{script}", "utf-8")
    shutil.copytree(VENDORED, folder / "vendored", dirs_exist_ok=True)
    page.write_text(text, "utf-8")


def _local(tag: re.Match[str]) -> str:
    """Give the element that loads the vendored file instead."""
    kind, name = tag.groups()
    plain = re.sub(r"-\d[.\d]*\d(?=\.)", "", name)  # jquery-3.3.1.min.js
    plain = plain if (VENDORED / plain).exists() else plain.replace(".min.", ".")
    if not (VENDORED / plain).exists():
        raise ValueError(f"asv's page loads {name}, which is not in {VENDORED}.")
    if kind == "script":
        return f'<script src="vendored/{plain}">'
    return f'<link rel="stylesheet" href="vendored/{plain}">'


@click.command()
@click.option("--folder", type=Path, default=ROOT / ".asv" / "html", help="Where the pages go.")
def main(folder: Path) -> None:
    """Write asv's pages of the history in results/asv, to be opened from disk."""
    publish(folder.resolve())
    make_offline(folder)
    click.echo(f"Open {folder / 'index.html'}")


if __name__ == "__main__":
    main()
