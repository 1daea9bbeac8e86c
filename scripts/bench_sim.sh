#!/usr/bin/env bash
# bench_sim.sh ELEMENTS PROGRAM...: the simulator's speed on one host thread and on two.
set -eu
if [ $# -lt 2 ]; then
    echo "usage: bench_sim.sh ELEMENTS PROGRAM... (make bench-sim names them all)" >&2
    exit 2
fi
export LC_ALL=C
elements=$1 work=$(mktemp -d)
shift
trap 'rm -rf "$work"' EXIT

seconds() { # seconds THREADS PROGRAM ELEMENTS: of the whole program, its data and checks included
    local start=$EPOCHREALTIME
    SIM_THREADS=$1 SIM_COUNTERS=$work/counters "$2" "$3" > /dev/null
    echo "$start $EPOCHREALTIME" | awk '{ print $2 - $1 }'
}

printf '%-20s %18s %18s %8s\n' "$elements elements" "million/s, 1 thread" "2 threads" ratio
for program; do
    one=$(seconds 1 "$program" "$elements")
    two=$(seconds 2 "$program" "$elements")
    instructions=$(awk -F, 'NR > 1 { sum += $6 } END { print sum / 1e6 }' "$work/counters")
    printf '%-20s %18.1f %18.1f %8.2f\n' "$(basename "$(dirname "$program")")" \
        "$(awk "BEGIN { print $instructions / $one }")" "$(awk "BEGIN { print $instructions / $two }")" \
        "$(awk "BEGIN { print $one / $two }")"
done
