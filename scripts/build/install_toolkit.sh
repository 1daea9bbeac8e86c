#!/usr/bin/env bash
# install_toolkit.sh DIRECTORY: the CUDA 13 compiler from PyPI's wheels, without root.
set -eu
[ "${1-}" != --help ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
if [ $# != 1 ]; then
    echo "usage: install_toolkit.sh DIRECTORY (make toolkit names .cuda)" >&2
    exit 2
fi
python3 -m venv --clear "$1/venv" # also where the folder was moved
"$1/venv/bin/pip" install --quiet 'nvidia-cuda-nvcc==13.0.*' 'nvidia-cuda-runtime==13.0.*' \
    'nvidia-cuda-crt==13.0.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-cccl==13.0.*'
root=$(echo "$PWD/$1"/venv/lib/python3*/site-packages/nvidia/cu13)
[ -e "$root/lib64" ] || ln -s lib "$root/lib64"
mkdir -p "$1/bin"
printf '#!/bin/sh\nexec "$(dirname "$0")/../%s/bin/nvcc" "$@"\n' "${root#"$PWD/$1/"}" > "$1/bin/nvcc"
chmod +x "$1/bin/nvcc"
"$1/bin/nvcc" --version | tail -n 2
