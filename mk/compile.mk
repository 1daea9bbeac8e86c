# How programs are built, for the GPU and for the simulator.

# nvcc: on the PATH, in $CUDA_HOME, in /usr/local/cuda, or what `make toolkit` installed.
NVCC ?= $(firstword $(shell command -v nvcc) \
    $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc .cuda/bin/nvcc))
# ncu and compute-sanitizer lie beside it.
export PATH := $(PATH)$(if $(findstring /,$(NVCC)),:$(patsubst %/,%,$(dir $(NVCC))))
# The GPU that is present; without one sm_75, which CUDA 12 and 13 both know, and its PTX.
ARCH ?= $(if $(GPU),native,sm_75)
NVCCFLAGS := -O3 -std=c++17 -Xcompiler -Wall,-Wextra
# The simulator runs the PTX that nvcc makes for the GPU that it was compared with, and needs no machine code.
SIM_ONLY := -lineinfo -Xcompiler -g1,-fno-optimize-sibling-calls -gencode arch=compute_90,code=compute_90 -cudart none --no-compress
SIM_NVCCFLAGS := $(NVCCFLAGS) $(SIM_ONLY)
comma := ,

# Compiles several things at once. Two commands in one folder do not, and what one measures the other does not disturb.
COMPILE = +@COMPILING=1 scripts/build/one_at_a_time.sh $(MAKE) --no-print-directory $(if $(filter-out 0,$(V)),,-s) \
    $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))

# Everything that needs nvcc waits for this: without nvcc it says so, before anything else and once.
NEEDS_NVCC := $(if $(NVCC),,no-nvcc)
.PHONY: no-nvcc
no-nvcc:
	@echo 'nvcc was not found: install the CUDA toolkit (NVIDIA: developer.nvidia.com/cuda-downloads; without root: make toolkit) or set CUDA_HOME' >&2; exit 1

# compiling step02_bitops (program 3 of the ladder's 15)
place = $(words $(shell printf '%s\n' $(1) | sed '/^$(subst /,\/,$(2))$$/q'))
progress = @echo "compiling $(patsubst build/sim/%,%,$(@D))$(2) (program $(call place,$(1),$@) of the ladder's $(words $(1)))"
its_kind = $(or $(filter %/$(basename $(@F)),$(GPU_PROGRAMS)),$(call programs_of,$(basename $(@F))))

# A program for the simulator is compiled and linked apart: whoever changes the simulator only links anew.
.SECONDARY: # objects stay
define compile_for_simulator
@mkdir -p $(@D)
$(Q)$(NVCC) -c $(SIM_NVCCFLAGS) $(extra) -o $@ $<
endef
link_with_simulator = $(Q)$(NVCC) $(SIM_NVCCFLAGS) -o $@ $< $(extra) $(SIM_LIBRARIES)

# The programs of a ladder, $(1).
define compile
%/$(1): %/$(1).cu .build-flags | $(NEEDS_NVCC)
	$$(call progress,$$(its_kind))
	$$(Q)$$(NVCC) $$(NVCCFLAGS) -arch=$$(ARCH) -o $$@ $$<

build/sim/%/$(1).o: %/$(1).cu .sim-flags | $(NEEDS_NVCC)
	$$(call progress,$$(its_kind:%=build/sim/%.o), for the simulator)
	$$(compile_for_simulator)

build/sim/%/$(1): build/sim/%/$(1).o build/sim/libsimulator.a
	$$(link_with_simulator)
endef
$(foreach ladder,$(LADDERS),$(eval $(call compile,$(ladder))))

# These change only when the compiler or its flags do, so that ARCH=... rebuilds and nothing else does.
.build-flags: COMPILER_LINE = $(NVCC) $(NVCCFLAGS) -arch=$(ARCH)
.sim-flags: COMPILER_LINE = $(NVCC) $(SIM_CFLAGS) $(SIM_NVCCFLAGS)
.build-flags .sim-flags: FORCE | $(NEEDS_NVCC)
	@echo '$(COMPILER_LINE)' | cmp -s - $@ || echo '$(COMPILER_LINE)' > $@

# Charts are drawn into files. What a notebook asks for may be unknown to the Python that draws.
export MPLBACKEND := Agg

# A virtual environment of our own, where there is one; else python3, if it has what the charts and tests need; else the one that is made. There pip
# compiles nothing beforehand (--no-compile), which takes longer than all else: Python compiles what is used, when it is. What every chart and test
# uses it compiles here, also where PYTHONDONTWRITEBYTECODE would have each process compile it anew.
PYTHON ?= $(if $(wildcard .venv/ready),.venv/bin/python,$(if $(shell python3 -c 'import matplotlib, pytest' 2>/dev/null && echo 1),python3,.venv/bin/python))
PYTHON_READY := $(if $(filter .venv/%,$(PYTHON)),.venv/ready)
.venv/ready: plots/requirements.txt
	@echo 'installing matplotlib and pytest into .venv'
	$(Q)python3 -m venv .venv
	$(Q).venv/bin/pip install --quiet --no-compile -r $<
	$(Q)PYTHONDONTWRITEBYTECODE= .venv/bin/python -c 'import matplotlib.pyplot, matplotlib.backends.backend_svg, pytest, xdist'
	@touch $@

# Jupyter, for the tests of the notebook.
.venv/notebook: notebooks/requirements.txt .venv/ready
	@echo 'installing Jupyter into .venv'
	$(Q).venv/bin/pip install --quiet --no-compile -r $<
	@touch $@
