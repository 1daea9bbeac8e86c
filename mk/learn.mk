# The labs: small ladders about other questions, each in labs/NAME. scripts/ladder/labs.py lists their programs.

.PHONY: lab labs lab-programs
LABS := $(patsubst labs/%/README.md,%,$(sort $(wildcard labs/*/README.md)))
# NAME=rowscale, or LAB=rowscale as in make diff. Only a NAME on make's command line counts: in the environment it may be the host's name.
GIVEN := $(firstword $(foreach variable,NAME LAB,$(if $(findstring command,$(origin $(variable))),$(variable))))
LABS_PY = python3 -m scripts.ladder.labs $(1) $(if $(GIVEN),"$$$(GIVEN)") $(if $(SIMULATED),--simulated) $(if $(filter file,$(origin N)),,--size "$$N") --nvcc '$(NVCC)'

define run_labs
@$(call LABS_PY,names) > /dev/null
$(COMPILE) lab-programs $(PYTHON_READY)
@scripts/build/one_at_a_time.sh $(call LABS_PY,run) --time-limit "$$TIME_LIMIT" --output "$$RESULTS/labs" \
    --charts '$(PYTHON) plots/labs.py'
endef

lab: say-device ## learn: builds and runs one lab: make lab NAME=rowscale; N=... sets its size
	@test -n "$(if $(GIVEN),$$$(GIVEN))" || { echo "make lab: name one, as in: make lab NAME=rowscale; there are: $$(python3 -m scripts.ladder.labs names)" >&2; exit 2; }
	$(run_labs)

labs: say-device ## learn: builds and runs every lab: tables, CSVs and charts in results/labs/
	$(run_labs)

# Evaluated in the make that $(COMPILE) starts, where the shell sees NAME.
ifneq ($(filter lab-programs,$(MAKECMDGOALS)),)
lab-programs: $(filter-out $(LEFT_OUT),$(shell $(call LABS_PY,programs)))
endif

# The program's first comment has the build command: of a CUDA program the options before -o and the libraries after its name are used, of a C program all of it.
built = $(shell sed -n 's|^// Build and run: \(.*\) && .*|\1|p' $(wildcard labs/$*.cu labs/$*.c))
build/sim/labs/% build/labs/%: extra = $(filter-out nvcc -O3 -arch=native -o %.cu $(notdir $*),$(built))

build/sim/labs/%.o: labs/%.cu .sim-flags | $(NEEDS_NVCC)
	@echo 'compiling labs/$(*D) for the simulator'
	$(compile_for_simulator)

build/sim/labs/%: build/sim/labs/%.o build/sim/libsimulator.a
	$(link_with_simulator)

build/labs/%: labs/%.cu .build-flags | $(NEEDS_NVCC)
	@echo 'compiling labs/$(*D)'
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(GPU_NVCCFLAGS) -o $@ $< $(extra)

build/labs/%: labs/%.c
	@echo 'compiling labs/$(*D)'
	@mkdir -p $(@D)
	$(Q)$(subst -o $(@F) $(<F),-o $@ $<,$(built)) -Wall -Wextra

# A learner's own kernel, in the harness and compared with the steps: docs/mine.md.

.PHONY: mine mine-alone
MINE := build/$(if $(SIMULATED),sim/)mine/reduce
WITH_MINE := $(filter-out %_cub/reduce,$(PROGRAMS)) $(MINE) $(filter %_cub/reduce,$(PROGRAMS))

build/mine/reduce.cu: FORCE
	@python3 -m drywarp.mine compose "$$FILE" $@

build/mine/reduce: build/mine/reduce.cu | $(NEEDS_NVCC)
	@echo "compiling $$FILE"
	$(Q)$(NVCC) $(GPU_NVCCFLAGS) -o $@ $<

build/sim/mine/reduce.o: build/mine/reduce.cu .sim-flags | $(NEEDS_NVCC)
	@echo "compiling $$FILE for the simulator"
	$(compile_for_simulator)

mine: say-device ## learn: measures your own kernel beside the steps: make mine FILE=my/reduce.cu (docs/mine.md)
	+@scripts/build/one_at_a_time.sh $(MAKE) --no-print-directory mine-alone

# All learners' kernels have the same name, so a second one waits until the first is measured.
mine-alone:
	$(COMPILE) $(MINE)
	$(COMPILE) $(PROGRAMS) $(PYTHON_READY)
	@cd "$$RESULTS/mine" 2> /dev/null && rm -f {run-all,counters,sweep,sweep-counters,profile}.{csv,txt} *.svg || true # left by another kernel
	@$(RUN_ALL) --output "$$RESULTS/mine/$(CSV).csv" $(WITH_MINE) || { python3 -m drywarp.mine report "$$RESULTS/mine/$(CSV).csv"; exit 1; }
	@python3 -m scripts.ladder.sweep $(if $(SIMULATED),--simulated) --rounds 1 --output "$$RESULTS/mine/$(SWEEP).csv" \
	    $(MINE) $(FOLDER)reference_cub/reduce || [ -s "$$RESULTS/mine/$(SWEEP).csv" ] # the report lists failures
	$(if $(SIMULATED),,@! command -v ncu > /dev/null || \
	    python3 -m scripts.gpu.profile steps --elements '$(PROFILE_N)' --output "$$RESULTS/mine/profile.csv" $(WITH_MINE) || true)
	$(Q)$(PYTHON) plots/plot.py "$$RESULTS/mine"
	@echo "the charts are in $$RESULTS/mine/"
	@python3 -m drywarp.mine report --sweep "$$RESULTS/mine/$(SWEEP).csv" "$$RESULTS/mine/$(CSV).csv"

# Verdicts on untrusted programs that have the structure of a step: docs/judge.md.

.PHONY: judge judge-all judge-parts check-all bundle test-class
export EXERCISE ROSTER PARTIAL
# An option given on the command line, even if empty, so that a lost value is reported.
typed = $(if $(findstring command,$(origin $(1)))$($(1)),--$(2)="$$$(1)")
JUDGE = python3 -m drywarp.judge.check --nvcc '$(NVCC)' --options '$(SIM_NVCCFLAGS)' $(if $(filter command environment,$(firstword $(origin LADDER))),--ladder="$$LADDER") \
    $(call typed,CONTRACT,contract) $(call typed,LAB,lab) $(call typed,EXERCISE,exercise) \
    $(if $(filter command line,$(origin TIME_LIMIT)),--seconds="$$TIME_LIMIT") $(call typed,ROSTER,roster) $(call typed,PARTIAL,partial)
JUDGE_PARTS := build/sim/check_program.o build/sim/libcuda.so.1

# The judge's part that runs in the program's process.
build/sim/check_program.o: drywarp/judge/check_program.c .sim-flags | build/sim/announced
	$(Q)$(NVCC) -c -cudart none $(call host_options,-O2 -std=gnu11 -Wall -Wextra -fPIC) -o $@ $<

judge: | $(NEEDS_NVCC) ## teach: judges a program as a teaching assistant would: make judge FILE=my/reduce.cu, also LADDER=scan, LAB=rowscale, EXERCISE=07, CONTRACT=... (docs/judge.md)
	$(COMPILE) $(JUDGE_PARTS)
	@$(JUDGE) -- "$$FILE"

judge-all: | $(NEEDS_NVCC) ## teach: judges every .cu in a folder and writes a CSV: make judge-all DIR=submissions
	$(COMPILE) $(JUDGE_PARTS)
	@$(JUDGE) --all --output="$$RESULTS/check.csv" $(if $(GRADESCOPE),--gradescope="$$GRADESCOPE") -- "$$DIR"

# The judge's former names, for one release: this one, and make check with a FILE (mk/develop.mk).
check-all:
	@echo 'make check-all is called make judge-all now' >&2
	+@$(MAKE) --no-print-directory judge-all

judge-parts: | $(NEEDS_NVCC)
	$(COMPILE) $(JUDGE_PARTS)

test-class: | $(NEEDS_NVCC) ## test: grades a class of thirty programs, correct ones, mutants and attacks; takes some minutes
	$(COMPILE) $(PYTHON_READY) $(JUDGE_PARTS)
	$(Q)SIM_LINK='$(TEST_LINK)' WHOLE_CLASS=1 $(PYTHON) -m pytest --durations=1 tests/tools/test_class.py

bundle: ## teach: packs the course for a class, with and without answers, and an autograder: make bundle, also LADDER=scan, LAB=rowscale, EXERCISE=07, CONTRACT=... (docs/judge.md)
	$(COMPILE) $(PLAYER)
	@python3 -m scripts.build.bundle --ladder '$(LADDER)' \
    $(if $(CONTRACT),--contract="$$CONTRACT") $(call typed,LAB,lab) $(call typed,EXERCISE,exercise) "$$RESULTS/bundle"

# Exercises: docs/learn.md.

.PHONY: learn test-learn learn-verdicts
LEARN_OPTIONS = $(if $(filter-out 0,$(LIST)),--list 1) $(if $(GO),--go "$$GO") $(if $(RESET),--reset "$$RESET") $(if $(HINT),--hint "$$HINT") \
    $(if $(IMPORT),--import "$$IMPORT") $(if $(EXPORT),--export "$$EXPORT")
export GO RESET HINT IMPORT EXPORT
# Options for which nothing is judged.
LEARN_ONLY_LOOKS := $(filter-out 0,$(LIST))$(HINT)$(IMPORT)$(EXPORT)
# The kernels' compiler: nvcc, or drywarp, the simulator's own, which is the default without nvcc.
ifneq ($(and $(findstring command,$(origin COMPILER)),$(if $(filter drywarp nvcc,$(COMPILER)),,other)),)
    $(error COMPILER=$(COMPILER): accepted are nvcc and drywarp)
endif
OWN_COMPILER := $(if $(filter nvcc,$(COMPILER)),,$(if $(NVCC),$(filter drywarp,$(COMPILER)),drywarp))
LEARN_NEEDS := $(if $(OWN_COMPILER),$(NEEDS_HEADERS),$(NEEDS_NVCC))
LEARN_NVCC = --nvcc '$(if $(OWN_COMPILER),,$(NVCC))'
LEARN_BUILDS := build/sim/libcuda.so.1 $(if $(OWN_COMPILER),build/sim/compile BY_HEADERS=1)

# Status 1 means "not yet", which is no error of make's.
learn: | $(if $(LEARN_ONLY_LOOKS),,$(LEARN_NEEDS)) ## learn: exercises that are checked as you save: make learn, LIST=1, GO=07, RESET=07, HINT=1, IMPORT=file, EXPORT=file (docs/learn.md)
	$(if $(LEARN_ONLY_LOOKS),,$(COMPILE) $(LEARN_BUILDS) build/sim/replay)
	@python3 -m drywarp.learn.learn $(LEARN_NVCC) $(LEARN_OPTIONS) || [ $$? = 1 ]

test-learn: | $(LEARN_NEEDS) ## test: tests the exercises: right solutions must pass, planted mistakes must not (three and ten or more of each); ONLY='03 07', COMPILER=drywarp
	$(COMPILE) $(LEARN_BUILDS)
	@python3 -m scripts.evidence.variants $(LEARN_NVCC) $$ONLY

learn-verdicts: | $(NEEDS_HEADERS) ## evidence: for authors: writes tests/book/verdicts.csv, with which the test of the exercises' page compares its verdicts
	$(COMPILE) build/sim/libcuda.so.1 build/sim/compile
	@python3 -m scripts.evidence.verdicts
