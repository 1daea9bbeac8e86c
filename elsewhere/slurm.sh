#!/usr/bin/env bash
# slurm.sh [FILE]: a Slurm job array with one GPU for each student. Every task compiles the steps for its GPU and runs
# them all. Submit from the root of the repository:
#
#   sbatch --array=1-30 elsewhere/slurm.sh                  every task runs this checkout
#   sbatch --array=1-30 elsewhere/slurm.sh students.txt     task 7 runs the checkout named in line 7 of the file
#   N=1048576 TIME_LIMIT=20 sbatch --array=1-30 elsewhere/slurm.sh
#
# Task 7 of job 1234 writes to results/slurm/1234/7/: table (log.txt), CSV and charts.
# Before the first job, on a machine with network access: make .venv/ready (for the charts) and, if there is no CUDA
# toolkit, make toolkit. This folder must be on a file system that the compute nodes share.

#SBATCH --job-name=reduction
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=00:30:00
set -eu -o pipefail
[ "${1-}" != --help ] || { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit; }

# If the cluster has modules: module load cuda

if [ -z "${SLURM_JOB_ID-}" ]; then
    echo "slurm.sh: submit this, from the root of the repository: sbatch --array=1-30 elsewhere/slurm.sh" >&2
    exit 2
fi
job=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}
task=${SLURM_ARRAY_TASK_ID:-1}
cd "$SLURM_SUBMIT_DIR"
checkout=$PWD
[ $# = 0 ] || checkout=$(sed -n "${task}p" "$1")
if ! [ -f "$checkout/step00_baseline/reduce.cu" ]; then
    echo "slurm.sh: task $task: '$checkout' is not a checkout of the repository" >&2
    exit 2
fi

# After this many seconds a step counts as hung and gets its line in the table; even if 25 programs hang, they fit into --time.
export TIME_LIMIT=${TIME_LIMIT:-60}
export RESULTS=$PWD/results/slurm/$job/$task
mkdir -p "$RESULTS"
# Use the tools of the folder from which the job was submitted.
[ ! -x .venv/bin/python ] || export PYTHON=$PWD/.venv/bin/python
export PATH=$PATH:$PWD/.cuda/bin

# Each task compiles in its own copy, since tasks that share a folder may run on different GPUs.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -C "$checkout" --exclude-vcs --exclude=./{.venv,.cuda,build,results} --exclude='./*/reduce' -cf - . | tar -C "$copy" -xf -

{
    echo "checkout: $checkout"
    nvidia-smi -L 2> /dev/null || echo "no GPU: the steps run on the simulator"
    make -C "$copy" --no-print-directory run-all
} 2>&1 | tee "$RESULTS/log.txt"
