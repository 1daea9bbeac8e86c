# The book: a website made from the pages by the code in book/; book/contents.toml lists the chapters.

.PHONY: book test-book bench-book film
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
$(BOOK)/tools: $(wildcard book/exercises/* exercises/*/exercise.py exercises/*/task.cu book/*.py book/extensions/*.py book/templates/* book/contents.toml book/player/*.js book/player/programs/*.js)
	$(Q)rm -rf $(BOOK)/doctrees $(BOOK)/html && mkdir -p $(BOOK) && touch $@

# The site is replaced only when the new one is complete. On a terminal Sphinx shows its progress.
book: $(BOOK)/codemirror/codemirror.js $(BOOK)/tools ## builds the course as a website: open site/index.html from the disk or from any web server
	@echo 'collecting the pages (1 of 3)'
	$(Q)$(BOOK_PYTHON) -m book.collect $(BOOK)/pages
	@echo "writing $$(find $(BOOK)/pages -name '*.md' | wc -l) pages with Sphinx, which takes minutes (2 of 3)"
	$(Q)$(BOOK_PYTHON) -m sphinx $$([ -t 1 ] || echo -q) -W --keep-going -j auto -b html -c book -d $(BOOK)/doctrees $(BOOK)/pages $(BOOK)/html
	@echo 'copying the website (3 of 3)'
	$(Q)rm -rf site.new && cp -r $(BOOK)/html site.new && rm -rf site site.new/.buildinfo && mv site.new site
	@echo 'the book is in site/: open site/index.html'

test-book: book ## tests the book in a browser: links, search, no requests, accessibility; needs Chromium
	$(if $(NVCC),$(COMPILE) build/sim/libcuda.so.1 build/sim/replay)
	$(Q)$(BOOK_PYTHON) -m pytest -q tests/book

film: $(BOOK)/codemirror/codemirror.js ## records the first page's animation, docs/stage.webp, from the figure of step 03; needs Chromium
	$(Q)$(BOOK_PYTHON) -m scripts.build.film docs/stage.webp

bench-book: book ## measures the book's load time: first figure, runs; needs Chromium
	$(Q)$(BOOK_PYTHON) -m book.bench
