# Charts, tables and figures, and commands for authors of steps.

.PHONY: plots compare picture tables harness new-step

plots: ## redraws the charts from the CSVs in results/; STYLE=projector draws them for a slide
	$(if $(PYTHON_READY),$(COMPILE) $(PYTHON_READY))
	$(Q)$(PYTHON) plots/$(if $(WITHIN),$(LADDER),plot).py $(if $(STYLE),--style "$$STYLE") "$$RESULTS"
	@echo "drawn: the charts in $$RESULTS/"

COMPARED = $(if $(A)$(B),"$$A" "$$B",$(or $(GPUS),$(patsubst %/run-all.csv,%,$(sort $(wildcard plots/*/run-all.csv)))))
compare: ## compares GPUs in one chart: make compare A=plots/h200 B=results, or GPUS='FOLDER...'; by default all GPUs in plots/
	$(if $(PYTHON_READY),$(COMPILE) $(PYTHON_READY))
	$(Q)$(PYTHON) plots/compare.py --output "$$RESULTS/compare.svg" $(COMPARED)
	@echo "drawn: $$RESULTS/compare.svg"

# The step with number STEP, and the previous one.
PICTURED := $(strip $(foreach step,$(STEPS),$(if $(filter $(WITHIN)step$(STEP)_%,$(step)),$(before) $(step))$(eval before := $(step))))
picture: ## draws the figure of a step or lab, from a run on the simulator: make picture STEP=03 BLOCK=0, with LADDER=scan, or LAB=rowscale
	$(if $(PICTURED)$(LAB),$(COMPILE) $(if $(LAB),$(call programs_of_lab,$(LAB)),$(PICTURED:%=build/sim/%/$(LADDER))))
	@python3 $(if $(LAB),plots/picture_labs.py "$$LAB",plots/picture.py "$$STEP" --ladder "$$LADDER" --block "$${BLOCK:-0}")

tables: ## writes the measurements (plots/h200) and the programs' code into the pages
	@python3 plots/tables.py

harness: ## copies the harness of each first step, of the ladders and of the labs, into the other programs
	@$(foreach ladder,$(LADDERS),scripts/ladder/copy_harness.sh $(patsubst %,%.cu,$(call programs_of,$(ladder))) &&) true
	@for lab in $(LABS); do scripts/ladder/copy_harness.sh $$(ls labs/$$lab/step*/$$lab.c labs/$$lab/step*/$$lab.cu 2> /dev/null); done

new-step: ## creates the skeleton of the next step: make new-step NAME=prefetch
	@python3 -m scripts.ladder.new_step "$$NAME"
