#!/usr/bin/env bash
# slurm.sh [SIZE]: a job for Slurm: the sum over all GPUs of several machines by step03_mpi, with one process for each
# GPU and SIZE elements on each, 2^28 if not given. Submit from the root of the repository:
#
#   sbatch labs/several_gpus/slurm.sh                    two machines with eight GPUs each
#   sbatch --nodes=4 --gpus-per-node=2 --ntasks-per-node=2 labs/several_gpus/slurm.sh 1073741824
#   LAUNCH=mpirun sbatch labs/several_gpus/slurm.sh      if srun cannot start MPI's processes
#
# Job 1234 writes results/slurm/1234/several_gpus.csv; `python3 plots/labs.py results/slurm/1234 several_gpus` draws it.
# The job needs nvcc, NCCL and MPI (a module each, on many clusters), GPUs of one model, and this folder on a shared file system.

#SBATCH --job-name=several_gpus
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --mem=64G
#SBATCH --time=00:10:00
set -eu -o pipefail
[ "${1-}" != --help ] || { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit; }

# If the cluster has modules: module load cuda nccl openmpi

if [ -z "${SLURM_JOB_ID-}" ]; then
    echo "slurm.sh: submit this, from the root of the repository: sbatch labs/several_gpus/slurm.sh" >&2
    exit 2
fi
cd "$SLURM_SUBMIT_DIR"
source=labs/several_gpus/step03_mpi/several_gpus.cu
if ! [ -f "$source" ]; then
    echo "slurm.sh: '$PWD' is not the root of the repository: it has no $source" >&2
    exit 2
fi
results=$PWD/results/slurm/$SLURM_JOB_ID
mkdir -p "$results"
nvcc -O3 -arch=native -ccbin mpicxx -DOMPI_SKIP_MPICXX -o "$results/several_gpus" "$source" -lnccl

# Every process sees all GPUs of its machine, and takes the one with its own local rank. Consecutive ranks share a
# machine, so that the sums over 2, 4 and 8 GPUs use only the first machine.
read -ra launch <<< "${LAUNCH:-srun --mpi=pmix --gpu-bind=none --distribution=block}"
"${launch[@]}" "$results/several_gpus" --csv "$@" | tee "$results/several_gpus.csv"
