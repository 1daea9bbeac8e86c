// fuzz CORPUS COUNT SEED: mutates the files of a folder COUNT times, and passes them to the parser (*.ptx), running what it
// accepts, and to the reader of fat binaries (*.fatbin). Built with AddressSanitizer and UBSan, it aborts at the first
// out-of-bounds read, and hangs at the first infinite loop. The same SEED gives the same inputs. SIM_MAX_INSTRUCTIONS=50000
// bounds loops in kernels.
#include "runtime/work/device_runtime.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 64, MAX_BYTES = 1 << 20 };

typedef struct Sample {
    char *bytes;
    size_t size;
    bool binary;
} Sample;

static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

static int read_corpus(const char *folder, Sample *samples)
{
    int count = 0;
    struct dirent **entries;
    const int found = scandir(folder, &entries, NULL, alphasort);
    for (int k = 0; k < found && count < MAX_FILES; k++) {
        char path[4096];
        const char *name = entries[k]->d_name;
        const bool binary = strstr(name, ".fatbin"), text = strstr(name, ".ptx");
        snprintf(path, sizeof path, "%s/%s", folder, name);
        free(entries[k]);
        FILE *file = binary || text ? fopen(path, "rb") : NULL;
        if (!file)
            continue;
        char *bytes = malloc(MAX_BYTES);
        const size_t size = fread(bytes, 1, MAX_BYTES, file);
        samples[count++] = (Sample){bytes, size, binary};
        fclose(file);
    }
    if (found >= 0)
        free(entries);
    return count;
}

// PTX tokens that are inserted at random.
static const char *const WORDS[] = {"{", "}", "(", ")", "[", "]", ";", ",", ":", "@", "!", "%p1", "%r1", "%rd1", "%f1", "0",
    "-1", "4294967296", "0f7fffffff", ".reg .b32 %r<3>;", ".shared .align 4 .b8 s[1048577];", "bra $L__BB0_1;", "ret;",
    "ld.global.v4.u32", "st.shared.u32", "mov.b64", "call.uni", "bar.sync 0;", ".param", ".b8", ".pred", "\"", "/*", "//",
    "brx.idx", ".branchtargets", "cvt.rn.f32.s32", "setp.lt.and.s32", "mbarrier.arrive.b64",
    "mbarrier.test_wait.parity.b64", "cp.async.bulk", "{%r1, %r2}", "[%rd1+4]", ".loc 1 2 3"};

// Changes a size, an offset or a kind in the headers of a fat binary or of its first entry.
static void mutate_header(char *bytes, size_t size)
{
    static const size_t FIELDS[] = {0, 4, 6, 8, 16, 20, 24, 32};
    const uint64_t values[] = {0, 1, 2, 15, 16, 20, size, size - 16, 1ull << 31, 1ull << 40, 1ull << 63, UINT64_MAX, UINT64_MAX - 15};
    const uint64_t value = values[random_below(sizeof values / sizeof *values)];
    const size_t field = FIELDS[random_below(sizeof FIELDS / sizeof *FIELDS)], width = (size_t)2 << random_below(3);
    if (field + width <= size)
        memcpy(bytes + field, &value, width);
}

// Changes the first number after a position in a text; returns the text's new size.
static size_t mutate_number(char *bytes, size_t size, size_t at)
{
    static const char *const NUMBERS[] = {"0", "1", "3", "31", "128", "4096", "65536", "65537", "1048576", "2147483648", "4294967295",
                                          "4294967296", "9223372036854775807", "18446744073709551615", "99999999999999999999"};
    const char *number = NUMBERS[random_below(sizeof NUMBERS / sizeof *NUMBERS)];
    const size_t length = strlen(number);
    while (at < size && (bytes[at] < '0' || bytes[at] > '9'))
        at++;
    size_t end = at;
    while (end < size && bytes[end] >= '0' && bytes[end] <= '9')
        end++;
    if (end == at || size - (end - at) + length > MAX_BYTES)
        return size;
    memmove(bytes + at + length, bytes + end, size - end);
    memcpy(bytes + at, number, length);
    return size - (end - at) + length;
}

static size_t mutate(const Sample *sample, const Sample *other, char *to)
{
    size_t size = sample->size;
    memcpy(to, sample->bytes, size);
    const uint32_t changes = 1 + random_below(4);
    for (uint32_t n = 0; n < changes && size > 0; n++) {
        const size_t at = random_below((uint32_t)size);
        const char *word = WORDS[random_below(sizeof WORDS / sizeof *WORDS)];
        const size_t length = strlen(word), length_of_part = 1 + random_below(200);
        switch (random_below(7)) {
        case 0: to[at] = (char)random_below(256); break;
        case 1: to[at] ^= (char)(1u << random_below(8)); break;
        case 2: size = at; break; // truncate
        case 3:                   // remove a part
            if (at + length_of_part < size) {
                memmove(to + at, to + at + length_of_part, size - at - length_of_part);
                size -= length_of_part;
            }
            break;
        case 4: // insert a token
            if (size + length < MAX_BYTES) {
                memmove(to + at + length, to + at, size - at);
                memcpy(to + at, word, length);
                size += length;
            }
            break;
        case 5:
            if (sample->binary)
                mutate_header(to, size);
            else
                size = mutate_number(to, size, at);
            break;
        default: // overwrite with a part of another file
            if (at + length_of_part < size && length_of_part < other->size)
                memcpy(to + at, other->bytes + random_below((uint32_t)(other->size - length_of_part)), length_of_part);
        }
    }
    return size;
}

// Runs a kernel on one small block; every argument that might be a pointer is a buffer.
static void launch(Module *module, Function *kernel)
{
    static uint64_t buffer[512];
    void *arguments[1024];
    uint64_t values[64];
    const dim3 one = {1, 1, 1}, block = {40, 1, 1};
    for (int k = 0; k < 64; k++)
        values[k] = (uint64_t)(uintptr_t)buffer;
    int count = 0;
    for (const Variable *v = kernel->params; v && count < 1024; v = v->next, count++) {
        if (v->bytes > sizeof values)
            return;
        arguments[count] = values;
    }
    sim_prepare_function(module, kernel);
    if (count == 1024 || kernel->shared_bytes > 49152)
        return;
    sim_register_memory(buffer, sizeof buffer, HOST_MEMORY);
    sim_launch(module, kernel, one, block, 64, 4096, arguments);
    sim_unregister_memory(buffer);
}

static void test_input(const char *bytes, size_t size, bool binary)
{
    // A copy of exactly that size, so that the sanitizer detects reads past its end.
    char *copy = malloc(size + !binary);
    memcpy(copy, bytes, size);
    if (binary) {
        const char *texts[8], *why = NULL;
        Arena arena = {NULL};
        if (sim_extract_ptx(copy, size, &arena, texts, 8, &why) < 0 && !why)
            abort();
        sim_free_arena(&arena);
    } else {
        copy[size] = 0;
        Module *module = sim_parse(copy);
        if (!module->error[0]) {
            sim_make_executable(module);
            for (Function *f = module->functions; f; f = f->next)
                if (f->is_kernel && f->is_defined)
                    launch(module, f);
        }
        sim_free_module(module);
    }
    free(copy);
}

int main(int argc, char **argv)
{
    static Sample samples[MAX_FILES];
    static char mutated[MAX_BYTES + 256];
    const int count = argc == 4 ? read_corpus(argv[1], samples) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: fuzz CORPUS COUNT SEED, where CORPUS is a folder with *.ptx and *.fatbin\n");
        return 2;
    }
    state = strtoull(argv[3], NULL, 10);
    const long inputs = atol(argv[2]);
    for (long n = 0; n < inputs; n++) {
        const Sample *sample = &samples[n % count];
        const size_t size = mutate(sample, &samples[random_below((uint32_t)count)], mutated);
        test_input(mutated, size, sample->binary);
        if ((n + 1) % 10000 == 0)
            fprintf(stderr, "%ld inputs\n", n + 1);
    }
    printf("%ld inputs, no fault\n", inputs);
    return 0;
}
