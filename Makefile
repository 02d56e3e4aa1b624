# Every lane sets up .venv on first use, and again when pyproject.toml changes.

PYTHON ?= python3
JOBS ?= 2
ARGS ?=
BLENDER ?= 5.0.1
BLENDER_PYTHON ?= 3.11

bin := .venv/bin
pip := $(bin)/python -m pip install -q --disable-pip-version-check
pytest := $(bin)/python -m pytest

# The Python that makes .venv: the one that was named, or the first of these that will do.
pythons := $(if $(filter file,$(origin PYTHON)),$(PYTHON) python3.13 python3.12 python3.11,$(PYTHON))
lane := $(or $(firstword $(MAKECMDGOALS)),test)

.DEFAULT_GOAL := help
.PHONY: help demo demo-blender test test-all test-blender blender-addon lint docs screens thumbnails bench bench-contacts clean
MAKEFLAGS += --no-print-directory

help: ## show the lanes
	@awk -F ': .*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile
	@echo "  PYTHON=python3.12 names the Python that makes .venv, JOBS=4 the test processes, ARGS=... goes to pytest or the benchmarks."

demo: .venv/run.stamp ## run a first scene, write what it measured to out/, open the simulator; Ctrl-C ends it
	@$(bin)/rattleback demo --out out

demo-blender: .venv/run.stamp .venv-blender/stamp dist/rattleback_modelling.zip ## model a wrecking ball in Blender, simulate it, render a picture to out/
	@.venv-blender/bin/python examples/blender/wrecking_ball.py dist/rattleback_modelling.zip "$(CURDIR)/$(bin)/rattleback" out/wrecking_ball.png
	@echo "The picture is out/wrecking_ball.png, the Blender file out/wrecking_ball.blend."

test: .venv/dev.stamp ## the quick tests
	@$(pytest) -q -n $(JOBS) --dist worksteal -m "not slow and not cuda and not blender" $(ARGS)

test-all: .venv/dev.stamp ## every test this machine can run, slow ones and CUDA too
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-all} $(pytest) -q -n $(JOBS) --dist worksteal $(ARGS)

test-blender: .venv/dev.stamp .venv-blender/stamp dist/rattleback_modelling.zip ## the tests that run Blender as a module, which it installs beside
	@$(pytest) -q -m blender tests/blender $(ARGS)

blender-addon: dist/rattleback_modelling.zip ## build the extension for Blender 5.0
	@echo "The extension is in $<; install it in Blender by Edit, Preferences, Get Extensions, Install from Disk."

lint: .venv/dev.stamp .venv/docs.stamp ## style, format, types and the order of the rooms
	@$(bin)/ruff check --quiet
	@$(bin)/ruff format --check --quiet || { $(bin)/ruff format --check; exit 1; }
	@$(bin)/mypy --no-error-summary
	@said=$$($(bin)/lint-imports --no-logo 2>&1) || { echo "$$said"; exit 1; }

docs: .venv/docs.stamp ## build the documentation; a warning is an error
	@$(bin)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html."

screens: .venv/dev.stamp ## screenshots of all scenes in the simulator, in windows of three sizes, to out/screens
	@$(bin)/python benchmarks/screens.py out/screens $(ARGS)

thumbnails: .venv/dev.stamp ## run every scene and take its small picture for the gallery of the simulator
	@$(bin)/python examples/gallery/thumbnails.py src/rattleback/viewer/gallery/pictures $(ARGS)

bench: .venv/dev.stamp ## check the answers of the benchmarks, then measure them
	@$(bin)/python benchmarks/kernels.py $(ARGS)
	@$(bin)/python benchmarks/integrators.py $(ARGS)
	@$(bin)/python benchmarks/joints.py $(ARGS)
	@$(bin)/python benchmarks/reduced.py $(ARGS)
	@$(bin)/python benchmarks/humanoid.py $(ARGS)
	@$(bin)/python benchmarks/orders.py $(ARGS)
	@$(bin)/python benchmarks/environments.py $(ARGS)

bench-contacts: .venv/dev.stamp ## contacts beside other engines; ARGS="--peers FOLDER" says where their scenes are
	@$(bin)/python benchmarks/contacts.py $(ARGS)

clean: ## remove what the lanes made, except .venv
	@rm -rf out build dist docs/_build docs/generated .coverage coverage.xml .hypothesis
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@find src tests docs benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

.venv/run.stamp: pyproject.toml
	$(eval answer := $(shell $(find_python)))
	$(if $(filter ok,$(firstword $(answer))),,$(error $(answer)))
	@echo "Setting up .venv with $(wordlist 2,9,$(answer)); this takes about a minute, once."
	@$(bin)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| $(word 2,$(answer)) -m venv --clear .venv
	@$(pip) -e ".[viewer]"
	@touch $@

.venv/dev.stamp: .venv/run.stamp
	@$(pip) -e ".[dev]"
	@touch $@

.venv/docs.stamp: .venv/dev.stamp
	@$(pip) -e ".[docs]"
	@touch $@

dist/rattleback_modelling.zip: $(wildcard blender/*)
	@mkdir -p dist && rm -f $@
	@$(PYTHON) -m zipfile -c $@ blender/*.py blender/LICENSE blender/blender_manifest.toml

# Blender as a module wants one version of Python and an older NumPy than the package, hence a folder of its own.
.venv-blender/stamp:
	@echo "Setting up .venv-blender with Blender $(BLENDER) as a module; this loads 374 MB, once."
	@python$(BLENDER_PYTHON) -m venv --clear .venv-blender || { \
		echo "Blender $(BLENDER) as a module needs Python $(BLENDER_PYTHON); there is no python$(BLENDER_PYTHON)."; exit 1; }
	@.venv-blender/bin/python -m pip install -q --disable-pip-version-check bpy==$(BLENDER)
	@touch $@

# Prints "ok", the Python and its version; or one sentence that says what is missing and what to do.
define find_python
fault=""; no_venv="";
for python in $(pythons); do
  version=$$($$python -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || version="";
  if [ -z "$$version" ]; then
    : "$${fault:=rattleback needs Python 3.11 or newer; there is no $$python. Install one}";
  elif ! $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    : "$${fault:=rattleback needs Python 3.11 or newer; $$python is $$version. Install one}";
  elif ! $$python -c 'import ensurepip, venv' 2>/dev/null; then
    : "$${no_venv:=$$python ($$version) cannot make a virtual environment. Install its venv package (python3-venv)}";
  else
    echo "ok $$python $$version"; exit;
  fi;
done;
echo "$${no_venv:-$$fault}, or name another: make $(lane) PYTHON=python3.12"
endef
