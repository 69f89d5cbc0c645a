"""``python -m tests.experiments.toy_command RESULTS SLEEP ARGUMENTS…``: the toy's command line.

Six cells per data set and algorithm. Workers import this file anew: nothing is outside the guard.
"""

import sys

if __name__ == "__main__":
    from experiments.cli import main
    from tests.experiments import toy_artefact

    toy = toy_artefact.make_toy(n_steps=3, sleep=float(sys.argv[2]))
    sys.exit(main(sys.argv[3:], toy_artefact.suite(sys.argv[1], toy)))
