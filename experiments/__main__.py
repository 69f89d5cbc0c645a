"""``python -m experiments``."""

import sys

from experiments.cli import main

# Dask's processes import this file anew and must not start the command again.
if __name__ == "__main__":
    sys.exit(main())
