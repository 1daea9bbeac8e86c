# The simulator for a page, and the recordings that it replays there: simulator/how-it-works.md.

.PHONY: stage recordings

# Zig's C compiler, which PyPI has for Linux, macOS and Windows, and CUDA's headers.
STAGE_PYTHON := build/stage/venv/bin/python
build/stage/venv/ready: mk/stage.mk
	@echo 'installing the compiler for WebAssembly into build/stage/venv'
	@mkdir -p $(@D)
	$(Q)python3 -m venv --clear $(@D) && $(@D)/bin/pip install --quiet --disable-pip-version-check ziglang==0.17.1
	$(Q)$(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $(@D)/cuda --platform manylinux_2_17_x86_64 \
	    --only-binary=:all: 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*'
	@touch $@
ZIG_CC = ZIG_GLOBAL_CACHE_DIR=build/stage/cache ZIG_LOCAL_CACHE_DIR=build/stage/cache $(STAGE_PYTHON) -m ziglang

# All layers that a replay needs, on the platform without threads, signals and files.
STAGE_SOURCES := $(filter-out %/platform_linux.c %/compiler/main.c,$(wildcard $(addprefix simulator/,base/*.c compiler/*.c front/*.c machine/*.c machine/*/*.c checker/*.c runtime/work/*.c))) \
    $(addprefix simulator/page/,compile.c host_device.c replay.c player.c)
STAGE_OBJECTS := $(STAGE_SOURCES:simulator/%.c=build/stage/objects/%.o)
# setjmp becomes WebAssembly's exceptions, for which wasi's headers ask for the macro.
STAGE_FLAGS := -target wasm32-wasi -mcpu=generic+exception_handling+simd128
STAGE_CFLAGS := $(STAGE_FLAGS) -mllvm -wasm-enable-sjlj -D__wasm_exception_handling__=1 -std=gnu11 -Wall -Wextra -Wno-type-limits -Wno-unknown-pragmas \
    -Wno-format-zero-length -Wno-constant-conversion -Wno-bitwise-instead-of-logical -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-sanitize=all
# Small code, also of the C library: a browser compiles each function when it is first called, which takes longer than a short run. What runs
# a kernel's instructions is fast code.
STAGE_OPTIMISED = $(if $(filter machine/% checker/%,$*),-O2,-Os)
STAGE_LDFLAGS := $(STAGE_FLAGS) -Os -s -Wl,--max-memory=2147483648 -Wl,-z,stack-size=1048576

build/stage/announced: $(STAGE_SOURCES) $(wildcard simulator/*/*.h simulator/*/*/*.h) build/stage/venv/ready
	@echo 'compiling the simulator for a page, which takes a minute'
	@mkdir -p $(sort $(dir $(STAGE_OBJECTS))) && touch $@

build/stage/objects/%.o: simulator/%.c mk/stage.mk | build/stage/announced
	$(Q)$(ZIG_CC) cc -c $(STAGE_CFLAGS) $(STAGE_OPTIMISED) -Isimulator -isystem build/stage/venv/cuda/nvidia/cu13/include -MMD -MP -MF $(@:.o=.d) -o $@ $<
build/stage/objects/longjmp.o: simulator/page/longjmp.s mk/stage.mk | build/stage/announced
	$(Q)$(ZIG_CC) cc -c $(STAGE_FLAGS) -o $@ $<
-include $(STAGE_OBJECTS:.o=.d)

build/stage/simulator.wasm: $(STAGE_OBJECTS) build/stage/objects/longjmp.o
	$(Q)$(ZIG_CC) c++ $(STAGE_LDFLAGS) -o $@ $^

book/player/simulator.js: build/stage/simulator.wasm simulator/page/simulator.js scripts/build/stage.py
	$(Q)python3 -m scripts.build.stage $< $@

stage: ## page: builds the simulator for a page, as one script with its WebAssembly: book/player/simulator.js
	$(COMPILE) book/player/simulator.js

recordings: ## page: writes the steps and their Tries, for the player: book/player/programs/*.js
	$(COMPILE) build/sim/replay
	@python3 -m scripts.ladder.lesson_programs $(foreach ladder,$(LADDERS),$(call steps_of,$(ladder)))
	@python3 -m scripts.ladder.ten_minutes
