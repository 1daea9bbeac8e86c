// A row is added, instead of its element: sums[row] is a pointer.
// error 5:5: cannot convert 'const int *' to 'int' in an assignment
__global__ void add_rows(int *data, const int **sums, int row)
{
    data[threadIdx.x] += sums[row];
}
