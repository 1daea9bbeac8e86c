# Parallel reduction in CUDA, step by step. `make help` lists the commands.
# Here: the commands for the steps. mk/compile.mk: build rules. mk/learn.mk: labs, a kernel of your own, verdicts, exercises. mk/measure.mk: measurements of
# a GPU, charts and tables. mk/simulator.mk: the simulator, the kernel compiler and the installed command. mk/stage.mk: the simulator for a page.
# mk/develop.mk: the tests and the book.

SHELL := /bin/bash
# make's own pattern rules are not used, and to try them on every file takes most of a make's time.
MAKEFLAGS += --no-builtin-rules
# Without this, n=1000 would be ignored silently.
SMALL := $(strip $(foreach variable,n step lab name file dir flags args results ladder device warm try go reset hint compiler contract exercise,\
    $(if $(findstring command,$(origin $(variable))),$(variable))))
ifneq ($(SMALL),)
    $(error $(firstword $(SMALL))=... is written in capitals: $(shell echo '$(firstword $(SMALL))' | tr a-z A-Z)=$($(firstword $(SMALL))))
endif
# A ladder has the name of its programs: reduce, with its steps in this folder, or scan, with its steps in scan/.
LADDERS := reduce scan
LADDER ?= reduce
ifeq ($(filter $(LADDERS),$(LADDER)),)
    $(error LADDER=$(LADDER): accepted are $(LADDERS))
endif
within = $(filter-out reduce/,$(1)/)
steps_of = $(patsubst %/$(1).cu,%,$(sort $(wildcard $(within)step[0-9][0-9]_*/$(1).cu)))
programs_of = $(patsubst %,%/$(1),$(steps_of) $(within)reference_cub)
WITHIN := $(call within,$(LADDER))
ALL_STEPS := $(call steps_of,$(LADDER))
STEPS := $(ALL_STEPS)
# STEPS=step03 and STEPS=step03_sequential name the same folder.
step_called = $(or $(filter $(1) $(WITHIN)$(1) $(WITHIN)$(1)_%,$(ALL_STEPS)),$(error STEPS: there is no step '$(1)'; there are: $(ALL_STEPS)))
override STEPS := $(foreach step,$(STEPS),$(call step_called,$(step)))
number = $(firstword $(subst _, ,$(notdir $(1))))
NUMBERS := $(foreach step,$(STEPS),$(call number,$(step)))
ifneq ($(words $(NUMBERS)),$(words $(sort $(NUMBERS))))
    $(error two folders have the number of one step: $(STEPS); give a copy a name that does not begin with step)
endif

# Where programs run: gpu, or sim, the simulator, which is the default without a GPU.
# The query takes a second on machines with many GPUs, so a recursive make inherits the result.
ifndef GPU_IS_KNOWN
    GPU := $(shell nvidia-smi -L 2>/dev/null | grep '^GPU')
    GPU_IS_KNOWN := 1
endif
export GPU GPU_IS_KNOWN
DEVICE ?= $(if $(GPU),gpu,sim)
ifeq ($(filter gpu sim,$(DEVICE)),)
    $(error DEVICE=$(DEVICE): accepted are gpu and sim)
endif
SIMULATED := $(filter sim,$(DEVICE))
FOLDER := $(if $(SIMULATED),build/sim/)
GPU_PROGRAMS := $(patsubst %,%/$(LADDER),$(STEPS) $(WITHIN)reference_cub)
SIM_PROGRAMS := $(GPU_PROGRAMS:%=build/sim/%)
PROGRAMS := $(GPU_PROGRAMS:%=$(FOLDER)%)
ALL_PROGRAMS := $(foreach ladder,$(LADDERS),$(call programs_of,$(ladder)))
# These commands support the first ladder only.
FIRST_ONLY := $(if $(WITHIN),$(filter mine mine-alone compare new-step compare-numba limits methods peers parts finish sass contribute,$(MAKECMDGOALS)))
ifneq ($(FIRST_ONLY),)
    $(error make $(firstword $(FIRST_ONLY)) supports only the reduction: omit LADDER)
endif

# The number of elements, seconds until a step counts as hung, the folder of results, a step's number, a program,
# two folders of results. Recipes read them from the environment, so that they may contain any character.
N ?= $(if $(SIMULATED),$(if $(WITHIN),262144,1048576),67108864)
TIME_LIMIT ?= 300
RESULTS ?= results$(WITHIN:%/=/%)
ifeq ($(strip $(RESULTS)),)
    $(error RESULTS is empty; name a folder, as in: RESULTS=results)
endif
export N TIME_LIMIT RESULTS LADDER LAB STEP TRY FILE DIR CONTRACT GRADESCOPE FLAGS ARGS NAME BLOCK STYLE A B AGAINST SANITIZE ONLY

# V=1 shows the compiler's command lines.
Q := $(if $(filter-out 0,$(V)),,@)

.PHONY: help help-all measure evidence build run-all diff undo try sweep toolkit headers clean distclean say-device FORCE
.DELETE_ON_ERROR:
# Only compilation runs in parallel, even with -j: measurements run alone.
ifndef COMPILING
.NOTPARALLEL:
endif

# A rule's description begins with its group; the groups of help-all have one command each, with WHAT=.
described = sed -n 's/^\([a-z-]*\):.*\#\# $(1): \(.*\)/\1:\2/p' $(MAKEFILE_LIST)
show = $(call described,$(1)) | while IFS=: read -r name what; do printf '  make %-14s %s\n' "$$name" "$$what"; done
help: ## learn: this list; make help-all shows the other commands
	@echo 'Learn'; $(call show,learn)
	@echo '  make step03         builds and runs one step; N=... sets the number of elements, WARM=1 leaves the cache warm'
	@echo 'Any program'; $(call show,program)
	@echo 'Teach'; $(call show,teach)
	@echo 'Set up'; $(call show,setup)
	@echo 'Develop'; $(call show,develop)
	@echo 'With most commands'
	@echo '  LADDER=scan         the prefix sum in scan/ instead of the reduction: make run-all LADDER=scan, make step03 LADDER=scan; EXCLUSIVE=1 makes it exclusive'
	@echo '  DEVICE=sim          runs on the simulator, DEVICE=gpu on a GPU; default: the GPU if there is one. V=1 shows the command lines of the compiler'

help-all:
	@echo 'make measure WHAT=...: measures a GPU or this machine'; $(call show,measure)
	@echo 'make evidence WHAT=...: records what the checker and the compiler do with many programs, in evidence/'; $(call show,evidence)
	@echo 'make pages: everything generated in the pages; one part of it:'; $(call show,page)
	@echo 'Tests'; $(call show,test)
	@echo 'Release'; $(call show,publish)

of_group = $(shell $(call described,$(1)) | cut -d: -f1)
measure evidence:
	@test -n "$(filter $(WHAT),$(call of_group,$@))" || { echo "make $@: WHAT is one of: $(call of_group,$@)" >&2; exit 2; }
	+@$(MAKE) --no-print-directory $(WHAT)

build: ## compiles every step
	$(COMPILE) $(PROGRAMS)

say-device:
	@$(if $(and $(SIMULATED),$(filter-out 0,$(WARM))),echo 'the simulator has no cache: WARM=1 changes nothing there')
	@$(if $(SIMULATED),$(if $(filter file,$(origin DEVICE)),echo 'nvidia-smi finds no GPU: the programs run on the simulator (simulator/README.md)'),:)

DRAW = $(MAKE) -s plots
OWN_OPTIONS = $(if $(filter-out 0,$(WARM)),--warm) $(if $(filter-out 0,$(EXCLUSIVE)),--exclusive)
RUN = scripts/build/one_at_a_time.sh python3 -m scripts.ladder.run
RUN_ALL = $(RUN) all $(if $(SIMULATED),--simulated) $(OWN_OPTIONS) --elements "$$N" --time-limit "$$TIME_LIMIT"
CSV := $(if $(SIMULATED),counters,run-all)
run-all: say-device ## learn: runs every step in order: table, CSV and charts in results/
	$(COMPILE) $(PROGRAMS)
	$(if $(PYTHON_READY),$(COMPILE) $(PYTHON_READY) || echo 'matplotlib could not be installed: the table comes without charts' >&2)
	@$(RUN_ALL) --output "$$RESULTS/$(CSV).csv" --charts '$(DRAW)' $(PROGRAMS)
	@echo "the charts are in $$RESULTS/: look at $$RESULTS/$(if $(SIMULATED),simulated,bandwidth).svg; next: make diff $(WITHIN:%/=LADDER=% )STEP=01, and $(word 2,$(call steps_of,$(LADDER)))/README.md"

# make step03 and make reference_cub: $(1) is the folder, $(2) the target. On a GPU the program's own output is shown.
define run_step
.PHONY: $(2)
$(2): say-device
	$$(COMPILE) $(FOLDER)$(1)/$(LADDER)
	@$(if $(SIMULATED),$$(RUN_ALL) --output "$$$$RESULTS/$(2)-counters.csv" $(FOLDER)$(1)/$(LADDER),$$(RUN) one $$(OWN_OPTIONS) $(1)/$(LADDER) "$$$$N")
endef
$(foreach step,$(STEPS),$(eval $(call run_step,$(step),$(call number,$(step)))))
$(eval $(call run_step,$(WITHIN)reference_cub,reference_cub))
# The folder's name is also a target.
STEP_FOLDERS := $(sort $(STEPS) $(notdir $(STEPS)))
.PHONY: $(STEP_FOLDERS) $(STEP_FOLDERS:%=%/)
$(foreach step,$(STEP_FOLDERS),$(eval $(step) $(step)/: $(call number,$(step))))

step% Step% STEP%:
	@echo 'there is no $@; the steps are: $(NUMBERS)' >&2; exit 2

diff: ## learn: shows the change that makes a step, and your own edit of it: make diff STEP=03, of a lab: make diff LAB=rowscale STEP=02
	@python3 -m scripts.ladder.edits diff "$$STEP" "$$LAB"

undo: ## learn: reverts your edits of one step: make undo STEP=03, of a lab: make undo LAB=rowscale STEP=02
	@python3 -m scripts.ladder.edits undo "$$STEP" "$$LAB"

# The compiler command for a Try, the same as compile.mk's for the step.
TRY_COMPILER = $(NVCC) $(if $(SIMULATED),$(SIM_NVCCFLAGS),$(NVCCFLAGS) -arch=$(ARCH))
try: say-device ## learn: asks for your prediction of a lesson's Try, makes the change in a copy, and shows before and after: make try STEP=03 TRY=1, also LADDER=scan, LAB=rowscale
	$(if $(SIMULATED),$(COMPILE) build/sim/libsimulator.a)
	@scripts/build/one_at_a_time.sh python3 -m scripts.ladder.predict --ladder '$(LADDER)' --lab "$$LAB" --step "$$STEP" --try "$$TRY" \
	    $(if $(SIMULATED),--simulated --libraries '$(SIM_LIBRARIES)') $(if $(filter file,$(origin N)),--usual,--elements) "$$N" --time-limit "$$TIME_LIMIT" \
	    --build '$(MAKE) -s --no-print-directory' --nvcc '$(NVCC)' --compiler '$(TRY_COMPILER)' --output "$$RESULTS/predictions.csv"

SWEEP_ROUNDS ?= 3
SWEEP := $(if $(SIMULATED),sweep-counters,sweep)
RUN_SWEEP = scripts/build/one_at_a_time.sh python3 -m scripts.ladder.sweep $(if $(SIMULATED),--simulated) --rounds '$(SWEEP_ROUNDS)' $(if $(filter-out 0,$(AGAIN)),--again)
sweep: say-device build ## learn: measures time (on the simulator: counters) over n, compared with CUB; resumes, AGAIN=1 starts again
	@$(RUN_SWEEP) --output "$$RESULTS/$(SWEEP).csv" $(PROGRAMS); status=$$?; $(DRAW) && exit $$status

toolkit: ## setup: installs the CUDA compiler from PyPI in .cuda, without root
	scripts/build/install_toolkit.sh .cuda

headers: ## setup: installs only CUDA's headers from PyPI in .cuda, 2.4 MB, without root: enough for make learn
	python3 -m venv .cuda/venv && .cuda/venv/bin/pip install --quiet --no-deps 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*'

clean: ## setup: removes build products; keeps results and .venv
	rm -rf $(ALL_PROGRAMS) build site .build-flags .sim-flags .pytest_cache tests/__pycache__

distclean: clean ## setup: also removes what was installed here: .venv, .cuda
	rm -rf .venv .cuda

include mk/compile.mk mk/learn.mk mk/simulator.mk mk/measure.mk mk/stage.mk mk/develop.mk
