// Mistakes of the host, and similar correct code: one case for each word. test_checker_host.py checks the checker's messages.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

enum { COUNT = 100, BYTES = COUNT * sizeof(int) };

__device__ int variable[25];

__global__ void fill(int *numbers, int value)
{
    if (threadIdx.x < COUNT)
        numbers[threadIdx.x] = value;
}

__global__ void fill_some(int *numbers, int count)
{
    if ((int)threadIdx.x < count)
        numbers[threadIdx.x] = 1;
}

__global__ void say(int value)
{
    if (value == 3)
        printf("three\n");
}

static int host[COUNT], *device, *other;

// Copies rows of 40 bytes, whose pitch CUDA chose: with a part of the padding, without it, or with all of it.
static void copy_rows(const std::string &word)
{
    char *rows, *all;
    size_t pitch;
    cudaMallocPitch(&rows, &pitch, 40, 3);
    all = (char *)calloc(3, pitch);
    fill<<<1, 8>>>(other, 1);
    if (word == "some padding")
        cudaMemcpy2D(rows, pitch, all, pitch, 44, 3, cudaMemcpyHostToDevice);
    if (word == "some padding of boxes") {
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(all, pitch, pitch, 3);
        p.dstPtr = make_cudaPitchedPtr(rows, pitch, 40, 3);
        p.dstPos = make_cudaPos(20, 0, 0);
        p.extent = make_cudaExtent(24, 3, 1);
        p.kind = cudaMemcpyHostToDevice;
        cudaMemcpy3D(&p);
    }
    if (word == "no padding") {
        cudaMemcpy2D(rows, pitch, all, pitch, 40, 3, cudaMemcpyHostToDevice);
        cudaMemcpy2D(rows + 20, pitch, all, 20, 20, 3, cudaMemcpyHostToDevice);
        cudaMemcpy2D(all, pitch, rows, pitch, pitch, 3, cudaMemcpyDeviceToHost);
        cudaMemcpy2D(all, 44, rows, 44, 44, 3, cudaMemcpyDeviceToHost); // a layout chosen by the program
        cudaMemcpy(rows, all, 3 * pitch, cudaMemcpyHostToDevice);
    }
    cudaFree(rows);
    free(all);
}

static void wrong_calls(const std::string &word)
{
    if (word.find("padding") != std::string::npos)
        copy_rows(word);
    int *pinned;
    if (word == "beyond")
        cudaMemcpy(device, host, BYTES * sizeof(int), cudaMemcpyHostToDevice);
    if (word == "beyond 2D")
        cudaMemcpy2D(host, 40, device + 1, 40, 40, 10, cudaMemcpyDeviceToHost);
    if (word == "beyond async")
        cudaMemcpyAsync(host, device + 50, BYTES, cudaMemcpyDeviceToHost, 0);
    if (word == "memset")
        cudaMemset(device, 0, BYTES + 4);
    if (word == "memset of the host")
        cudaMemset(host, 0, BYTES);
    if (word == "swapped")
        cudaMemcpy(host, device, BYTES, cudaMemcpyHostToDevice);
    if (word == "copy of freed") {
        cudaFree(device);
        cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost);
    }
    if (word == "copy to null")
        cudaMemcpy(NULL, host, BYTES, cudaMemcpyHostToDevice);
    if (word == "free twice") {
        cudaFree(device);
        cudaFree(device);
    }
    if (word == "free inside")
        cudaFree(device + 1);
    if (word == "free of the host")
        cudaFree(host);
    if (word == "free by another function") {
        cudaMallocHost(&pinned, BYTES);
        cudaFree(pinned);
    }
    if (word == "too large and null") {
        if (cudaMalloc(&other, (size_t)1 << 50))
            cudaMemset(other, 0, 4);
    }
}

static void clear(int *numbers, size_t bytes)
{
    cudaMemset(numbers, 0, bytes);
}

static void often(const std::string &word)
{
    if (word == "in a loop")
        for (int k = 1; k <= 1000; k++)
            cudaMemset(device, 0, BYTES + k);
    if (word == "by one function") {
        clear(device, BYTES + 4);
        clear(other, BYTES);
    }
}

static void unwritten(const std::string &word)
{
    if (word == "copied unwritten")
        cudaMemcpy(host, device + 2, 8, cudaMemcpyDeviceToHost);
    if (word == "copied unwritten, on the device, too") {
        cudaMemcpy(other, device, 64, cudaMemcpyDeviceToDevice);
        cudaMemcpyAsync(host, other, 64, cudaMemcpyDeviceToHost, 0);
    }
    if (word == "copied in part") {
        cudaMemset(device + 3, 0, 1);
        cudaMemcpy(other, device, 64, cudaMemcpyDeviceToDevice);
        cudaMemcpy2D(host, 4, other, 8, 4, 8, cudaMemcpyDeviceToHost); // without the odd elements
        cudaMemcpy2D(host, 4, other + 1, 8, 4, 8, cudaMemcpyDeviceToHost);
        cudaMemcpy(host, other, 64, cudaMemcpyDeviceToHost);
    }
    if (word.substr(0, 6) == "copied")
        fill<<<1, 128>>>(device, 1);
}

// The virtual memory of this process, in pages.
static long pages()
{
    long count = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &count) != 1)
        count = -1;
    if (file)
        fclose(file);
    return count;
}

// Prints how many pages a copy of a large uninitialised array has added beyond an eighth of its size.
static void copy_much()
{
    const size_t bytes = 16 << 20;
    char *much, *copy = (char *)malloc(bytes);
    cudaMalloc(&much, bytes);
    cudaMemcpy(copy, device, 4, cudaMemcpyDeviceToHost); // so that the memory for the first finding is not counted
    const long before = pages();
    cudaMemcpy(copy, much, bytes, cudaMemcpyDeviceToHost);
    const long taken = pages() - before, few = (long)(bytes / 4096 / 8);
    printf("%ld pages too many\n", before < 0 ? -1 : taken > few ? taken - few : 0);
    cudaFree(much);
    free(copy);
    fill<<<1, 128>>>(device, 1);
}

static void touch(const std::string &word)
{
    void *symbol;
    cudaGetSymbolAddress(&symbol, variable);
    if (word == "host reads")
        host[0] = device[4];
    if (word == "host writes")
        device[4] = 1;
    if (word == "host reads variable")
        host[0] = ((int *)symbol)[3];
    if (word == "host reads freed") {
        cudaFree(device);
        host[0] = device[1];
    }
}

// A kernel writes one element past the end of memory that it shares with the host.
static void touch_beside(const std::string &word)
{
    int *shared = nullptr;
    if (word == "beside managed")
        cudaMallocManaged(&shared, BYTES);
    if (word == "beside pinned")
        cudaHostAlloc(&shared, BYTES, cudaHostAllocDefault);
    if (shared)
        fill_some<<<1, 128>>>(shared, COUNT + 1);
    cudaDeviceSynchronize();
}

static void launches(const std::string &word)
{
    if (word == "refused")
        fill<<<1, 2048>>>(device, 1);
    if (word == "refused, asked") {
        fill<<<1, 2048>>>(device, 1);
        cudaGetLastError();
    }
    if (word == "refused: no blocks")
        fill<<<0, 32>>>(device, 1);
    if (word == "none")
        cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
    if (word == "none, failed") {
        cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
        exit(1);
    }
    if (word == "writes nothing" || word == "writes something" || word == "nothing wanted") {
        cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
        fill_some<<<1, 32>>>(device, word == "writes something");
        if (word != "nothing wanted")
            cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost);
    }
    if (word == "prints") {
        cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice);
        say<<<1, 1>>>(3);
        cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost);
    }
    if (word == "tried") { // calls that test whether they fail
        cudaPointerAttributes attributes;
        cudaPointerGetAttributes(&attributes, host);
        int *huge;
        cudaMalloc(&huge, (size_t)1 << 50);
        cudaDeviceEnablePeerAccess(0, 0);
        cudaSetDevice(17);
        fill<<<1, 128>>>(device, 1);
    }
}

int main(int argc, char **argv)
{
    const std::string word = argc > 1 ? argv[1] : "";
    cudaMalloc(&other, 64);
    cudaMalloc(&device, BYTES);
    wrong_calls(word);
    often(word);
    unwritten(word);
    if (word == "much unwritten")
        copy_much();
    touch(word);
    touch_beside(word);
    launches(word);
    if (word != "leak") {
        if (word != "copy of freed" && word != "free twice" && word != "host reads freed")
            cudaFree(device);
        if (word != "leak one" && word != "too large and null")
            cudaFree(other);
    }
}
