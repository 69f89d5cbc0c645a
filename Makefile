# Every target sets up what it needs: `make reproduce-figure2` is enough on a fresh machine.
#
#   make reproduce-figure2        Figure 2 of every paper
#   make reproduce-cegb-figure2   one artefact        make reproduce-cegb   one paper
#   make leaderboard              every method on every real data set, under one meter
#   make compile | test | test-slow | check | lint | report | dashboard | api | bench | bench-kernels | bench-peers | wheel
#
# Variables: SCALE=smoke|laptop|overnight|paper  DATA=auto|real|synthetic  JOBS=n  ARGS='further options'

PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python

SCALE ?= laptop
DATA ?= auto
JOBS ?=
ARGS ?=
MACHINE ?=
OPTIONS = --scale $(SCALE) --data $(DATA) $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

.DEFAULT_GOAL := help
.PHONY: help setup setup-peers compile test test-slow check bench bench-long bench-earlier bench-machine bench-check \
  bench-gate bench-kernels bench-peers lint clean reproduce report dashboard leaderboard api wheel setup-docs

help:
	@sed -n '2,8s/^# \{0,1\}//p' Makefile

# The stamps make a second run install nothing; an interrupted installation leaves none.
setup: $(VENV)/installed
$(VENV)/installed: requirements.lock pyproject.toml
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "Python 3.11 or newer is needed; name one with: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 2; }
	@test -x "$(PY)" || "$(PYTHON)" -m venv "$(VENV)"
	"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	"$(PY)" -m pip install --quiet --no-build-isolation --no-deps --no-index -e .
	@touch "$@"

setup-peers: $(VENV)/installed-peers
$(VENV)/installed-peers: requirements-peers.lock $(VENV)/installed
	"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-peers.lock
	@touch "$@"

setup-docs: $(VENV)/installed-docs
$(VENV)/installed-docs: requirements-docs.lock $(VENV)/installed
	"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch "$@"

# `figure2`, `cegb-figure2`, `cegb`: the command line knows which artefacts a name stands for.
reproduce: setup
	"$(PY)" -m experiments reproduce all $(OPTIONS)
reproduce-%: setup
	"$(PY)" -m experiments reproduce $* $(OPTIONS)

# All kernels, ahead of the first fit that needs them.
compile: setup
	"$(PY)" -m algorithms.registry

# A file's tests stay together: what they share is set up once. Files go in their own order: ordered
# by the number of tests, those with few and long ones would come last and leave a core idle.
TEST = "$(PY)" -m pytest -n $(or $(JOBS),auto) --dist loadfile --no-loadscope-reorder
test: setup
	$(TEST) -m "not slow" $(ARGS)

# Few and long ones: pytest alone runs both kinds.
test-slow: setup
	$(TEST) -m slow $(ARGS)

# What the leaderboard's edition lacks: every method on every real data set.
leaderboard: setup-peers
	"$(PY)" -m experiments leaderboard edition $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

check: setup
	"$(PY)" -m experiments check $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

lint: setup
	"$(PY)" -m ruff check .
	"$(PY)" -m ruff format --check .
	"$(PY)" -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

# The pages of everything that is published, and of asv's history.
report: setup
	"$(PY)" -m experiments report
	"$(PY)" -m experiments leaderboard report

# The reference of the programming interface, from the docstrings. Names that only a type checker
# imports are shown as they are written, which pdoc warns about.
api: setup setup-docs
	"$(PY)" -W "ignore:Error parsing type annotation" -m pdoc --docformat numpy --no-show-source \
	  --output-directory api algorithms reference datasets
	@echo "Open api/index.html"

# asv's own pages in .asv/html, and the pages of all figures in results.
dashboard: setup
	@test -f results/asv/benchmarks.json || \
	  { echo "There is no history in results/asv yet; begin it with: make bench MACHINE=name"; exit 2; }
	"$(PY)" -m benchmarks.dashboard
	"$(PY)" -m experiments report
	@echo "Open results/index.html; asv's own pages are .asv/html/index.html."

# MACHINE names the history in results/asv/; commit only that of a machine that stays. 9 to 18
# minutes on two idle cores, kernels included, then the gate; the long tier has a million rows.
ASV_RUN = "$(PY)" -m asv run --show-stderr $(if $(MACHINE),--machine $(MACHINE)) 'HEAD^!' $(ARGS)
bench-machine: setup
	"$(PY)" -m benchmarks.machine $(MACHINE)
bench: bench-machine
	$(ASV_RUN) --bench '^(?!long)'
	"$(PY)" -m benchmarks.gate
bench-long: bench-machine
	$(ASV_RUN) --bench '^long'

# Earlier commits by today's benchmarks. What one lacks is skipped, and an interrupted run goes on at
# the commit where it was. Numbers are comparable only if one idle machine has measured all in one go.
bench-earlier: bench-machine
	cut -d ' ' -f 1 benchmarks/commits.txt | "$(PY)" -m asv run --show-stderr --skip-existing \
	  $(if $(MACHINE),--machine $(MACHINE)) --bench '^(?!long)' HASHFILE:- $(ARGS)

# The suite loads and every benchmark is found, without running any.
bench-check: setup
	"$(PY)" -m asv check --python=same

# What is slower than at the newest point of the history before this one, both timed now.
bench-gate: setup
	"$(PY)" -m benchmarks.gate $(ARGS)

bench-kernels: setup
	"$(PY)" -m pytest benchmarks/bench_kernels.py --benchmark-only $(ARGS)

bench-peers: setup setup-peers
	"$(PY)" -m benchmarks.peers $(ARGS)

# The estimators alone, as a library: dist/cost_aware_boosting_library-*.whl.
wheel: setup
	"$(PY)" library/build.py dist

clean:
	rm -rf "$(VENV)" api dist results/runs .asv .pytest_cache .hypothesis .ruff_cache
