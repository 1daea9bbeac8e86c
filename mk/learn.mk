# Exercises: docs/learn.md.

.PHONY: learn test-learn
LEARN_OPTIONS = $(if $(filter-out 0,$(LIST)),--list 1) $(if $(GO),--go "$$GO") $(if $(RESET),--reset "$$RESET") $(if $(HINT),--hint "$$HINT")
export GO RESET HINT

# Status 1 means "not yet", which is no error of make's.
learn: | $(NEEDS_NVCC) ## exercises that are checked as you save: make learn, LIST=1, GO=07, RESET=07, HINT=1 (docs/learn.md)
	$(if $(filter-out 0,$(LIST))$(HINT),,$(COMPILE) build/sim/libcuda.so.1 build/sim/replay)
	@python3 -m scripts.learn.learn --nvcc '$(NVCC)' $(LEARN_OPTIONS) || [ $$? = 1 ]

test-learn: | $(NEEDS_NVCC) ## tests the exercises: right solutions must pass, planted mistakes must not (three and ten or more of each); ONLY='03 07'
	$(COMPILE) build/sim/libcuda.so.1
	@python3 -m scripts.learn.variants --nvcc '$(NVCC)' $$ONLY
