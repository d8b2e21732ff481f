# Everything runs from a virtual environment that the first target makes.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The tests of one run share the machine's cores.
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow docs fuzz lint format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,test]'
	touch $@

setup: $(READY)  ## a virtual environment with everything the project uses

demo: $(READY)  ## the main job: compile `linear` in both frameworks and diff what XLA made of it
	$(BIN)/python -m xlacompare dump linear --variant grad --overwrite
	$(BIN)/python -m xlacompare diff linear --variant grad

test: $(READY) lint  ## lint, types and every test but the slow ones
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m 'not slow'

test-slow: $(READY)  ## the tests that take minutes
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m slow

docs: $(READY)  ## docs/models.md, from the whole zoo compiled and traced
	$(BIN)/python docs/make_models.py

fuzz: $(READY)  ## two hundred thousand odd inputs for the HLO reader
	$(BIN)/python benchmarks/fuzz_reader.py --runs 200000

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## let ruff rewrite the layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
