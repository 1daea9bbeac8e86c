// ptx_run FILE.ptx[,FILE.ptx...] KERNEL THREADS[/BLOCK] INPUT OUTPUT: runs KERNEL(const void *in, void *out) on the
// simulator, in blocks of BLOCK threads, by default 64. `in` has INPUT's bytes; OUTPUT gets 8 bytes for each thread. Several
// files are linked.
#include "checker/kernel_checks.h"
#include "runtime/work/device_runtime.h"

#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    *size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        text = calloc(1, *size + 1);
        if (fread(text, 1, *size, file) != *size)
            exit(2);
        fclose(file);
    }
    if (!text) {
        fprintf(stderr, "ptx_run: cannot read %s\n", path);
        exit(2);
    }
    return text;
}

static Module *load(char *paths)
{
    enum { MAX_TEXTS = 8 };
    const char *texts[MAX_TEXTS];
    int count = 0;
    size_t size;
    for (char *path = strtok(paths, ","); path && count < MAX_TEXTS; path = strtok(NULL, ","))
        texts[count++] = read_file(path, &size);
    return sim_load_ptx(texts, count, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: ptx_run FILE.ptx KERNEL THREADS[/BLOCK] INPUT OUTPUT\n");
        return 2;
    }
    size_t input_size;
    Module *module = load(argv[1]);
    Function *kernel = sim_find_function(module, (Slice){argv[2], strlen(argv[2])});
    const char *slash = strchr(argv[3], '/');
    const unsigned threads = (unsigned)atoi(argv[3]), block_threads = slash ? (unsigned)atoi(slash + 1) : 64;
    const char *input = read_file(argv[4], &input_size);
    if (module->error[0] || !kernel) {
        fprintf(stderr, "ptx_run: %s\n", module->error[0] ? module->error : "no such kernel");
        return 1;
    }
    void *in, *out;
    if (sim_new_allocation(input_size, DEVICE_MEMORY, &in) || sim_new_allocation((size_t)threads * 8, DEVICE_MEMORY, &out))
        return 2;
    memcpy(sim_memory_at(in), input, input_size);
    memset(sim_memory_at(out), 0, (size_t)threads * 8);
    void *arguments[] = {&in, &out};
    const dim3 grid = {(threads + block_threads - 1) / block_threads, 1, 1}, block = {threads < block_threads ? threads : block_threads, 1, 1};
    if (sim_launch(module, kernel, grid, block, 0, 65536, arguments) != cudaSuccess)
        return 1;
    sim_report_undefined_copies((uint64_t)(uintptr_t)out, (size_t)threads * 8); // as at a cudaMemcpy to the host
    FILE *file = fopen(argv[5], "wb");
    const bool written = file && fwrite(sim_memory_at(out), 8, threads, file) == threads;
    return written && fclose(file) == 0 ? 0 : 2;
}
