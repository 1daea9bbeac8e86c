// declarations.c: parses declarations of registers and variables, and initialisers.
#include "front/parser.h"

#include <string.h>

enum { MAX_REGISTERS = 1 << 20, MAX_LOCAL = 1 << 20, MAX_PARAMS = 1 << 16, MAX_CONSTANTS = 1 << 16, MAX_ALIGNMENT = 1 << 16 };
static const uint64_t MAX_VARIABLE = (uint64_t)1 << 40;

static void add_initialiser(Parser *p, Variable *v, int *capacity, Initialiser initial)
{
    if (initial.offset + (size_t)initial.bytes > v->bytes)
        sim_fail(p, "more initial values than the variable holds");
    if (v->initialiser_count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 16;
        Initialiser *grown = sim_allocate(&p->module->arena, (size_t)*capacity * sizeof *grown);
        if (v->initialiser_count)
            memcpy(grown, v->initialisers, (size_t)v->initialiser_count * sizeof *grown);
        v->initialisers = grown;
    }
    v->initialisers[v->initialiser_count++] = initial;
}

// Parses name or generic(name), optionally with an offset: name+8.
static void parse_initial_address(Parser *p, Initialiser *initial)
{
    const bool is_generic = sim_accept(p, "generic");
    if (is_generic)
        sim_expect(p, "(");
    initial->symbol = sim_expect_word(p, "a name");
    if (is_generic)
        sim_expect(p, ")");
    if (sim_accept(p, "+"))
        initial->value = (uint64_t)sim_expect_integer(p);
}

// Parses a number, an address, or 0xFF00(address), the bits of an address that the mask selects.
static Initialiser parse_initialiser(Parser *p, Type type)
{
    Initialiser initial = {.bytes = sim_type_bytes(type), .mask = UINT64_MAX};
    if (p->token.kind == WORD) {
        parse_initial_address(p, &initial);
        return initial;
    }
    const bool is_negative = sim_accept(p, "-");
    if (p->token.kind == FLOATING) {
        double floating = is_negative ? -p->token.floating : p->token.floating;
        const float as_float = (float)floating;
        if (type == F32 && p->token.is_float32)
            initial.value = (uint64_t)p->token.integer ^ (is_negative ? 0x80000000 : 0);
        else if (type == F32)
            memcpy(&initial.value, &as_float, sizeof as_float);
        else
            memcpy(&initial.value, &floating, sizeof floating);
    } else if (p->token.kind == INTEGER) {
        initial.value = is_negative ? 0 - (uint64_t)p->token.integer : (uint64_t)p->token.integer;
    } else {
        sim_fail(p, "expected an initial value");
    }
    sim_advance(p);
    if (sim_accept(p, "(")) {
        initial.mask = initial.value;
        initial.value = 0;
        if (initial.mask == 0)
            sim_fail(p, "a mask of nothing");
        parse_initial_address(p, &initial);
        sim_expect(p, ")");
    }
    return initial;
}

static void parse_initialisers(Parser *p, Variable *v, int *capacity, size_t *offset)
{
    if (!sim_next_is(p, "{")) {
        Initialiser initial = parse_initialiser(p, v->type);
        initial.offset = *offset;
        *offset += (size_t)initial.bytes;
        add_initialiser(p, v, capacity, initial);
        return;
    }
    if (++p->nesting > MAX_NESTING)
        sim_fail(p, "braces nested too deeply");
    sim_expect(p, "{");
    while (!sim_next_is(p, "}")) {
        parse_initialisers(p, v, capacity, offset);
        if (!sim_accept(p, ","))
            break;
    }
    sim_expect(p, "}");
    p->nesting--;
}

Type sim_parse_attributes(Parser *p, size_t *align, int *elements)
{
    Type type = NO_TYPE;
    *align = 0;
    *elements = 1;
    p->is_managed = false;
    while (p->token.kind == WORD && p->token.text.text[0] == '.') {
        Slice word = p->token.text;
        sim_advance(p);
        word.text++;
        word.length--;
        if (sim_slice_is(word, "align")) {
            const int64_t value = sim_expect_integer(p);
            if (value < 1 || value > MAX_ALIGNMENT || (value & (value - 1)))
                sim_fail(p, "an alignment must be a power of two, 65536 at most");
            if (type == NO_TYPE || *align == 0) // an alignment after .ptr is that of the pointed-to memory
                *align = type == NO_TYPE ? (size_t)value : *align;
        } else if (sim_slice_is(word, "v2") || sim_slice_is(word, "v4")) {
            *elements = word.text[1] - '0';
        } else if (sim_slice_is(word, "attribute")) {
            sim_expect(p, "(");
            while (!sim_accept(p, ")")) {
                if (p->token.kind == END)
                    sim_fail(p, "an attribute without an end");
                p->is_managed |= sim_slice_is(p->token.text, ".managed");
                sim_advance(p);
            }
        } else if (sim_type_named(word) != NO_TYPE) {
            type = sim_type_named(word);
        } else if (sim_slice_is(word, "texref") || sim_slice_is(word, "samplerref") || sim_slice_is(word, "surfref")) {
            sim_fail(p, "references to textures and surfaces ('.%.*s') are not supported: CUDA 13 has objects only",
                 (int)word.length, word.text);
        } else if (!sim_slice_is(word, "ptr") && !sim_slice_is(word, "global") && !sim_slice_is(word, "shared") &&
                   !sim_slice_is(word, "local") && !sim_slice_is(word, "const")) {
            sim_fail(p, "unknown attribute '.%.*s'", (int)word.length, word.text);
        }
    }
    if (type == NO_TYPE)
        sim_fail(p, "a declaration without a type");
    return type;
}

Variable *sim_parse_declarator(Parser *p, Space space, Type type, size_t align, int elements)
{
    Variable *v = sim_allocate(&p->module->arena, sizeof *v);
    v->name = sim_expect_word(p, "a variable's name");
    v->space = space;
    v->type = type;
    const size_t element = (size_t)sim_type_bytes(type) * (size_t)elements;
    v->align = align ? align : element ? element : 1;
    v->bytes = element;
    bool is_open = false;
    while (sim_accept(p, "[")) {
        if (sim_accept(p, "]")) {
            is_open = true;
            continue;
        }
        const int64_t count = sim_expect_integer(p);
        if (count < 0 || (count > 0 && v->bytes > MAX_VARIABLE / (size_t)count))
            sim_fail(p, "an array of %lld elements", (long long)count);
        v->bytes *= (size_t)count;
        sim_expect(p, "]");
    }
    if (is_open) {
        v->is_dynamic = space == SHARED;
        v->bytes = 0;
    }
    if (is_open && sim_next_is(p, "="))
        sim_fail(p, "initial values for an array of unknown size");
    return v;
}

static void parse_all_initialisers(Parser *p, void *variable)
{
    int capacity = 0;
    size_t offset = 0;
    parse_initialisers(p, variable, &capacity, &offset);
    if (!sim_next_is(p, ",") && !sim_next_is(p, ";"))
        sim_fail(p, "expected ',' or ';' after an initial value");
}

static void allocate_in(Parser *p, Variable *v, size_t *bytes, size_t max)
{
    v->address = sim_align_up(*bytes, v->align);
    if (v->bytes > max || v->address > max - v->bytes)
        sim_fail(p, "%.*s: too large", (int)v->name.length, v->name.text);
    *bytes = v->address + v->bytes;
}

// Inserts in the order of the text, so that the order in which bodies are parsed has no influence.
static void insert_shared(Variable **list, Variable *v)
{
    while (*list && (*list)->name.text < v->name.text)
        list = &(*list)->next_shared;
    v->next_shared = *list;
    *list = v;
}

void sim_assign_address(Parser *p, Variable *v)
{
    Function *f = p->function;
    if (v->space == SHARED) {
        v->owner = f;
        insert_shared(&p->module->shared, v);
    } else if (v->space == LOCAL && f)
        allocate_in(p, v, &f->local_bytes, MAX_LOCAL);
    else if (v->space == PARAM && f)
        allocate_in(p, v, &f->param_bytes, MAX_PARAMS);
    else if (v->space == CONST && v->linkage != LINK_UNDEFINED) {
        allocate_in(p, v, &p->module->constant_bytes, MAX_CONSTANTS); // ptxas refuses more
        v->address = 0;
    } else if (v->space == LOCAL || v->space == PARAM)
        sim_fail(p, "a local variable or parameter outside a function");
    // GLOBAL and CONST variables get their addresses when the module is loaded, SHARED ones in layout.c.
}

bool sim_space_named(Slice word, Space *space)
{
    static const char *const NAMES[] = {[GLOBAL] = ".global", [SHARED] = ".shared", [LOCAL] = ".local",
                                        [CONST] = ".const",   [PARAM] = ".param"};
    for (Space s = GLOBAL; s <= PARAM; s++)
        if (sim_slice_is(word, NAMES[s])) {
            *space = s;
            return true;
        }
    return false;
}

void sim_parse_variables(Parser *p, Space space)
{
    size_t align;
    int elements;
    sim_advance(p);
    const Type type = sim_parse_attributes(p, &align, &elements);
    bool ended = false; // a syntax error made the parser skip the semicolon
    do {
        Variable *v = sim_parse_declarator(p, space, type, align, elements);
        v->is_managed = p->is_managed;
        v->linkage = p->function ? LINK_INTERNAL : p->linkage;
        if (sim_accept(p, "="))
            ended = (v->error = sim_parse_or_skip(p, parse_all_initialisers, v)) != NULL;
        // Variables in device memory are visible in the whole module, wherever they are declared.
        const bool is_module_scope = !p->function || space == GLOBAL || space == CONST;
        Variable **list = is_module_scope ? &p->module->variables : &p->scope->variables;
        Variable *declared = is_module_scope ? sim_find_variable(*list, v->name) : NULL;
        if (declared && ((v->initialiser_count == 0 && !v->error) || declared->initialiser_count > 0))
            continue; // a repeated declaration
        sim_assign_address(p, v);
        v->next = *list;
        *list = v;
    } while (!ended && sim_accept(p, ","));
    if (!ended)
        sim_expect(p, ";");
}

static void add_register(Parser *p, Slice name, Type type)
{
    Function *f = p->function;
    if (f->register_count == MAX_REGISTERS)
        sim_fail(p, "too many registers");
    if (f->register_count == p->register_capacity) {
        p->register_capacity = p->register_capacity ? 2 * p->register_capacity : 256;
        Register **grown = sim_allocate(&p->module->arena, p->register_capacity * sizeof *grown);
        if (f->register_count)
            memcpy(grown, f->registers, f->register_count * sizeof *grown);
        f->registers = grown;
    }
    Register *reg = sim_allocate(&p->module->arena, sizeof *reg);
    *reg = (Register){.name = name, .type = type};
    f->registers[f->register_count++] = reg;
}

void sim_parse_registers(Parser *p)
{
    size_t align;
    int elements;
    sim_advance(p);
    const Type type = sim_parse_attributes(p, &align, &elements);
    do {
        RegisterName *register_name = sim_allocate(&p->module->arena, sizeof *register_name);
        register_name->name = sim_expect_word(p, "a register's name");
        register_name->first = p->function->register_count;
        if (sim_accept(p, "<")) {
            const int64_t count = sim_expect_integer(p);
            sim_expect(p, ">");
            if (count < 1 || count > MAX_REGISTERS)
                sim_fail(p, "a run of %lld registers", (long long)count);
            register_name->count = (uint32_t)count;
            for (int64_t i = 0; i < count; i++)
                add_register(p, register_name->name, type);
        } else {
            add_register(p, register_name->name, type);
        }
        RegisterName **bucket = &p->scope->registers[sim_bucket_of_name(register_name->name)];
        register_name->next = *bucket;
        *bucket = register_name;
    } while (sim_accept(p, ","));
    sim_expect(p, ";");
}
