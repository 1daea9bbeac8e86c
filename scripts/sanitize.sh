#!/usr/bin/env bash
# sanitize.sh PROGRAM...: runs compute-sanitizer's four tools over each program at ragged sizes.
# Exit status: 0 if no tool reported an error or a warning.
set -u
command -v compute-sanitizer > /dev/null || {
    echo "sanitize.sh: compute-sanitizer was not found; it comes with the CUDA toolkit" >&2
    exit 2
}
failed=0
for program; do
    for tool in memcheck racecheck initcheck synccheck; do
        for elements in 1 33 513 100003; do
            output=$(compute-sanitizer --tool $tool "$program" $elements 2>&1)
            if [ $? = 0 ] && grep -Eq 'SUMMARY: 0 (errors$|hazards displayed \(0 errors, 0 warnings\))' <<< "$output"; then
                continue
            fi
            failed=$((failed + 1))
            echo "$tool: $program $elements:"
            sed 's/^/    /' <<< "$output"
        done
    done
    echo "$program: memcheck racecheck initcheck synccheck done"
done
echo "$failed of the runs had errors or warnings"
[ $failed = 0 ]
