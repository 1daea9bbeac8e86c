// Reverses the elements of each block. The barrier is never initialised.
// finds: mbarrier "init"
// also: race-shared
#include <cstdio>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void reverse(float *values)
{
    __shared__ float copies[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> filled;
    copies[threadIdx.x] = values[threadIdx.x];
    filled.arrive_and_wait(); // <- here
    values[threadIdx.x] = copies[127 - threadIdx.x];
}

int main()
{
    float values[128] = {}, *d_values;
    cudaMalloc(&d_values, sizeof(values));
    cudaMemcpy(d_values, values, sizeof(values), cudaMemcpyHostToDevice);
    reverse<<<1, 128>>>(d_values);
    cudaMemcpy(values, d_values, sizeof(values), cudaMemcpyDeviceToHost);
    printf("%f\n", values[0]);
    return 0;
}
