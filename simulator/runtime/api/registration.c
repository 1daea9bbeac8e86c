// registration.c: registration of fat binaries, kernels and variables before main, in the tables of runtime/work/binaries.c.
#include "runtime/api/calls.h"

enum { MAX_PTX = 32 };

// nvcc's wrapper of a fat binary. With -rdc=true, `data` is empty, and `parts` lists the fat binaries of the object files, which
// the simulator links.
typedef struct Wrapper {
    int magic, version;
    const uint8_t *data;
    const uint8_t **parts; // NULL-terminated; valid if version is LINKED_VERSION
} Wrapper;

enum { LINKED_VERSION = 2, MAX_TARGET = 90 }; // MAX_TARGET: the device executes PTX for sm_90 or earlier
static const char NO_PTX[] = "it holds no PTX: build the program with nvcc's -arch=sm_NN, not with code=sm_NN alone";

// Returns the number of readable bytes from an address on, because the size in a damaged header is unreliable. Without
// /proc/self/maps the number is unlimited.
static size_t readable_bytes(const uint8_t *data)
{
    const uint64_t begin = (uint64_t)(uintptr_t)data;
    FILE *maps = sim_open_maps();
    unsigned long long from, to;
    uint64_t end = maps ? begin : UINT64_MAX;
    char line[4400], rights;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %c", &from, &to, &rights) == 3 && rights == 'r' && from <= end && end < to)
            end = to;
    if (maps)
        fclose(maps);
    return end - begin;
}

// Extracts the PTX texts of a fat binary, and returns their number. Prints a message if there are none.
static int extract_ptx(const uint8_t *data, Arena *arena, const char **ptx)
{
    const char *why = NO_PTX;
    const int count = sim_extract_ptx(data, readable_bytes(data), arena, ptx, MAX_PTX, &why);
    if (count <= 0)
        fprintf(stderr, "simulator: the program's fat binary: %s\n", why);
    return count > 0 ? count : 0;
}

static int parse_target(const char *text)
{
    const char *target = strstr(text, ".target sm_");
    return target ? atoi(target + strlen(".target sm_")) : 0;
}

// Returns the PTX for the highest architecture that the device supports, or NULL.
static const char *choose_ptx(const char *const *ptx, int count)
{
    const char *best = NULL;
    for (int k = 0; k < count; k++)
        if (parse_target(ptx[k]) <= MAX_TARGET && (!best || parse_target(ptx[k]) > parse_target(best)))
            best = ptx[k];
    return best;
}

// Chooses one PTX text from each part. If a part has no suitable text, the binary stays empty.
static void choose_parts(Binary *binary, const uint8_t *const *parts)
{
    int count = 0;
    while (parts[count])
        count++;
    binary->ptx = sim_allocate(&binary->arena, ((size_t)count + 1) * sizeof *binary->ptx);
    for (int k = 0; k < count; k++) {
        const char *ptx[MAX_PTX];
        binary->ptx[k] = choose_ptx(ptx, extract_ptx(parts[k], &binary->arena, ptx));
        if (!binary->ptx[k])
            return;
    }
    binary->ptx_count = count;
    if (count)
        binary->modules[0] = sim_load_ptx(binary->ptx, count, NULL);
}

// Chooses the PTX for the highest architecture that the device supports, preferring texts without errors.
static void choose_module(Binary *binary, const uint8_t *data)
{
    const char *ptx[MAX_PTX];
    const int count = extract_ptx(data, &binary->arena, ptx);
    Module *best = NULL;
    binary->ptx = sim_allocate(&binary->arena, sizeof *binary->ptx);
    for (int k = 0; k < count; k++) {
        Module *m = sim_load_module(ptx[k]);
        if (m->target <= MAX_TARGET && (!best || best->error[0] || (m->target > best->target && !m->error[0]))) {
            best = m;
            binary->ptx[0] = ptx[k];
            binary->ptx_count = 1;
        }
    }
    binary->modules[0] = best;
}

Binary *sim_load_binary(const uint8_t *data)
{
    Binary *binary = sim_new_binary();
    const char *ptx[MAX_PTX];
    binary->ptx = sim_allocate(&binary->arena, sizeof *binary->ptx);
    binary->ptx[0] = choose_ptx(ptx, extract_ptx(data, &binary->arena, ptx));
    binary->ptx_count = binary->ptx[0] != NULL;
    return binary;
}

Binary *sim_load_text(const char *text)
{
    Binary *binary = sim_new_binary();
    const size_t bytes = strlen(text) + 1;
    binary->ptx = sim_allocate(&binary->arena, sizeof *binary->ptx);
    binary->ptx[0] = memcpy(sim_allocate(&binary->arena, bytes), text, bytes);
    binary->ptx_count = 1;
    return binary;
}

API void **__cudaRegisterFatBinary(void *fat_cubin)
{
    const Wrapper *wrapper = fat_cubin;
    Binary *binary = sim_new_binary();
    if (wrapper->version == LINKED_VERSION)
        choose_parts(binary, wrapper->parts);
    else
        choose_module(binary, wrapper->data);
    if (binary->modules[0] && binary->modules[0]->error[0])
        fprintf(stderr, "simulator: %s\n", binary->modules[0]->error);
    sim_register_binary(binary);
    return (void **)binary;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    UNUSED(handle);
}

API void __cudaUnregisterFatBinary(void **handle)
{
    UNUSED(handle); // called at exit, when the process ends anyway
}

API void __cudaRegisterFunction(void **handle, const char *host_stub, char *device, const char *name, int thread_limit,
                                uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
    UNUSED(device), UNUSED(thread_limit), UNUSED(tid), UNUSED(bid), UNUSED(block), UNUSED(grid), UNUSED(warp_size);
    sim_add_kernel((Binary *)handle, name, host_stub);
}

API void __cudaRegisterVar(void **handle, char *host_variable, char *device, const char *name, int ext, size_t size,
                           int constant, int global)
{
    UNUSED(device), UNUSED(ext), UNUSED(constant), UNUSED(global);
    sim_add_symbol((Binary *)handle, host_variable, name, size, NULL);
}

API void __cudaRegisterManagedVar(void **handle, void **host_variable, char *device, const char *name, int ext, size_t size,
                                  int constant, int global)
{
    UNUSED(device), UNUSED(ext), UNUSED(constant), UNUSED(global);
    sim_add_symbol((Binary *)handle, host_variable, name, size, host_variable);
}

API char __cudaInitModule(void **handle)
{
    UNUSED(handle);
    return 1;
}
