// functions.c: parses functions and kernels: parameters, performance directives and bodies. Most bodies are parsed on first use.
#include "front/parser.h"

#include <string.h>

static void parse_parameters(Parser *p, Variable **list)
{
    if (!sim_accept(p, "("))
        return;
    while (!sim_next_is(p, ")")) {
        size_t align;
        int elements;
        if (!sim_accept(p, ".param"))
            sim_fail(p, "a parameter that is not .param");
        const Type type = sim_parse_attributes(p, &align, &elements);
        Variable *v = sim_parse_declarator(p, PARAM, type, align, elements);
        sim_assign_address(p, v);
        *list = v;
        list = &v->next;
        if (!sim_accept(p, ","))
            break;
    }
    sim_expect(p, ")");
}

// Parses up to three extents; returns their product, or 1.
static int parse_product(Parser *p, dim3 *extent)
{
    unsigned *const sizes[] = {&extent->x, &extent->y, &extent->z};
    size_t count = 0;
    enum { MAX_THREADS = 65536 };
    int64_t product = 1;
    while (p->token.kind == INTEGER) {
        if (p->token.integer < 1 || p->token.integer > MAX_THREADS || product > MAX_THREADS)
            sim_fail(p, "a block of that many threads");
        product *= p->token.integer;
        if (count < sizeof sizes / sizeof *sizes)
            *sizes[count++] = (unsigned)p->token.integer;
        sim_advance(p);
        if (!sim_accept(p, ","))
            break;
    }
    return product < MAX_THREADS ? (int)product : MAX_THREADS;
}

// Parses a directive such as .maxntid 64, 1, 1, between a function's parameters and its body.
static void parse_directive(Parser *p, Function *f)
{
    static const char *const IGNORED_DIRECTIVES[] = {".minnctapersm", ".maxnctapersm", ".maxnreg", ".noreturn",
                                        ".explicitcluster", ".blocksareclusters", ".abi_preserve",
                                        ".abi_preserve_control"};
    const Slice name = p->token.text;
    if (sim_next_is(p, ".pragma")) {
        sim_skip_statement(p);
        return;
    }
    bool is_ignored = false;
    for (size_t k = 0; k < sizeof IGNORED_DIRECTIVES / sizeof *IGNORED_DIRECTIVES; k++)
        is_ignored |= sim_next_is(p, IGNORED_DIRECTIVES[k]);
    if (!is_ignored && !sim_next_is(p, ".maxntid") && !sim_next_is(p, ".reqntid") && !sim_next_is(p, ".reqnctapercluster") &&
        !sim_next_is(p, ".maxclusterrank"))
        sim_fail(p, "unknown directive '%.*s'", (int)(name.length < 40 ? name.length : 40), name.text);
    sim_advance(p);
    dim3 extent = {1, 1, 1};
    const int product = parse_product(p, &extent);
    if (sim_slice_is(name, ".reqnctapercluster"))
        f->cluster = extent;
    else if (sim_slice_is(name, ".maxclusterrank"))
        f->max_cluster_blocks = product;
    else if (!is_ignored)
        f->max_threads = product;
    f->requires_max_threads |= sim_slice_is(name, ".reqntid");
}

// Adds a function, or overwrites its earlier declaration.
static Function *add_function(Parser *p, Function *f)
{
    Function *declared = sim_find_function(p->module, f->name);
    if (declared) {
        f->next = declared->next;
        *declared = *f;
        return declared;
    }
    f->next = p->module->functions;
    p->module->functions = f;
    return f;
}

// True if a body declares variables that need an address before the function is used: all but shared variables of a kernel.
static bool needs_early_parse(const Function *f, const char *begin, const char *end)
{
    static const char *const DIRECTIVES[] = {".shared", ".global", ".const", ".extern"};
    for (const char *at = begin; (at = memchr(at, '.', (size_t)(end - at))); at++)
        for (size_t k = f->is_kernel; k < sizeof DIRECTIVES / sizeof *DIRECTIVES && strchr(" \t\n\r;{}/", at[-1]); k++)
            if (strncmp(at, DIRECTIVES[k], strlen(DIRECTIVES[k])) == 0)
                return true;
    return false;
}

// Parses a body now, or defers it until its first use.
static void parse_or_defer_body(Parser *p, Function *f)
{
    const Position start = sim_position(p);
    sim_skip_braces(p);
    if (needs_early_parse(f, start.at, p->at)) {
        sim_restore_position(p, &start);
        sim_parse_body(p);
    } else {
        f->body = start.token.text.text;
        f->body_line = start.token.line;
    }
}

static void parse_function(Parser *p, void *is_kernel)
{
    Function *f = sim_allocate(&p->module->arena, sizeof *f);
    f->is_kernel = *(const bool *)is_kernel;
    f->linkage = p->linkage;
    p->function = f;
    p->register_capacity = p->statement_capacity = 0;
    p->location = (Location){0};
    memset(p->locations, 0, sizeof p->locations);
    sim_advance(p);
    if (!f->is_kernel)
        parse_parameters(p, &f->returned);
    f->name = sim_expect_word(p, "a function's name");
    parse_parameters(p, &f->params);
    f->kernel_param_bytes = f->param_bytes;
    while (p->token.kind == WORD && p->token.text.text[0] == '.')
        parse_directive(p, f);
    const Function *declared = sim_find_function(p->module, f->name);
    if (sim_next_is(p, "{")) {
        if (declared && declared->is_defined)
            sim_fail(p, "'%.*s' is defined twice", (int)f->name.length, f->name.text);
        f->is_defined = true;
        p->function = add_function(p, f); // before its body, which may be recursive
        parse_or_defer_body(p, p->function);
    } else {
        if (!declared)
            add_function(p, f);
        sim_accept(p, ";");
    }
    p->function = NULL;
}

// Replaces the body by a single statement with the error, which is reported when a thread executes the statement.
static void replace_by_error(Parser *p, const char *error)
{
    Function *f = p->function;
    f->count = 0;
    f->statements = NULL;
    p->statement_capacity = 0;
    f->kernel_param_bytes = f->param_bytes; // of the parameters parsed so far
    if (!f->is_defined) {
        f->is_defined = true;
        p->function = f = add_function(p, f);
    }
    Statement *s = sim_new_statement(p);
    s->opcode = f->is_kernel ? (Slice){"the kernel itself", 17} : (Slice){"the function itself", 19};
    s->error = error;
    p->function = NULL;
    p->scope = NULL;
}

void sim_parse_function(Parser *p, bool is_kernel)
{
    const Position start = sim_position(p);
    if (sim_parse_catching(p, parse_function, &is_kernel))
        return;
    if (p->function->name.length == 0)
        sim_rethrow(p);
    const char *error = sim_copy_error(p);
    sim_restore_position(p, &start);
    while (!sim_next_is(p, "{") && !sim_next_is(p, ";") && p->token.kind != END)
        sim_advance(p);
    if (!sim_accept(p, ";"))
        sim_skip_braces(p);
    replace_by_error(p, error);
}

static void read_body(Parser *p, void *function)
{
    Function *f = function;
    sim_advance(p);
    sim_parse_body(p);
    p->token.line = f->body_line; // for an error of the whole body
    if (!sim_layout_shared_of(p->module, f))
        sim_fail(p, "its variables in shared memory are too large");
}

void sim_read_body(Module *m, Function *f)
{
    if (!f->body)
        return;
    Parser p = {.module = m, .function = f, .at = f->body, .line = f->body_line};
    f->body = NULL;
    if (!sim_parse_catching(&p, read_body, f))
        replace_by_error(&p, sim_copy_error(&p));
}

void sim_read_bodies(Module *m)
{
    for (Function *f = m->functions; f; f = f->next)
        sim_read_body(m, f);
}
