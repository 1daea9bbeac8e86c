#!/usr/bin/env bash
# about.sh: what results are of, for those who read them later: the date, NVIDIA's driver and the CUDA toolkit, as far as they are there.
set -u
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
echo "date: $(date -u +%Y-%m-%d)"
nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | sed -n '1s/^[0-9.]*$/driver: &/p'
nvcc --version 2> /dev/null | sed -n 's/.*release \([0-9.]*\).*/toolkit: \1/p'
