# Needs Python 3.11+, make and git; the first target makes .venv and installs the pinned versions.
# Works with GNU make 3.81 (macOS) and a POSIX shell.

TASK    ?=
PATTERN =
MODEL   =
ARGS    =
JOBS    ?= 2
VENV    = .venv
PY      = $(VENV)/bin/python
PIP     = PIP_BUILD_CONSTRAINT=constraints.txt $(PY) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

# The text of TASK goes through the environment as it was typed: `value` keeps make from expanding a $ in it,
# the quotes in the recipe keep the shell from reading it.
unexport TASK PATTERN MODEL
export FORETHOUGHT_TASK    = $(value TASK)
export FORETHOUGHT_PATTERN = $(value PATTERN)
export FORETHOUGHT_MODEL   = $(value MODEL)

.PHONY: help run ui test test-slow check format venv constraints aegra aegra-constraints

help:
	@echo 'make run TASK="..." [PATTERN=rewoo] [MODEL=name] [ARGS="--json"]   run a task'
	@echo 'make ui          the plan page in a browser (ARGS="--port 8000")'
	@echo 'make test        fast tests (JOBS=2 at a time)'
	@echo 'make test-slow   tests that kill processes, start servers or take long'
	@echo 'make check       lint, format and types'
	@echo 'make format      repair lint and format where that can be done by a program'
	@echo 'make venv        make or renew .venv (every target does it when needed)'
	@echo 'make constraints write the exact versions in .venv into constraints.txt'
	@echo 'make aegra       make or renew .venv-aegra, for servers that share runs ([PYTHON=python3.12], docs/scale.md)'

run: $(VENV)/run.stamp
	@if [ -z "$$FORETHOUGHT_TASK" ]; then \
		echo 'Say what to do: make run TASK="count the words of README.md, then multiply it by 2"' >&2; exit 2; fi; \
	set --; \
	if [ -n "$$FORETHOUGHT_PATTERN" ]; then set -- "$$@" --pattern "$$FORETHOUGHT_PATTERN"; fi; \
	if [ -n "$$FORETHOUGHT_MODEL" ]; then set -- "$$@" --model "$$FORETHOUGHT_MODEL"; fi; \
	$(PY) -m graphs.cli run "$$@" $(ARGS) -- "$$FORETHOUGHT_TASK"

ui: $(VENV)/ui.stamp
	@$(PY) -m graphs.cli ui $(ARGS)

test: $(VENV)/dev.stamp
	$(PY) -m pytest -n $(JOBS) $(ARGS)

# pytest leaves with 5 when nothing was collected; that is no failure, and no pass either.
test-slow: $(VENV)/dev.stamp
	@echo '$(PY) -m pytest -m slow $(ARGS)'; \
	$(PY) -m pytest -m slow $(ARGS) || { code=$$?; \
		if [ $$code -eq 5 ]; then echo 'There are no slow tests yet: nothing was run.'; else exit $$code; fi; }

check: $(VENV)/dev.stamp
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/dev.stamp
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

venv: $(VENV)/dev.stamp

constraints: $(VENV)/dev.stamp
	@{ echo '# Exact versions of everything that `.[dev]` needs; written by `make constraints`.'; \
	$(PY) -m pip --disable-pip-version-check freeze --exclude-editable | grep '^[A-Za-z0-9._-]*==' | sort -f; } > constraints.new
	@mv constraints.new constraints.txt

# A venv that no longer runs (its Python is gone) is made anew.
ifneq ($(shell [ ! -e $(VENV) ] || $(PY) -c '' 2>/dev/null || echo broken),)
.PHONY: $(VENV)/run.stamp $(VENV)/ui.stamp $(VENV)/dev.stamp
endif

define PREPARE
if ! $(PY) -c '' 2>/dev/null; then \
	found=; \
	for python in python3.13 python3.12 python3.11 python3; do \
		if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo 'No Python 3.11 or newer with the modules venv and ensurepip was found on PATH' >&2; \
		echo '(looked for python3.13, python3.12, python3.11, python3). Install one; on Debian and Ubuntu' >&2; \
		echo 'also python3-venv.' >&2; exit 1; \
	fi; \
	echo "making $(VENV) with $$($$found --version)"; \
	$$found -m venv --clear $(VENV) || exit 1; \
fi; \
echo 'installing the versions of constraints.txt into $(VENV)'
endef

$(VENV)/run.stamp: pyproject.toml constraints.txt
	@$(PREPARE)
	@$(PIP) --editable .
	@touch $@

$(VENV)/ui.stamp: pyproject.toml constraints.txt
	@$(PREPARE)
	@$(PIP) --editable '.[ui]'
	@touch $(VENV)/run.stamp $@

# The tools of BFCL, for evals: of all that the package depends on, clients of every model server, they need mpmath.
$(VENV)/dev.stamp: pyproject.toml constraints.txt
	@$(PREPARE)
	@$(PIP) --editable '.[dev]'
	@$(PIP) --no-deps bfcl-eval
	@touch $(VENV)/run.stamp $(VENV)/ui.stamp $@

# Aegra wants Python 3.12 and other versions of a few packages than the tests, so it has an environment of its own.
AEGRA  = .venv-aegra
PYTHON =

aegra: $(AEGRA)/stamp

$(AEGRA)/stamp: deploy/requirements.txt deploy/constraints.txt pyproject.toml
	@if ! $(AEGRA)/bin/python -c '' 2>/dev/null; then \
		found=; \
		for python in $(PYTHON) python3.12 python3.13; do \
			if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then \
				found=$$python; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo 'Aegra needs Python 3.12 or newer, and none was found on PATH (looked for python3.12, python3.13).' >&2; \
			echo 'Name one: make aegra PYTHON=/path/to/python3.12' >&2; exit 1; \
		fi; \
		$$found -m venv --clear $(AEGRA) || exit 1; \
	fi
	@PIP_BUILD_CONSTRAINT=constraints.txt $(AEGRA)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint deploy/constraints.txt --requirement deploy/requirements.txt --editable '.[postgres,sql]'
	@touch $@

aegra-constraints: $(AEGRA)/stamp
	@{ echo '# Exact versions of what a server needs; written by `make aegra-constraints`.'; \
	$(AEGRA)/bin/python -m pip --disable-pip-version-check freeze --exclude-editable | grep '^[A-Za-z0-9._-]*==' | sort -f; } > deploy/constraints.new
	@mv deploy/constraints.new deploy/constraints.txt
	@touch $<
