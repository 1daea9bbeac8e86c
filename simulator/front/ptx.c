// ptx.c: parser entry point and module-level directives. The parser checks only the grammar; decode.c checks the instructions.
#include "front/parser.h"

#include <stdlib.h>
#include <string.h>

static void parse_file(Parser *p) // .file 1 "path"
{
    sim_advance(p);
    const int64_t index = sim_expect_integer(p);
    if (index < 0 || index > 100000 || p->token.kind != STRING)
        sim_fail(p, "expected a file's number and name");
    if (index >= p->module->file_count) {
        Slice *grown = sim_allocate(&p->module->arena, ((size_t)index + 1) * sizeof *grown);
        if (p->module->file_count)
            memcpy(grown, p->module->files, (size_t)p->module->file_count * sizeof *grown);
        p->module->files = grown;
        p->module->file_count = (int)index + 1;
    }
    p->module->files[index] = p->token.text;
    sim_advance(p);
    while (sim_accept(p, ","))
        sim_advance(p);
}

static void parse_header(Parser *p)
{
    if (!sim_accept(p, ".version") || p->token.kind != FLOATING)
        sim_fail(p, "PTX begins with .version, as in .version 8.0");
    p->module->version = (int)(p->token.floating * 10 + 0.5);
    sim_advance(p);
    sim_expect(p, ".target");
    const Slice target = sim_expect_word(p, "a target");
    if (target.length > 3 && target.length < 9 && memcmp(target.text, "sm_", 3) == 0)
        p->module->target = atoi(target.text + 3);
    while (sim_accept(p, ",")) {
        p->module->is_debug |= sim_slice_is(p->token.text, "debug");
        sim_advance(p);
    }
    if (sim_accept(p, ".address_size") && sim_expect_integer(p) != 64)
        sim_fail(p, "only 64-bit addresses are supported");
}

static Linkage parse_linkage(Parser *p)
{
    static const struct {
        const char *word;
        Linkage linkage;
    } WORDS[] = {{".visible", LINK_EXTERNAL}, {".weak", LINK_WEAK}, {".common", LINK_WEAK}, {".extern", LINK_UNDEFINED}};
    Linkage linkage = LINK_INTERNAL;
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
        if (sim_accept(p, WORDS[k].word))
            linkage = WORDS[k].linkage;
    return linkage;
}

static void parse_module(Parser *p)
{
    sim_advance(p);
    parse_header(p);
    while (p->token.kind != END) {
        Space space;
        p->linkage = parse_linkage(p);
        if (sim_next_is(p, ".entry") || sim_next_is(p, ".func"))
            sim_parse_function(p, sim_next_is(p, ".entry"));
        else if (p->token.kind == WORD && sim_space_named(p->token.text, &space))
            sim_parse_variables(p, space);
        else if (sim_next_is(p, ".file"))
            parse_file(p);
        else if (sim_next_is(p, ".section")) {
            sim_advance(p);
            sim_expect_word(p, "a section's name");
            sim_skip_braces(p);
        } else if (sim_next_is(p, ".pragma"))
            sim_skip_statement(p);
        else if (sim_next_is(p, ".loc"))
            sim_skip_line(p);
        else if (!sim_accept(p, ";"))
            sim_fail(p, "unknown directive '%.*s'", (int)(p->token.text.length < 40 ? p->token.text.length : 40),
                 p->token.text.text);
    }
}

Module *sim_parse(const char *text)
{
    Module *module = calloc(1, sizeof *module);
    if (!module)
        sim_die("out of memory: module");
    jmp_buf failed;
    Parser p = {.module = module, .at = text, .line = 1, .on_error = &failed};
    if (setjmp(failed) == 0) {
        parse_module(&p);
        if (sim_shares_variables(module))
            sim_read_bodies(module);
        sim_layout_shared(module);
    } else {
        memcpy(module->error, p.error, sizeof module->error);
    }
    return module;
}

void sim_free_module(Module *module)
{
    sim_free_arena(&module->arena);
    free(module);
}
