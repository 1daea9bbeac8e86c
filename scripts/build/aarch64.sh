#!/usr/bin/env bash
# aarch64.sh NVCC PYTHON: the simulator for aarch64, compiled in build/aarch64, with its tests of instructions, step 03 and two findings, all run by qemu.
# It wants Debian's gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user. nvcc's headers are the same for both processors.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# != 2 ]; then
    echo 'usage: aarch64.sh NVCC PYTHON (make sim-aarch64 names them)' >&2
    exit 2
fi
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $tool > /dev/null || { echo "$tool was not found: install gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user" >&2; exit 1; }
done
tree=$PWD/build/aarch64
mkdir -p "$tree"
tar c Makefile mk scripts drywarp simulator tests step03_sequential pyproject.toml plots | tar x -C "$tree"
printf '#!/bin/sh\nexec "%s" -ccbin aarch64-linux-gnu-g++ -target-dir x86_64-linux "$@"\n' "$(command -v "$1")" > "$tree/nvcc"
chmod +x "$tree/nvcc"
[ ! -e .venv ] || ln -sfn ../../.venv "$tree/.venv"
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
unset MAKEFLAGS MAKELEVEL
cd "$tree"
TESTED='build/sim/ptx_run build/sim/coverage'
rm -f $TESTED # of an earlier run: scripts
crossed() { make -s PROCESSOR= DEVICE=sim NVCC="$tree/nvcc" AR=aarch64-linux-gnu-ar "$@"; }
crossed -j"$(nproc)" $TESTED build/sim/step03_sequential/reduce
for program in $TESTED; do
    mv $program $program.aarch64
    printf '#!/bin/sh\nexec qemu-aarch64 "$0.aarch64" "$@"\n' > $program
    chmod +x $program
done
qemu-aarch64 build/sim/step03_sequential/reduce 10000
for mistake in 01_no_barrier_after_load 21_managed_not_waited_for; do
    crossed sim FILE=tests/mistakes/$mistake.cu
    status=0
    qemu-aarch64 build/sim/programs/tests/mistakes/$mistake || status=$?
    [ $status = 88 ] || { echo "aarch64.sh: $mistake ended with status $status, and not with 88 for its finding" >&2; exit 1; }
done
PYTHONPATH=. "$2" -m pytest -q tests/simulator/test_instructions.py
