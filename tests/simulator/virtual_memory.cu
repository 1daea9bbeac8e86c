// Reserved addresses and memory that is mapped there: one array of two pieces of memory, later mapped at other addresses.
// With an argument, one mistake: 1 a kernel accesses an unmapped address, 2 a copy does, 3 an access before
// cuMemSetAccess.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <unistd.h>

#define OK(call)                                                       \
    do {                                                               \
        const CUresult error = (call);                                 \
        if (error) {                                                   \
            printf("FAIL line %d: error %d\n", __LINE__, (int)error);  \
            exit(1);                                                   \
        }                                                              \
    } while (0)
#define REFUSED(call, error) OK((call) == (error) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN)

__global__ void numbers(int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[(size_t)i * 65536 - 1 + 32] = i; // 256 KiB apart
}

int main(int argc, char **argv)
{
    const int mistake = argc > 1 ? atoi(argv[1]) : 0;
    cudaSetDevice(0);
    CUdevice device;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    int compresses;
    OK(cuDeviceGetAttribute(&compresses, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, device));
    p.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    size_t granule, before, with;
    OK(cuMemGetAllocationGranularity(&granule, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemGetInfo(&before, &with));

    CUmemGenericAllocationHandle pieces[2];
    CUdeviceptr at, later;
    OK(cuMemAddressReserve(&at, 4 * granule, 0, 0, 0));
    const CUmemAccessDesc access = {p.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (int k = 0; k < 2; k++) {
        OK(cuMemCreate(&pieces[k], granule, &p, 0));
        OK(cuMemMap(at + k * granule, granule, 0, pieces[k], 0));
    }
    REFUSED(cuMemMap(at, granule, 0, pieces[1], 0), CUDA_ERROR_INVALID_VALUE);
    REFUSED(cuMemSetAccess(at, 3 * granule, &access, 1), CUDA_ERROR_INVALID_VALUE);
    REFUSED(cuMemCreate(&pieces[0], granule + 1, &p, 0), CUDA_ERROR_INVALID_VALUE);
    if (mistake != 3)
        OK(cuMemSetAccess(at, 2 * granule, &access, 1));
    const int n = (int)(2 * granule / 262144) + (mistake == 1);
    numbers<<<1, 32>>>((int *)at, n);
    if (cudaDeviceSynchronize())
        return 1;

    int *back = (int *)malloc(4 * granule); // both pieces in one copy
    if (cuMemcpyDtoH(back, at, (mistake == 2 ? 3 : 2) * granule))
        return 1;
    for (int i = 0; i < n; i++)
        if (back[i * 65536 + 31] != i)
            return printf("FAIL at %d\n", i), 1;

    OK(cuMemAddressReserve(&later, 2 * granule, 2 * granule, 0, 0)); // the second piece first
    OK(cuMemUnmap(at, 2 * granule));
    REFUSED(cuMemUnmap(at, granule), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(later, granule, 0, pieces[1], 0));
    OK(cuMemMap(later + granule, granule, 0, pieces[0], 0));
    OK(cuMemSetAccess(later, 2 * granule, &access, 1));
    OK(cuMemcpyDtoH(back, later, 2 * granule));
    for (int i = 0; i < n; i++)
        if (back[i * 65536 + 31] != (i + n / 2) % n)
            return printf("FAIL later at %d\n", i), 1;

    int file; // as another process would import it
    CUmemGenericAllocationHandle twin;
    OK(cuMemExportToShareableHandle(&file, pieces[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&twin, (void *)(size_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    OK(cuMemMap(at, granule, 0, twin, 0));
    OK(cuMemSetAccess(at, granule, &access, 1));
    OK(cuMemsetD32(at, 7, 1));
    OK(cuMemcpyDtoH(back, later + granule, 4));
    if (back[0] != 7)
        return printf("FAIL shared\n"), 1;
    OK(cuMemRelease(twin));
    OK(cuMemUnmap(at, granule));

    CUmemAllocationProp as_made;
    OK(cuMemGetAllocationPropertiesFromHandle(&as_made, pieces[0]));
    if (!compresses || as_made.allocFlags.compressionType != CU_MEM_ALLOCATION_COMP_GENERIC)
        return printf("FAIL compressed\n"), 1;

    for (int k = 0; k < 2; k++)
        OK(cuMemRelease(pieces[k])); // mapped memory is kept
    OK(cuMemcpyDtoH(back, later, 2 * granule));
    REFUSED(cuMemAddressFree(later, 2 * granule), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(later, 2 * granule));
    OK(cuMemAddressFree(later, 2 * granule));
    OK(cuMemAddressFree(at, 4 * granule));
    size_t after;
    OK(cuMemGetInfo(&after, &with));
    if (after != before)
        return printf("FAIL memory: %zu, then %zu\n", before, after), 1;
    puts("PASS");
}
