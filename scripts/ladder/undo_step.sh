#!/usr/bin/env bash
# undo_step.sh NN [LAB]: takes back the edits of one step, of the ladder (or that of the environment's LADDER) or of a lab:
# its program, page and picture are as they were committed.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/../.." || exit 2
. scripts/ladder/steps_of.bash
ladder undo "${2-}"
two_digits undo "${1-}"
folder=$(echo "$place"step"${1-}"_*)
if ! [[ ${1-} =~ ^[0-9]{2}$ ]] || ! [ -d "$folder" ]; then
    echo "undo: STEP='${1-}' is no step; there are 00 to $last, as in: make undo ${named}STEP=$last" >&2
    exit 2
fi
if ! git rev-parse --quiet --verify HEAD > /dev/null 2>&1; then
    echo "undo: this folder is no git checkout, so there is nothing to take it back to" >&2
    exit 2
fi
if git diff --quiet HEAD -- "$folder"; then
    echo "$folder is as in the last commit; there is nothing to undo"
else
    git --no-pager diff --stat HEAD -- "$folder" && git checkout --quiet HEAD -- "$folder" && echo "$folder is as it was again"
fi
