# Verdicts on untrusted programs that have the structure of a step: docs/judge.md.

.PHONY: check check-all bundle judge test-class
export EXERCISE
# An option given on the command line, even if empty, so that a lost value is reported.
typed = $(if $(findstring command,$(origin $(1)))$($(1)),--$(2)="$$$(1)")
JUDGE = python3 -m scripts.judge.check --nvcc '$(NVCC)' --options '$(SIM_NVCCFLAGS)' --ladder '$(LADDER)' \
    $(call typed,CONTRACT,contract) $(call typed,LAB,lab) $(call typed,EXERCISE,exercise) \
    $(if $(filter command line,$(origin TIME_LIMIT)),--seconds="$$TIME_LIMIT")
JUDGE_PARTS := build/sim/check_program.o build/sim/libcuda.so.1

# The judge's part that runs in the program's process.
build/sim/check_program.o: scripts/judge/check_program.c .sim-flags | build/sim/announced
	$(Q)$(NVCC) -c -cudart none $(call host_options,-O2 -std=gnu11 -Wall -Wextra -fPIC) -o $@ $<

check: | $(NEEDS_NVCC) ## judges a program as a teaching assistant would: make check FILE=my/reduce.cu, also LADDER=scan, LAB=rowscale, EXERCISE=07, CONTRACT=... (docs/judge.md)
	$(COMPILE) $(JUDGE_PARTS)
	@$(JUDGE) -- "$$FILE"

check-all: | $(NEEDS_NVCC) ## judges every .cu in a folder and writes a CSV: make check-all DIR=submissions
	$(COMPILE) $(JUDGE_PARTS)
	@$(JUDGE) --all --output="$$RESULTS/check.csv" $(if $(GRADESCOPE),--gradescope="$$GRADESCOPE") -- "$$DIR"

judge: | $(NEEDS_NVCC)
	$(COMPILE) $(JUDGE_PARTS)

test-class: | $(NEEDS_NVCC) ## grades a class of thirty programs, correct ones, mutants and attacks; takes some minutes
	$(COMPILE) $(PYTHON_READY) $(JUDGE_PARTS)
	$(Q)SIM_LINK='$(TEST_LINK)' WHOLE_CLASS=1 $(PYTHON) -m pytest --durations=1 tests/tools/test_class.py

bundle: ## packs the course for a class, with and without answers, and an autograder: make bundle, also LADDER=scan, CONTRACT=... (docs/judge.md)
	@python3 -m scripts.judge.bundle --ladder '$(LADDER)' \
    $(if $(CONTRACT),--contract="$$CONTRACT") "$$RESULTS/bundle"
