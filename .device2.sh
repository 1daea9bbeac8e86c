export PATH=$PATH:/usr/local/cuda/bin
make -j16 build PYTHON=python3 >/dev/null 2>&1
ncu --csv --page raw --print-units base --clock-control none --kill yes --launch-count 1 --print-metric-instances values --metrics sass__inst_executed_per_opcode,smsp__inst_executed_op_barrier.sum step03_sequential/reduce 65536 2>&1 | tail -5 | cut -c1-1500
ncu --query-metrics-mode suffix --query-metrics 2>/dev/null | awk '{print $1}' | grep -iE "^(smsp|sm|sass)_.*(bar|cbu|adu)" | head -20
(time make test PYTHON=python3) 2>&1 | tail -40
(time timeout 300 make sanitize PYTHON=python3) 2>&1 | tail -20
