#!/usr/bin/env bash
# run_one.sh [--OPTION...] PROGRAM ELEMENTS: runs one program on the GPU, with the options, and shows what it prints.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
options=()
while [[ ${1-} == --* ]]; do options+=("$1"); shift; done
if [ $# != 2 ]; then
    echo "usage: run_one.sh [--OPTION...] PROGRAM ELEMENTS" >&2
    exit 2
fi
"$1" ${options[@]+"${options[@]}"} "$2"
status=$?
[ $status != 77 ] || echo "the GPU cannot be used: is NVIDIA's driver installed (nvidia-smi shows it)? DEVICE=sim runs on the simulator" >&2
exit $status
