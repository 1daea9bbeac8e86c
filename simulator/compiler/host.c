// host.c: parses and evaluates the harness and the host functions that it calls, and reports code that cannot be evaluated.
#include "compiler/host.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/library.h"
#include "compiler/preprocessor.h"

// ---- Parsing

bool host_is_parsed(const Compiler *c)
{
    const Function *f = c->parser->state.function;
    return f && f->is_evaluated && !f->is_device && !f->is_kernel;
}

void host_mark_called(Compiler *c, Function *f)
{
    if (!host_is_parsed(c) || f->is_evaluated || f->is_kernel || f->intrinsic)
        return;
    f->is_evaluated = true;
    if (f->state != FUNCTION_PARSED || !f->is_lenient)
        return;
    f->state = FUNCTION_DELAYED; // its errors were not reported
    parse_delayed_body(c, f);
}

static Type *named_type(Compiler *c, const char *text)
{
    Symbol *symbol = scope_lookup(c, c->parser->global, name_intern(c, text, strlen(text)));
    return symbol && symbol->kind == SYMBOL_TYPE ? symbol->type : type_basic(c, TYPE_UNKNOWN);
}

Expression *host_configure_launch(Compiler *c, Expression *launch)
{
    static const struct {
        const char *type, *purpose;
    } parts[] = {{"dim3", "the launch's number of blocks"}, {"dim3", "the launch's number of threads"}, {"size_t", "the launch's bytes of shared memory"},
                 {"cudaStream_t", "the launch's stream"}};
    Expression *list = launch->left;
    for (uint32_t k = 0; list && k < list->argument_count && k < sizeof parts / sizeof *parts; k++)
        list->arguments[k] = initialise_copy(c, named_type(c, parts[k].type), list->arguments[k], parts[k].purpose);
    return launch;
}

Function *host_function_of_source(Compiler *c, const char *text)
{
    const Symbol *symbol = scope_find(c->parser->global, name_intern(c, text, strlen(text)));
    for (; symbol; symbol = symbol->next_overload)
        if (symbol->kind == SYMBOL_FUNCTION && symbol->function->body_token)
            return symbol->function;
    return NULL;
}

static Function *entry_of(Compiler *c)
{
    return host_function_of_source(c, c->options->host[0] ? "harness" : "main");
}

void host_parse(Compiler *c)
{
    const CompileOptions *o = c->options;
    SourceFile *file = source_add(c, o->host_file ? o->host_file : "harness.cu", o->host, strlen(o->host), false);
    parse_additional_source(c, file);
    Function *entry = entry_of(c);
    if (!entry)
        return;
    entry->is_evaluated = true;
    parse_delayed_body(c, entry);
}

// ---- Integers and addresses

enum { ADDRESS_BITS = 36 };

int64_t host_address(Host *h, const Constant *pointer)
{
    uint32_t k = 0;
    while (k < h->addressed_count && h->addressed[k] != pointer->variable)
        k++;
    if (k == h->addressed_count)
        *compile_push(h->compiler, h->addressed, h->addressed_count, h->addressed_capacity) = pointer->variable;
    return (int64_t)((uint64_t)(k + 1) << ADDRESS_BITS) + pointer->integer;
}

Constant host_pointer(const Host *h, int64_t address)
{
    const uint64_t k = (uint64_t)address >> ADDRESS_BITS;
    if (k == 0 || k > h->addressed_count)
        return (Constant){.integer = address};
    return (Constant){.variable = h->addressed[k - 1], .integer = address & (((int64_t)1 << ADDRESS_BITS) - 1)};
}

// ---- Host variables

bool host_fill_variable(Evaluator *v, Variable *variable)
{
    if (variable->bytes || variable->space != SPACE_HOST || type_is_any_reference(variable->type) || type_is_unknown(variable->type))
        return true;
    Variable *object = evaluate_object(v, variable->type);
    if (!object)
        return evaluate_fail(v, NULL, "a variable is too large");
    variable->bytes = object->bytes;
    return !variable->initialiser || evaluate_to_object(v, variable->initialiser, (Constant){.variable = variable}, type_bare(variable->type));
}

// ---- Failures

// The program is the first file. A failure in the harness, or in a library text, is reported at the innermost call in the program.
void host_note_position(Evaluator *v)
{
    const Compiler *c = v->compiler;
    for (const Frame *f = v->frame; f && !(v->at && source_file_at(c, v->at) == c->files[0]); f = f->outer)
        if (f->call) {
            v->at = f->call->start;
            v->length = expression_length(f->call);
        }
}

static void report_failure(Host *h, const Evaluator *v)
{
    Compiler *c = h->compiler;
    const SourceFile *program = c->files[0];
    const char *reason = v->reason ? v->reason : "this host code cannot be evaluated";
    Position at = v->at;
    uint32_t length = v->length;
    if (!at || source_file_at(c, at) != program) { // in the harness itself: reported at the program's end
        at = program->base + (program->length ? program->length - 1 : 0);
        length = 1;
    }
    source_error(c, at, length, h->help, "%s", reason);
}

// ---- Entry point

static bool run(Host *h, Evaluator *v, Function *entry)
{
    Expression call = {.kind = EXPRESSION_CALL, .type = type_basic(h->compiler, TYPE_VOID), .start = entry->position, .end = entry->position};
    Constant value;
    call.function = entry;
    return evaluate_call(v, &call, &value, NULL);
}

typedef struct Stream { // writes a text in memory
    FILE *file;
    char *text;
    size_t bytes;
} Stream;

static void open_stream(Stream *s)
{
    s->file = open_memstream(&s->text, &s->bytes);
    if (!s->file)
        sim_die("out of memory for host calls");
}

// Closes the stream; returns its text, in the arena.
static char *close_stream(Compiler *c, Stream *s)
{
    if (fclose(s->file) != 0)
        sim_die("out of memory for host calls");
    char *kept = sim_allocate(c->arena, s->bytes + 1);
    memcpy(kept, s->text, s->bytes);
    free(s->text);
    return kept;
}

void host_evaluate(Compiler *c)
{
    Function *entry = entry_of(c);
    Compilation *result = c->result;
    Stream calls, data;
    if (!entry)
        return;
    open_stream(&calls);
    open_stream(&data);
    Host h = {.compiler = c, .calls = calls.file, .data = data.file};
    Evaluator v = {.compiler = c, .host = &h};
    const HostDevice *device = c->options->device;
    device->load(device->context, result->ptx, result->ptx_bytes);
    const bool is_known = run(&h, &v, entry);
    char *call_text = close_stream(c, &calls), *data_text = close_stream(c, &data);
    if (!is_known) {
        report_failure(&h, &v);
        return;
    }
    result->calls = call_text;
    result->calls_bytes = calls.bytes;
    result->data = data_text;
    result->data_bytes = data.bytes;
}
