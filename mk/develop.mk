# Builds the programs of the tests, and runs the tests.

.PHONY: check test test-settings test-quick test-long lint lock book test-book bench-book film

# To save nvcc's time, the tests run only the first and the last program of slow labs, and none of the two labs whose CUB and Thrust headers
# take as long as all other labs. The remaining CUDA programs are compiled together. ALL=1 and make labs run all, each compiled alone. Two
# labelled programs run only with ALL=1 and make labelled, since the others cover their kinds. The fuzzer of the kernel compiler is built with ALL=1, too.
inner = $(wordlist 2,$(words $(wordlist 2,$(words $(1)),$(1))),$(1))
programs_of_lab = $(patsubst %.cu,build/sim/%,$(sort $(wildcard labs/$(1)/step*/$(1).cu)))
EVERY := $(filter-out 0,$(ALL))
UNTESTED := $(if $(EVERY),,$(addprefix build/sim/labelled/,idioms patterns) $(addprefix build/sim/labs/,segmented/step01_cub/segmented \
    rowscale/step00_block/rowscale) $(call programs_of_lab,several_gpus) $(call programs_of_lab,thrust) \
    $(foreach lab,accuracy launch operators rows rowscale sort,$(call inner,$(call programs_of_lab,$(lab)))))

TESTED := build/sim/fuzz $(if $(GPU),$(call programs_of,reduce),step01_divergent/reduce) $(ALL_PROGRAMS:%=build/sim/%) \
    build/sim/ptx_run build/sim/ptx_run_minimal build/sim/machine_alone build/sim/replay build/sim/coverage build/sim/libcuda.so.1 build/sim/check_program.o \
    build/sim/compile $(if $(EVERY),build/sim/compiler-fuzz) book/player/simulator.js $(filter-out $(UNTESTED),$(LABELLED)) \
    build/sim/labs/accuracy/step00_one_thread/accuracy
TEST_LINK = $(patsubst -O3,-O0,$(filter-out -lineinfo,$(SIM_NVCCFLAGS))) $(SIM_LIBRARIES)
SANITIZER_OPTIONS := detect_leaks=0:handle_segv=0:detect_odr_violation=0:allocator_may_return_null=1
# GNU's name for the tests. With a FILE it was the judge's name until this release.
check: ## develop: runs the tests, like make test
	$(if $(FILE),@echo 'make check FILE=... is called make judge FILE=... now; make check runs the tests' >&2)
	+@$(MAKE) --no-print-directory $(if $(FILE),judge,test)

test: ## test: runs every test that this machine can run, except the long ones of make test-long
	$(COMPILE) $(PYTHON_READY) $(if $(EVERY),$(PYTHON_READY:ready=notebook)) $(TESTED)
	$(COMPILE) lab-programs DEVICE=sim LEFT_OUT='$(if $(UNTESTED),build/sim/%)'
	$(Q)unset LADDER; $(if $(SANITIZE),ASAN_OPTIONS=$(SANITIZER_OPTIONS)) \
	    TESTS_BUILT=1 SIM_LINK='$(TEST_LINK)' LEFT_OUT='$(UNTESTED)' $(PYTHON) -m pytest \
	    $$($(PYTHON) -c 'import xdist' 2> /dev/null && echo '-n auto --dist loadfile') --ignore=tests/book tests

# What make test exports, for a pytest that make did not start: tests/conftest.py.
test-settings:
	@printf '%s\n' 'SIM_LINK=$(TEST_LINK)' 'LEFT_OUT=$(UNTESTED)'

# Scripts, pages and instructions: tests that compile no CUDA program.
QUICK_TESTS := $(addprefix tests/,tools/test_scripts.py course/test_docs.py simulator/test_instructions.py \
    simulator/test_platform.py tools/test_slurm.py checker/test_suites.py)
test-quick: ## develop: tests scripts, pages and the simulator's instructions (PTX), within a minute and without compiling CUDA programs
	$(COMPILE) $(PYTHON_READY) build/sim/ptx_run build/sim/ptx_run_minimal build/sim/machine_alone build/sim/coverage
	$(Q)unset LADDER; $(PYTHON) -m pytest $$($(PYTHON) -c 'import xdist' 2> /dev/null && echo '-n auto') \
	    -k 'not tries_apply_and_compile' $(QUICK_TESTS)

test-long: ## test: runs make test with the long ones (ALL=1), then grades a whole class and each exercise's variants (test-class, test-learn)
	+$(Q)$(MAKE) --no-print-directory test ALL=1
	+$(Q)$(MAKE) --no-print-directory test-class test-learn

# Linters and what builds a release, in pinned versions.
TOOLS := build/tools
$(TOOLS)/ready: scripts/build/tools.txt
	@echo 'installing ruff, mypy, codespell, build, twine and uv into $(TOOLS)'
	$(Q)python3 -m venv --clear $(TOOLS) && $(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r $< && touch $@

# test_words.py prints the words that a page or message must not use.
lint: $(TOOLS)/ready ## test: checks the Python code (ruff, mypy), the spelling and the words; FIX=1 corrects what ruff can
	$(Q)$(TOOLS)/bin/ruff check $(if $(filter-out 0,$(FIX)),--fix) .
	$(Q)$(TOOLS)/bin/mypy
	$(Q)python3 -c 'from tests.course import test_words; print(*test_words.tracked(), sep="\0", end="")' | xargs -0 $(TOOLS)/bin/codespell
	$(Q)! python3 tests/course/test_words.py | grep .

# The versions that the workflows install: PIP_CONSTRAINT names this file.
lock: $(TOOLS)/ready ## test: renews the versions of Python packages in .github/requirements.lock
	$(Q)$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --upgrade --output-file .github/requirements.lock \
	    plots/requirements.txt elsewhere/requirements.txt book/requirements.txt scripts/build/tools.txt

# The book: a website made from the pages by the code in book/; book/contents.toml lists the chapters.

BOOK := build/book
BOOK_PYTHON := $(BOOK)/venv/bin/python
$(BOOK)/venv/ready: book/requirements.txt book/editor.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'make book needs Python 3.11 or later' >&2; exit 1; }
	@echo 'installing Sphinx and its dependencies into $(BOOK)/venv'
	$(Q)python3 -m venv --clear $(BOOK)/venv && $(BOOK)/venv/bin/pip install --quiet --disable-pip-version-check -r book/requirements.txt
	$(Q)$(BOOK)/venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r book/editor.txt
	@touch $@

# The editor of the player's source: two files, made of CodeMirror 5.
$(BOOK)/codemirror/codemirror.js: $(BOOK)/venv/ready book/editor.py
	$(Q)$(BOOK_PYTHON) -m book.editor $(@D)

# Sphinx does not notice changes of its extensions or of the figures.
$(BOOK)/tools: book/player/simulator.js $(wildcard book/exercises/* exercises/*/exercise.py exercises/*/task.cu book/*.py book/extensions/*.py book/templates/* book/contents.toml book/player/*.js book/player/programs/*.js)
	$(Q)rm -rf $(BOOK)/doctrees $(BOOK)/html && mkdir -p $(BOOK) && touch $@

# The site is replaced only when the new one is complete. On a terminal Sphinx shows its progress.
book: $(BOOK)/codemirror/codemirror.js $(BOOK)/tools ## learn: builds the course as a website: open site/index.html from the disk or from any web server
	@echo 'collecting the pages (1 of 3)'
	$(Q)$(BOOK_PYTHON) -m book.collect $(BOOK)/pages
	@echo "writing $$(find $(BOOK)/pages -name '*.md' | wc -l) pages with Sphinx, which takes minutes (2 of 3)"
	$(Q)$(BOOK_PYTHON) -m sphinx $$([ -t 1 ] || echo -q) -W --keep-going -j auto -b html -c book -d $(BOOK)/doctrees $(BOOK)/pages $(BOOK)/html
	@echo 'copying the website (3 of 3)'
	$(Q)rm -rf site.new && cp -r $(BOOK)/html site.new && rm -rf site site.new/.buildinfo && mv site.new site
	@echo 'the book is in site/: open site/index.html'

test-book: book ## test: tests the book in a browser: links, search, no requests, accessibility; needs Chromium
	$(if $(NVCC),$(COMPILE) build/sim/libcuda.so.1 build/sim/replay)
	$(Q)$(BOOK_PYTHON) -m pytest -q tests/book

film: $(BOOK)/codemirror/codemirror.js book/player/simulator.js ## page: records the first page's animation, docs/stage.webp, from the figure of step 03; needs Chromium
	$(Q)$(BOOK_PYTHON) -m scripts.build.film docs/stage.webp

bench-book: book ## measure: measures the book's load time: first figure, runs; needs Chromium
	$(Q)$(BOOK_PYTHON) -m book.bench
