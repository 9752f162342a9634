# Every target sets up what it needs in .venv and can be repeated; the second time the set-up costs nothing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export VENV ?= .venv
BIN := $(VENV)/bin
# As many tests at a time as there are processors.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# A stamp carries a digest of all that the environment is made from, so that a change of it makes a new stamp.
READY := $(VENV)/.ready
DIGEST := $(shell (pwd; cat pyproject.toml requirements-dev.txt scripts/setup.sh) | cksum | cut -d" " -f1)
RUN := $(READY)-run-$(DIGEST)
DEV := $(READY)-dev-$(DIGEST)

# The libraries that `bench-peers` measures, in an environment of their own.
PEERS := .venv-peers
PEERS_READY = $(PEERS)/.ready-peers-$(shell (pwd; cat benchmarks/peers/*.txt scripts/setup.sh) | cksum | cut -d" " -f1)

# Other people's test doubles, which the nightly run asks for a second opinion; what cannot be installed here is skipped.
DOUBLES := .venv-doubles
DOUBLES_READY = $(DOUBLES)/.ready-doubles-$(shell (pwd; cat scripts/setup.sh) | cksum | cut -d" " -f1)

# Agents that others ship, for `e2e-agents` alone.
AGENTS_FOLDER := .agents

COVERED_WHOLE := src/foldline/core/*,src/foldline/engine/*,src/foldline/passes/*,src/foldline/wire/*
COVERED_REST := 90

.PHONY: help demo test check format-check lint types imports coverage format nightly bench bench-peers e2e-agents lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

demo: $(RUN) ## compact a bundled real session: size before, report, size after
	@scripts/demo.sh

test: $(DEV) ## the tests but the long ones, which `nightly` runs
	@echo "test: collecting, then one run a processor"; $(PYTEST)

check: $(DEV) format-check lint types imports coverage ## format, lint, types, layers, then what `test` runs, with coverage

format-check: $(DEV)
	@echo "check: format"
	@$(BIN)/ruff format --quiet --check . || { echo "some files are not formatted; run: make format" >&2; exit 1; }

lint: $(DEV)
	@echo "check: lint"; $(BIN)/ruff check --quiet .

types: $(DEV)
	@echo "check: types"; $(BIN)/mypy --no-error-summary

imports: $(DEV)
	@echo "check: layers"; $(BIN)/lint-imports --no-logo

coverage: $(DEV)
	@echo "check: tests, with branch coverage"
	@$(BIN)/coverage erase
	@FOLDLINE_CHECK=1 $(BIN)/coverage run -m pytest --numprocesses auto --dist worksteal
	@$(BIN)/coverage combine --quiet
	@echo "check: coverage of core, engine, passes and wire, all of it"
	@$(BIN)/coverage report --include='$(COVERED_WHOLE)' --fail-under=100
	@echo "check: coverage of everything, at least $(COVERED_REST) %"
	@$(BIN)/coverage report --fail-under=$(COVERED_REST)

format: $(DEV) ## write every file in its one format
	@$(BIN)/ruff check --quiet --select I --fix .
	@$(BIN)/ruff format --quiet .

nightly: $(DEV) $(DOUBLES_READY) ## all tests, the long ones too, with many more generated cases
	@HYPOTHESIS_PROFILE=nightly $(PYTEST) -m "nightly or not nightly"

bench: $(DEV) ## each benchmark prints its figures and asserts its ratios
	@failed=0; for bench in benchmarks/bench_*.py; do echo "bench: $$bench"; \
		$(BIN)/python -m "benchmarks.$$(basename "$$bench" .py)" || failed=1; done; exit $$failed

bench-peers: $(PEERS_READY) ## other libraries beside this one, on sessions of yours: FILES="a.jsonl b.json"
	@PYTHONPATH=src $(PEERS)/bin/python -m benchmarks.peers $(FILES)

e2e-agents: $(DEV) ## the real Claude Code and Codex through the proxy, offline, against the twin (needs npm and root)
	@scripts/e2e_agents.sh $(AGENTS_FOLDER)

lock: ## write requirements-dev.txt anew: the newest versions that pyproject.toml allows
	@scripts/lock.sh

clean: ## remove the environment and all caches
	@rm -rf $(VENV) $(PEERS) $(DOUBLES) $(AGENTS_FOLDER) build dist out .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(RUN):
	@scripts/setup.sh run
	@touch $@

$(DEV):
	@scripts/setup.sh dev
	@touch $@ $(RUN)

$(DOUBLES)/.ready-doubles-%:
	@VENV=$(DOUBLES) scripts/setup.sh doubles
	@touch $@

$(PEERS)/.ready-peers-%:
	@VENV=$(PEERS) PYTHON="$${PYTHON:-python3.12}" scripts/setup.sh peers
	@touch $@
