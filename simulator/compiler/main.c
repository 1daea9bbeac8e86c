// main.c: the command. compile FILE.cu [-o FILE.ptx] [-D NAME[=VALUE]] [--arch=sm_90] [--skip=PASS,...]
//
// Exit status: 0; 1: the source has errors; 2: an argument is invalid, or a file cannot be read or written.
#include "compiler/compiler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_WITH_ERRORS = 1, EXIT_UNUSABLE = 2, MIN_ARCHITECTURE = 75, MAX_ARCHITECTURE = 121 };
static const size_t MAX_SOURCE_BYTES = 64 << 20;

static const char USAGE[] =
    "compile FILE.cu [-o FILE.ptx]: compiles the kernels of a CUDA program to PTX\n"
    "\n"
    "  -o FILE          the PTX; - is the standard output. Without -o it is FILE.ptx in the current folder\n"
    "  -D NAME[=VALUE]  defines a macro\n"
    "  --arch=sm_90     the architecture, at least sm_75\n"
    "  --skip=PASS,...  leaves passes out, for tests\n";

typedef struct Text {
    char *bytes; // terminated with 0
    size_t count;
} Text;

typedef struct Include { // a file that an #include has read
    Text text;
    struct Include *next;
} Include;

typedef struct Job {
    CompileOptions options;
    const char *output;        // NULL: named after the source
    const char **defines;      // at most argc
    Include *includes;
} Job;

static _Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("compile: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(EXIT_UNUSABLE);
}

// ---- Files

// Reads a file; false, with errno set, on failure.
static bool read_file(const char *path, Text *text)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    errno = 0;
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode))
        errno = EISDIR;
    *text = (Text){NULL, 0};
    size_t capacity = 1 << 16, bytes_read = 0;
    while (errno == 0) {
        text->bytes = realloc(text->bytes, capacity + 1);
        if (!text->bytes)
            sim_die("out of memory for a source");
        bytes_read = fread(text->bytes + text->count, 1, capacity - text->count, file);
        text->count += bytes_read;
        if (bytes_read == 0)
            break;
        if (text->count > MAX_SOURCE_BYTES)
            errno = EFBIG;
        capacity = 2 * text->count > capacity ? 2 * text->count : capacity;
    }
    const int error = ferror(file) && errno == 0 ? EIO : errno;
    fclose(file);
    errno = error;
    if (error == 0)
        text->bytes[text->count] = 0;
    else
        free(text->bytes);
    return error == 0;
}

// CompileOptions.read_include: a file next to the source.
static const char *read_include(void *context, const char *name, size_t *bytes)
{
    Job *job = context;
    const char *slash = strrchr(job->options.file, '/');
    const size_t folder = name[0] == '/' || !slash ? 0 : (size_t)(slash - job->options.file) + 1;
    char *path = malloc(folder + strlen(name) + 1);
    Include *include = malloc(sizeof *include);
    if (!path || !include)
        sim_die("out of memory for a source");
    memcpy(path, job->options.file, folder);
    strcpy(path + folder, name);
    const bool is_read = read_file(path, &include->text);
    free(path);
    if (!is_read) {
        free(include);
        return NULL;
    }
    include->next = job->includes;
    job->includes = include;
    *bytes = include->text.count;
    return include->text.bytes;
}

static void free_includes(Job *job)
{
    for (Include *include = job->includes, *next; include; include = next) {
        next = include->next;
        free(include->text.bytes);
        free(include);
    }
}

// The base name of the source, with the extension .ptx.
static char *output_name(const char *source)
{
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source, *dot = strrchr(base, '.');
    const size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    char *name = malloc(length + sizeof ".ptx");
    if (!name)
        sim_die("out of memory for a name");
    memcpy(name, base, length);
    strcpy(name + length, ".ptx");
    return name;
}

// Writes the PTX; exits on failure.
static void write_output(const Job *job, const Compilation *c)
{
    char *own = job->output ? NULL : output_name(job->options.file);
    const char *path = own ? own : job->output;
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (!file)
        refuse("%s cannot be written: %s", path, strerror(errno));
    const bool is_written = fwrite(c->ptx, 1, c->ptx_bytes, file) == c->ptx_bytes;
    if (fflush(file) != 0 || !is_written)
        refuse("%s cannot be written: %s", path, strerror(errno));
    if (file != stdout)
        fclose(file);
    free(own);
}

// ---- Arguments

static int architecture_of(const char *name)
{
    const char *digits = strncmp(name, "sm_", 3) == 0 ? name + 3 : strncmp(name, "compute_", 8) == 0 ? name + 8 : name;
    char *end;
    const long number = strtol(digits, &end, 10);
    if (end == digits || strspn(end, "af") != strlen(end) || number < MIN_ARCHITECTURE || number > MAX_ARCHITECTURE)
        refuse("--arch=%s: accepted are sm_%d to sm_%d", name, MIN_ARCHITECTURE, MAX_ARCHITECTURE);
    return (int)number;
}

// The value of an option, in the same argument ("-oFILE", "--arch=sm_90") or in the next one; NULL: another option.
static const char *value_of(const char *option, int argc, char **argv, int *k)
{
    const size_t length = strlen(option);
    if (strncmp(argv[*k], option, length) != 0)
        return NULL;
    if (argv[*k][length])
        return argv[*k] + length + (argv[*k][length] == '=');
    if (*k + 1 == argc)
        refuse("%s needs a value; compile --help", option);
    return argv[++*k];
}

static void read_option(Job *job, int argc, char **argv, int *k)
{
    const char *word = argv[*k], *value;
    if ((value = value_of("-o", argc, argv, k)))
        job->output = value;
    else if ((value = value_of("-D", argc, argv, k)))
        job->defines[job->options.define_count++] = value;
    else if ((value = value_of("--arch", argc, argv, k)) || (value = value_of("-arch", argc, argv, k)))
        job->options.architecture = architecture_of(value);
    else if ((value = value_of("--skip", argc, argv, k)))
        job->options.skip = value;
    else if (strncmp(word, "-I", 2) == 0 || strncmp(word, "-isystem", 8) == 0 || strncmp(word, "--include-path", 14) == 0)
        refuse("%s: CUDA's headers are built in, and other files are read from the source's folder only", word);
    else
        refuse("unknown option %s; compile --help", word);
}

static void read_arguments(Job *job, int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
            fputs(USAGE, stdout);
            exit(EXIT_SUCCESS);
        }
        if (argv[k][0] == '-' && argv[k][1])
            read_option(job, argc, argv, &k);
        else if (job->options.file)
            refuse("%s and %s: one source at a time", job->options.file, argv[k]);
        else
            job->options.file = argv[k];
    }
    if (!job->options.file)
        refuse("no source, as in: compile any.cu -o any.ptx");
}

int main(int argc, char **argv)
{
    Job job = {.options.architecture = 90, .options.read_include = read_include};
    Compilation c;
    Text source;
    job.defines = calloc((size_t)argc + 1, sizeof *job.defines);
    if (!job.defines)
        sim_die("out of memory for arguments");
    job.options.defines = job.defines;
    job.options.include_context = &job;
    read_arguments(&job, argc, argv);
    if (!read_file(job.options.file, &source))
        refuse("%s cannot be read: %s", job.options.file, strerror(errno));
    compile_source(&c, source.bytes, source.count, &job.options);
    compile_print_diagnostics(stderr, &c, source.bytes, source.count);
    const bool failed = c.error_count > 0 || !c.ptx;
    if (!failed)
        write_output(&job, &c);
    compile_free(&c);
    free_includes(&job);
    free(source.bytes);
    free(job.defines);
    return failed ? EXIT_WITH_ERRORS : EXIT_SUCCESS;
}
