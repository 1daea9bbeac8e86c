#!/usr/bin/env bash
# peers.sh FILE.csv PEERS PROGRAM...: the programs beside what others offer, one table from one run.
# PEERS is the program built from peers.cu; torch.sum takes part where python3 has torch.
set -euo pipefail
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -lt 3 ]; then
    echo "usage: peers.sh FILE.csv PEERS PROGRAM..." >&2
    exit 2
fi
csv=$1 peers=$2
shift 2
mkdir -p "$(dirname "$csv")"
echo "name,cache,elements,median_ms,gb_per_s" > "$csv.new"
trap 'rm -f "$csv.new"' EXIT
for elements in 1048576 67108864 1073741824; do
    for cache in cold warm; do
        for program; do
            "$program" --csv $([ $cache = warm ] && echo --warm) $elements |
                awk -F, -v OFS=, -v cache=$cache '{ print $1, cache, $3, $5, $9 }' >> "$csv.new"
        done
    done
    "$peers" $elements >> "$csv.new"
    if python3 -c 'import torch' 2> /dev/null; then
        python3 "$(dirname "$0")/peers_torch.py" $elements >> "$csv.new"
    else
        echo "peers.sh: python3 has no torch; torch.sum is left out" >&2
    fi
done
mv "$csv.new" "$csv"
cat "$csv"
