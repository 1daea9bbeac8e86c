// A semicolon is missing after a macro. The message must be about the macro's line, and not about what it stands for.
// error 8:30: expected ';' after the expression
// help: add ';'
#define SET(place, value) set(&(place), value)
__device__ void set(int *place, int value) { *place = value; }
__global__ void number(int *out)
{
    SET(out[threadIdx.x], (1))
    SET(out[threadIdx.x + 64], 2);
}
