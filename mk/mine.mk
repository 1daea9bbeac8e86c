# A learner's own kernel, in the harness and compared with the ladder: docs/mine.md.

.PHONY: mine mine-alone
MINE := build/$(if $(SIMULATED),sim/)mine/reduce
WITH_MINE := $(filter-out %_cub/reduce,$(PROGRAMS)) $(MINE) $(filter %_cub/reduce,$(PROGRAMS))

build/mine/reduce.cu: FORCE
	@python3 -m scripts.ladder.mine compose "$$FILE" $@

build/mine/reduce: build/mine/reduce.cu | $(NEEDS_NVCC)
	@echo "compiling $$FILE"
	$(Q)$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $<

build/sim/mine/reduce.o: build/mine/reduce.cu .sim-flags | $(NEEDS_NVCC)
	@echo "compiling $$FILE for the simulator"
	$(compile_for_simulator)

mine: say-device ## measures your own kernel with the ladder: make mine FILE=my/reduce.cu (docs/mine.md)
	+@scripts/build/one_at_a_time.sh $(MAKE) --no-print-directory mine-alone

# All learners' kernels have the same name, so a second one waits until the first is measured.
mine-alone:
	$(COMPILE) $(MINE)
	$(COMPILE) $(PROGRAMS) $(PYTHON_READY)
	@cd "$$RESULTS/mine" 2> /dev/null && rm -f {run-all,counters,sweep,sweep-counters,profile}.{csv,txt} *.svg || true # left by another kernel
	@$(RUN_ALL) --output "$$RESULTS/mine/$(CSV).csv" $(WITH_MINE) || { python3 -m scripts.ladder.mine report "$$RESULTS/mine/$(CSV).csv"; exit 1; }
	@python3 -m scripts.ladder.sweep $(if $(SIMULATED),--simulated) --rounds 1 --output "$$RESULTS/mine/$(SWEEP).csv" \
	    $(MINE) $(FOLDER)reference_cub/reduce || [ -s "$$RESULTS/mine/$(SWEEP).csv" ] # the report lists failures
	$(if $(SIMULATED),,@! command -v ncu > /dev/null || \
	    python3 -m scripts.gpu.profile steps --elements '$(PROFILE_N)' --output "$$RESULTS/mine/profile.csv" $(WITH_MINE) || true)
	$(Q)$(PYTHON) plots/plot.py "$$RESULTS/mine"
	@echo "the charts are in $$RESULTS/mine/"
	@python3 -m scripts.ladder.mine report --sweep "$$RESULTS/mine/$(SWEEP).csv" "$$RESULTS/mine/$(CSV).csv"
