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

lab: say-device ## builds and runs one lab: make lab NAME=rowscale; N=... sets its size
	@test -n "$(if $(GIVEN),$$$(GIVEN))" || { echo "make lab: name one, as in: make lab NAME=rowscale; there are: $$(python3 -m scripts.ladder.labs names)" >&2; exit 2; }
	$(run_labs)

labs: say-device ## builds and runs every lab: tables, CSVs and charts in results/labs/
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
	$(Q)$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $< $(extra)

build/labs/%: labs/%.c
	@echo 'compiling labs/$(*D)'
	@mkdir -p $(@D)
	$(Q)$(subst -o $(@F) $(<F),-o $@ $<,$(built)) -Wall -Wextra
