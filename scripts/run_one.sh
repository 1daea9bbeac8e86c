#!/usr/bin/env bash
# run_one.sh [--warm] PROGRAM ELEMENTS: runs one program on the GPU and shows what it prints.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
warm=
[ "${1-}" != --warm ] || { warm=--warm; shift; }
if [ $# != 2 ]; then
    echo "usage: run_one.sh [--warm] PROGRAM ELEMENTS" >&2
    exit 2
fi
"$1" $warm "$2"
status=$?
[ $status != 77 ] || echo "the GPU cannot be used: is NVIDIA's driver installed (nvidia-smi shows it)? DEVICE=sim runs on the simulator" >&2
exit $status
