#!/usr/bin/env bash
# bench_sim.sh ELEMENTS PROGRAM...: the simulator's speed in kernels, on one host thread and on two; and with the checker.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -lt 2 ]; then
    echo "usage: bench_sim.sh ELEMENTS PROGRAM... (make bench-sim names them all)" >&2
    exit 2
fi
export LC_ALL=C
elements=$1
shift

speed() { # speed THREADS CHECK PROGRAM: million warp instructions per second, the best of three runs
    for _ in 1 2 3; do
        SIM_SPEED=1 SIM_THREADS=$1 SIM_CHECK=$2 "$3" "$elements" 2>&1 > /dev/null
    done | awk '/^simulator: .* warp instructions/ { speed = $2 / $6 / 1e6; if (speed > best) best = speed } END { print best }'
}

row='%-20s %18s %12s %20s %22s\n'
printf "$row" "$elements elements" "million/s, 1 thread" "2 threads" "checked, 1 thread" "the checker takes"
for program; do
    one=$(speed 1 0 "$program")
    two=$(speed 2 0 "$program")
    checked=$(speed 1 1 "$program")
    printf "$row" "$(basename "$(dirname "$program")")" "$one" "$two" "$checked" "$(awk "BEGIN { printf \"%.2f x\", $one / $checked }")"
done
