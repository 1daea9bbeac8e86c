#!/usr/bin/env bash
# bench_everyday.sh PROGRAM: what the checker costs for the kernels of a first course, tests/everyday: user seconds of a whole run on one thread,
# without and with it, in turns, the best of five; and millions of warp instructions a second of it. Each time is of ten runs, since the host counts
# user seconds by ticks of some milliseconds. make bench-sim runs it after the steps.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
export LC_ALL=C
TIMEFORMAT='seconds %U'
RUNS=10
printf '%-20s %12s %12s %18s %18s\n' kernel "whole run" "checked run" "the checker takes" "checked, million/s"
for name in product product_32x32 product_by_columns product_in_tiles histogram blur forces transpose conway softmax mandelbrot; do
    for _ in 1 2 3 4 5; do
        for check in 0 1; do
            { time for ((run = 0; run < RUNS; run++)); do SIM_SPEED=1 SIM_THREADS=1 SIM_CHECK=$check "$1" $name > /dev/null; done; } 2>&1 |
                sed "s/^/$check /"
        done
    done | awk -v name=$name -v runs=$RUNS '
        $2 == "seconds" && (!least[$1] || $3 / runs < least[$1]) { least[$1] = $3 / runs }
        /warp instructions/ { instructions = $3 }
        END { printf "%-20s %10.3f s %10.3f s %16.2f x %18.1f\n", name, least[0], least[1], least[1] / least[0], instructions / least[1] / 1e6 }'
done | awk '{ print; product += log($6); count++ }
            END { printf "%-20s %12s %12s %16.2f x\n", "geometric mean", "", "", exp(product / count) }'
