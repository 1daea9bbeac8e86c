#!/usr/bin/env bash
# one_at_a_time.sh COMMAND...: runs a command that compiles or measures; another one in the same folder waits until it is done.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# = 0 ]; then
    echo "usage: one_at_a_time.sh COMMAND..." >&2
    exit 2
fi
[ -z "${HOLDS_LOCK-}" ] || exec "$@" # a command of one that has it
mkdir -p build || exit 1
if [ -e build/.lock ] && [ ! -w build/.lock ]; then # of another user, who has compiled
    exec 9< build/.lock || exit 1
else
    exec 9> build/.lock || exit 1
fi
if command -v flock > /dev/null && ! flock --nonblock 9; then
    echo 'another make works in this folder: waiting for it' >&2
    flock 9
fi
export HOLDS_LOCK=1
"$@" 9>&-
