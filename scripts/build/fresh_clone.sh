#!/usr/bin/env bash
# fresh_clone.sh [FOLDER]: does in a fresh clone what a new user and a new maintainer do first, and prints the seconds of each step.
# Needs git, make, a C++ compiler, nvcc, Python 3.11 or later with venv, and PyPI. The clone is made in FOLDER, or in a temporary folder
# that is removed afterwards. The exit status is that of the first step that fails.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# -gt 1 ] || [ -e "${1-}" ]; then
    echo 'usage: fresh_clone.sh [FOLDER], a folder that does not exist' >&2
    exit 2
fi
source=$(realpath "$(dirname "$0")/../..")
work=${1-$(mktemp -d)}
[ $# = 1 ] || trap 'rm -rf "$work"' EXIT

# Runs a command; prints its name and seconds, or its last lines if it fails.
step() {
    local begin=$SECONDS status=0
    "${@:2}" > "$work/log" 2>&1 || status=$?
    echo "$1: $((SECONDS - begin)) s$([ $status = 0 ] || echo ", exit status $status")"
    [ $status = 0 ] || { tail -n 20 "$work/log" >&2; exit $status; }
}

# Whether an installed drywarp reports the race of an example.
reports_race() {
    local status=0
    "$1/bin/drywarp" check tests/mistakes/01_no_barrier_after_load.cu || status=$?
    [ $status = 88 ]
}

user_install() {
    python3 -m venv "$work/user" && "$work/user/bin/pip" install --quiet '.[nvcc]' && reports_race "$work/user"
}

editable_install() {
    python3 -m venv "$work/editable" && "$work/editable/bin/pip" install --quiet -e . && reports_race "$work/editable"
}

one_test() {
    "$work/editable/bin/pip" install --quiet -r plots/requirements.txt &&
        "$work/editable/bin/python" -m pytest -q tests/simulator/test_control.py -k loop
}

archives() {
    "$work/editable/bin/pip" install --quiet build && "$work/editable/bin/python" -m build --outdir "$work/dist" . &&
        python3 -m venv "$work/clean" && "$work/clean/bin/pip" install --quiet "$work"/dist/*.whl && reports_race "$work/clean"
}

mkdir -p "$work"
step 'git clone' git clone --quiet "$source" "$work/clone"
cd "$work/clone"
step 'make run-all' make run-all DEVICE=sim
step 'pip install, drywarp check' user_install
step 'pip install -e' editable_install
step 'one test by pytest' one_test
step 'make lint' make lint
step 'make book, without nvcc' make book NVCC=
step 'source archive and wheel, installed in a clean environment' archives
echo "$(git rev-parse --short HEAD): every step works ($(nproc) cores)"
