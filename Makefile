# Two commands are enough: `make up` and `make test`. Both do all set-up, on a machine that has python3 and make.
#
# The stamp .venv/.ready is newer than everything that the environment is made from; while it is, set-up costs
# nothing. ARGS is handed on: `make test ARGS='tests/kube -k watch'`, `make up ARGS='--nodes 6'`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The one on PATH where there is one, else the one that set-up puts into the environment.
UV := $(or $(shell command -v uv 2>/dev/null),$(BIN)/uv)
LOCK := $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
	--custom-compile-command 'make lock'

# Tests mostly wait for servers: two for each core keep it busy. They write bytecode, wherever Python is told
# to write none: they start hundreds of processes, and each would compile everything anew.
WORKERS ?= 4

define HELP
make up       start a real Kubernetes on this machine, both operators and a sample (stops with: make down)
make test     run all tests (some of them: make test ARGS=tests/kube; one after another: make test WORKERS=0)
make check    lint, formatting, types, import rules, generated files
make bench    measure
make down     stop what `make up` started
make fmt      format the code
make generate write what is made from the code: definitions, kustomize files, chart, references
make lock     write requirements/*.txt anew from pyproject.toml (newest versions: make lock ARGS=--upgrade)
endef
export HELP

.PHONY: help up down test check generate bench fmt lock setup binaries databases
.DELETE_ON_ERROR:

help:
	@echo "$$HELP"

up: setup
	@$(BIN)/steward up --detach $(ARGS)

down: setup
	@$(BIN)/steward down $(ARGS)

test: binaries databases
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) $(ARGS)

check: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m steward.multigres.api config/crd --check
	@$(BIN)/python -m steward.tenants.api config/crd --check
	@$(BIN)/python -m steward.install --check
	@$(BIN)/python -m steward.docgen --check

generate: setup
	@$(BIN)/python -m steward.multigres.api config/crd
	@$(BIN)/python -m steward.tenants.api config/crd
	@$(BIN)/python -m steward.install
	@$(BIN)/python -m steward.docgen

bench: binaries
	@$(BIN)/python -m bench $(ARGS)

fmt: setup
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock: setup
	@echo uv | $(LOCK) $(ARGS) - --output-file requirements/uv.txt
	@$(LOCK) $(ARGS) pyproject.toml --output-file requirements/base.txt
	@$(LOCK) $(ARGS) pyproject.toml --extra dev --constraint requirements/base.txt --output-file requirements/dev.txt

# Built before the tests, which have a time limit each: the first build takes minutes and shows how far it is.
binaries: setup
	@$(BIN)/python -m steward.local

databases: setup
	@$(BIN)/python -m tests.install_databases

setup: $(READY)

$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Steward needs Python 3.11 or newer and '$(PYTHON)' is not: install one and name it, as in: make PYTHON=python3.12 up" >&2; exit 1; }
	@# One that was interrupted has a python and no pip: it is made anew.
	@if [ $(UV) != $(BIN)/uv ]; then [ -x $(BIN)/python ] || $(UV) venv --quiet --clear --python $(PYTHON) $(VENV); \
	elif [ -x $(UV) ] || $(BIN)/python -m pip --version >/dev/null 2>&1; then :; \
	else $(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	    echo "This Python cannot make environments: run 'apt-get install python3-venv' (Debian, Ubuntu), or install uv, then again." >&2; exit 1; }; \
	  echo "making $(VENV)"; $(PYTHON) -m venv --clear $(VENV); fi
	@[ -x $(UV) ] || $(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt || { \
	  echo "The Python package index is not reachable: connect this machine to it, or set PIP_INDEX_URL to a mirror." >&2; exit 1; }
	@echo "installing the locked dependencies into $(VENV)"
	@$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt || { \
	  echo "The dependencies could not be installed: if the Python package index is not reachable, set UV_DEFAULT_INDEX to a mirror." >&2; exit 1; }
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@# Where Python is told to write no bytecode (PYTHONDONTWRITEBYTECODE), every start would compile everything anew.
	@$(BIN)/python -m compileall -q src/steward
	@touch $(READY)
