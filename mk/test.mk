# Builds the programs of the tests, and runs the tests.

.PHONY: test test-quick test-long

# To save nvcc's time, the tests run only the first and the last program of slow labs, and none of the two labs whose CUB and Thrust headers
# take as long as all other labs. The remaining CUDA programs are compiled together. ALL=1 and make labs run all, each compiled alone. Two
# labelled programs run only with ALL=1 and make labelled, since the others cover their kinds.
inner = $(wordlist 2,$(words $(wordlist 2,$(words $(1)),$(1))),$(1))
programs_of_lab = $(patsubst %.cu,build/sim/%,$(sort $(wildcard labs/$(1)/step*/$(1).cu)))
EVERY := $(filter-out 0,$(ALL))
UNTESTED := $(if $(EVERY),,$(addprefix build/sim/labelled/,idioms patterns) $(addprefix build/sim/labs/,segmented/step01_cub/segmented \
    rowscale/step00_block/rowscale) $(call programs_of_lab,several_gpus) $(call programs_of_lab,thrust) \
    $(foreach lab,accuracy launch operators rowscale,$(call inner,$(call programs_of_lab,$(lab)))))

TESTED := build/sim/fuzz $(if $(GPU),$(call programs_of,reduce),step01_divergent/reduce) $(ALL_PROGRAMS:%=build/sim/%) \
    build/sim/ptx_run build/sim/ptx_run_minimal build/sim/machine_alone build/sim/replay build/sim/coverage build/sim/libcuda.so.1 build/sim/check_program.o \
    build/sim/compile build/sim/compiler-fuzz $(filter-out $(UNTESTED),$(LABELLED)) \
    build/sim/labs/accuracy/step00_one_thread/accuracy
TEST_LINK = $(patsubst -O3,-O0,$(filter-out -lineinfo,$(SIM_NVCCFLAGS))) $(SIM_LIBRARIES)
SANITIZER_OPTIONS := detect_leaks=0:handle_segv=0:detect_odr_violation=0:allocator_may_return_null=1
test: ## runs every test that this machine can run, except the long ones of make test-long
	$(COMPILE) $(PYTHON_READY) $(if $(EVERY),$(PYTHON_READY:ready=notebook)) $(TESTED)
	$(COMPILE) lab-programs DEVICE=sim LEFT_OUT='$(if $(UNTESTED),build/sim/%)'
	$(Q)unset LADDER; $(if $(SANITIZE),ASAN_OPTIONS=$(SANITIZER_OPTIONS)) \
	    SIM_LINK='$(TEST_LINK)' LEFT_OUT='$(UNTESTED)' $(PYTHON) -m pytest \
	    $$($(PYTHON) -c 'import xdist' 2> /dev/null && echo '-n auto --dist loadfile') tests

# Scripts, pages and instructions: tests that compile no CUDA program.
QUICK_TESTS := $(addprefix tests/,tools/test_scripts.py course/test_docs.py simulator/test_instructions.py \
    simulator/test_platform.py tools/test_slurm.py checker/test_suites.py)
test-quick: ## tests scripts, pages and the simulator's instructions (PTX), within a minute and without compiling CUDA programs
	$(COMPILE) $(PYTHON_READY) build/sim/ptx_run build/sim/ptx_run_minimal build/sim/machine_alone build/sim/coverage
	$(Q)unset LADDER; $(PYTHON) -m pytest $$($(PYTHON) -c 'import xdist' 2> /dev/null && echo '-n auto') \
	    -k 'not tries_apply_and_compile' $(QUICK_TESTS)

test-long: ## runs make test with the long ones (ALL=1), then grades a whole class and each exercise's variants (test-class, test-learn)
	+$(Q)$(MAKE) --no-print-directory test ALL=1
	+$(Q)$(MAKE) --no-print-directory test-class test-learn
