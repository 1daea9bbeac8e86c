# Measurements on a GPU, beyond run-all and sweep.

.PHONY: profile limits dependent launches methods begins peers rowscale-pytorch rows-pytorch sort-sizes against-cub bytes parts starts loaded finish sass \
    sanitize sanitize-ladder sanitize-all tries mutants-gpu labelled-gpu lab-tries lab-profile coalescing-debug contribute contribute-sweep needs-gpu

needs-gpu:
	@test '$(DEVICE)' = gpu || { echo 'this needs a GPU; there is none, or DEVICE=sim is set' >&2; exit 2; }

# $(1) writes the CSV $(2), which appears only when it is complete.
whole = @mkdir -p "$$RESULTS/$(dir $(2))" && { $(1) > "$$RESULTS/$(2).$$$$" && mv "$$RESULTS/$(2).$$$$" "$$RESULTS/$(2)" || { rm -f "$$RESULTS/$(2).$$$$"; exit 1; }; }
parts starts finish sass: | $(NEEDS_NVCC)
GPU_COMPILER = --compiler '$(NVCC) -O3 -std=c++17 $(CCCL:%=-I%) -arch=$(ARCH)'

# The steps that a measurement is about, if not all: only here, and in the recipe of sass, a renumbered step has to be renamed.
BESIDE := $(filter-out step0% step10_%,$(call steps_of,reduce))# single pass: compared with CUB in one process
TOO_SLOW := step00_% step01_% step02_% step03_% step04_% step05_% step06_%# too slow to compare with other libraries
WITH_TREES = $(filter step01_% step02_% step03_% step04_% step05_% step06_% step07_%,$(STEPS))# a tree in shared memory in each block
UNROLLED := step06_%# its Tries 1 and 2 change how long a block runs
PIPELINES = $(filter scan/step08% scan/step09% scan/step1%,$(PROGRAMS))# a block reuses its shared-memory buffers: with 2^23 elements many times

PROFILE_N ?= 16777216
profile: needs-gpu build ## measure: Nsight Compute's counters for every step: results/profile.csv
	@python3 -m scripts.gpu.profile steps --elements '$(PROFILE_N)' --output "$$RESULTS/profile.csv" $(PROGRAMS)

limits: needs-gpu ## measure: launch overhead, load latency and other limits of the GPU: results/limits.csv
	$(COMPILE) build/limits
	$(call whole,build/limits,limits.csv)

dependent: needs-gpu ## measure: how soon a kernel starts after the previous one, with programmatic dependent launch: results/dependent.csv
	$(COMPILE) build/dependent
	$(call whole,build/dependent,dependent.csv)

launches: needs-gpu ## measure: the cost of one more kernel, in a stream or a graph, and of one more barrier: results/launches.csv
	$(COMPILE) build/launches
	$(call whole,build/launches,launches.csv)

loaded: needs-gpu ## measure: load latency while other blocks read: results/loaded.csv
	$(COMPILE) build/loaded
	$(call whole,build/loaded,loaded.csv)

methods: needs-gpu ## measure: one kernel, timed by this course's method, NVBench's and do_bench's: results/methods.csv
	$(COMPILE) build/methods
	$(call whole,build/methods,methods.csv)

begins: needs-gpu ## measure: the cost of the array's start address, for CUB and the last two steps: results/begins.csv
	$(COMPILE) build/begins
	$(call whole,build/begins,begins.csv)

# With CCCL=FOLDER these compare with the CUB in that folder. Each CSV records the version of CUB.
peers: needs-gpu build ## measure: the last steps compared with CUB, Thrust, cuBLAS, torch, Triton and a copy: results/peers.csv
	$(COMPILE) build/peers
	@python3 -m scripts.gpu.peers --output "$$RESULTS/peers$(if $(CCCL),-cccl).csv" build/peers \
	    $(filter-out $(TOO_SLOW),$(GPU_PROGRAMS))

AGAINST_CUB := build/$(WITHIN:%/=%_)against_cub
against-cub: needs-gpu ## measure: the last steps and CUB, alternating in one process: results/against-cub.csv; CCCL=FOLDER: with the CUB in that folder, results/against-cub-cccl.csv
	$(COMPILE) $(AGAINST_CUB)
	$(call whole,$(AGAINST_CUB),against-cub$(if $(CCCL),-cccl).csv)

bytes: needs-gpu build ## measure: bytes that the steps of the prefix sum read and write per element: LADDER=scan, results/scan/bytes.csv
	@test '$(LADDER)' = scan || { echo 'make bytes works on the prefix sum only: LADDER=scan' >&2; exit 2; }
	@python3 -m scripts.gpu.profile bytes --output "$$RESULTS/bytes.csv" $(filter-out scan/step00_%,$(PROGRAMS))

# The programs that against_cub compares with CUB, NAME:FILE, in column order: the steps in BESIDE, and the Tries whose diffs
# are marked with beside_cub=NAME.
MARKED_TRIES := $(if $(filter build/against_cub% build/begins%,$(MAKECMDGOALS)),$(shell python3 -m scripts.ladder.tries --beside-cub $(BESIDE)))
BESIDE_CUB := $(foreach step,$(BESIDE),$(call number,$(step)):$(step)/reduce.cu) $(MARKED_TRIES)
part = $(word $(1),$(subst :, ,$(2)))
# Programs measured with moved start addresses: the last two steps, and the first marked Try of the last.
MOVED_STEPS := $(lastword $(filter-out $(lastword $(BESIDE)),$(BESIDE))) $(lastword $(BESIDE))
MOVED := $(filter $(MOVED_STEPS:%=\%:%/reduce.cu),$(BESIDE_CUB)) $(firstword $(foreach one,$(MARKED_TRIES),$(if $(findstring build/$(lastword $(BESIDE))-try,$(one)),$(one))))
hash := \#
# Programs, NAME:FILE, listed after CUB's, each in its own namespace.
write_programs = { $(foreach one,$(1),printf '%s\n' 'namespace $(call part,1,$(one)) {' '$(hash)include "../$(call part,2,$(one))"' \
	        '$(hash)include "../scripts/gpu/beside.h"' '}';) \
	    printf '%s\n' 'static const Program PROGRAMS[] = {' '    {"cub", cub_sum::beside},'; \
	    printf '    {"%s", %s::beside},\n' $(foreach one,$(1),$(call part,1,$(one)) $(call part,1,$(one))); echo '};'; } > $@
build/against_cub build/begins: build/%: scripts/gpu/beside.h reference_cub/reduce.cu build/%_programs.h
build/against_cub_programs.h: $(foreach one,$(BESIDE_CUB),$(call part,2,$(one)))
	@$(call write_programs,$(BESIDE_CUB))
build/begins_programs.h: $(foreach one,$(MOVED),$(call part,2,$(one)))
	@$(call write_programs,$(MOVED))
of_try = $(subst -try, ,$(1))
$(foreach one,$(MARKED_TRIES),$(call part,2,$(one))): build/%.cu: $(BESIDE:=/reduce.cu) $(BESIDE:=/README.md)
	@mkdir -p build
	$(Q)python3 -m scripts.ladder.tries --print $(lastword $(call of_try,$*)) $(firstword $(call of_try,$*)) > $@

LAST_SCAN := $(lastword $(call steps_of,scan))/scan.cu
build/scan_against_cub: scan/reference_cub/scan.cu $(LAST_SCAN)
build/scan_against_cub: extra = -DLAST_STEP='"../../$(LAST_SCAN)"'

LAST_REDUCE := $(lastword $(call steps_of,reduce))/reduce.cu
build/methods: $(LAST_REDUCE)
build/methods: extra = -DLAST_STEP='"../../$(LAST_REDUCE)"'
build/peers: extra = -lcublas

build/methods build/begins build/against_cub build/scan_against_cub: scripts/gpu/interleaved.h
NAMING_CUB := $(addprefix build/,dependent launches peers begins against_cub scan_against_cub)
MEASURING := $(NAMING_CUB) $(addprefix build/,limits starts loaded methods)
$(NAMING_CUB): scripts/gpu/cub_version.h
$(MEASURING): build/%: scripts/gpu/%.cu .build-flags | $(NEEDS_NVCC)
	@mkdir -p build
	$(Q)$(NVCC) $(GPU_NVCCFLAGS) -o $@ $< $(extra)

rowscale-pytorch: needs-gpu ## measure: the rowscale lab compared with torch: results/labs/rowscale-pytorch.csv
	$(COMPILE) build/labs/rowscale/step05_teams/rowscale
	@python3 -m labs.rowscale.pytorch "$$RESULTS/labs/rowscale-pytorch.csv" build/labs/rowscale/step05_teams/rowscale

SORT_TASKS := SELECT HISTOGRAM ONE_DIGIT SORT SORT_PAIRS
$(SORT_TASKS:%=build/labs/sort/cub/%): build/labs/sort/cub/%: labs/sort/cub/cub.cu .build-flags | $(NEEDS_NVCC)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(GPU_NVCCFLAGS) -DTASK_NAME=$* -o $@ $<

sort-sizes: needs-gpu ## measure: the sort lab and CUB at several sizes: results/labs/sort-sizes.csv, sort-cub.csv
	$(COMPILE) $(patsubst %.cu,build/%,$(wildcard labs/sort/step*/sort.cu)) $(SORT_TASKS:%=build/labs/sort/cub/%)
	@python3 -m labs.sort.sizes "$$RESULTS/labs/sort-sizes.csv" "$$RESULTS/labs/sort-cub.csv"

rows-pytorch: needs-gpu ## measure: PyTorch, torch.compile and Triton on the rows lab's rows: results/labs/rows-pytorch.csv
	@python3 -m labs.rows.pytorch "$$RESULTS/labs/rows-pytorch.csv"

# NCCL's own kernels are not checked.
SANITIZED_LABS := $(filter-out build/labs/several_gpus/step02% build/labs/several_gpus/step03%,$(patsubst %.cu,build/%,$(wildcard labs/*/step*/*.cu)))
sanitize: needs-gpu build $(if $(WITHIN),sanitize-ladder,sanitize-all) ## measure: compute-sanitizer's four tools over every step of the course and of the labs
sanitize-ladder:
	@scripts/gpu/sanitize.sh $(if $(WITHIN),-n '1 33 4097 100003') $(PROGRAMS)
	$(if $(PIPELINES),@scripts/gpu/sanitize.sh -n 8388608 $(PIPELINES))

sanitize-all: sanitize-ladder
	$(COMPILE) $(SANITIZED_LABS) build/labs/rowscale/softmax/softmax
	@for lab in $(sort $(foreach program,$(SANITIZED_LABS),$(word 3,$(subst /, ,$(program))))); do \
	    scripts/gpu/sanitize.sh -n "33 $$(python3 -m scripts.ladder.labs size $$lab)" build/labs/$$lab/step0*/$$lab || failed=1; done; \
	scripts/gpu/sanitize.sh -n 33 build/labs/rowscale/softmax/softmax && [ ! "$$failed" ]

tries: needs-gpu build ## measure: measures the Tries of the lessons: results/tries.csv
	@python3 -m scripts.ladder.tries $(GPU_COMPILER) --elements "$$N" --output "$$RESULTS/tries.csv" $(STEPS)

MUTANTS = NVCC='$(NVCC)' python3 -m scripts.evidence.mutants
mutants-gpu: needs-gpu | $(NEEDS_NVCC) ## measure: the same mutants as make mutants under compute-sanitizer's four tools: evidence/mutants/gpu.csv; resumes where it stopped
	@$(MUTANTS) gpu build/mutants-gpu evidence/mutants/gpu.csv
	@python3 -m scripts.evidence.mutants table

labelled-gpu: needs-gpu | $(NEEDS_NVCC) ## measure: the labelled programs under compute-sanitizer's racecheck and synccheck: evidence/labelled/gpu.csv; those of students.cu under all four tools
	@NVCC='$(NVCC)' python3 -m scripts.evidence.labelled gpu --output evidence/labelled/gpu.csv
	@NVCC='$(NVCC)' python3 -m scripts.evidence.labelled gpu --output evidence/labelled/gpu-students.csv --only students --tools racecheck synccheck memcheck initcheck

# The simulator's programs are built too: both must count the same launches.
lab-profile: needs-gpu ## measure: ncu's counters beside the simulator's, of the labs about memory: results/labs/coalescing-profile.csv, ...
	$(COMPILE) lab-programs
	$(COMPILE) lab-programs DEVICE=sim
	@python3 -m scripts.gpu.profile labs "$$RESULTS/labs" coalescing bankconflicts

lab-tries: needs-gpu ## measure: the same for the labs, or for the lab NAME: results/labs/rowscale-tries.csv, ...
	$(COMPILE) lab-programs
	@for lab in $$($(call LABS_PY,names)); do \
	    python3 -m scripts.ladder.tries $(GPU_COMPILER) --output "$$RESULTS/labs/$$lab-tries.csv" labs/$$lab/step*/ || exit 1; done

coalescing-debug: needs-gpu ## measure: the coalescing lab compiled for a debugger (-G): results/labs/coalescing-debug.csv
	@mkdir -p build/labs/coalescing
	@for step in step00_rows step01_columns; do $(NVCC) -G -std=c++17 -arch=$(ARCH) -o build/labs/coalescing/$$step-G labs/coalescing/$$step/coalescing.cu || exit 1; done
	$(call whole,{ set -o pipefail; build/labs/coalescing/step00_rows-G --csv && build/labs/coalescing/step01_columns-G --csv | tail -n +2; },labs/coalescing-debug.csv)

parts: needs-gpu ## measure: steps 01 to 07 without their tree, and without their loads: results/parts.csv
	@python3 -m scripts.gpu.parts $(GPU_COMPILER) --elements "$$N" --output "$$RESULTS/parts.csv" \
	    $(WITH_TREES)

starts: needs-gpu ## measure: block launch rate, and block durations of steps 01 to 07: results/starts.csv, results/block-duration.csv
	$(COMPILE) build/starts
	$(call whole,build/starts,starts.csv)
	@python3 -m scripts.gpu.block_duration $(GPU_COMPILER) --output "$$RESULTS/block-duration.csv" \
	    $(foreach step,$(WITH_TREES),$(step) $(if $(filter $(UNROLLED),$(step)),$(step)$(comma)1 $(step)$(comma)2))

finish: needs-gpu ## measure: when the blocks of the last step end, with static and with dynamic tile scheduling: results/finish.csv
	@python3 -m scripts.gpu.finish $(GPU_COMPILER) --output "$$RESULTS/finish.csv" $(lastword $(STEPS))

# The architectures of the table: ARCH='sm_80 sm_120' names others. The loops are those of sm_90.
SASS_ARCH = $(if $(findstring command,$(origin ARCH)),$(ARCH),sm_90 sm_100)
SASS = python3 -m scripts.gpu.sass --compiler '$(NVCC) -O3' --output "$$RESULTS/sass"
sass: ## measure: machine code of the loops in the lessons, by architecture; needs cuobjdump, but no GPU: results/sass/
	@$(SASS) loop step07_gridstride 0 step07-signed
	@$(SASS) loop step07_gridstride 1 step07-unsigned
	@for step in step00_baseline step01_divergent step02_bitops; do $(SASS) loop --all $$step 0 $${step%%_*} || exit 1; done
	@$(SASS) loop --all --loads 2 step09_vectorload 0 step09-loop
	@$(SASS) loop --all --loads 4 step10_tiles 0 step10-loop
	@$(SASS) table $(SASS_ARCH)

# Results stay in this folder until they are sent: make contribute resumes where it stopped.
CONTRIBUTION := build/contribution
contribute: ## measure: measures your GPU in ten minutes or more, checks the results, and writes the folder to send: plots/rtx-4090; NAME=... names it; resumes where it stopped (docs/gpus.md)
	@test '$(DEVICE)' = gpu || { echo 'make contribute measures a GPU, but this machine has none: run it where nvidia-smi finds one; the simulator measures no times' >&2; exit 2; }
	@mkdir -p $(CONTRIBUTION) && python3 -m scripts.gpu.contribute name $(if $(findstring command,$(origin NAME)),"$$NAME") > $(CONTRIBUTION)/name
	@$(MEASURE) $(CONTRIBUTION)/first/run-all.csv && $(MEASURE) contribute-sweep && $(MEASURE) $(CONTRIBUTION)/second/run-all.csv
	@python3 -m scripts.gpu.contribute write plots/"$$(cat $(CONTRIBUTION)/name)" $(CONTRIBUTION)/first $(CONTRIBUTION)/second || \
	    { echo 'the results are in $(CONTRIBUTION); remove that folder to measure again' >&2; exit 1; }
	@rm -rf $(CONTRIBUTION)
# The same conditions for all contributions: all steps, the default size, cold cache.
MEASURE = $(MAKE) --no-print-directory N=67108864 WARM= STEPS='$(ALL_STEPS)'

# No charts: a machine with a GPU may lack the tools. A failed step (status 1) does not stop the run; the page lists it.
$(CONTRIBUTION)/first/run-all.csv $(CONTRIBUTION)/second/run-all.csv: $(addsuffix .cu,$(call programs_of,reduce))
	$(COMPILE) $(PROGRAMS)
	@rm -f $@; $(RUN_ALL) --output $@ $(PROGRAMS) || [ -e $@ ]

contribute-sweep: build
	@$(RUN_SWEEP) --output $(CONTRIBUTION)/first/sweep.csv $(PROGRAMS) || [ $$? = 1 ]

# Charts, tables and figures, and commands for authors of steps.

.PHONY: plots charts compare picture tables harness lengths pages step-check new-step

plots: ## learn: redraws the charts from the CSVs in results/; STYLE=projector draws them for a slide
	$(if $(PYTHON_READY),$(COMPILE) $(PYTHON_READY))
	$(Q)$(PYTHON) plots/$(if $(WITHIN),$(LADDER),plot).py $(if $(STYLE),--style "$$STYLE") "$$RESULTS"
	@echo "drawn: the charts in $$RESULTS/"

charts: $(PYTHON_READY) ## page: redraws all committed charts from the committed results: plots/, scan/h200
	$(Q)for folder in plots/simulator plots/h200 plots/h200/2to30; do $(PYTHON) plots/plot.py $$folder || exit; done
	$(Q)$(PYTHON) plots/scan.py scan/h200
	$(Q)$(PYTHON) plots/labs.py plots/h200/labs $(basename $(notdir $(wildcard plots/h200/labs/*.svg)))
	@$(MAKE) -s --no-print-directory compare RESULTS=plots

COMPARED = $(if $(A)$(B),"$$A" "$$B",$(or $(GPUS),$(patsubst %/run-all.csv,%,$(sort $(wildcard plots/*/run-all.csv)))))
compare: ## learn: compares GPUs in one chart: make compare A=plots/h200 B=results, or GPUS='FOLDER...'; by default all GPUs in plots/
	$(if $(PYTHON_READY),$(COMPILE) $(PYTHON_READY))
	$(Q)$(PYTHON) plots/compare.py --output "$$RESULTS/compare.svg" $(COMPARED)
	@echo "drawn: $$RESULTS/compare.svg"

# The step with number STEP, and the previous one.
PICTURED := $(strip $(foreach step,$(STEPS),$(if $(filter $(WITHIN)step$(STEP)_%,$(step)),$(before) $(step))$(eval before := $(step))))
picture: ## page: draws the figure of a step or lab, from a run on the simulator: make picture STEP=03 BLOCK=0, with LADDER=scan, or LAB=rowscale
	$(if $(PICTURED)$(LAB),$(COMPILE) $(if $(LAB),$(call programs_of_lab,$(LAB)),$(PICTURED:%=build/sim/%/$(LADDER))))
	@python3 $(if $(LAB),plots/picture_labs.py "$$LAB",plots/picture.py "$$STEP" --ladder "$$LADDER" --block "$${BLOCK:-0}")

tables: ## page: writes the measurements (plots/h200) and the programs' code into the pages
	@python3 plots/tables.py

lengths: ## test: prints words, Tries and changed lines of each lesson
	@python3 -m scripts.ladder.lengths

harness: ## page: copies the harness of each first step, of the reduction, the scan and the labs, into the other programs
	@$(foreach ladder,$(LADDERS),scripts/ladder/copy_harness.sh $(patsubst %,%.cu,$(call programs_of,$(ladder))) &&) true
	@for lab in $(LABS); do scripts/ladder/copy_harness.sh $$(ls labs/$$lab/step*/$$lab.c labs/$$lab/step*/$$lab.cu 2> /dev/null); done

pages: ## develop: writes everything generated in the pages that needs no GPU: harness, recordings, findings, charts, tables
	+@for part in harness recordings findings charts tables; do $(MAKE) --no-print-directory $$part || exit; done

step-check: | $(NEEDS_NVCC) ## develop: generates all that belongs to a step, runs its tests, and lists what is left to write: make step-check STEP=15, also LADDER=scan
	@python3 -m scripts.ladder.step_check --to-write '$(LADDER)' "$$STEP"
	$(COMPILE) $(PYTHON_READY) build/sim/libsimulator.a build/sim/libcuda.so.1 build/sim/replay build/sim/compile build/sim/ptx_run \
	    $(PICTURED:%=build/sim/%/$(LADDER))
	$(Q)NVCC='$(NVCC)' $(PYTHON) -m scripts.ladder.step_check '$(LADDER)' "$$STEP"

new-step: ## develop: creates the skeleton of the next step: make new-step NAME=prefetch
	@python3 -m scripts.ladder.new_step "$$NAME"
