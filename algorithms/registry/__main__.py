"""``python -m algorithms.registry`` compiles the kernels of all estimators ahead of time."""

import sys

from ..registry.ahead import compile_all

if __name__ == "__main__":
    sys.exit(compile_all())
