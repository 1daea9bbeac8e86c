#!/usr/bin/env bash
# bench_sim.sh ELEMENTS PROGRAM...: the simulator's speed in kernels, on one host thread and on two.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -lt 2 ]; then
    echo "usage: bench_sim.sh ELEMENTS PROGRAM... (make bench-sim names them all)" >&2
    exit 2
fi
export LC_ALL=C
elements=$1
shift

speed() { # speed THREADS PROGRAM: million warp instructions per second, the best of three runs
    for _ in 1 2 3; do
        SIM_SPEED=1 SIM_THREADS=$1 "$2" "$elements" 2>&1 > /dev/null
    done | awk '/^simulator: .* warp instructions/ { speed = $2 / $6 / 1e6; if (speed > best) best = speed } END { print best }'
}

printf '%-20s %18s %18s %8s\n' "$elements elements" "million/s, 1 thread" "2 threads" ratio
for program; do
    one=$(speed 1 "$program")
    two=$(speed 2 "$program")
    printf '%-20s %18.1f %18.1f %8.2f\n' "$(basename "$(dirname "$program")")" "$one" "$two" \
        "$(awk "BEGIN { print $two / $one }")"
done
