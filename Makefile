# Parallel reduction in CUDA, step by step. `make help` lists the commands.

SHELL := /bin/bash
STEPS := $(patsubst %/reduce.cu,%,$(sort $(wildcard step[0-9][0-9]_*/reduce.cu)))

# Where programs run: gpu, or sim, the simulator, chosen by itself where there is no GPU.
GPU := $(shell nvidia-smi -L 2>/dev/null)
DEVICE ?= $(if $(GPU),gpu,sim)
ifeq ($(filter gpu sim,$(DEVICE)),)
    $(error DEVICE=$(DEVICE): accepted are gpu and sim)
endif
FOLDER := $(if $(filter sim,$(DEVICE)),build/sim/)
GPU_PROGRAMS := $(patsubst %,%/reduce,$(STEPS) reference_cub)
SIM_PROGRAMS := $(GPU_PROGRAMS:%=build/sim/%)
PROGRAMS := $(GPU_PROGRAMS:%=$(FOLDER)%)

# The size of run-all and stepNN, the size of profile, and seconds until a step counts as hung.
N ?= $(if $(filter sim,$(DEVICE)),1048576,67108864)
PROFILE_N ?= 16777216
TIME_LIMIT ?= 300
RESULTS ?= results

# nvcc: on the PATH, in $CUDA_HOME, in /usr/local/cuda, or what `make toolkit` installed.
NVCC ?= $(firstword $(shell command -v nvcc) \
    $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc .cuda/bin/nvcc))
# ncu and compute-sanitizer lie beside it.
export PATH := $(PATH):$(patsubst %/,%,$(dir $(NVCC)))
# The GPU that is present; without one sm_75, which CUDA 12 and 13 both know, and its PTX.
ARCH ?= $(if $(GPU),native,sm_75)
NVCCFLAGS := -O3 -std=c++17 -Werror all-warnings -Xcompiler -Wall,-Wextra
# The simulator runs the PTX that nvcc makes for the GPU that it was compared with.
SIM_ONLY := -lineinfo -arch=sm_90 -cudart none --no-compress
SIM_NVCCFLAGS := $(NVCCFLAGS) $(SIM_ONLY)
# Its own sources; SANITIZE=address,undefined or thread builds it with that sanitizer (without its
# search for leaks: the programs that it runs need not free what they allocate).
SIM_OBJECTS := $(patsubst simulator/%.c,build/sim/objects/%.o,$(wildcard simulator/*.c))
SIM_CFLAGS := -g -O3 -march=native -std=gnu11 -Wall -Wextra -Werror -Wno-type-limits -Wno-clobbered \
    -fno-strict-aliasing -ffp-contract=off -frounding-math -fno-trapping-math \
    $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
comma := ,

# python3 where it has matplotlib and pytest, else a virtual environment of our own.
PYTHON ?= $(if $(shell python3 -c 'import matplotlib, pytest' 2>/dev/null && echo 1),python3,.venv/bin/python)
PYTHON_READY := $(if $(filter .venv/%,$(PYTHON)),.venv/ready)

.PHONY: help build sim bench-sim compare-numba fuzz run-all diff picture sweep profile limits peers against-cub parts finish sass sanitize tries plots tables harness \
    test toolkit clean needs-gpu FORCE
.DELETE_ON_ERROR:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' Makefile
	@echo 'make step03         builds and runs one step; N=... sets the number of elements'
	@echo 'DEVICE=sim          run on the simulator, DEVICE=gpu on a GPU: the default is what is there'

# Compiles several things at once; what is measured runs alone.
COMPILE = +@$(MAKE) --no-print-directory -j$(shell nproc 2>/dev/null || echo 2)
build: ## compiles every step
	$(COMPILE) $(PROGRAMS)

%/reduce: %/reduce.cu .build-flags
	@$(if $(NVCC),,echo 'nvcc was not found: install the CUDA toolkit (Debian and Ubuntu: apt install nvidia-cuda-toolkit; NVIDIA: developer.nvidia.com/cuda-downloads; without root: make toolkit) or set CUDA_HOME' >&2; exit 1)
	$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $<

build/sim/objects/%.o: simulator/%.c simulator/sim.h simulator/lanes.h .sim-flags
	@mkdir -p $(@D)
	$(NVCC) -c -Xcompiler '$(subst $() ,$(comma),$(subst $(comma),\$(comma),$(strip $(SIM_CFLAGS))))' -o $@ $<

build/sim/libsimulator.a: $(SIM_OBJECTS)
	rm -f $@
	ar rcs $@ $(SIM_OBJECTS)

SIM_LIBRARIES := build/sim/libsimulator.a -lpthread -lm $(if $(SANITIZE),-Xcompiler "-fsanitize=$(subst $(comma),\$(comma),$(SANITIZE))")
define link_simulator
@mkdir -p $(@D)
$(NVCC) $(SIM_NVCCFLAGS) -o $@ $< $(SIM_LIBRARIES)
endef

build/sim/%/reduce: %/reduce.cu build/sim/libsimulator.a
	$(link_simulator)

# Tools of the tests: one runs a kernel of a PTX file, one feeds damaged files to the parser.
build/sim/ptx_run: tests/ptx_run.c build/sim/libsimulator.a
	$(NVCC) -cudart none -Xcompiler -Wall,-Wextra -Isimulator -o $@ $< $(SIM_LIBRARIES)

FUZZ_CFLAGS := -g -O1 -std=gnu11 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-strict-aliasing
build/sim/fuzz: tests/fuzz.c $(wildcard simulator/*.[ch]) .sim-flags
	@mkdir -p $(@D)
	$(NVCC) -cudart none -Xcompiler '$(subst $() ,$(comma),$(subst $(comma),\$(comma),$(FUZZ_CFLAGS)))' -Isimulator \
	    -o $@ $< $(wildcard simulator/*.c) -lpthread -lm

fuzz: build/sim/fuzz ## 200 000 damaged PTX files and fat binaries for the simulator's parser
	@set -o pipefail; build/sim/fuzz tests/corpus 200000 1 2>&1 | grep -v '^simulator: kernel'

bench-sim: $(SIM_PROGRAMS) ## warp instructions per second of the simulator
	@scripts/bench_sim.sh 16777216 $(SIM_PROGRAMS)

compare-numba: build/sim/step03_sequential/reduce ## the same reduction in Numba's simulator and in ours
	test -e build/numba/bin/python || python3 -m venv build/numba
	build/numba/bin/pip install --quiet numba
	build/numba/bin/python scripts/compare_numba.py $< 65536

SIM_PROGRAM = build/sim/programs/$(basename $(notdir $(FILE)))
sim: $(if $(wildcard $(FILE)),build/sim/libsimulator.a) ## builds any CUDA program for the simulator: make sim FILE=any.cu
	@test -f '$(FILE)' || { echo "make sim: FILE='$(FILE)' is no file; name a program, as in: make sim FILE=any.cu" >&2; exit 2; }
	@mkdir -p build/sim/programs
	$(NVCC) -O3 -std=c++17 $(SIM_ONLY) -o '$(SIM_PROGRAM)' '$(FILE)' $(SIM_LIBRARIES)
	@echo 'built: $(SIM_PROGRAM)'

# These change only when the compiler or its flags do, so that ARCH=... rebuilds and nothing else does.
.build-flags: FLAGS = $(NVCC) $(NVCCFLAGS) -arch=$(ARCH)
.sim-flags: FLAGS = $(NVCC) $(SIM_CFLAGS)
.build-flags .sim-flags: FORCE
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

CSV := $(if $(filter sim,$(DEVICE)),counters,run-all)
run-all: build ## runs every step in order: table, CSV and charts in results/
	@scripts/run_all.sh $(if $(filter sim,$(DEVICE)),-s) -n '$(N)' -t '$(TIME_LIMIT)' -o '$(RESULTS)/$(CSV).csv' \
	    -c '$(MAKE) -s plots RESULTS="$(RESULTS)"' $(PROGRAMS)

# make step03 and make reference_cub: $(1) is the folder, $(2) the target.
define run_step
$(2): $(FOLDER)$(1)/reduce
	$(if $(filter sim,$(DEVICE)),@scripts/run_all.sh -s -n '$$(N)' -t '$$(TIME_LIMIT)' -o '$$(RESULTS)/$$@-counters.csv' $$<,./$$< '$$(N)')
.PHONY: $(2)
endef
$(foreach step,$(STEPS),$(eval $(call run_step,$(step),$(firstword $(subst _, ,$(step))))))
$(eval $(call run_step,reference_cub,reference_cub))

step%:
	@echo 'there is no $@; the steps are: $(foreach step,$(STEPS),$(firstword $(subst _, ,$(step))))' >&2; exit 2

diff: ## the change that makes a step: make diff STEP=03
	@scripts/diff_step.sh '$(STEP)'

# The step that STEP names, and the one before it.
PICTURED = $(if $(STEP),$(shell printf '%s\n' $(STEPS) | grep -B1 '^step$(STEP)_'))
picture: $(PICTURED:%=build/sim/%/reduce) ## draws what a step does, from a run on the simulator: make picture STEP=03 BLOCK=0
	@python3 plots/picture.py '$(STEP)' --block '$(or $(BLOCK),0)'

needs-gpu:
	@test '$(DEVICE)' = gpu || { echo 'this needs a GPU; there is none, or DEVICE=sim was asked for' >&2; exit 2; }

SWEEP_ROUNDS ?= 3
SWEEP := $(if $(filter sim,$(DEVICE)),sweep-counters,sweep)
sweep: build ## time (on the simulator: counters) over n against CUB; goes on where it stopped, AGAIN=1 starts anew
	@python3 scripts/sweep.py $(if $(filter sim,$(DEVICE)),--simulated) --rounds '$(SWEEP_ROUNDS)' $(if $(AGAIN),--again) \
	    --output '$(RESULTS)/$(SWEEP).csv' $(PROGRAMS)
	@$(MAKE) -s plots RESULTS='$(RESULTS)'

profile: needs-gpu build ## Nsight Compute's counters for every step: results/profile.csv
	@python3 scripts/profile_steps.py --elements '$(PROFILE_N)' --output '$(RESULTS)/profile.csv' $(PROGRAMS)

limits: needs-gpu build/limits ## what the GPU allows: results/limits.csv
	@mkdir -p '$(RESULTS)'
	build/limits > '$(RESULTS)/limits.csv.new' && mv '$(RESULTS)/limits.csv.new' '$(RESULTS)/limits.csv'

peers: needs-gpu build build/peers ## the last steps beside thrust, cuBLAS, torch and a copy: results/peers.csv
	scripts/peers.sh '$(RESULTS)/peers.csv' build/peers $(filter-out step00_% step01_% step02_% step03_% step04_% step05_% step06_%,$(GPU_PROGRAMS))

against-cub: needs-gpu build/against_cub ## the last steps and CUB in turns in one process: results/against-cub.csv
	@mkdir -p '$(RESULTS)'
	build/against_cub > '$(RESULTS)/against-cub.csv.new' && mv '$(RESULTS)/against-cub.csv.new' '$(RESULTS)/against-cub.csv'

build/against_cub: $(wildcard step1[123]_*/reduce.cu reference_cub/reduce.cu) build/step12_try7.cu build/step12_try8.cu
build/step12_try%.cu: step12_launchshape/reduce.cu step12_launchshape/README.md
	@mkdir -p build
	python3 scripts/tries.py --print $* step12_launchshape > $@

build/limits build/peers build/against_cub: build/%: scripts/%.cu .build-flags
	@mkdir -p build
	$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $< $(if $(filter build/peers,$@),-lcublas)

sanitize: needs-gpu build ## compute-sanitizer's four tools over every step
	scripts/sanitize.sh $(PROGRAMS)

tries: needs-gpu build ## what the lessons suggest to try, measured: results/tries.csv
	@python3 scripts/tries.py --compiler '$(NVCC) $(NVCCFLAGS) -arch=$(ARCH)' --elements '$(N)' \
	    --output '$(RESULTS)/tries.csv' $(STEPS)

parts: needs-gpu ## steps 01 to 07 without their tree, and without their way to memory: results/parts.csv
	@python3 scripts/parts.py --compiler '$(NVCC) -O3 -std=c++17 -arch=$(ARCH)' --elements '$(N)' \
	    --output '$(RESULTS)/parts.csv' $(filter step01_% step02_% step03_% step04_% step05_% step06_% step07_%,$(STEPS))

finish: needs-gpu ## when the blocks of the last two steps end: results/finish.csv
	@python3 scripts/finish.py --compiler '$(NVCC) -O3 -std=c++17 -arch=$(ARCH)' --output '$(RESULTS)/finish.csv' $(filter step12_% step13_%,$(STEPS))

sass: ## machine code of step 07's loop, and with the index of its first Try: results/sass/
	@python3 scripts/sass.py --output '$(RESULTS)/sass' step07_gridstride 0 step07-signed
	@python3 scripts/sass.py --output '$(RESULTS)/sass' step07_gridstride 1 step07-unsigned

plots: $(PYTHON_READY) ## redraws the charts from the CSVs in results/
	$(PYTHON) plots/plot.py '$(RESULTS)'

tables: ## writes what was measured (plots/h200) and the programs' code into the pages
	python3 plots/tables.py

harness: ## copies the harness of step 00 into the other programs
	scripts/copy_harness.sh $(filter-out step00_%,$(STEPS)) reference_cub

test: $(PYTHON_READY) ## every test that this machine can run
	$(COMPILE) $(GPU_PROGRAMS) $(SIM_PROGRAMS) build/sim/ptx_run build/sim/fuzz
	$(if $(SANITIZE),ASAN_OPTIONS=detect_leaks=0) SIM_LINK='$(filter-out -lineinfo,$(SIM_NVCCFLAGS)) $(SIM_LIBRARIES)' $(PYTHON) -m pytest \
	    $(shell $(PYTHON) -c 'import xdist' 2>/dev/null && printf '%s' '-n auto --dist loadfile') tests

toolkit: ## the CUDA compiler from PyPI into .cuda, for machines without root
	scripts/install_toolkit.sh .cuda

clean: ## removes what make built; results stay
	rm -rf $(GPU_PROGRAMS) build .build-flags .sim-flags .venv .pytest_cache tests/__pycache__

.venv/ready: plots/requirements.txt
	python3 -m venv .venv
	.venv/bin/pip install --quiet -r $<
	touch $@
