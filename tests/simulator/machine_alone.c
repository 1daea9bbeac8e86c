// machine_alone FILE.ptx KERNEL THREADS: runs KERNEL(int *out) on one block without checker and runtime, and prints
// out[0] ... out[THREADS - 1]. It links base/, front/ and machine/ only.
#include "machine/block.h"
#include "machine/ops/instructions.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char text[1 << 16];
    FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
    if (!file || fread(text, 1, sizeof text - 1, file) == 0)
        return 2;
    fclose(file);
    Module *module = sim_parse(text);
    sim_set_instruction_table(module, sim_instructions(), NULL);
    Function *kernel = sim_find_function(module, (Slice){argv[2], strlen(argv[2])});
    const unsigned threads = (unsigned)atoi(argv[3]);
    void *out, *arguments[] = {&out};
    if (module->error[0] || !kernel || sim_new_allocation(threads * sizeof(int), DEVICE_MEMORY, &out))
        return 2;
    sim_prepare_function(module, kernel);
    const dim3 grid = {1, 1, 1}, block = {threads, 1, 1};
    if (sim_launch_grid(module, kernel, grid, block, 0, 65536, arguments, (LaunchAttributes){0}, NULL, false))
        return 1;
    const int *values = sim_memory_at(out);
    for (unsigned k = 0; k < threads; k++)
        printf("%d\n", values[k]);
    return 0;
}
