# Everything runs from a private environment in .venv, made on first use and redone when
# pyproject.toml changes. Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo app test style lint format docs screenshots bench compare settings slow study \
        peers-test answers speed clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.plot ## set up and run the main job on an embedded example
	$(BIN)/prism demo

app: $(VENV)/.app ## set up and open the local page to drop files on
	$(BIN)/prism app

# One thread per worker: two workers that each start a thread pool are slower than one.
test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
test: style ## set up, check the style, run the tests and print their coverage
	$(BIN)/python -m slipcover -m pytest -n 2
	$(BIN)/python tools/coverage_table.py

style: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lint: style ## check style, types and the layering of the modules
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_project.py

format: $(VENV)/.dev ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## build the documentation site into docs/_build/html
	$(BIN)/python -m sphinx -q -E -n -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

screenshots: $(VENV)/.dev ## take the two pictures of the README again
	$(BIN)/python docs/_ext/screenshots.py

bench: $(VENV)/.plot ## the chain benchmark, beside the published table
	$(BIN)/prism benchmark chain

# The other methods have an environment of their own: PRISM's stays clean.
compare: $(PEERS)/.peers ## other methods on the same data; writes docs/comparison.md
	$(PEERS)/bin/prism compare all --json comparison.json --page docs/comparison.md

settings: export OMP_NUM_THREADS := 1
settings: $(PEERS)/.peers ## search the settings of other methods, on seeds that are not scored
	$(PEERS)/bin/python -m prism_bench.peers.tuning src/prism_bench/peers/settings.json

peers-test: export OMP_NUM_THREADS := 1
peers-test: $(PEERS)/.tests ## the tests of the benchmarks, with the other methods at hand
	$(PEERS)/bin/python -m pytest -q tests/bench

ANSWERS ?= answers.json
answers: $(VENV)/.dev ## keep all answers on the fixed measurements, to compare after a change
	$(BIN)/python tools/answers.py $(ANSWERS)

speed: export OMP_NUM_THREADS := 1
speed: export OPENBLAS_NUM_THREADS := 1
speed: $(VENV)/.speed ## time the main jobs once, and keep the times of this commit in .asv
	$(BIN)/asv machine --yes
	$(BIN)/asv run --quick --python=same --set-commit-hash $$(git rev-parse HEAD)

slow: export OMP_NUM_THREADS := 1
slow: export OPENBLAS_NUM_THREADS := 1
slow: $(VENV)/.dev ## the tests that take ten seconds or more
	$(BIN)/python -m pytest -m slow -n 2

study: export OMP_NUM_THREADS := 1
study: export OPENBLAS_NUM_THREADS := 1
study: $(VENV)/.dev ## the slow Monte-Carlo studies
	$(BIN)/python -m pytest -m study -n 2

clean: ## remove the environment and everything generated
	rm -rf $(VENV) $(PEERS) .asv comparison.json answers.json coverage.json build dist docs/_build prism-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python $(PEERS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "PRISM needs Python 3.11 or newer, and '$(PYTHON)' is not:" \
	       "name another one, for example  make $(or $(MAKECMDGOALS),test) PYTHON=python3.12"; \
	  exit 1; }
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

# The stamps are made last, so that an interrupted installation is done again.
$(VENV)/.plot: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e ".[plot]"
	@touch $@

$(VENV)/.app: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e ".[app]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e ".[dev,docs,plot,sdp,io,fast]"
	@touch $@

$(VENV)/.speed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e ".[speed,plot,fast]"
	@touch $@

$(PEERS)/.tests: $(PEERS)/.peers
	$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install "pytest>=8"
	@touch $@

$(PEERS)/.peers: pyproject.toml | $(PEERS)/bin/python
	$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install -e ".[peers,plot,sdp,fast]"
	@touch $@
