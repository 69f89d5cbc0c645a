"""``python -m experiments``."""

import sys

# Dask's processes import this file anew: they must not start the command again, nor wait for what
# it imports.
if __name__ == "__main__":
    from experiments.cli import main

    sys.exit(main())
