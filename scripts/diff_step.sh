#!/usr/bin/env bash
# diff_step.sh NN: shows, in colour on a terminal, what makes step NN out of the step before it.
set -u
cd "$(dirname "$0")/.." || exit 2
if ! [[ ${1-} =~ ^[0-9]{2}$ ]] || [ "$1" = 00 ] || ! [ -d "$(echo step"$1"_*)" ]; then
    last=$(printf '%s\n' step[0-9][0-9]_* | tail -n 1)
    echo "diff: STEP='${1-}' is no step with one before it; there are 01 to ${last:4:2}, as in: make diff STEP=03" >&2
    exit 2
fi
before=$(printf '%02d' $((10#$1 - 1)))
color=$([ -t 1 ] && echo always || echo never)
diff -u --color="$color" step"$before"_*/reduce.cu step"$1"_*/reduce.cu
[ $? -le 1 ] # 1 says that they differ, as they should
