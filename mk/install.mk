# The simulator as a command for programs anywhere, drywarp: docs/drywarp.md.

.PHONY: install uninstall test-wheel
PREFIX ?= ~/.local
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
# A compiler that make toolkit fetched is installed along.
TOOLKIT ?= $(if $(filter .cuda/%,$(NVCC)),.cuda)
install: export TOOLKIT := $(TOOLKIT)

# nvlink wants this library where kernels launch kernels, with some object in it; the simulator itself is what launches them.
build/sim/libcudadevrt.a: build/sim/libsimulator.a
	$(Q)rm -f $@ && $(AR) qcs $@ build/sim/objects/base/names.o

build/sim/options: .sim-flags
	$(Q)mkdir -p $(@D) && echo '$(filter-out -cudart none,$(SIM_ONLY))' > $@

install: | $(NEEDS_NVCC) ## drywarp, the simulator as a command, without root: make install PREFIX=~/.local (docs/drywarp.md)
	$(COMPILE) build/sim/libsimulator.a build/sim/libcudadevrt.a build/sim/libcurand.a build/sim/replay build/sim/options
	@scripts/drywarp/install.sh install

uninstall: ## takes drywarp away again: make uninstall PREFIX=~/.local
	@scripts/drywarp/install.sh uninstall

# What pip makes of the archive of sources, in an environment of its own: it ends with a finding.
test-wheel: | $(NEEDS_NVCC) ## pip install in a new environment, from an archive of the sources, and the first finding there
	rm -rf build/sdist && mkdir -p build/sdist && python3 -c 'from scripts.drywarp import wheel; wheel.build_sdist("build/sdist")'
	python3 -m venv --clear build/wheel && build/wheel/bin/pip install --quiet build/sdist/*.tar.gz
	build/wheel/bin/drywarp check tests/mistakes/01_no_barrier_after_load.cu; [ $$? = 88 ]
