// compile.c: compiles a source text to PTX: front end, passes, writer.
#include "compiler/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/host.h"
#include "compiler/ir.h"
#include "compiler/lower.h"
#include "compiler/preprocessor.h"

static void start(Compiler *c)
{
    names_start(c);
    types_start(c);
    c->preprocessor = compile_new(c, Preprocessor);
    parse_start(c);
}

static void report_problem(Compiler *c, const IrModule *module, const IrProblem *problem)
{
    const char *file = problem->file < module->file_count ? module->files[problem->file] : c->files[0]->name;
    Position at = 0;
    for (uint32_t k = 0; k < c->file_count && !at; k++) {
        const SourceFile *source = c->files[k];
        if (source->built_in || strcmp(source->name, file))
            continue;
        uint32_t offset = 0;
        for (uint32_t line = 1; line < problem->line && offset < source->length; offset++)
            line += source->text[offset] == '\n';
        while (source->text[offset] == ' ' || source->text[offset] == '\t')
            offset++;
        at = source->base + offset;
    }
    source_error(c, at, 0, NULL, "%s", problem->message);
}

static void write_module(Compiler *c, IrModule *module)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        sim_die("out of memory for PTX");
    ir_write_ptx(out, module, c->options);
    if (fclose(out) != 0)
        sim_die("out of memory for PTX");
    c->result->ptx = sim_allocate(c->arena, bytes + 1);
    memcpy(c->result->ptx, text, bytes);
    c->result->ptx_bytes = bytes;
    free(text);
}

static void compile_program(Compiler *c, const char *source, size_t bytes)
{
    start(c);
    SourceFile *file = source_add(c, c->options->file ? c->options->file : "kernel.cu", source, bytes, false);
    macros_start(c);
    parse_program(c, file);
    if (c->result->error_count)
        return;
    IrModule *module = compile_new(c, IrModule);
    module->arena = c->arena;
    if (!lower_program(c, module))
        return;
    const IrProblem problem = ir_optimise(module, c->options);
    if (problem.message)
        report_problem(c, module, &problem);
    else
        write_module(c, module);
    if (c->result->ptx && c->options->host)
        host_evaluate(c);
}

void compile_source(Compilation *result, const char *source, size_t bytes, const CompileOptions *options)
{
    *result = (Compilation){0};
    Compiler *c = sim_allocate(&result->arena, sizeof *c);
    c->result = result;
    c->options = options;
    c->arena = &result->arena;
    if (!setjmp(c->abandon_point))
        compile_program(c, source, bytes);
    source_sort_diagnostics(c);
    if (result->error_count)
        result->ptx = NULL;
}

void compile_free(Compilation *c)
{
    sim_free_arena(&c->arena);
    *c = (Compilation){0};
}

// ---- diagnostics as text

static void print_line(FILE *out, const Diagnostic *d)
{
    fprintf(out, "%5d | %s\n      | ", d->line, d->text);
    for (int k = 0; k < d->column - d->text_column && d->text[k]; k++)
        fputc(d->text[k] == '\t' ? '\t' : ' ', out);
    for (int k = 0; k < d->length; k++)
        fputc(k ? '~' : '^', out);
    fputc('\n', out);
}

void compile_print_diagnostics(FILE *out, const Compilation *c, const char *source, size_t bytes)
{
    static const char *const severities[] = {"error", "warning", "note"};
    (void)source, (void)bytes;
    for (int k = 0; k < c->diagnostic_count; k++) {
        const Diagnostic *d = &c->diagnostics[k];
        fprintf(out, "%s:%d:%d: %s: %s\n", d->file, d->line, d->column, severities[d->severity], d->message);
        print_line(out, d);
        if (d->help)
            fprintf(out, "      = help: %s\n", d->help);
    }
}
