"""The toy's data on a machine without a network: an address is looked for first, in vain.

As MNIST's complete set is, where only a part can be had. It writes down which processes looked.
"""

import os
import socket
from pathlib import Path
from unittest import mock

from datasets.errors import SourceFailed
from datasets.sources.download import check_alive, download
from tests.experiments import toy_cells

ADDRESS = "http://nobody.example/toy.bin"
NOTES = "COST_AWARE_BOOSTING_TEST_NOTES"
"""Variable with the folder of the notes; processes that are started inherit it."""


def load(name, **options):
    folder = Path(os.environ[NOTES])
    with (folder / "loaded").open("a") as file:
        file.write(f"{os.getpid()}\n")

    def unresolved(*arguments):
        with (folder / "tried").open("a") as file:
            file.write(f"{os.getpid()}\n")
        raise socket.gaierror("Name or service not known")

    with mock.patch.object(socket, "getaddrinfo", unresolved):
        try:
            check_alive(ADDRESS)
            download(ADDRESS, folder / "toy.bin", None)
        except SourceFailed as error:
            if "nobody.example cannot be reached" not in str(error):
                raise
    return toy_cells.load(name, **options)
