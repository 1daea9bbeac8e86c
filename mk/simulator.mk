# The simulator, programs for it, and its tools.

.PHONY: sim sim-aarch64 run page bench-sim coverage compare-numba fuzz mutants labelled no-alarms findings suite courses

# Its own sources. SANITIZE=address,undefined or thread builds it with that sanitizer, without leak
# detection: simulated programs need not free their memory.
# A library has one of two platforms: Linux, or the minimal one, which a test links.
SIM_SOURCES := $(filter-out %/platform_minimal.c simulator/page/% simulator/compiler/% simulator/libraries/%,$(wildcard simulator/*/*.c simulator/*/*/*.c))
SIM_OBJECTS := $(SIM_SOURCES:simulator/%.c=build/sim/objects/%.o)
REPLAY_OBJECTS := $(addprefix build/sim/objects/page/,replay.o compile.o host_device.o main.o)
# PROCESSOR: the value of gcc's -march; native by default, generic if empty.
PROCESSOR ?= native
SIM_CFLAGS := -g1 -O3 $(if $(PROCESSOR),-march=$(PROCESSOR)) -std=gnu11 -Wall -Wextra -Wno-type-limits -Wno-clobbered \
    -fPIC -fno-semantic-interposition -fno-strict-aliasing -ffp-contract=off -fno-trapping-math -fno-math-errno \
    $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all)
# nvcc hands options to the host compiler separated by commas.
host_options = -Xcompiler '$(subst $() ,$(comma),$(subst $(comma),\$(comma),$(strip $(1))))'
# Its C sources need no nvcc, but CUDA's headers; nvcc knows where they are.
SIM_COMPILE = $(if $(NVCC),$(NVCC) $(call host_options,$(SIM_CFLAGS)),$(CC) $(SIM_CFLAGS) -Wno-psabi -isystem $(CUDA_HEADERS)) -c -Isimulator
SIM_LINK = $(if $(NVCC),$(NVCC) -cudart none,$(CXX))
SIM_LIBRARIES := build/sim/libsimulator.a -lpthread -lm $(if $(SANITIZE),-Xcompiler "-fsanitize=$(subst $(comma),\$(comma),$(SANITIZE))")

build/sim/announced: $(SIM_SOURCES) $(wildcard simulator/*/*.h simulator/*/*/*.h) .sim-flags | $(NEEDS_SIM)
	@echo 'compiling the simulator'
	@mkdir -p $(sort $(dir $(SIM_OBJECTS) $(REPLAY_OBJECTS))) && touch $@

build/sim/objects/%.o: simulator/%.c .sim-flags | build/sim/announced
	$(Q)$(SIM_COMPILE) -MMD -MP -MF $(@:.o=.d) -o $@ $<
-include $(SIM_OBJECTS:.o=.d) $(REPLAY_OBJECTS:.o=.d)

build/sim/libsimulator.a: $(SIM_OBJECTS)
	$(Q)rm -f $@ && $(AR) qcs $@ $(SIM_OBJECTS)

# The same objects as the driver's library, for programs that link with -lcuda or open it at run time.
build/sim/libcuda.so.1: $(SIM_OBJECTS)
	$(Q)$(SIM_LINK) -shared -Xlinker -soname=libcuda.so.1 -o $@ $(SIM_OBJECTS) $(wordlist 2,99,$(SIM_LIBRARIES))
	$(Q)ln -sf libcuda.so.1 build/sim/libcuda.so

# The cuBLAS replacement uses OpenBLAS, from PyPI so that no root is needed.
OPENBLAS := build/openblas/scipy_openblas32
$(OPENBLAS)/include/cblas.h:
	@echo 'installing OpenBLAS (scipy-openblas32 from PyPI) into build/openblas'
	$(Q)python3 -m venv --clear build/openblas && build/openblas/bin/pip install --quiet 'scipy-openblas32==0.3.*'
	$(Q)ln -sfn "$$(cd build/openblas && echo lib/python3*/site-packages/scipy_openblas32)" $(OPENBLAS) && touch $@

build/sim/libcublas.a: $(addprefix simulator/,libraries/cublas.c libraries/cublas_of_type.h libraries/include/cublas_v2.h runtime/api/library.h) \
    $(OPENBLAS)/include/cblas.h .sim-flags | build/sim/announced
	$(Q)$(NVCC) -c $(call host_options,$(SIM_CFLAGS)) -Isimulator -I$(OPENBLAS)/include -o build/sim/objects/cublas.o $<
	$(Q)rm -f $@ && $(AR) qcs $@ build/sim/objects/cublas.o

CURAND_OBJECTS := build/sim/objects/curand.o build/sim/objects/sobol.o
$(CURAND_OBJECTS): build/sim/objects/%.o: simulator/libraries/%.c $(addprefix simulator/,libraries/sobol.h libraries/include/curand.h runtime/api/library.h) .sim-flags \
    | build/sim/announced
	$(Q)$(SIM_COMPILE) -o $@ $<

build/sim/libcurand.a: $(CURAND_OBJECTS)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

build/sim/objects/nvml.o: simulator/libraries/nvml.c simulator/libraries/include/nvml.h .sim-flags | build/sim/announced
	$(Q)$(SIM_COMPILE) -o $@ $<
build/sim/libnvidia-ml.a: build/sim/objects/nvml.o
	$(Q)rm -f $@ && $(AR) qcs $@ $^

# A user's program: $(1) is check, build or run, $(2) sim or gpu.
DEVICE_OPTIONS_sim = --folder build/sim --options '$(SIM_ONLY)' --libraries '$(SIM_LIBRARIES)'
DEVICE_OPTIONS_gpu = --folder build --options '-lineinfo -arch=$(ARCH)'
program = @python3 -m drywarp.program $(1) --nvcc '$(NVCC)' $(DEVICE_OPTIONS_$(2)) $(if $(Q),,--show)

sim: ## program: builds any CUDA program for the simulator: make sim FILE=any.cu, make sim FILE='a.cu b.cu' FLAGS='-Iinclude -rdc=true'
	$(call program,check,sim)
	$(COMPILE) build/sim/libsimulator.a
	$(call program,build,sim)

# A class's copy has the page's simulator without its objects: it is not built again.
PLAYER = $(if $(wildcard build/stage/simulator.wasm),book/player/simulator.js,$(if $(wildcard book/player/simulator.js),,book/player/simulator.js))
page: ## program: writes one HTML file in which any program runs, with its findings and a replay of its warps: make page FILE=any.cu ARGS='100 3'
	$(call program,check,sim)
	$(COMPILE) build/sim/libsimulator.a build/sim/replay $(PLAYER)
	$(call program,build,sim)
	@python3 -m drywarp.page

run: say-device | $(NEEDS_NVCC) ## program: builds and runs any CUDA program; the simulator also prints its counters: make run FILE=any.cu ARGS='100 3'
	$(call program,check,$(DEVICE))
	$(if $(SIMULATED),$(COMPILE) build/sim/libsimulator.a)
	$(call program,run,$(DEVICE))

build/sim/everyday.o: tests/everyday/everyday.cu .sim-flags | $(NEEDS_NVCC)
	$(compile_for_simulator)

build/sim/everyday: build/sim/everyday.o build/sim/libsimulator.a
	$(link_with_simulator)

bench-sim: ## measure: measures the simulator's warp instructions per second; AGAINST=folder compares it with an earlier release built there
	$(COMPILE) $(SIM_PROGRAMS) build/sim/everyday
	@scripts/evidence/bench_sim.sh $(if $(AGAINST),--against "$$AGAINST") 16777216 $(SIM_PROGRAMS)
	@scripts/evidence/bench_everyday.sh build/sim/everyday

compare-numba: ## measure: times the same reduction in Numba's simulator and in this one
	$(COMPILE) build/sim/step03_sequential/reduce
	test -e build/numba/bin/python || python3 -m venv build/numba
	build/numba/bin/pip install --quiet numba
	build/numba/bin/python scripts/evidence/compare_numba.py build/sim/step03_sequential/reduce 65536

# Programs with known mistakes, or known to be correct: tests/labelled/labels.csv.
LABELLED := $(patsubst tests/labelled/%.cu,build/sim/labelled/%,$(wildcard tests/labelled/*.cu))
CHILDREN := build/sim/labelled/children
# Programs with the same headers are compiled as one, with a link for each name: headers dominate nvcc's time.
TOGETHER := cooperative atomic plain
PARTS_cooperative := barriers grid memory
PARTS_atomic := atomics fences
PARTS_plain := block graphs host locks readers warp
define several_names
build/sim/labelled/together/$(1).o: $(PARTS_$(1):%=tests/labelled/%.cu)
$(PARTS_$(1):%=build/sim/labelled/%): build/sim/labelled/together/$(1)
	$$(Q)ln -sf together/$(1) $$@
endef
$(foreach program,$(TOGETHER),$(eval $(call several_names,$(program))))
LABELLED_BUILT := $(TOGETHER:%=build/sim/labelled/together/%) \
    $(filter-out $(foreach program,$(TOGETHER),$(PARTS_$(program):%=build/sim/labelled/%)),$(LABELLED))

# -O0 applies only to the little host code, and halves the compile time; the PTX stays the same.
$(LABELLED_BUILT:=.o): private SIM_NVCCFLAGS := $(patsubst -O3,-O0,$(SIM_NVCCFLAGS))
$(LABELLED_BUILT:=.o): build/sim/%.o: tests/%.cu tests/labelled/cases.h .sim-flags | $(NEEDS_NVCC)
	@echo 'compiling $< for the simulator'
	$(compile_for_simulator)

$(filter-out $(CHILDREN),$(LABELLED_BUILT)): %: %.o build/sim/libsimulator.a
	$(link_with_simulator)

# Kernels that launch kernels need a separate device link.
$(CHILDREN).o: extra = -rdc=true
$(CHILDREN): extra = $@.device.o
$(CHILDREN): %: %.o build/sim/libsimulator.a
	$(Q)$(NVCC) $(filter-out -cudart none,$(SIM_NVCCFLAGS)) -cudadevrt none -dlink -o $@.device.o $<
	$(link_with_simulator)

labelled: ## evidence: runs the checker on the labelled programs: evidence/labelled/results.csv
	$(COMPILE) $(LABELLED)
	@python3 -m scripts.evidence.labelled sim build/sim/labelled

# Test tools: one runs a kernel of a PTX file, one feeds damaged files to the parser.
build/sim/ptx_run: tests/simulator/ptx_run.c build/sim/libsimulator.a
	$(Q)$(NVCC) -cudart none -Xcompiler -Wall,-Wextra -Isimulator -o $@ $< $(SIM_LIBRARIES)

sim-aarch64: $(PYTHON_READY) | $(NEEDS_NVCC) ## builds the simulator for aarch64 (build/aarch64) and tests instructions, a step and findings under qemu
	@scripts/build/aarch64.sh '$(NVCC)' '$(PYTHON)'

# The same on the minimal platform, which has neither threads nor signals.
MINIMAL_OBJECTS := $(SIM_OBJECTS:%/platform_linux.o=%/platform_minimal.o)
build/sim/ptx_run_minimal: tests/simulator/ptx_run.c $(MINIMAL_OBJECTS)
	$(Q)$(NVCC) -cudart none -Xcompiler -Wall,-Wextra -Isimulator -o $@ $^ $(wordlist 2,99,$(SIM_LIBRARIES))

# Runs a recording again: build/sim/replay FILE (simulator/how-it-works.md).
build/sim/replay: $(REPLAY_OBJECTS) build/sim/libcompiler.a build/sim/libsimulator.a
	$(Q)$(SIM_LINK) -o $@ $(REPLAY_OBJECTS) build/sim/libcompiler.a $(SIM_LIBRARIES)

# The machine and the layers below it, without checker, runtime and driver.
build/sim/machine_alone: tests/simulator/machine_alone.c $(filter $(addprefix build/sim/objects/,base/% front/% machine/%),$(SIM_OBJECTS))
	$(Q)$(NVCC) -cudart none -Xcompiler -Wall,-Wextra -Isimulator -o $@ $^ $(wordlist 2,99,$(SIM_LIBRARIES))

build/sim/coverage: tests/simulator/coverage.c build/sim/libsimulator.a
	$(Q)$(NVCC) -cudart none -Xcompiler -Wall,-Wextra -Isimulator -o $@ $< $(SIM_LIBRARIES)

coverage: ## evidence: lists the PTX and the CUDA calls that the simulator supports, in simulator/*.csv; make tables writes them into its page
	$(COMPILE) build/sim/coverage
	@build/sim/coverage > simulator/coverage.csv
	@python3 -m scripts.evidence.coverage_calls build/sim/libsimulator.a "$$(dirname "$$(readlink -f '$(NVCC)')")/../include" > simulator/calls.csv

FUZZ_CFLAGS := -g1 -O0 -std=gnu11 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-strict-aliasing
build/sim/fuzz: tests/simulator/fuzz.c build/sim/libsimulator.a
	$(Q)$(NVCC) -cudart none -Isimulator -o $@ $< $(SIM_LIBRARIES)

build/sim/fuzz-sanitized: tests/simulator/fuzz.c $(SIM_SOURCES) $(wildcard simulator/*/*.h simulator/*/*/*.h) .sim-flags | build/sim/announced
	$(Q)$(NVCC) -cudart none $(call host_options,$(FUZZ_CFLAGS)) -Isimulator -o $@ $< $(SIM_SOURCES) -lpthread -lm

fuzz: ## evidence: feeds 200 000 damaged PTX files and fat binaries to the simulator's parser, under gcc's sanitizers
	$(COMPILE) build/sim/fuzz-sanitized
	@set -o pipefail; SIM_CHECK=0 SIM_MAX_INSTRUCTIONS=50000 build/sim/fuzz-sanitized tests/corpus 200000 1 2>&1 | grep -v '^simulator: kernel'

mutants: ## evidence: makes programs with one mistake each from all steps, and records what finds it: evidence/mutants/mutants.csv; takes an hour on two processors
	$(COMPILE) build/sim/libsimulator.a
	@$(MUTANTS) sim build/mutants evidence/mutants/mutants.csv
	@python3 -m scripts.evidence.mutants table

no-alarms: ## evidence: runs the checker on correct programs, with -O0 to -O3 and -G, and records false positives: evidence/alarms/alarms.csv; takes half an hour on two processors
	$(COMPILE) build/sim/libsimulator.a
	@NVCC='$(NVCC)' python3 -m scripts.evidence.no_alarms build/alarms

findings: | $(NEEDS_NVCC) ## page: records the simulator's messages about the mistakes in docs/findings.md and about Tries; make tables writes them into the pages
	$(COMPILE) build/sim/libsimulator.a
	@python3 -m scripts.evidence.messages '$(NVCC)' '$(SIM_NVCCFLAGS) $(SIM_LIBRARIES)'
	@python3 -m scripts.evidence.message_table

suite: | $(NEEDS_NVCC) ## evidence: runs the checker on a suite of correct and faulty programs in DIR: evidence/suites/*.csv (docs/suites.md)
	$(COMPILE) build/sim/libsimulator.a
	@python3 -m scripts.evidence.suite --nvcc '$(NVCC)' --options '$(SIM_NVCCFLAGS)' --libraries '$(SIM_LIBRARIES)' $(if $(ONLY),--only "$$ONLY") "$$DIR"

# JOBS: number of programs run in parallel.
courses: | $(NEEDS_NVCC) ## evidence: runs the programs of public courses, whose repositories are in DIR, and counts those that run; resumes, AGAIN=1 reruns all, AGAIN=timeout those (docs/suites.md)
	$(COMPILE) build/sim/libsimulator.a build/sim/libcuda.so.1 build/sim/libcublas.a build/sim/libcurand.a
	@python3 -m scripts.evidence.courses --nvcc '$(NVCC)' --options '$(SIM_ONLY)' --libraries '$(SIM_LIBRARIES)' --output "$$RESULTS/courses.csv" \
	    $(if $(JOBS),--jobs '$(JOBS)') $(if $(filter-out 0,$(AGAIN)),--again '$(AGAIN)') $(if $(ONLY),--only "$$ONLY") "$$DIR"

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
compare-nvcc: | $(NEEDS_NVCC) ## evidence: compiles every kernel with nvcc and with the kernel compiler, and compares the runs: evidence/compiler/compare.md; ONLY=PATTERNS
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
fuzz-compiler: | $(NEEDS_NVCC) ## evidence: gives the kernel compiler a million random and mutated sources, under gcc's sanitizers; takes hours; COUNT=... SEED=...
	$(COMPILE) build/sim/compiler-fuzz
	@ASAN_OPTIONS=detect_leaks=0:hard_rss_limit_mb=3000 build/sim/compiler-fuzz $(or $(COUNT),1000000) $(or $(SEED),1) $(FUZZ_SOURCES)

random-kernels: | $(NEEDS_NVCC) ## evidence: compares 10 000 random kernels: host, nvcc and the kernel compiler; takes an hour; COUNT=... SEED=...
	$(COMPILE) build/sim/libcuda.so.1 build/sim/compile
	@python3 -m tests.compiler.random.check --count $(or $(COUNT),10000) --seed $(or $(SEED),1) --nvcc '$(NVCC)'

# drywarp, the simulator as an installed command: docs/drywarp.md.

.PHONY: native install uninstall wheels dist test-wheel
PREFIX ?= ~/.local
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
# A compiler from make toolkit is installed, too.
TOOLKIT ?= $(if $(filter .cuda/%,$(NVCC)),.cuda)
install: export TOOLKIT := $(TOOLKIT)

# The simulator under the names of NVIDIA's libraries: all of it is libcudart_static.a, which nvcc links last. Of the others, the linker only needs
# the names, and nvlink, for kernels that launch kernels, at least one object.
NATIVE_ARCHIVES := $(addprefix build/sim/lib/lib,cudart_static.a cudart.a cuda.a curand.a nvidia-ml.a cudadevrt.a)
WITH_CODE := $(addprefix build/sim/lib/lib,cudart_static.a curand.a nvidia-ml.a)
build/sim/lib/libcudart_static.a: build/sim/libsimulator.a
build/sim/lib/libcurand.a: build/sim/libcurand.a
build/sim/lib/libnvidia-ml.a: build/sim/libnvidia-ml.a
$(WITH_CODE):
	$(Q)mkdir -p $(@D) && ln -sfn ../$(<F) $@
$(filter-out $(WITH_CODE),$(NATIVE_ARCHIVES)): build/sim/libsimulator.a mk/simulator.mk
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) qcs $@ build/sim/objects/base/names.o

build/sim/options: .sim-flags
	$(Q)mkdir -p $(@D) && echo '$(filter-out -cudart none,$(SIM_ONLY))' > $@

DRYWARP_VERSION = $(shell sed -n 's/^VERSION = "\(.*\)"/\1/p' drywarp/__init__.py)
substitute = $(Q)mkdir -p $(@D) && sed "s|@OPTIONS@|$$(cat build/sim/options)|; s|@VERSION@|$(DRYWARP_VERSION)|" $< > $@
build/sim/pkgconfig/drywarp.pc: scripts/install/drywarp.pc drywarp/__init__.py build/sim/options
	$(substitute)
build/sim/drywarp.1: scripts/install/drywarp.1 drywarp/__init__.py build/sim/options
	$(substitute)

# What the installed package reads at run time: scripts/install/contents.py lists it.
native: | $(NEEDS_SIM)
	$(COMPILE) $(NATIVE_ARCHIVES) build/sim/replay build/sim/compile build/sim/options build/sim/pkgconfig/drywarp.pc \
	    build/sim/drywarp.1 $(PLAYER)

install: | $(NEEDS_NVCC) ## setup: installs drywarp, the simulator as a command, without root: make install PREFIX=~/.local (docs/drywarp.md)
	$(COMPILE) native
	@python3 -m scripts.install.install install

uninstall: ## setup: removes drywarp: make uninstall PREFIX=~/.local
	@python3 -m scripts.install.install uninstall

wheels: build/tools/ready ## publish: writes drywarp's source archive and its wheels for x86 and Arm processors into dist/
	$(Q)rm -rf dist && build/tools/bin/python -m build --sdist .
	$(Q)for target in x86_64 aarch64; do DRYWARP_TARGET=$$target build/tools/bin/python -m build --wheel . || exit; done
	$(Q)build/tools/bin/twine check --strict dist/*

dist: wheels book ## publish: writes the files of a release into dist/: source archive, wheels, the book, and the simulator for a page
	$(Q)cp book/player/simulator.js dist/ && tar czf dist/site.tar.gz site

# Installs the source archive with pip in a new environment, and expects a finding there.
test-wheel: build/tools/ready | $(NEEDS_NVCC) ## test: tests pip install from a source archive in a new environment, and the first finding there
	rm -rf build/sdist && build/tools/bin/python -m build --sdist --outdir build/sdist .
	python3 -m venv --clear build/wheel && build/wheel/bin/pip install --quiet build/sdist/*.tar.gz
	build/wheel/bin/drywarp check tests/mistakes/01_no_barrier_after_load.cu; [ $$? = 88 ]
