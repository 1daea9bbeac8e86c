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
learn: | $(if $(LEARN_ONLY_LOOKS),,$(LEARN_NEEDS)) ## exercises that are checked as you save: make learn, LIST=1, GO=07, RESET=07, HINT=1, IMPORT=file, EXPORT=file (docs/learn.md)
	$(if $(LEARN_ONLY_LOOKS),,$(COMPILE) $(LEARN_BUILDS) build/sim/replay)
	@python3 -m scripts.learn.learn $(LEARN_NVCC) $(LEARN_OPTIONS) || [ $$? = 1 ]

test-learn: | $(LEARN_NEEDS) ## tests the exercises: right solutions must pass, planted mistakes must not (three and ten or more of each); ONLY='03 07', COMPILER=drywarp
	$(COMPILE) $(LEARN_BUILDS)
	@python3 -m scripts.learn.variants $(LEARN_NVCC) $$ONLY

learn-verdicts: | $(NEEDS_HEADERS) ## for authors: writes tests/book/verdicts.csv, with which the test of the exercises' page compares its verdicts
	$(COMPILE) build/sim/libcuda.so.1 build/sim/compile
	@python3 -m scripts.learn.verdicts
