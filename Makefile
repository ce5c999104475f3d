# Every target sets up what it needs in .venv first; `make` alone lists them.
PYTHON = python3
SECONDS = 60
VENV = .venv
UV = uv>=0.9,<1

BIN = $(VENV)/bin
READY = $(VENV)/.ready
CODE = $(wildcard src tests benchmarks examples)
PYTEST = $(BIN)/python -m pytest
SIDE_BY_SIDE = -n auto --dist loadfile --no-loadscope-reorder
FORMAT = ruff format $(if $(CI),--check)

.DEFAULT_GOAL = help
.PHONY: help setup demo test test-fast test-long check fuzz bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with the locked dependencies (implied by all others)

demo: $(READY) ## engines side by side, filters, and a stream on Spark, in two minutes
	@$(BIN)/boolcast demo
	@$(BIN)/boolcast demo spark

test: $(READY) ## all tests and static checks, except the long ones
	@$(BIN)/python -m tests.prepare
	@$(PYTEST) $(SIDE_BY_SIDE) -m "not long"

test-fast: $(READY) ## the tests that are neither slow nor long, in under a minute
	@$(PYTEST) $(SIDE_BY_SIDE) -m "not slow and not long" --hypothesis-profile fast

test-long: $(READY) ## the long tests only, and every property with many random examples
	@$(PYTEST) $(SIDE_BY_SIDE) -m "long or hypothesis" --hypothesis-profile long --timeout 3600

check: $(READY) ## format, lint, types, import contracts (with CI=true the format is only checked)
	@echo "format"; $(BIN)/$(FORMAT) $(CODE)
	@echo "lint"; $(BIN)/ruff check $(CODE)
	@echo "types"; $(BIN)/mypy $(CODE)
	@echo "import contracts"; $(BIN)/lint-imports --no-logo

fuzz: $(VENV)/.ready-fuzz ## fuzz the parser for SECONDS=60
	@mkdir -p .fuzz/corpus
	@$(BIN)/python tests/fuzz/fuzz_parser.py .fuzz/corpus -artifact_prefix=.fuzz/ -max_total_time=$(SECONDS)

bench: $(READY) ## the benchmarks, one at a time
	@$(PYTEST) benchmarks --benchmark-enable --benchmark-only

lock: $(READY) ## write requirements.lock anew from pyproject.toml, with the newest versions
	@$(BIN)/uv pip compile --quiet --upgrade --universal --no-emit-index-url --extra dev --extra spark --extra report \
		--custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

clean: ## remove .venv, caches and builds
	rm -rf $(VENV) boolcast-demo build dist .benchmarks .fuzz .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || \
		{ echo "$(PYTHON) not found. Boolcast needs Python 3.11 or newer: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Boolcast needs Python 3.11 or newer and $(PYTHON) is %d.%d: make PYTHON=/path/to/python" % v[:2])'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || \
		{ echo "making $(VENV)"; $(PYTHON) -m venv --clear $(VENV); }
	@if echo "installing uv" && $(BIN)/python -m pip install --quiet "$(UV)" \
		&& echo "installing the locked dependencies" \
		&& $(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements.lock \
		&& echo "installing boolcast" \
		&& $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .; \
	then :; else \
		echo "uv failed: installing with plain pip, which takes a minute or two"; \
		$(BIN)/python -m pip install --quiet -r requirements.lock \
		&& $(BIN)/python -m pip install --quiet --no-deps --editable .; \
	fi
	@touch $@

$(VENV)/.ready-fuzz: $(READY)
	@echo "installing atheris"
	@$(BIN)/python -m pip install --quiet --constraint requirements.lock --editable '.[fuzz]'
	@touch $@
