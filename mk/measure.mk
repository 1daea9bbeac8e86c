# What a GPU is measured with, beyond run-all and sweep.

.PHONY: profile limits peers against-cub parts finish sass sanitize tries needs-gpu

needs-gpu:
	@test '$(DEVICE)' = gpu || { echo 'this needs a GPU; there is none, or DEVICE=sim was asked for' >&2; exit 2; }

# A CSV appears when it is whole: $(1) writes it, $(2) is its name.
whole = @mkdir -p "$$RESULTS" && { $(1) > "$$RESULTS/.$(2).$$$$" && mv "$$RESULTS/.$(2).$$$$" "$$RESULTS/$(2)" || { rm -f "$$RESULTS/.$(2).$$$$"; exit 1; }; }
parts finish sass: | $(NEEDS_NVCC)
COMPILER = --compiler '$(NVCC) -O3 -std=c++17 -arch=$(ARCH)'

PROFILE_N ?= 16777216
profile: needs-gpu build ## Nsight Compute's counters for every step: results/profile.csv
	@python3 scripts/profile_steps.py --elements '$(PROFILE_N)' --output "$$RESULTS/profile.csv" $(PROGRAMS)

limits: needs-gpu ## what the GPU allows: results/limits.csv
	$(COMPILE) build/limits
	$(call whole,build/limits,limits.csv)

peers: needs-gpu build ## the last steps beside thrust, cuBLAS, torch and a copy: results/peers.csv
	$(COMPILE) build/peers
	@scripts/peers.sh "$$RESULTS/peers.csv" build/peers \
	    $(filter-out step00_% step01_% step02_% step03_% step04_% step05_% step06_%,$(GPU_PROGRAMS))

against-cub: needs-gpu ## the last steps and CUB in turns in one process: results/against-cub.csv
	$(COMPILE) build/against_cub
	$(call whole,build/against_cub,against-cub.csv)

build/against_cub: $(wildcard step1[123]_*/reduce.cu reference_cub/reduce.cu) build/step12_try7.cu build/step12_try8.cu
build/step12_try%.cu: step12_launchshape/reduce.cu step12_launchshape/README.md
	@mkdir -p build
	$(Q)python3 scripts/tries.py --print $* step12_launchshape > $@

build/limits build/peers build/against_cub: build/%: scripts/%.cu .build-flags | $(NEEDS_NVCC)
	@mkdir -p build
	$(Q)$(NVCC) $(NVCCFLAGS) -arch=$(ARCH) -o $@ $< $(if $(filter build/peers,$@),-lcublas)

sanitize: needs-gpu build ## compute-sanitizer's four tools over every step
	@scripts/sanitize.sh $(PROGRAMS)

tries: needs-gpu build ## what the lessons suggest to try, measured: results/tries.csv
	@python3 scripts/tries.py $(COMPILER) --elements "$$N" --output "$$RESULTS/tries.csv" $(STEPS)

parts: needs-gpu ## steps 01 to 07 without their tree, and without their way to memory: results/parts.csv
	@python3 scripts/parts.py $(COMPILER) --elements "$$N" --output "$$RESULTS/parts.csv" \
	    $(filter step01_% step02_% step03_% step04_% step05_% step06_% step07_%,$(STEPS))

finish: needs-gpu ## when the blocks of the last two steps end: results/finish.csv
	@python3 scripts/finish.py $(COMPILER) --output "$$RESULTS/finish.csv" $(filter step12_% step13_%,$(STEPS))

sass: ## machine code of step 07's loop, and with the index of its first Try: results/sass/
	@python3 scripts/sass.py --output "$$RESULTS/sass" step07_gridstride 0 step07-signed
	@python3 scripts/sass.py --output "$$RESULTS/sass" step07_gridstride 1 step07-unsigned
