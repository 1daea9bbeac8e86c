#!/usr/bin/env bash
# renew.sh: counts every program on the simulator anew, for tests/counters/simulator; after `make build DEVICE=sim` and `make build DEVICE=sim LADDER=scan`.
# What it is compared with comes from a GPU: python3 -m scripts.gpu.profile steps --elements 65536 (steps.csv) and 100003
# (ragged.csv), and --launches 54, 1 and 8 of the programs in tests/counters/access (access.csv, loops.csv, together.csv).
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d tests/counters/.renew.XXXXXX)
trap 'rm -rf "$work"' EXIT

build() { # build NAME SOURCE: for the simulator, in a folder of that name
    mkdir -p "$work/$1"
    "${NVCC:-nvcc}" -O3 -std=c++17 -lineinfo -arch=sm_90 -cudart none --no-compress -o "$work/$1/$1" "$2" \
        build/sim/libsimulator.a -lpthread -lm
}

python3 -m scripts.ladder.tries --print 1 step02_bitops > "$work/strided.cu"
build step02_strided "$work/strided.cu"
build access tests/counters/access/access.cu
build loops tests/counters/access/loops.cu
build together tests/counters/access/together.cu
for program in access loops together; do
    SIM_COUNTERS="$work/$program.csv" "$work/$program/$program"
done
programs=(step[0-9][0-9]_*/reduce.cu)
programs=("${programs[@]/#/build/sim/}")

count() { # count TABLE N PROGRAM...: the kernels of each program's first run
    local csv=$work/$1.csv n=$2 program
    for program in "${@:3}"; do
        SIM_COUNTERS="$work/rows" "$program" --csv "$n" > /dev/null
        [ -s "$csv" ] || head -n 1 "$work/rows" > "$csv"
        awk -F, '$2 == "prepare" { if (++runs > 1) exit; next } $2 == "compare" { exit } runs' "$work/rows" >> "$csv"
    done
}

for table in steps:65536 ragged:100003; do
    count "${table%:*}" "${table#*:}" "${programs[@]%.cu}" "$work/step02_strided/step02_strided" build/sim/reference_cub/reduce
done
scans=(scan/step[0-9][0-9]_*/scan.cu)
scans=("${scans[@]/#/build/sim/}")
count scan 65536 "${scans[@]%.cu}" # make judge LADDER=scan shows them
mv "$work"/{steps,ragged,scan,access,loops,together}.csv tests/counters/simulator/
