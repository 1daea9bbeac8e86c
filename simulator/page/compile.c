// compile.c: compiles an edited source in a page.
#include "page/compile.h"
#include "base/base.h"
#include "compiler/compiler.h"

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

int page_compile(const char *file, const char *source, size_t bytes, FILE *ptx, FILE *diagnostics)
{
    const CompileOptions options = {.file = file, .architecture = 90};
    Compilation c;
    compile_source(&c, source, bytes, &options);
    if (c.ptx)
        fwrite(c.ptx, 1, c.ptx_bytes, ptx);
    fputc('[', diagnostics);
    for (int k = 0; k < c.diagnostic_count; k++) {
        fputs(k ? ",\n" : "", diagnostics);
        write_diagnostic(diagnostics, &c.diagnostics[k]);
    }
    fputs("]\n", diagnostics);
    const bool is_compiled = c.ptx != NULL;
    compile_free(&c);
    return is_compiled ? 0 : 1;
}
