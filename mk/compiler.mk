# The kernel compiler, simulator/compiler, and its tests. It needs a C compiler only.

.PHONY: compare-nvcc fuzz-compiler random-kernels

COMPILER_SOURCES := $(filter-out %/main.c,$(wildcard simulator/compiler/*.c)) $(addprefix simulator/base/,arena.c die.c slices.c)
COMPILER_OBJECTS := $(COMPILER_SOURCES:simulator/%.c=build/sim/compiler/%.o)
COMPILER_CFLAGS := -g1 -O2 -std=gnu11 -Wall -Wextra -fPIC $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)

# This file changes only with the compiler or its flags.
build/sim/compiler/flags: FORCE
	@mkdir -p $(@D) && { echo '$(CC) $(COMPILER_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(COMPILER_CFLAGS)' > $@; }

build/sim/compiler/announced: $(COMPILER_SOURCES) build/sim/compiler/flags
	@echo 'compiling the kernel compiler'
	@mkdir -p $(sort $(dir $(COMPILER_OBJECTS))) && touch $@

build/sim/compiler/%.o: simulator/%.c build/sim/compiler/flags | build/sim/compiler/announced
	$(Q)$(CC) -c $(COMPILER_CFLAGS) -Isimulator -MMD -MP -MF $(@:.o=.d) -o $@ $<
-include $(COMPILER_OBJECTS:.o=.d) build/sim/compiler/compiler/main.d

build/sim/libcompiler.a: $(COMPILER_OBJECTS)
	$(Q)rm -f $@ && $(AR) qcs $@ $(COMPILER_OBJECTS)

# The command: compile any.cu -o any.ptx.
build/sim/compile: build/sim/compiler/compiler/main.o build/sim/libcompiler.a
	$(Q)$(CC) $(COMPILER_CFLAGS) -o $@ $^ -lm

# -O0 applies only to host code, and halves the compile time.
compare-nvcc: | $(NEEDS_NVCC) ## compiles every kernel with nvcc and with the kernel compiler, and compares the runs: tests/compiler/compare.md; ONLY=PATTERNS
	$(COMPILE) build/sim/libsimulator.a build/sim/libcuda.so.1 build/sim/compile
	@set -f; python3 -m scripts.evidence.compare_nvcc --nvcc '$(NVCC)' --options '$(patsubst -O3,-O0,$(SIM_NVCCFLAGS))' \
	    --libraries '$(strip $(SIM_LIBRARIES))' $(if $(ONLY),--only $$ONLY)

# Random and mutated sources, under gcc's sanitizers. The objects of base/ are libsimulator's, which reads the PTX.
COMPILER_FUZZ_CFLAGS := -g1 -O1 -std=gnu11 -fsanitize=address,undefined -fno-sanitize-recover=undefined
COMPILER_FUZZ_OBJECTS := $(patsubst simulator/compiler/%.c,build/sim/compiler-fuzz-objects/%.o,$(filter simulator/compiler/%,$(COMPILER_SOURCES))) \
    build/sim/compiler-fuzz-objects/fuzz.o
build/sim/compiler-fuzz-objects/%.o: simulator/compiler/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -c $(COMPILER_FUZZ_CFLAGS) -Isimulator -MMD -MP -o $@ $<
build/sim/compiler-fuzz-objects/fuzz.o: tests/compiler/fuzz.c
	@mkdir -p $(@D)
	$(Q)$(CC) -c $(COMPILER_FUZZ_CFLAGS) -Isimulator -isystem $(CUDA_HEADERS) -MMD -MP -o $@ $<
-include $(COMPILER_FUZZ_OBJECTS:.o=.d)
build/sim/compiler-fuzz: $(COMPILER_FUZZ_OBJECTS) build/sim/libsimulator.a
	$(Q)$(NVCC) -cudart none $(call host_options,$(COMPILER_FUZZ_CFLAGS)) -o $@ $(COMPILER_FUZZ_OBJECTS) $(SIM_LIBRARIES)

# All CUDA sources of the repository.
FUZZ_SOURCES = $(wildcard step*/*.cu scan/*/*.cu labs/*/*/*.cu exercises/*/*.cu tests/*/*.cu tests/*/*/*.cu)
fuzz-compiler: | $(NEEDS_NVCC) ## gives the kernel compiler a million random and mutated sources, under gcc's sanitizers; takes hours; COUNT=... SEED=...
	$(COMPILE) build/sim/compiler-fuzz
	@ASAN_OPTIONS=detect_leaks=0:hard_rss_limit_mb=3000 build/sim/compiler-fuzz $(or $(COUNT),1000000) $(or $(SEED),1) $(FUZZ_SOURCES)

random-kernels: | $(NEEDS_NVCC) ## compares 10 000 random kernels: host, nvcc and the kernel compiler; takes an hour; COUNT=... SEED=...
	$(COMPILE) build/sim/libcuda.so.1 build/sim/compile
	@python3 -m tests.compiler.random.check --count $(or $(COUNT),10000) --seed $(or $(SEED),1) --nvcc '$(NVCC)'
