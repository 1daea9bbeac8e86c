#!/usr/bin/env bash
# renew.sh: counts every program on the simulator anew, for tests/counters/simulator; after `make build DEVICE=sim`.
# What it is compared with comes from a GPU: scripts/profile_steps.py --elements 65536 (steps.csv) and 100003 (ragged.csv).
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/step02_strided" "$work/loops"
python3 - > "$work/step02_strided/reduce.cu" << 'PYTHON'
import sys
sys.path.insert(0, "scripts")
import tries
print(tries.applied("step02_bitops", tries.tries("step02_bitops")[0][0]), end="")
PYTHON
nvcc -O3 -std=c++17 -lineinfo -arch=sm_90 -cudart none --no-compress -o "$work/step02_strided/reduce" "$work/step02_strided/reduce.cu" \
    build/sim/libsimulator.a -lpthread -lm
nvcc -O3 -std=c++17 -lineinfo -arch=sm_90 -cudart none --no-compress -o "$work/loops/loops" tests/counters/access/loops.cu \
    build/sim/libsimulator.a -lpthread -lm
SIM_COUNTERS=tests/counters/simulator/loops.csv "$work/loops/loops"
for table in steps:65536 ragged:100003; do
    for program in build/sim/step*/reduce "$work/step02_strided/reduce" build/sim/reference_cub/reduce; do
        SIM_COUNTERS="$work/rows" "$program" --csv "${table#*:}" > /dev/null
        [ -s "$work/${table%:*}" ] || head -n 1 "$work/rows" > "$work/${table%:*}"
        awk -F, 'NR == 1 || $2 == "prepare" { next } $2 == kernel && $4 == grid { exit } !kernel { kernel = $2; grid = $4 } { print }' \
            "$work/rows" >> "$work/${table%:*}"
    done
    mv "$work/${table%:*}" "tests/counters/simulator/${table%:*}.csv"
done
