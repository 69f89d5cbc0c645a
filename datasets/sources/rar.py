"""A member of a RAR archive, by whatever program on this machine can unpack one.

Python cannot read RAR. Nothing but one named member is unpacked, into memory; whoever calls has
compared the archive with a checksum where there is one.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from datasets.errors import DamagedData, DataUnavailable

PROGRAMS = {
    "bsdtar": ("-xOf",),
    "unrar": ("p", "-inul"),
    "7z": ("e", "-so"),
}
"""Program and how it is told to write a member to its output; archive and member follow."""
_SECONDS = 600


def rar_member(archive: Path, member: str) -> bytes:
    """Unpack one member."""
    for program, arguments in PROGRAMS.items():
        path = shutil.which(program)
        if path is None:
            continue
        command = [path, *arguments, str(archive.resolve()), member]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise DamagedData(f"{archive}: {program} took longer than {_SECONDS} s") from None
        if done.returncode or not done.stdout:
            reason = done.stderr.decode("utf-8", "replace").strip()[-200:] or "nothing came out"
            raise DamagedData(f"{archive}: {program} cannot unpack {member} ({reason})")
        return done.stdout
    raise DataUnavailable(
        f"{archive} is here, but no program that unpacks RAR ({', '.join(PROGRAMS)}). Next: unpack "
        "it beside the archive, or install one of these."
    )
