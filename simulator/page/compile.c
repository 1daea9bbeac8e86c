// compile.c: compiles the CUDA source of a web page and evaluates its host code.
#include "page/compile.h"
#include "base/base.h"
#include "page/host_device.h"

#include <stdlib.h>
#include <string.h>

// Moves an error in the harness to the last line of the program, because the program does not fit the harness.
static Diagnostic move_to_program(const Diagnostic *d, const PageSource *source)
{
    Diagnostic moved = *d;
    if (!source->host_file || strcmp(d->file, source->host_file) != 0)
        return moved;
    moved.file = source->file;
    moved.column = moved.length = moved.line = 1;
    for (size_t k = 0; k + 1 < source->bytes; k++)
        moved.line += source->text[k] == '\n';
    return moved;
}

static void write_diagnostic(FILE *out, const Diagnostic *d)
{
    static const char *const SEVERITIES[] = {"error", "warning", "note"};
    fprintf(out, "{\"severity\": \"%s\", \"line\": %d, \"column\": %d, \"length\": %d, \"message\": ", SEVERITIES[d->severity],
            d->line, d->column, d->length);
    sim_write_json_string(out, d->message);
    fputs(", \"help\": ", out);
    sim_write_json_string(out, d->help ? d->help : "");
    fputs(", \"file\": ", out);
    sim_write_json_string(out, d->file);
    fputc('}', out);
}

static void write_diagnostics(FILE *out, const Compilation *c, const PageSource *source)
{
    fputc('[', out);
    for (int k = 0; k < c->diagnostic_count; k++) {
        const Diagnostic d = move_to_program(&c->diagnostics[k], source);
        fputs(k ? ",\n" : "", out);
        write_diagnostic(out, &d);
    }
    fputs("]\n", out);
}

// Returns the recording that the program would make: its source, PTX, data and calls.
static char *make_recording(const PageSource *source, const Compilation *c, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    if (!out)
        sim_die("out of memory: recording");
    fprintf(out, "recording 1\nsource %s %zu\n", source->file, source->bytes);
    fwrite(source->text, 1, source->bytes, out);
    fprintf(out, "\nptx 0 %zu\n", c->ptx_bytes);
    fwrite(c->ptx, 1, c->ptx_bytes, out);
    fputc('\n', out);
    fwrite(c->data, 1, c->data_bytes, out);
    fwrite(c->calls, 1, c->calls_bytes, out);
    if (fclose(out) != 0)
        sim_die("out of memory: recording");
    return text;
}

// Splits lines in place, and returns their number.
static int split_lines(char *text, const char **lines, int capacity)
{
    int count = 0;
    for (char *line = strtok(text, "\n"); line && count < capacity; line = strtok(NULL, "\n"))
        lines[count++] = line;
    return count;
}

int page_compile(const PageSource *source, const PageFiles *files, char **recording, size_t *bytes)
{
    enum { MAX_DEFINES = 16 };
    const char *defines[MAX_DEFINES];
    char *lines = strdup(source->defines ? source->defines : "");
    HostDeviceState state;
    const HostDevice device = sim_host_device(&state);
    if (!lines)
        sim_die("out of memory: source");
    const CompileOptions options = {.file = source->file, .architecture = 90, .host = source->host, .host_file = source->host_file,
                                    .defines = defines, .define_count = split_lines(lines, defines, MAX_DEFINES), .device = &device};
    Compilation c;
    compile_source(&c, source->text, source->bytes, &options);
    sim_end_host_device(&state);
    if (c.ptx)
        fwrite(c.ptx, 1, c.ptx_bytes, files->ptx);
    if (c.calls)
        fwrite(c.calls, 1, c.calls_bytes, files->calls);
    write_diagnostics(files->diagnostics, &c, source);
    *recording = c.ptx && c.calls ? make_recording(source, &c, bytes) : NULL;
    const bool is_compiled = c.ptx != NULL;
    compile_free(&c);
    free(lines);
    return is_compiled ? 0 : 1;
}
