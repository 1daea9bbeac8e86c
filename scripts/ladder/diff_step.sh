#!/usr/bin/env bash
# diff_step.sh NN [LAB]: shows, in colour on a terminal, what makes step NN, of the ladder (or that of the environment's
# LADDER) or of a lab, out of the step before it; then the reader's own edit of step NN, if there is one.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/../.." || exit 2
. scripts/ladder/steps_of.bash
ladder diff "${2-}"
two_digits diff "${1-}"
folder=$(echo "$place"step"${1-}"_*)
if ! [[ ${1-} =~ ^[0-9]{2}$ ]] || [ "$1" = 00 ] || ! [ -d "$folder" ]; then
    echo "diff: STEP='${1-}' is no step with one before it; there are 01 to $last, as in: make diff ${named}STEP=$last" >&2
    exit 2
fi
before=$(program "$(echo "$place"step"$(printf '%02d' $((10#$1 - 1)))"_*)")
program=$(program "$folder")
color=$([ -t 1 ] && echo always || echo never)

committed() { # committed FILE: without the reader's edits, where git knows the file
    git show "HEAD:./$1" 2> /dev/null || cat "$1"
}

difference() { # difference FROM TO LABEL LABEL; 1 says that they differ, as they should
    diff -u --color="$color" --label "$3" --label "$4" "$1" "$2"
    [ $? -le 1 ]
}

difference <(committed "$before") <(committed "$program") "$before" "$program" || exit 1
if ! cmp -s <(committed "$program") "$program"; then
    printf '\nYour edit of %s (make undo %sSTEP=%s takes it back):\n' "$folder" "$named" "$1"
    difference <(committed "$program") "$program" "$program as it was" "$program"
fi
