# probe
export PATH=$PATH:/usr/local/cuda/bin
nproc; nvidia-smi -L; 
make -j16 build PYTHON=python3 2>&1 | tail -2
for p in step0*/reduce reference_cub/reduce; do for n in 1 2 31 32 33 255 256 257 511 512 513 1023 1025 65535 65537 1000003 9999991; do ./$p $n >/tmp/o 2>&1 || { echo "$p $n rc $?"; head -c 300 /tmp/o; }; done; done
./step03_sequential/reduce --warm; ./step03_sequential/reduce 137438953472; echo rc $?
nvcc -arch=sm_100 -o /tmp/old step03_sequential/reduce.cu && /tmp/old; echo rc $?
CUDA_VISIBLE_DEVICES= ./step03_sequential/reduce; echo rc $?
time scripts/run_all.sh -o $OUT/run-all.csv step0*/reduce reference_cub/reduce
time scripts/run_all.sh -n 1073741824 -o $OUT/2to30/run-all.csv step0*/reduce reference_cub/reduce
ncu --query-metrics 2>/dev/null | grep -i -E "barrier|_bar" | head -20
time python3 scripts/profile.py --output $OUT/profile.csv step0*/reduce reference_cub/reduce
time timeout 120 scripts/sanitize.sh step03_sequential/reduce step05_unrollwarp/reduce reference_cub/reduce
