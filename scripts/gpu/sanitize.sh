#!/usr/bin/env bash
# sanitize.sh [-n SIZES] PROGRAM...: runs compute-sanitizer's four tools on each program at odd sizes, in parallel.
#   -n  the sizes, such as '33 257'; 1, 33, 513 and 100003 if not given
# Exit status: 0 if no tool reported an error or a warning.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
sizes='1 33 513 100003'
[ "${1-}" != -n ] || { sizes=${2-}; shift 2; }
if [ $# = 0 ]; then
    echo "usage: sanitize.sh [-n SIZES] PROGRAM... (make sanitize names them all)" >&2
    exit 2
fi
command -v compute-sanitizer > /dev/null || {
    echo "sanitize.sh: compute-sanitizer not found; it is part of the CUDA toolkit" >&2
    exit 2
}

sanitize() { # sanitize TOOL PROGRAM ELEMENTS: prints one line if clean, otherwise the tool's output, with status 1
    local output
    output=$(compute-sanitizer --tool "$1" "$2" "$3" 2>&1)
    if [ $? = 0 ] && grep -Eq 'SUMMARY: 0 (errors$|hazards displayed \(0 errors, 0 warnings\))' <<< "$output"; then
        echo "$1: $2 $3: clean"
    else
        printf '%s: %s %s:\n%s\n' "$1" "$2" "$3" "$output"
        return 1
    fi
}
export -f sanitize

for program; do
    for tool in memcheck racecheck initcheck synccheck; do
        for size in $sizes; do echo "$tool $program $size"; done
    done
done | xargs -P "$(nproc)" -L 1 bash -c 'sanitize "$@"' sanitize
failed=$? # 123 if a run had errors or warnings
[ $failed = 0 ] && echo 'every run was clean' || echo 'some runs had errors or warnings'
[ $failed = 0 ]
