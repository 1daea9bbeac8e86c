#!/usr/bin/env bash
# Runs programs one after the other on the same input: a table as it goes, a CSV at the end.
#
# run_all.sh [-s] [-w] [-e] [-n ELEMENTS] [-t SECONDS] [-o FILE.csv] [-c COMMAND] PROGRAM...
#   -t  a program that runs longer counts as hung    -c  draws the charts, once the CSV is there
#   -s  the programs run on the simulator: table and CSV hold its counters, for it has no times
#   -w  the cache stays warm between runs            -e  scans are exclusive
# Exit status: 0 if every program passed or cannot run on this device, else 1.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
export LC_ALL=C # a decimal point, whatever the user's language

refuse() {
    echo "run_all.sh: $1" >&2
    exit 2
}

usage() {
    refuse "$1; usage: run_all.sh [-s] [-w] [-e] [-n ELEMENTS] [-t SECONDS] [-o FILE.csv] [-c COMMAND] PROGRAM..."
}

elements=67108864 limit=300 csv=results/run-all.csv charts= simulated= options=
while getopts :swen:t:o:c: option; do
    case $option in
        s) simulated=1 ;;
        w) options+=' --warm' ;;
        e) options+=' --exclusive' ;;
        n) elements=$OPTARG ;;
        t) limit=$OPTARG ;;
        o) csv=$OPTARG ;;
        c) charts=$OPTARG ;;
        *) usage "unknown or incomplete option -$OPTARG" ;;
    esac
done
shift $((OPTIND - 1))
[[ $elements =~ ^[1-9][0-9]{0,17}$ ]] || refuse "N='$elements' is no number of elements, 1 or more, in digits, as in: make step03 N=4096"
[[ $limit =~ ^[1-9][0-9]{0,8}$ ]] || refuse "TIME_LIMIT='$limit' is no number of seconds, 1 or more, in digits, as in: TIME_LIMIT=60"
[ $# -gt 0 ] || usage "no program was named"

mkdir -p "$(dirname "$csv")" || exit 2
work=$(mktemp -d "$(dirname "$csv")/.run-all.XXXXXX") || exit 2
child=
interrupted() {
    [ -z "$child" ] || { kill -TERM "$child"; wait "$child"; } 2>/dev/null
    echo >&2
    echo "run_all.sh: interrupted; $csv is as it was" >&2
    exit 130
}
trap 'rm -rf "$work"' EXIT
trap interrupted INT TERM HUP

ratio() { # ratio OLD_MS NEW_MS: how many times faster, or - where either is missing
    awk -v old="$1" -v new="$2" 'BEGIN { if (old > 0 && new > 0) printf "%.2fx", old / new; else printf "-" }'
}

report_times() { # of a row of the program's own CSV
    local ms gb_per_s peak
    IFS=, read -r _ _ _ _ ms _ _ _ gb_per_s peak _ <<< "$row"
    printf '%12.4f %9.2f %6.1f%% %11s %11s\n' "$ms" "$gb_per_s" \
        "$(awk -v a="$gb_per_s" -v b="$peak" 'BEGIN { print (b > 0 ? 100 * a / b : 0) }')" \
        "$(ratio "$before_ms" "$ms")" "$(ratio "$first_ms" "$ms")"
    [ "$index" != 1 ] || first_ms=$ms
    before_ms=$ms
    echo "$step,${row#*,}" >> "$work/csv"
}

# The CSV: a failed step, "!step status" so far, gets as many columns as the others.
with_failed() {
    awk -v header="$header" 'BEGIN { print header; columns = split(header, names, ",") }
        /^!/ { row = substr($1, 2); for (k = 2; k < columns; k++) row = row ","; print row "," $2; next }
        { print }' "$work/csv"
}

# The launches of the first whole reduction or scan. Of the harness are prepare, before each, and in a scan fill and compare.
first_run='NR == 1 || $2 == "fill" || $2 == "compare" { next } $2 == "prepare" { if (++runs > 1) exit; next } { print }'

report_counters() { # of the rows that the simulator wrote; the table shows their sums
    awk -F, "$first_run" "$work/counters" > "$work/rows"
    header=$(head -n 1 "$work/counters"),status
    sed 's/$/,PASS/' "$work/rows" >> "$work/csv"
    awk -F, '{ i += $6; lanes += $6 * $7; shared += $9 + $10; conflicts += $11; loads += $12; sectors += $13; barriers += $18 }
             END { printf "%13d %8.1f %13d %10d %13d %13d %10d\n", i, (i ? lanes / i : 0), shared, conflicts, loads, sectors, barriers }' "$work/rows"
}

if [ $simulated ]; then
    number='nan'
    export SIM_COUNTERS="$work/counters"
    [ ! -t 1 ] || export CLICOLOR_FORCE=1 # findings are coloured although they go through a file
    header=step,status # until the first program says more
    printf '%-29s %13s %8s %13s %10s %13s %13s %10s\n' "$elements elements, simulated" instructions "lanes on" \
        "shared ld+st" conflicts "load requests" sectors barriers
else
    number='[0-9]+(\.[0-9]+)?'
    header=step,device,elements,launches,median_ms,min_ms,q1_ms,q3_ms,gb_per_s,peak_gb_per_s,status
    printf '%-29s %12s %9s %7s %11s %11s\n' "$elements elements" ms GB/s peak "vs before" "vs first"
fi
: > "$work/csv"
device=
index=0 passed=0 failed=0 skipped=0 first_ms= before_ms=
for program; do
    index=$((index + 1))
    step=$(basename "$(dirname "$program")")
    printf '%-29s ' "[$index/$#] $step …"
    # In the background, so that an interrupt is heard at once.
    started=$SECONDS
    : > "$work/findings"
    timeout --kill-after=2 "$limit" "$program" --csv $options "$elements" > "$work/out" 2> "$work/err" &
    child=$!
    wait "$child" 2> /dev/null
    exit_status=$?
    child=
    # Killed: by us, when it ignored the first signal, or by the system, when memory ran out.
    [ $exit_status != 137 ] || [ $((SECONDS - started)) -lt "$limit" ] || exit_status=124

    row=$(tail -n 1 "$work/out") # before it stands what a kernel prints
    if [[ $row == *?"$step,"* ]]; then # in the same line, where that does not end with a newline
        { head -n -1 "$work/out"; echo "${row%"$step,"*}"; } > "$work/printed"
        row="$step,${row##*"$step,"}"
        { cat "$work/printed"; echo "$row"; } > "$work/out"
    fi
    if [ $simulated ] && [ -s "$work/err" ]; then # the checker's findings are shown whole, below the step's line
        mv "$work/err" "$work/said"
        python3 "$(dirname "$0")/../findings.py" "$work/said" "$work/err" > "$work/findings"
    fi
    why=$(head -n 1 "$work/err")
    why=${why#FAIL: }
    case $exit_status in
        0) status=PASS ;;
        1) status=FAIL ;;
        77) status=SKIP ;;
        2) status=REFUSED ;; # the array does not fit
        124) status=HANG why="no end after $limit s: it hangs, or N is too large for TIME_LIMIT" ;;
        88) status=FINDING why="$(grep -E '^[0-9]+ finding' "$work/err" || echo findings):" ;;
        *) status=CRASH why="exit status $exit_status ${why}" ;;
    esac
    if [ $status = PASS ] && ! [[ $row =~ ^[^,]+,[^,]+,$elements,[0-9]+,$number,$number,$number,$number,$number,[0-9.]+,PASS$ ]]; then
        status=GARBAGE why="no CSV row, but: ${row:0:60}"
    fi
    # The first step needs nothing but a CUDA device: without one, no other step can run.
    if [ $status = SKIP ] && [ $index = 1 ]; then
        echo
        echo "no CUDA device was found that can run the programs (${why##*: }): is NVIDIA's driver installed? DEVICE=sim runs on the simulator" >&2
        exit 1
    fi
    if [ $status = PASS ]; then
        passed=$((passed + 1))
        IFS=, read -r _ device _ <<< "$row"
        if [ $simulated ]; then report_counters; else report_times; fi
    else
        printf '%12s  %s\n' "$status" "${why//$'\n'/ }"
        cat "$work/findings"
        before_ms=
        echo "!$step $status" >> "$work/csv"
        if [ $status = SKIP ]; then skipped=$((skipped + 1)); else failed=$((failed + 1)); fi
    fi
    if [ $status = PASS ]; then head -n -1 "$work/out"; elif [ $status != GARBAGE ]; then cat "$work/out"; fi
done

{
    "$(dirname "$0")/../build/about.sh"
    echo "elements: $elements${device:+$'\n'device: $device}"
} > "$work/txt"
with_failed > "$work/whole"
mv "$work/txt" "${csv%.csv}.txt" && mv "$work/whole" "$csv" || exit 1
trap - INT TERM HUP
charts_failed=0
if [ -n "$charts" ] && [ $passed -gt 0 ]; then
    bash -c "$charts" || charts_failed=1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $charts_failed = 0 ]
