# drywarp, the simulator as an installed command: docs/drywarp.md.

.PHONY: install uninstall test-wheel
PREFIX ?= ~/.local
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DESTDIR := $(DESTDIR)
# A compiler from make toolkit is installed, too.
TOOLKIT ?= $(if $(filter .cuda/%,$(NVCC)),.cuda)
install: export TOOLKIT := $(TOOLKIT)

# For kernels that launch kernels nvlink requires this library with at least one object; the simulator does the launches.
build/sim/libcudadevrt.a: build/sim/libsimulator.a
	$(Q)rm -f $@ && $(AR) qcs $@ build/sim/objects/base/names.o

build/sim/options: .sim-flags
	$(Q)mkdir -p $(@D) && echo '$(filter-out -cudart none,$(SIM_ONLY))' > $@

install: | $(NEEDS_NVCC) ## installs drywarp, the simulator as a command, without root: make install PREFIX=~/.local (docs/drywarp.md)
	$(COMPILE) build/sim/libsimulator.a build/sim/libcudadevrt.a build/sim/libcurand.a build/sim/replay build/sim/compile build/sim/options
	@scripts/drywarp/install.sh install

uninstall: ## removes drywarp: make uninstall PREFIX=~/.local
	@scripts/drywarp/install.sh uninstall

# Installs the source archive with pip in a new environment, and expects a finding there.
test-wheel: | $(NEEDS_NVCC) ## tests pip install from a source archive in a new environment, and the first finding there
	rm -rf build/sdist && mkdir -p build/sdist && python3 -c 'from scripts.drywarp import wheel; wheel.build_sdist("build/sdist")'
	python3 -m venv --clear build/wheel && build/wheel/bin/pip install --quiet build/sdist/*.tar.gz
	build/wheel/bin/drywarp check tests/mistakes/01_no_barrier_after_load.cu; [ $$? = 88 ]
