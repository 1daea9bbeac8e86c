// modules.c: driver API: modules, libraries, the linker, kernels and their attributes.
#include "driver/driver.h"

// ---- Module images

static const uint32_t WRAPPER_MAGIC = 0x466243b1, FAT_BINARY_MAGIC = 0xba55ed50;

static const char NEEDS_PTX[] = "the simulator runs PTX, and this is machine code (a cubin): compile with nvcc -ptx or "
                                "-fatbin; of what NVRTC compiles, load what nvrtcGetPTX gives";

// Writes a message to the caller's error log buffer, if there is one.
static void report_jit_error(const char *why, unsigned count, const CUjit_option *options, void **values)
{
    char *buffer = NULL;
    size_t capacity = 0;
    fprintf(stderr, "simulator: %s\n", why);
    for (unsigned k = 0; options && values && k < count; k++) {
        if (options[k] == CU_JIT_ERROR_LOG_BUFFER)
            buffer = values[k];
        if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            capacity = (size_t)(uintptr_t)values[k];
    }
    if (buffer && capacity > 0)
        snprintf(buffer, capacity, "%s", why);
}

// Loads an image: a fat binary, with or without nvcc's wrapper, or a PTX text.
static CUresult load_image(const void *image, unsigned count, const CUjit_option *options, void **values, Binary **binary)
{
    uint32_t magic = 0;
    for (size_t k = 0; k < sizeof magic && (k == 0 || ((const char *)image)[k - 1]); k++) // stops at the end of a shorter text
        memcpy((char *)&magic + k, (const char *)image + k, 1);
    if (memcmp(&magic, "\177ELF", sizeof magic) == 0) {
        report_jit_error(NEEDS_PTX, count, options, values);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (magic == WRAPPER_MAGIC)
        memcpy(&image, (const char *)image + 8, sizeof image);
    const bool is_fat_binary = magic == WRAPPER_MAGIC || magic == FAT_BINARY_MAGIC;
    *binary = is_fat_binary ? sim_load_binary(image) : sim_load_text(image);
    const Module *m = sim_module_of(*binary);
    const bool is_supported = m && (m->error[0] || m->target <= 90);
    if (is_supported && !m->error[0])
        return CUDA_SUCCESS;
    report_jit_error(is_supported ? m->error : "it holds no PTX for compute capability 9.0 or less", count, options, values);
    const CUresult error = is_supported ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_NO_BINARY_FOR_GPU;
    sim_unload_binary(*binary);
    return error;
}

// Returns the content of a file, terminated by zeros, which the caller frees; NULL on failure.
static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        data = size >= 0 ? calloc(1, (size_t)size + 16) : NULL;
        rewind(file);
        *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
    }
    if (file)
        fclose(file);
    return data;
}

// True if the data is a truncated fat binary.
static bool is_truncated(const char *data, size_t bytes)
{
    uint64_t payload;
    uint32_t magic;
    memcpy(&magic, data, sizeof magic); // in bounds, because read_file pads short files
    memcpy(&payload, data + 8, sizeof payload);
    return magic == WRAPPER_MAGIC || (magic == FAT_BINARY_MAGIC && (bytes < 16 || payload > bytes - 16));
}

// ---- NVRTC: requests for machine code return PTX

// These definitions and references are weak because a program may be linked without NVRTC, or with the static library.
#define WEAK __attribute__((weak))
WEAK int nvrtcGetPTXSize(void *program, size_t *bytes);
WEAK int nvrtcGetPTX(void *program, char *text);
enum { NVRTC_ERROR_INTERNAL_ERROR = 11 };

API WEAK int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    return nvrtcGetPTXSize ? nvrtcGetPTXSize(program, bytes) : NVRTC_ERROR_INTERNAL_ERROR;
}

API WEAK int nvrtcGetCUBIN(void *program, char *image)
{
    static bool is_reported;
    if (!is_reported)
        fprintf(stderr, "simulator: nvrtcGetCUBIN gives PTX: the simulator runs no machine code\n");
    is_reported = true;
    return nvrtcGetPTX ? nvrtcGetPTX(program, image) : NVRTC_ERROR_INTERNAL_ERROR;
}

// ---- Modules

static Binary *binary_of(const void *module)
{
    return sim_object_of(MODULE_HANDLE, module);
}

static CUresult load_module(void **module, const void *image, unsigned count, const CUjit_option *options,
                            void **values)
{
    Binary *binary;
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(module && image, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(load_image(image, count, options, values, &binary));
    *module = sim_new_handle(MODULE_HANDLE, binary);
    return *module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult load_file(void **module, const char *path)
{
    size_t bytes;
    REQUIRE_CONTEXT();
    CU_REQUIRE(module && path, CUDA_ERROR_INVALID_VALUE);
    char *data = read_file(path, &bytes);
    CU_REQUIRE(data, CUDA_ERROR_FILE_NOT_FOUND);
    if (is_truncated(data, bytes)) {
        free(data);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    const CUresult error = load_module(module, data, 0, NULL, NULL);
    free(data);
    return error;
}

API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                                void **values)
{
    return load_module((void **)module, image, count, options, values);
}

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load_module((void **)module, image, 0, NULL, NULL);
}

API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return load_module((void **)module, image, 0, NULL, NULL);
}

API CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return load_file((void **)module, path);
}

static CUresult unload_module(void *module)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    Binary *binary = sim_remove_handle(MODULE_HANDLE, module);
    CU_REQUIRE(binary, CUDA_ERROR_INVALID_HANDLE);
    sim_unload_binary(binary);
    return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module)
{
    return unload_module(module);
}

// Returns a copy of the name that is never freed, because findings may name kernels of unloaded modules.
static const char *permanent_name(const char *name)
{
    typedef struct PermanentName {
        struct PermanentName *next;
        char name[];
    } PermanentName;
    static PermanentName *names;
    for (const PermanentName *k = names; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k->name;
    PermanentName *added = malloc(sizeof *added + strlen(name) + 1);
    if (!added)
        sim_die("out of memory: symbol name");
    added->next = names;
    names = added;
    return strcpy(added->name, name);
}

// Registers a module's kernel on first use. (For a program's kernels, code generated by nvcc does this.)
static CUresult find_kernel(void **kernel, const void *module, const char *name)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    Binary *binary = binary_of(module);
    CU_REQUIRE(binary, CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(kernel && name && *name, CUDA_ERROR_INVALID_VALUE);
    const Function *f = sim_find_function(sim_module_of(binary), (Slice){name, strlen(name)});
    CU_REQUIRE(f && f->is_kernel && f->is_defined, CUDA_ERROR_NOT_FOUND);
    const Kernel *found = sim_kernel_named(binary, name);
    if (!found)
        found = sim_add_kernel(binary, permanent_name(name), NULL);
    *kernel = (void *)(uintptr_t)found->host_stub;
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    return find_kernel((void **)function, module, name);
}

static CUresult find_variable(CUdeviceptr *address, size_t *bytes, const void *module, const char *name)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    Binary *binary = binary_of(module);
    CU_REQUIRE(binary, CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(name && *name, CUDA_ERROR_INVALID_VALUE);
    const Variable *v = sim_find_variable(sim_module_of(binary)->variables, (Slice){name, strlen(name)});
    CU_REQUIRE(v && (v->space == GLOBAL || v->space == CONST), CUDA_ERROR_NOT_FOUND);
    if (address)
        *address = v->address;
    if (bytes)
        *bytes = v->bytes;
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    return find_variable(address, bytes, module, name);
}

// ---- Libraries, implemented as modules

API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values,
                               unsigned count, CUlibraryOption *library_options, void **library_values,
                               unsigned library_count)
{
    UNUSED(library_options), UNUSED(library_values), UNUSED(library_count); // these options only concern preserving the image
    return load_module((void **)library, code, count, options, values);
}

API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                                   unsigned count, CUlibraryOption *library_options, void **library_values,
                                   unsigned library_count)
{
    UNUSED(options), UNUSED(values), UNUSED(count), UNUSED(library_options), UNUSED(library_values),
        UNUSED(library_count);
    return load_file((void **)library, path);
}

API CUresult cuLibraryUnload(CUlibrary library)
{
    return unload_module(library);
}

API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return find_kernel((void **)kernel, library, name);
}

API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(binary_of(library), CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(module, CUDA_ERROR_INVALID_VALUE);
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    return find_variable(address, bytes, library, name);
}

API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(sim_kernel_of(kernel), CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(function, CUDA_ERROR_INVALID_VALUE);
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

// ---- The linker, which accepts a single PTX text and returns it

typedef struct Link {
    char *text;
    size_t bytes;
} Link;

static Link *link_of(CUlinkState state)
{
    return sim_object_of(LINK_HANDLE, state);
}

API CUresult cuLinkCreate(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    UNUSED(count), UNUSED(options), UNUSED(values);
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(state, CUDA_ERROR_INVALID_VALUE);
    Link *link = calloc(1, sizeof *link);
    *state = link ? sim_new_handle(LINK_HANDLE, link) : NULL;
    return *state ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                           unsigned count, CUjit_option *options, void **values)
{
    UNUSED(name);
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    Link *link = link_of(state);
    CU_REQUIRE(link, CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(data && bytes > 0, CUDA_ERROR_INVALID_VALUE);
    if (type != CU_JIT_INPUT_PTX || link->text) {
        report_jit_error("cuLinkAddData takes one PTX text here; other kinds, and several to be linked, are not supported", count,
             options, values);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    link->text = calloc(1, bytes + 1);
    CU_REQUIRE(link->text, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(link->text, data, bytes);
    link->bytes = strlen(link->text) + 1;
    return CUDA_SUCCESS;
}

API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                           CUjit_option *options, void **values)
{
    size_t bytes;
    REQUIRE_CONTEXT();
    CU_REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    char *data = read_file(path, &bytes);
    CU_REQUIRE(data, CUDA_ERROR_FILE_NOT_FOUND);
    const CUresult error = cuLinkAddData(state, type, data, bytes, path, count, options, values);
    free(data);
    return error;
}

API CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    const Link *link = link_of(state);
    CU_REQUIRE(link, CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(image && link->text, CUDA_ERROR_INVALID_VALUE);
    *image = link->text; // cuModuleLoadData accepts PTX
    if (bytes)
        *bytes = link->bytes;
    return CUDA_SUCCESS;
}

API CUresult cuLinkDestroy(CUlinkState state)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    Link *link = sim_remove_handle(LINK_HANDLE, state);
    CU_REQUIRE(link, CUDA_ERROR_INVALID_HANDLE);
    free(link->text);
    free(link);
    return CUDA_SUCCESS;
}

// ---- Kernels

API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    struct cudaFuncAttributes a;
    REQUIRE_CONTEXT();
    CU_REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaFuncGetAttributes(&a, function)));
    const int values[] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = a.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)a.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)a.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)a.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = a.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = a.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = a.binaryVersion,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = a.cacheModeCA,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = a.maxDynamicSharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = a.preferredShmemCarveout,
    };
    CU_REQUIRE((size_t)attribute < sizeof values / sizeof *values, CUDA_ERROR_INVALID_VALUE);
    *value = values[attribute];
    return CUDA_SUCCESS;
}

// Attributes that can be set have equal values in both APIs.
API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaFuncSetAttribute(function, (enum cudaFuncAttribute)attribute, value));
}

API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    UNUSED(device);
    return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    UNUSED(device);
    return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaFuncSetCacheConfig(function, (enum cudaFuncCache)config));
}

API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaFuncSetSharedMemConfig(function, (enum cudaSharedMemConfig)config));
}

API CUresult cuFuncGetName(const char **name, CUfunction function)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(sim_kernel_of(function), CUDA_ERROR_INVALID_HANDLE);
    CU_REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    *name = sim_kernel_of(function)->name;
    return CUDA_SUCCESS;
}

// A CUfunction is the address of the kernel's host stub.
API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host_stub)
{
    BEGIN_CALL();
    REQUIRE(function, cudaErrorInvalidValue);
    REQUIRE(sim_kernel_of(host_stub), cudaErrorInvalidDeviceFunction);
    *function = (cudaFunction_t)(uintptr_t)host_stub;
    return cudaSuccess;
}
