#!/usr/bin/env bash
# labelled_gpu.sh FILE.csv: the labelled programs on a GPU, under compute-sanitizer's racecheck and synccheck.
# Each row is one case: the exit status (99: errors were found, 124: stopped after 25 s) and how many errors.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -ne 1 ]; then
    echo "usage: labelled_gpu.sh FILE.csv (make labelled-gpu names it)" >&2
    exit 2
fi
cd "$(dirname "$0")/.."
export built
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

build() {
    "${NVCC:-nvcc}" -O3 -std=c++17 -arch=native -lineinfo -o "$built/$(basename "$1" .cu)" "$1"
}

check() { # check TOOL PROGRAM CASE
    local said status=0
    said=$(timeout 25 compute-sanitizer --tool "$1" --error-exitcode 99 "$built/$2" "$3" 2>&1) || status=$?
    echo "$2,$3,$1,$status,$(grep -oE 'SUMMARY: [0-9]+' <<< "$said" | grep -oE '[0-9]+$' | tail -1)"
}
export -f build check

printf '%s\n' tests/labelled/*.cu | xargs -P "$(nproc)" -I{} bash -c 'build {}'
{
    echo program,case,tool,status,errors
    for tool in racecheck synccheck; do
        tail -n +2 tests/labelled/labels.csv | cut -d, -f1,2 | tr , ' ' | xargs -P "$(nproc)" -I{} bash -c "check $tool {}" | sort
    done
} > "$1.part"
mv "$1.part" "$1"
