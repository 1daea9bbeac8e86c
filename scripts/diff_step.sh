#!/usr/bin/env bash
# diff_step.sh NN: shows, in colour on a terminal, what makes step NN out of the step before it; then the reader's own
# edit of step NN, if there is one.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.." || exit 2
folder=$(echo step"${1-}"_*)
if ! [[ ${1-} =~ ^[0-9]{2}$ ]] || [ "$1" = 00 ] || ! [ -d "$folder" ]; then
    last=$(printf '%s\n' step[0-9][0-9]_* | tail -n 1)
    echo "diff: STEP='${1-}' is no step with one before it; there are 01 to ${last:4:2}, as in: make diff STEP=03" >&2
    exit 2
fi
before=$(echo step"$(printf '%02d' $((10#$1 - 1)))"_*)
color=$([ -t 1 ] && echo always || echo never)

committed() { # committed FILE: without the reader's edits, where git knows the file
    git show "HEAD:./$1" 2> /dev/null || cat "$1"
}

difference() { # difference FROM TO LABEL LABEL; 1 says that they differ, as they should
    diff -u --color="$color" --label "$3" --label "$4" "$1" "$2"
    [ $? -le 1 ]
}

difference <(committed "$before/reduce.cu") <(committed "$folder/reduce.cu") "$before/reduce.cu" "$folder/reduce.cu" || exit 1
if ! cmp -s <(committed "$folder/reduce.cu") "$folder/reduce.cu"; then
    printf '\nYour edit of %s (make undo STEP=%s takes it back):\n' "$folder" "$1"
    difference <(committed "$folder/reduce.cu") "$folder/reduce.cu" "$folder/reduce.cu as it was" "$folder/reduce.cu"
fi
