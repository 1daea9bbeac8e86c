#!/usr/bin/env bash
# bench_sim.sh [--against FOLDER] ELEMENTS PROGRAM...: the simulator's speed in kernels, on one host thread and on two, and with the checker; and how
# long whole runs take on one thread, without and with it. FOLDER is an earlier release with its programs built: then also its speed, on one thread.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
earlier=
if [ "${1-}" = --against ]; then
    earlier=${2-}
    shift 2 || shift
fi
if [ $# -lt 2 ]; then
    echo "usage: bench_sim.sh [--against FOLDER] ELEMENTS PROGRAM... (make bench-sim names them all)" >&2
    exit 2
fi
export LC_ALL=C
elements=$1
shift
for program; do
    if [ -n "$earlier" ] && [ ! -x "$earlier/$program" ]; then
        echo "bench_sim.sh: $earlier/$program is missing; in that folder, make build DEVICE=sim builds it" >&2
        exit 2
    fi
done

measure() { # measure THREADS CHECK PROGRAM: million warp instructions per second of kernels, seconds of the whole run; the best of three runs
    for _ in 1 2 3; do
        TIMEFORMAT='seconds %R'
        { time SIM_SPEED=1 SIM_THREADS=$1 SIM_CHECK=$2 "$3" "$elements" > /dev/null; } 2>&1
    done | awk '/^simulator: .* warp instructions/ { speed = $2 / $6 / 1e6; if (speed > best) best = speed }
                /^seconds/ { if (!least || $2 < least) least = $2 }
                END { printf "%.1f %.2f\n", best, least }'
}

row='%-20s %18s %12s %20s %10s %12s %20s'
printf "$row" "$elements elements" "million/s, 1 thread" "2 threads" "checked, 1 thread" "whole run" "checked run" "the checker takes"
[ -z "$earlier" ] || printf ' %20s %10s' "earlier, 1 thread" "now"
echo
for program; do
    read -r one seconds < <(measure 1 0 "$program")
    read -r two _ < <(measure 2 0 "$program")
    read -r checked checked_seconds < <(measure 1 1 "$program")
    printf "$row" "$(basename "$(dirname "$program")")" "$one" "$two" "$checked" "$seconds s" "$checked_seconds s" \
        "$(awk "BEGIN { printf \"%.2f x\", $checked_seconds / $seconds }")"
    if [ -n "$earlier" ]; then
        read -r before _ < <(measure 1 0 "$earlier/$program")
        printf ' %20s %10s' "$before" "$(awk "BEGIN { printf \"%.2f x\", $one / $before }")"
    fi
    echo
done
