# Parallel reduction in CUDA, step by step. `make help` lists the commands.

SHELL := /bin/bash
STEPS := $(sort $(wildcard step[0-9][0-9]_*))
PROGRAMS := $(STEPS:%=%/reduce) reference_cub/reduce

# The size of run-all and stepNN, the size of profile, and seconds until a step counts as hung.
N ?= 67108864
PROFILE_N ?= 16777216
TIME_LIMIT ?= 300
RESULTS ?= results

# nvcc: on the PATH, in $CUDA_HOME, in /usr/local/cuda, or what `make toolkit` installed.
NVCC ?= $(firstword $(shell command -v nvcc) \
    $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc .cuda/bin/nvcc))
# ncu and compute-sanitizer lie beside it.
export PATH := $(PATH):$(patsubst %/,%,$(dir $(NVCC)))
# The GPU that is present; without one sm_75, which CUDA 12 and 13 both know, and its PTX.
ARCH ?= $(if $(shell nvidia-smi -L 2>/dev/null),native,sm_75)
NVCCFLAGS := -O3 -std=c++17 -arch=$(ARCH) -Werror all-warnings -Xcompiler -Wall,-Wextra

# python3 where it has matplotlib and pytest, else a virtual environment of our own.
PYTHON ?= $(if $(shell python3 -c 'import matplotlib, pytest' 2>/dev/null && echo 1),python3,.venv/bin/python)
PYTHON_READY := $(if $(filter .venv/%,$(PYTHON)),.venv/ready)

.PHONY: help build run-all diff profile sanitize tries plots tables harness \
    test toolkit clean FORCE
.DELETE_ON_ERROR:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' Makefile
	@echo 'make step03         builds and runs one step; N=... sets the number of elements'

build: $(PROGRAMS) ## compiles every step (-j compiles several at once)

%/reduce: %/reduce.cu .build-flags
	@$(if $(NVCC),,echo 'nvcc was not found: install the CUDA toolkit (Debian and Ubuntu: apt install nvidia-cuda-toolkit; NVIDIA: developer.nvidia.com/cuda-downloads; without root: make toolkit) or set CUDA_HOME' >&2; exit 1)
	$(NVCC) $(NVCCFLAGS) -o $@ $<

# Changes only when the compiler or its flags do, so that ARCH=... rebuilds and nothing else does.
.build-flags: FORCE
	@echo '$(NVCC) $(NVCCFLAGS)' | cmp -s - $@ || echo '$(NVCC) $(NVCCFLAGS)' > $@

run-all: build ## runs every step in order: table, results/run-all.csv, charts
	@scripts/run_all.sh -n '$(N)' -t '$(TIME_LIMIT)' -o '$(RESULTS)/run-all.csv' \
	    -c '$(MAKE) -s plots RESULTS="$(RESULTS)"' $(PROGRAMS)

define run_step
$(firstword $(subst _, ,$(1))): $(1)/reduce
	./$$< '$$(N)'
.PHONY: $(firstword $(subst _, ,$(1)))
endef
$(foreach step,$(STEPS),$(eval $(call run_step,$(step))))

step%:
	@echo 'there is no $@; the steps are: $(foreach step,$(STEPS),$(firstword $(subst _, ,$(step))))' >&2; exit 2

diff: ## the change that makes a step: make diff STEP=03
	@scripts/diff_step.sh '$(STEP)'

profile: build ## Nsight Compute's counters for every step: results/profile.csv
	python3 scripts/profile.py --elements '$(PROFILE_N)' --output '$(RESULTS)/profile.csv' $(PROGRAMS)

sanitize: build ## compute-sanitizer's four tools over every step
	scripts/sanitize.sh $(PROGRAMS)

tries: build ## what the lessons suggest to try, measured: results/tries.csv
	python3 scripts/tries.py --compiler '$(NVCC) $(NVCCFLAGS)' --elements '$(N)' \
	    --output '$(RESULTS)/tries.csv' $(STEPS)

plots: $(PYTHON_READY) ## redraws the charts from the CSVs in results/
	$(PYTHON) plots/plot.py '$(RESULTS)'

tables: ## writes the measured numbers of plots/h200 into the READMEs
	python3 plots/tables.py

harness: ## copies the harness of step 00 into the other programs
	scripts/copy_harness.sh $(filter-out step00_%,$(STEPS)) reference_cub

test: build $(PYTHON_READY) ## every test that this machine can run
	$(PYTHON) -m pytest tests

toolkit: ## the CUDA compiler from PyPI into .cuda, for machines without root
	scripts/install_toolkit.sh .cuda

clean: ## removes what make built; results stay
	rm -rf $(PROGRAMS) .build-flags .venv .pytest_cache tests/__pycache__

.venv/ready: plots/requirements.txt
	python3 -m venv .venv
	.venv/bin/pip install --quiet -r $<
	touch $@
