# Rules that build programs for the GPU and for the simulator.

# nvcc: from the PATH, $CUDA_HOME, /usr/local/cuda, or the toolkit that `make toolkit` installed. It is looked up once, not in each recipe.
ifeq ($(origin NVCC),undefined)
    NVCC := $(firstword $(shell command -v nvcc) $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc .cuda/bin/nvcc))
endif
# ncu and compute-sanitizer are in the same folder.
export PATH := $(PATH)$(if $(findstring /,$(NVCC)),:$(patsubst %/,%,$(dir $(NVCC))))
# CUDA's headers: nvcc's, or, without nvcc, those with which the C compiler alone builds the simulator.
CUDA_HEADERS ?= $(patsubst %/cuda_runtime_api.h,%,$(firstword $(wildcard $(addsuffix /cuda_runtime_api.h,$(if $(NVCC),$(abspath $(dir $(realpath $(NVCC)))../include)) \
    $(CUDA_HOME)/include /usr/local/cuda/include .cuda/venv/lib/python3*/site-packages/nvidia/cu13/include /usr/include))))
# The architecture of the present GPU; without a GPU sm_75, which CUDA 12 and 13 both support, and its PTX.
ARCH ?= $(if $(GPU),native,sm_75)
NVCCFLAGS := -O3 -std=c++17 -Xcompiler -Wall,-Wextra
# CCCL=FOLDER: CUB, Thrust and libcu++ from there; -I precedes the toolkit's own, which nvcc adds as a system folder.
GPU_NVCCFLAGS = $(NVCCFLAGS) $(CCCL:%=-I%) -arch=$(ARCH)
# The simulator needs only PTX, made for the architecture of the GPU that it was compared with.
SIM_ONLY := -lineinfo -Xcompiler -g1,-fno-optimize-sibling-calls -gencode arch=compute_90,code=compute_90 -cudart none --no-compress
SIM_NVCCFLAGS := $(NVCCFLAGS) $(SIM_ONLY)
comma := ,

# Compiles several targets in parallel. A lock per folder prevents two commands from compiling, or disturbing measurements, at the same time.
COMPILE = +@COMPILING=1 scripts/build/one_at_a_time.sh $(MAKE) --no-print-directory $(if $(filter-out 0,$(V)),,-s) \
    $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

# A prerequisite of everything that needs nvcc: reports a missing nvcc once, before anything else.
NEEDS_NVCC := $(if $(NVCC),,no-nvcc)
.PHONY: no-nvcc
no-nvcc:
	@echo 'nvcc was not found: install the CUDA toolkit (NVIDIA: developer.nvidia.com/cuda-downloads; without root: make toolkit) or set CUDA_HOME' >&2; exit 1

# What the simulator itself needs: with BY_HEADERS=1, of make learn without nvcc, only the headers.
NEEDS_SIM = $(if $(BY_HEADERS),$(NEEDS_HEADERS),$(NEEDS_NVCC))
NEEDS_HEADERS := $(if $(NVCC)$(CUDA_HEADERS),,no-headers)
.PHONY: no-headers
no-headers:
	@echo 'neither nvcc nor its headers were found: make headers installs the headers (2.4 MB from PyPI), make toolkit also nvcc, both without root' >&2; exit 1

# Such as: compiling step02_bitops (program 3 of 16)
place = $(words $(shell printf '%s\n' $(1) | sed '/^$(subst /,\/,$(2))$$/q'))
progress = @echo "compiling $(patsubst build/sim/%,%,$(@D))$(2) (program $(call place,$(1),$@) of $(words $(1)))"
its_kind = $(or $(filter %/$(basename $(@F)),$(GPU_PROGRAMS)),$(call programs_of,$(basename $(@F))))

# A program for the simulator is compiled and linked separately, so that a change of the simulator only relinks it.
.SECONDARY: # keep the objects
define compile_for_simulator
@mkdir -p $(@D)
$(Q)$(NVCC) -c $(SIM_NVCCFLAGS) $(extra) -o $@ $<
endef
link_with_simulator = $(Q)$(NVCC) $(SIM_NVCCFLAGS) -o $@ $< $(extra) $(SIM_LIBRARIES)

# The programs of a ladder, $(1).
define compile
%/$(1): %/$(1).cu .build-flags | $(NEEDS_NVCC)
	$$(call progress,$$(its_kind))
	$$(Q)$$(NVCC) $$(GPU_NVCCFLAGS) -o $$@ $$<

build/sim/%/$(1).o: %/$(1).cu .sim-flags | $(NEEDS_NVCC)
	$$(call progress,$$(its_kind:%=build/sim/%.o), for the simulator)
	$$(compile_for_simulator)

build/sim/%/$(1): build/sim/%/$(1).o build/sim/libsimulator.a
	$$(link_with_simulator)
endef
$(foreach ladder,$(LADDERS),$(eval $(call compile,$(ladder))))

# These files change only with the compiler or its flags: ARCH=... rebuilds, a repeated make does not.
.build-flags: COMPILER_LINE = $(NVCC) $(GPU_NVCCFLAGS)
.sim-flags: COMPILER_LINE = $(or $(NVCC),$(CC) $(CUDA_HEADERS)) $(SIM_CFLAGS) $(SIM_NVCCFLAGS)
.build-flags: | $(NEEDS_NVCC)
.sim-flags: | $(NEEDS_SIM)
.build-flags .sim-flags: FORCE
	@echo '$(COMPILER_LINE)' | cmp -s - $@ || echo '$(COMPILER_LINE)' > $@

# Charts are drawn into files. A notebook's backend may be missing in the Python that draws.
export MPLBACKEND := Agg

# .venv if it exists; else python3, if it has the packages of charts and tests; else a new .venv. There pip compiles no bytecode (--no-compile),
# which would take longest. The import below compiles the modules that every chart and test uses, even if PYTHONDONTWRITEBYTECODE would make
# each process compile them again.
PYTHON ?= $(if $(wildcard .venv/ready),.venv/bin/python,$(if $(shell python3 -c 'import matplotlib, pytest' 2>/dev/null && echo 1),python3,.venv/bin/python))
PYTHON_READY := $(if $(filter .venv/%,$(PYTHON)),.venv/ready)
.venv/ready: plots/requirements.txt
	@echo 'installing matplotlib and pytest into .venv'
	$(Q)python3 -m venv .venv
	$(Q).venv/bin/pip install --quiet --no-compile -r $<
	$(Q)PYTHONDONTWRITEBYTECODE= .venv/bin/python -c 'import matplotlib.pyplot, matplotlib.backends.backend_svg, pytest, xdist'
	@touch $@

# Jupyter, for the tests of the notebook.
.venv/notebook: elsewhere/requirements.txt .venv/ready
	@echo 'installing Jupyter into .venv'
	$(Q).venv/bin/pip install --quiet --no-compile -r $<
	@touch $@
