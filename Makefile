# `make up` and `make test` do all their set-up; they need only python3 and make.
#
# Set-up runs only if the stamp .venv/.ready is older than a file that the environment is made from. ARGS is passed
# to the command: `make test ARGS='tests/kube -k watch'`, `make up ARGS='--nodes 6'`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# uv from PATH, else the one that set-up installs into the environment.
UV := $(or $(shell command -v uv 2>/dev/null),$(BIN)/uv)
LOCK := $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
	--custom-compile-command 'make lock'

# Tests mostly wait for servers: four workers for each core keep it busy. PYTHONDONTWRITEBYTECODE is unset for them:
# they start hundreds of processes, and each would compile every module again.
WORKERS ?= 8
# Attacks fill memory.
ATTACK_WORKERS ?= $(if $(filter 0,$(WORKERS)),0,4)
FAST_WORKERS ?= 2

define HELP
make up        start a real Kubernetes on this machine, both operators and a sample (stop it with: make down)
make test-fast run the pure tests: no server, no database, under a minute (some of them: make test-fast ARGS=tests/kube)
make test      run all tests but attacks, chaos and e2e (some of them: make test ARGS=tests/kube; one at a time: make test WORKERS=0)
make attacks   run the tests that attack the operators as authors of clusters, templates and rows, servers and neighbours do, and those that crash an operator at every write
make e2e       run the tests with real containers: as root, about 20 minutes (some of them: make e2e ARGS='-k webhook')
make mysql     run the tests of the MySQL source with a real MySQL server, from Debian's unstable suite (make test uses MariaDB)
make page-test run the tests of the page in a browser (some of them: make page-test ARGS='-k search')
make pictures  take the screenshots of the page for the documents
make check     lint, formatting, types, import rules, generated files
make chaos     random edits, kills and faults, then compare with a fresh state (more: ROUNDS=200 SEED=7; one: STORY=FILE)
make mutate    change decisions one by one and see whether the tests notice (fewer: ARGS='--count 10 steward.tenants.guard.decision')
make bench     run the benchmarks
make down      stop what `make up` started
make fmt       format the code
make generate  write the files generated from the code: CRDs, kustomize files, chart, references
make sbom      write the software bill of materials of the image (CycloneDX, JSON)
make lock      write requirements/*.txt from pyproject.toml (newest versions: make lock ARGS=--upgrade)
endef
export HELP

.PHONY: help up down test test-fast attacks e2e mysql page-test pictures check generate bench mutate chaos fmt lock sbom setup binaries \
	databases
.DELETE_ON_ERROR:

help:
	@echo "$$HELP"

up: setup
	@$(BIN)/steward up --detach $(ARGS)

down: setup
	@$(BIN)/steward down $(ARGS)

test: binaries databases
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --workers $(WORKERS) $(ARGS)

# Left out of `test`: they flood servers and fill memory for minutes, or start a hundred operators one after another.
attacks: binaries databases
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --workers $(ATTACK_WORKERS) tests/attacks tests/multigres/crashes $(ARGS)

# Left out of `test`: it needs root, and a machine can run one cluster with containers at a time.
e2e: binaries databases
	@[ "$$(id -u)" = 0 ] || { echo "make e2e runs containers, which needs root: run 'sudo make e2e'." >&2; exit 1; }
	@echo "The tests with containers take about 20 minutes, 30 more with STEWARD_DATA_PLANE, and some more the first time, when kubelet and CoreDNS are built."
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/e2e $(ARGS)

# Left out of `test`: it downloads 60 MB from the Debian repository of this machine. Nothing is installed.
mysql: setup
	@STEWARD_TEST_MYSQL=1 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/mysql tests/tenants/sources/test_mysql.py $(ARGS)

# Left out of `test`: it needs Chromium.
page-test: binaries
	@$(BIN)/python -m tests.install_browser
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest tests/page/integration $(ARGS)

pictures: setup
	@$(BIN)/python -m tests.install_browser
	@$(BIN)/python -m tests.page.screenshots

# Needs neither `binaries` nor `databases`: these tests use no server. Pure tests keep a core busy: one worker a core.
test-fast: setup
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q --workers $(FAST_WORKERS) -m "not needs_server and not slow" $(ARGS)

check: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m steward.multigres.api config/crd --check
	@$(BIN)/python -m steward.tenants.api config/crd --check
	@$(BIN)/python -m steward.install --check
	@$(BIN)/python -m steward.docgen --check
	@$(BIN)/python -m steward.docgen.vocabulary
	@$(MAKE) --no-print-directory sbom

generate: setup
	@$(BIN)/python -m steward.multigres.api config/crd
	@$(BIN)/python -m steward.tenants.api config/crd
	@$(BIN)/python -m steward.install
	@$(BIN)/python -m steward.docgen

bench: binaries
	@$(BIN)/python -m bench $(ARGS)

# Left out of `test`: every mutant is a run of the nearest tests.
mutate: setup
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.mutation $(ARGS)

# The same seed gives the same stories. ARGS: `--at-once 2`, `--shrinks 0`, `--print`.
ROUNDS ?= 30
SEED ?= 1
chaos: binaries databases
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.chaos --rounds $(ROUNDS) --seed $(SEED) $(if $(STORY),--story $(STORY)) $(ARGS)

fmt: setup
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock: setup
	@echo uv | $(LOCK) $(ARGS) - --output-file requirements/uv.txt
	@$(LOCK) $(ARGS) pyproject.toml --output-file requirements/base.txt
	@echo 'hatchling>=1.26' | $(LOCK) $(ARGS) - --output-file requirements/build.txt
	@$(LOCK) $(ARGS) pyproject.toml --extra dev --constraint requirements/base.txt --constraint requirements/build.txt \
	  --output-file requirements/dev.txt

# From the locked requirements of the image, with their hashes; validated against the schema of CycloneDX. It has neither a
# time nor a random number, so the same requirements give the same bytes, and the file is not kept in git.
SBOM ?= dist/steward.cdx.json
# Nearly all of the time; a document that is compared with a valid one does not need it again.
SBOM_VALIDATION ?= --validate
sbom: setup
	@mkdir -p $(dir $(SBOM))
	@# The warning is about the missing graph of dependencies: a list of requirements has none.
	@PYTHONWARNINGS=ignore::UserWarning $(BIN)/cyclonedx-py requirements requirements/base.txt --pyproject pyproject.toml --mc-type application \
	  --spec-version 1.6 --output-format JSON --output-reproducible $(SBOM_VALIDATION) --output-file $(SBOM)

# Built before the tests, because each test has a time limit and the first build takes minutes.
binaries: setup
	@$(BIN)/python -m steward.local

databases: setup
	@$(BIN)/python -m tests.install_databases

setup: $(READY)

$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Steward needs Python 3.11 or newer and '$(PYTHON)' is not: install one and name it, as in: make PYTHON=python3.12 up" >&2; exit 1; }
	@# An interrupted set-up leaves a python without pip: create the environment again.
	@if [ $(UV) != $(BIN)/uv ]; then [ -x $(BIN)/python ] || $(UV) venv --quiet --clear --python $(PYTHON) $(VENV); \
	elif [ -x $(UV) ] || $(BIN)/python -m pip --version >/dev/null 2>&1; then :; \
	else $(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	    echo "This Python cannot make environments: run 'apt-get install python3-venv' (Debian, Ubuntu), or install uv, then again." >&2; exit 1; }; \
	  echo "creating $(VENV)"; $(PYTHON) -m venv --clear $(VENV); fi
	@[ -x $(UV) ] || $(BIN)/python -m pip install --quiet --require-hashes -r requirements/uv.txt || { \
	  echo "The Python package index is not reachable: connect this machine to it, or set PIP_INDEX_URL to a mirror." >&2; exit 1; }
	@echo "installing the locked dependencies into $(VENV)"
	@$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt || { \
	  echo "The dependencies could not be installed: if the Python package index is not reachable, set UV_DEFAULT_INDEX to a mirror." >&2; exit 1; }
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@# With PYTHONDONTWRITEBYTECODE set, every start would compile every module again.
	@$(BIN)/python -m compileall -q src/steward
	@touch $(READY)
