# The simulator for a page, and the recordings that it replays there: simulator/how-it-works.md.

.PHONY: stage recordings no-emcc

# emscripten's compiler, needed only after a change of the simulator: its output is committed.
EMCC ?= $(shell command -v emcc)
NEEDS_EMCC := $(if $(EMCC),,no-emcc)
no-emcc:
	@echo 'emcc was not found: install emscripten (Debian: emscripten), or set EMCC' >&2; exit 1

# All layers that a replay needs, on the platform without threads, signals and files.
STAGE_SOURCES := $(filter-out %/platform_linux.c %/compiler/main.c,$(wildcard $(addprefix simulator/,base/*.c compiler/*.c front/*.c machine/*.c machine/*/*.c checker/*.c runtime/work/*.c))) \
    $(addprefix simulator/page/,compile.c host_device.c replay.c player.c)
STAGE_OBJECTS := $(STAGE_SOURCES:simulator/%.c=build/stage/objects/%.o)
STAGE_FLAGS := -O2 -sSUPPORT_LONGJMP=wasm
STAGE_CFLAGS := $(STAGE_FLAGS) -std=gnu11 -Wall -Wextra -Wno-type-limits -Wno-unknown-pragmas -Wno-format-zero-length -fno-strict-aliasing -ffp-contract=off -fno-math-errno
STAGE_LDFLAGS := $(STAGE_FLAGS) -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB

build/stage/announced: $(STAGE_SOURCES) $(wildcard simulator/*/*.h simulator/*/*/*.h) mk/stage.mk | $(NEEDS_EMCC) $(NEEDS_NVCC)
	@echo 'compiling the simulator for a page'
	@mkdir -p $(sort $(dir $(STAGE_OBJECTS))) && touch $@

build/stage/objects/%.o: simulator/%.c mk/stage.mk | build/stage/announced
	$(Q)$(EMCC) -c $(STAGE_CFLAGS) -Isimulator -isystem $(CUDA_HEADERS) -MMD -MP -MF $(@:.o=.d) -o $@ $<
-include $(STAGE_OBJECTS:.o=.d)

build/stage/simulator.wasm: $(STAGE_OBJECTS)
	$(Q)$(EMCC) $(STAGE_LDFLAGS) -o $@ $(STAGE_OBJECTS)

build/stage/simulator.js: build/stage/simulator.wasm simulator/page/simulator.js scripts/build/stage.py
	$(Q)python3 -m scripts.build.stage $< $@

# The committed script has no rule of its own, so that make book needs no emscripten.
stage: ## builds the simulator for a page, as one script with its WebAssembly: book/player/simulator.js
	$(COMPILE) build/stage/simulator.js
	$(Q)cp build/stage/simulator.js book/player/simulator.js

recordings: ## records the steps and their Tries, for the player to replay: book/player/programs/*.js
	$(COMPILE) build/sim/libsimulator.a build/sim/replay
	@python3 -m scripts.ladder.recordings --compiler '$(NVCC) $(patsubst -O3,-O0,$(SIM_NVCCFLAGS))' --libraries '$(strip $(SIM_LIBRARIES))' \
	    $(foreach ladder,$(LADDERS),$(call steps_of,$(ladder)))
