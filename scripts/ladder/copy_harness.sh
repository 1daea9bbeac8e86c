#!/usr/bin/env bash
# copy_harness.sh PROGRAM...: gives each program the harness of the first one, from its mark on.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -lt 2 ]; then
    echo "usage: copy_harness.sh PROGRAM PROGRAM... (make harness names them all)" >&2
    exit 2
fi
mark='// ==== Harness'
first=$1
for source; do
    if [ "$(grep -c "^$mark" "$source")" != 1 ]; then
        echo "copy_harness.sh: $source has not exactly one line that begins with '$mark'" >&2
        exit 1
    fi
    sed "/^${mark//\//\\/}/,\$d" "$source" > "$source.new"
    sed -n "/^${mark//\//\\/}/,\$p" "$first" >> "$source.new"
    if cmp -s "$source.new" "$source"; then rm "$source.new"; else mv "$source.new" "$source"; fi
done
