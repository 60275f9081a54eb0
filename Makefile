# The verbs of this repository. Everything runs through uv, which keeps the environment in .venv
# as pyproject.toml says. A machine without uv gets its own copy in .uv/.

UV_VERSION := 0.13.9
PYTHON ?= python3
UV := $(or $(shell command -v uv 2>/dev/null),.uv/bin/uv)
RUN := $(UV) run
# So that a test that needs uv finds the copy, too.
export PATH := $(CURDIR)/.uv/bin:$(CURDIR)/.hub/node_modules/.bin:$(PATH)

NOTEBOOKS = $(shell find notebooks -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' | sort)
# Outputs, their counts and cell ids stay in git; timestamps and widget state do not.
NBSTRIPOUT = $(RUN) nbstripout --keep-output --keep-count --keep-id --unix-newlines \
	--extra-keys "cell.metadata.execution metadata.language_info.version metadata.widgets"

.DEFAULT_GOAL := help
.PHONY: help lab demo test check fix notebooks bench soak book lite site browser-deps hub-deps

help: ## say what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

lab: $(UV) ## open the course in JupyterLab
	$(RUN) freya-teach lab

demo: $(UV) ## answer one question over both wires, offline
	$(RUN) freya-teach demo

test: $(UV) ## the fast lane: unit tests, and every notebook once
	$(RUN) pytest -n auto

check: $(UV) ## lint, types, notebooks, workflow, recordings, pins, hygiene; changes nothing
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(if $(NOTEBOOKS),$(NBSTRIPOUT) --verify $(NOTEBOOKS))
	$(RUN) python .ci/notebooks/lint.py
	$(RUN) check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RUN) python .ci/recordings.py check
	$(RUN) python .ci/pins.py check
	$(RUN) python .ci/hygiene.py

fix: $(UV) ## repair what can be repaired by a program
	$(RUN) ruff check --fix .
	$(RUN) ruff format .
	$(if $(NOTEBOOKS),$(NBSTRIPOUT) $(NOTEBOOKS))
	$(RUN) python .ci/recordings.py update

notebooks: $(UV) ## run what changed again, show its outputs (ALL=1: all; NB=FILE: this one)
	$(RUN) python .ci/notebooks/rerun.py $(if $(ALL),--all) $(NB)

bench: $(UV) ## measure, as ratios within one run
	$(RUN) pytest -m bench tests/bench -s

soak: $(UV) ## the long proofs
	$(RUN) pytest -n auto -m soak

book: $(UV) ## build the course as a static site in book/_build/html
	$(RUN) freya-teach book

lite: $(UV) ## build the browser edition in book/lite/_build/site (needs npm; BOOK=ADDRESS of the book)
	$(RUN) --script book/lite/build.py $(if $(BOOK),--book $(BOOK))

site: lite ## build the book with the browser edition in it, to be published, in book/_build/site
	$(RUN) freya-teach book --output book/_build/site --lite book/lite/_build/site

browser-deps: ## install Chromium for the browser tests, if there is none (Debian, Ubuntu)
	@for name in chromium chromium-browser google-chrome; do \
		command -v $$name && exit 0; done; \
	command -v apt-get >/dev/null || { \
		echo "There is no apt-get here: install Chromium or Chrome by hand."; exit 1; }; \
	apt-get update && apt-get install --yes --no-install-recommends chromium

hub-deps: ## fetch the proxy of JupyterHub, for the classroom's tests (needs npm)
	npm install --silent --prefix .hub configurable-http-proxy@5.3.0

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
