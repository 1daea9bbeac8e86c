// ptx.c: the parser. It reads PTX as nvcc writes it into a tree of functions and statements, and
// knows the language's grammar, not its instructions: those are decode.c's.
#include "front/program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REGISTERS = 1 << 20, MAX_NESTING = 64, MAX_LOCAL = 1 << 20, MAX_PARAMS = 1 << 16, MOST_ALIGNMENT = 1 << 16, BUCKETS = 256 };
static const size_t MAX_VARIABLE = (size_t)1 << 40;

typedef enum TokenKind { END, WORD, INTEGER, REAL, STRING, PUNCTUATION } TokenKind;

typedef struct Token {
    TokenKind kind;
    Slice text;
    int64_t integer; // of REAL the bits
    double real;
    bool single; // written as 0f...: the bits are a float's
    int line;
} Token;

typedef struct Named { // a register, or a run of them: %r<13>
    Slice name;
    uint32_t first, count; // in the function's registers; count 0 for a single one
    struct Named *next;
} Named;

typedef struct Label {
    Slice name;
    uint32_t statement;
    struct Label *next;
} Label;

typedef struct Scope { // of one pair of braces
    struct Scope *outer;
    Named *named[BUCKETS];
    Label *labels;
    Variable *variables;
    uint32_t first_statement; // labels used from here on may be this scope's
} Scope;

typedef struct Location { // a line of the source, as .loc names it
    int file, line, column;
    int own_file, own_line; // the line of the function's own file into which it was inlined, or itself; 0: not known
    uint32_t next_statement; // the first one behind the .loc
    struct Location *next;
} Location;

typedef struct Parser {
    Module *module;
    Function *function;
    Scope *scope;
    const char *at;
    int line;
    Token token; // the next one
    uint32_t register_space, statement_space;
    Variable **last_shared; // where the next shared variable is linked in
    Location *locations[BUCKETS]; // that the function has named so far
    Location location;            // of the next statement
    Location own;                 // the last one in the function's own file
    int nesting;
    bool managed; // the declaration that is being read
    Linkage linkage; // of the next function or variable of the module
    jmp_buf *on_error; // where a fault leads: out of a statement, a variable, a function or the module
    char error[256];   // the last fault
} Parser;

static const struct {
    const char *name;
    int bytes;
} TYPE_NAMES[] = {
    [NO_TYPE] = {"", 0},    [B8] = {"b8", 1},      [U8] = {"u8", 1},          [S8] = {"s8", 1},
    [B16] = {"b16", 2},     [U16] = {"u16", 2},    [S16] = {"s16", 2},        [F16] = {"f16", 2},
    [BF16] = {"bf16", 2},   [B32] = {"b32", 4},    [U32] = {"u32", 4},        [S32] = {"s32", 4},
    [F32] = {"f32", 4},     [F16X2] = {"f16x2", 4}, [BF16X2] = {"bf16x2", 4}, [S16X2] = {"s16x2", 4},
    [U16X2] = {"u16x2", 4}, [TF32] = {"tf32", 4},  [E4M3X2] = {"e4m3x2", 2},  [E5M2X2] = {"e5m2x2", 2},
    [B64] = {"b64", 8},
    [U64] = {"u64", 8},     [S64] = {"s64", 8},    [F64] = {"f64", 8},        [B128] = {"b128", 16},
    [PRED] = {"pred", 4},
};

int sim_type_bytes(Type type)
{
    return TYPE_NAMES[type].bytes;
}

const char *sim_type_name(Type type)
{
    return TYPE_NAMES[type].name;
}

bool sim_slice_is(Slice slice, const char *text)
{
    return strlen(text) == slice.length && memcmp(slice.text, text, slice.length) == 0;
}

static bool same(Slice a, Slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

Type sim_type_named(Slice name)
{
    for (Type type = B8; type <= PRED; type++)
        if (sim_slice_is(name, TYPE_NAMES[type].name))
            return type;
    return NO_TYPE;
}

static _Noreturn void fail(Parser *p, const char *format, ...)
{
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(p->error, sizeof p->error, "PTX line %d: %s", p->token.line, what);
    longjmp(*p->on_error, 1);
}

static _Noreturn void give_up(Parser *p) // the last fault concerns more than was thought
{
    longjmp(*p->on_error, 1);
}

static const char *kept_error(Parser *p)
{
    const size_t bytes = strlen(p->error) + 1;
    return memcpy(sim_allocate(&p->module->arena, bytes), p->error, bytes);
}

// ---- Tokens

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blanks(Parser *p)
{
    for (;; p->at++) {
        if (*p->at == '\n') {
            p->line++;
        } else if (p->at[0] == '/' && p->at[1] == '/') {
            while (p->at[1] && p->at[1] != '\n')
                p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
                p->line += *p->at == '\n';
            if (!*p->at)
                return;
            p->at++;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

static void read_word(Parser *p)
{
    const char *c = p->at + 1;
    const bool directive = *p->at == '.'; // ends at the next dot: .reg.b32 is two of them
    while ((is_word_start(*c) && !(directive && *c == '.')) || is_digit(*c) || (c[0] == ':' && c[1] == ':') ||
           (c[0] == ':' && c[-1] == ':'))
        c++;
    p->token.kind = WORD;
    p->token.text = (Slice){p->at, (size_t)(c - p->at)};
    p->at = c;
}

// 0f3F800000 and 0d3FF0000000000000: the bits of a float and of a double.
static bool read_float_bits(Parser *p)
{
    const char letter = p->at[1] | 0x20;
    const int digits = letter == 'f' ? 8 : letter == 'd' ? 16 : 0;
    if (p->at[0] != '0' || digits == 0)
        return false;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        const char c = p->at[2 + i], low = c | 0x20;
        if (!is_digit(c) && !(low >= 'a' && low <= 'f'))
            return false;
        bits = bits << 4 | (uint64_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    p->token.kind = REAL;
    if (digits == 16) {
        memcpy(&p->token.real, &bits, sizeof bits);
    } else {
        const uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof low);
        p->token.real = value;
        p->token.single = true;
    }
    p->token.integer = (int64_t)bits; // a NaN's payload would not survive above
    p->token.text = (Slice){p->at, (size_t)digits + 2};
    p->at += digits + 2;
    return true;
}

static void read_number(Parser *p)
{
    if (read_float_bits(p))
        return;
    const char *start = p->at;
    const bool binary = start[0] == '0' && (start[1] | 0x20) == 'b';
    char *end;
    p->token.kind = INTEGER;
    p->token.integer = (int64_t)strtoull(binary ? start + 2 : start, &end, binary ? 2 : 0);
    const bool hexadecimal = start[0] == '0' && (start[1] | 0x20) == 'x';
    if (!hexadecimal && (*end == '.' || (*end | 0x20) == 'e')) {
        p->token.kind = REAL;
        p->token.real = strtod(start, &end);
        memcpy(&p->token.integer, &p->token.real, sizeof p->token.real);
    } else if ((*end | 0x20) == 'u') {
        end++;
    }
    p->token.text = (Slice){start, (size_t)(end - start)};
    p->at = end;
}

static void advance(Parser *p)
{
    skip_blanks(p);
    p->token = (Token){.line = p->line};
    const char c = *p->at;
    if (c == 0) {
        p->token.kind = END;
        p->token.text = (Slice){"the end", 7};
    } else if (is_word_start(c)) {
        read_word(p);
    } else if (is_digit(c)) {
        read_number(p);
    } else if (c == '"') {
        const char *end = p->at + 1;
        while (*end && *end != '"' && *end != '\n')
            end++;
        p->token.kind = STRING;
        p->token.text = (Slice){p->at + 1, (size_t)(end - p->at - 1)};
        if (*end != '"')
            fail(p, "a string without an end");
        p->at = end + 1;
    } else {
        p->token.kind = PUNCTUATION;
        p->token.text = (Slice){p->at++, 1};
    }
}

static bool next_is(const Parser *p, const char *text)
{
    return p->token.kind != STRING && sim_slice_is(p->token.text, text);
}

static bool accept(Parser *p, const char *text)
{
    if (!next_is(p, text))
        return false;
    advance(p);
    return true;
}

static void expect(Parser *p, const char *text)
{
    if (!accept(p, text))
        fail(p, "expected '%s', found '%.*s'", text, (int)(p->token.text.length < 40 ? p->token.text.length : 40),
             p->token.text.text);
}

static Slice expect_word(Parser *p, const char *what)
{
    const Slice word = p->token.text;
    if (p->token.kind != WORD)
        fail(p, "expected %s, found '%.*s'", what, (int)(word.length < 40 ? word.length : 40), word.text);
    advance(p);
    return word;
}

static int64_t expect_integer(Parser *p)
{
    const bool minus = accept(p, "-");
    const int64_t value = p->token.integer;
    if (p->token.kind != INTEGER)
        fail(p, "expected a whole number");
    advance(p);
    return minus ? (int64_t)(0 - (uint64_t)value) : value;
}

static void skip_statement(Parser *p)
{
    while (!next_is(p, ";") && p->token.kind != END)
        advance(p);
    expect(p, ";");
}

typedef struct Place { // in the text
    const char *at;
    int line, nesting;
    Token token;
} Place;

static Place place_now(const Parser *p)
{
    return (Place){p->at, p->line, p->nesting, p->token};
}

static void go_back(Parser *p, const Place *place)
{
    p->at = place->at;
    p->line = place->line;
    p->nesting = place->nesting;
    p->token = place->token;
}

// Calls parse(p, what). Where it fails, the text from there on to the next semicolon is passed over, and the
// fault is returned: it concerns only those who use what stood there. NULL if all is well.
static const char *try_to_parse(Parser *p, void (*parse)(Parser *, void *), void *what)
{
    jmp_buf *const outer = p->on_error;
    const Place start = place_now(p);
    jmp_buf here;
    p->on_error = &here;
    const bool failed = setjmp(here) != 0;
    if (!failed)
        parse(p, what);
    p->on_error = outer;
    if (!failed)
        return NULL;
    const char *error = kept_error(p);
    go_back(p, &start);
    skip_statement(p);
    return error;
}

static void skip_braces(Parser *p)
{
    expect(p, "{");
    for (int depth = 1; depth > 0; advance(p)) {
        if (p->token.kind == END)
            fail(p, "a brace without its partner");
        depth += next_is(p, "{") ? 1 : next_is(p, "}") ? -1 : 0;
    }
}

static void skip_line(Parser *p) // the token that is already read stays out of it
{
    while (*p->at && *p->at != '\n')
        p->at++;
    advance(p);
}

// ---- Names

static unsigned bucket_of(Slice name)
{
    unsigned hash = 5381;
    for (size_t i = 0; i < name.length; i++)
        hash = hash * 33 + (unsigned char)name.text[i];
    return hash % BUCKETS;
}

static Named *find_named(Scope *scope, Slice name, bool run)
{
    for (; scope; scope = scope->outer)
        for (Named *named = scope->named[bucket_of(name)]; named; named = named->next)
            if (same(named->name, name) && (named->count > 0) == run)
                return named;
    return NULL;
}

// %r12: declared by this name, or one of the run %r<13>. NULL if neither.
static Register *find_register(Parser *p, Slice name)
{
    const Named *named = find_named(p->scope, name, false);
    if (named)
        return p->function->registers[named->first];
    size_t digits = 0;
    while (digits < name.length && digits < 9 && is_digit(name.text[name.length - 1 - digits]))
        digits++;
    if (digits == 0 || digits == name.length)
        return NULL;
    named = find_named(p->scope, (Slice){name.text, name.length - digits}, true);
    const unsigned long index = strtoul(name.text + name.length - digits, NULL, 10);
    return named && index < named->count ? p->function->registers[named->first + index] : NULL;
}

Variable *sim_find_variable(Variable *list, Slice name)
{
    for (; list; list = list->next)
        if (same(list->name, name))
            return list;
    return NULL;
}

static Variable *find_variable(Parser *p, Slice name)
{
    Variable *found = NULL;
    for (const Scope *scope = p->scope; scope && !found; scope = scope->outer)
        found = sim_find_variable(scope->variables, name);
    if (!found && p->function)
        found = sim_find_variable(p->function->params, name);
    if (!found && p->function)
        found = sim_find_variable(p->function->returned, name);
    return found ? found : sim_find_variable(p->module->variables, name);
}

Function *sim_find_function(const Module *module, Slice name)
{
    for (Function *function = module->functions; function; function = function->next)
        if (same(function->name, name))
            return function;
    return NULL;
}

// ---- Variables

static void add_initial(Parser *p, Variable *v, int *space, Initial initial)
{
    if (initial.offset + (size_t)initial.bytes > v->bytes)
        fail(p, "more initial values than the variable holds");
    if (v->initial_count == *space) {
        *space = *space ? 2 * *space : 16;
        Initial *grown = sim_allocate(&p->module->arena, (size_t)*space * sizeof *grown);
        if (v->initial_count)
            memcpy(grown, v->initials, (size_t)v->initial_count * sizeof *grown);
        v->initials = grown;
    }
    v->initials[v->initial_count++] = initial;
}

// name, generic(name), and either with an offset: name+8.
static void parse_initial_address(Parser *p, Initial *initial)
{
    const bool generic = accept(p, "generic");
    if (generic)
        expect(p, "(");
    initial->symbol = expect_word(p, "a name");
    if (generic)
        expect(p, ")");
    if (accept(p, "+"))
        initial->value = (uint64_t)expect_integer(p);
}

// One value: a number, an address, or 0xFF00(address): of an address the byte that the mask shows.
static Initial parse_initial(Parser *p, Type type)
{
    Initial initial = {.bytes = sim_type_bytes(type), .mask = UINT64_MAX};
    if (p->token.kind == WORD) {
        parse_initial_address(p, &initial);
        return initial;
    }
    const bool minus = accept(p, "-");
    if (p->token.kind == REAL) {
        double real = minus ? -p->token.real : p->token.real;
        const float single = (float)real;
        if (type == F32 && p->token.single)
            initial.value = (uint64_t)p->token.integer ^ (minus ? 0x80000000 : 0);
        else if (type == F32)
            memcpy(&initial.value, &single, sizeof single);
        else
            memcpy(&initial.value, &real, sizeof real);
    } else if (p->token.kind == INTEGER) {
        initial.value = minus ? 0 - (uint64_t)p->token.integer : (uint64_t)p->token.integer;
    } else {
        fail(p, "expected an initial value");
    }
    advance(p);
    if (accept(p, "(")) {
        initial.mask = initial.value;
        initial.value = 0;
        if (initial.mask == 0)
            fail(p, "a mask of nothing");
        parse_initial_address(p, &initial);
        expect(p, ")");
    }
    return initial;
}

static void parse_initials(Parser *p, Variable *v, int *space, size_t *offset)
{
    if (!next_is(p, "{")) {
        Initial initial = parse_initial(p, v->type);
        initial.offset = *offset;
        *offset += (size_t)initial.bytes;
        add_initial(p, v, space, initial);
        return;
    }
    if (++p->nesting > MAX_NESTING)
        fail(p, "braces nested too deeply");
    expect(p, "{");
    while (!next_is(p, "}")) {
        parse_initials(p, v, space, offset);
        if (!accept(p, ","))
            break;
    }
    expect(p, "}");
    p->nesting--;
}

// What stands between a state space and a name: alignment, type, .v2, .ptr and the like.
static Type parse_attributes(Parser *p, size_t *align, int *elements)
{
    Type type = NO_TYPE;
    *align = 0;
    *elements = 1;
    p->managed = false;
    while (p->token.kind == WORD && p->token.text.text[0] == '.') {
        Slice word = p->token.text;
        advance(p);
        word.text++;
        word.length--;
        if (sim_slice_is(word, "align")) {
            const int64_t value = expect_integer(p);
            if (value < 1 || value > MOST_ALIGNMENT || (value & (value - 1)))
                fail(p, "an alignment must be a power of two, 65536 at most");
            if (type == NO_TYPE || *align == 0) // behind .ptr it is that of the memory pointed to
                *align = type == NO_TYPE ? (size_t)value : *align;
        } else if (sim_slice_is(word, "v2") || sim_slice_is(word, "v4")) {
            *elements = word.text[1] - '0';
        } else if (sim_slice_is(word, "attribute")) {
            expect(p, "(");
            while (!accept(p, ")")) {
                if (p->token.kind == END)
                    fail(p, "an attribute without an end");
                p->managed |= sim_slice_is(p->token.text, ".managed");
                advance(p);
            }
        } else if (sim_type_named(word) != NO_TYPE) {
            type = sim_type_named(word);
        } else if (sim_slice_is(word, "texref") || sim_slice_is(word, "samplerref") || sim_slice_is(word, "surfref")) {
            fail(p, "references to textures and surfaces ('.%.*s') are not supported: CUDA 13 has objects only",
                 (int)word.length, word.text);
        } else if (!sim_slice_is(word, "ptr") && !sim_slice_is(word, "global") && !sim_slice_is(word, "shared") &&
                   !sim_slice_is(word, "local") && !sim_slice_is(word, "const")) {
            fail(p, "unknown attribute '.%.*s'", (int)word.length, word.text);
        }
    }
    if (type == NO_TYPE)
        fail(p, "a declaration without a type");
    return type;
}

// name[2][3]: one variable of the type, without an address as yet.
static Variable *parse_declarator(Parser *p, Space space, Type type, size_t align, int elements)
{
    Variable *v = sim_allocate(&p->module->arena, sizeof *v);
    v->name = expect_word(p, "a variable's name");
    v->space = space;
    v->type = type;
    const size_t element = (size_t)sim_type_bytes(type) * (size_t)elements;
    v->align = align ? align : element ? element : 1;
    v->bytes = element;
    bool open = false;
    while (accept(p, "[")) {
        if (accept(p, "]")) {
            open = true;
            continue;
        }
        const int64_t count = expect_integer(p);
        if (count < 0 || (count > 0 && v->bytes > MAX_VARIABLE / (size_t)count))
            fail(p, "an array of %lld elements", (long long)count);
        v->bytes *= (size_t)count;
        expect(p, "]");
    }
    if (open) {
        v->dynamic = space == SHARED;
        v->bytes = 0;
    }
    if (open && next_is(p, "="))
        fail(p, "initial values for an array of unknown size");
    return v;
}

static void parse_all_initials(Parser *p, void *variable)
{
    int space = 0;
    size_t offset = 0;
    parse_initials(p, variable, &space, &offset);
    if (!next_is(p, ",") && !next_is(p, ";"))
        fail(p, "expected ',' or ';' behind an initial value");
}

static void place_in(Parser *p, Variable *v, size_t *bytes, size_t most)
{
    v->address = sim_aligned(*bytes, v->align);
    if (v->bytes > most || v->address > most - v->bytes)
        fail(p, "%.*s: too large", (int)v->name.length, v->name.text);
    *bytes = v->address + v->bytes;
}

static void place(Parser *p, Variable *v)
{
    Function *f = p->function;
    if (v->space == SHARED) {
        v->owner = f;
        *p->last_shared = v;
        p->last_shared = &v->next_shared;
    } else if (v->space == LOCAL && f)
        place_in(p, v, &f->local_bytes, MAX_LOCAL);
    else if (v->space == PARAM && f)
        place_in(p, v, &f->param_bytes, MAX_PARAMS);
    else if (v->space == LOCAL || v->space == PARAM)
        fail(p, "a local variable or parameter outside a function");
    // Those in device memory get their addresses when the module is loaded, shared ones at its end.
}

static bool space_named(Slice word, Space *space)
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

static void parse_variables(Parser *p, Space space)
{
    size_t align;
    int elements;
    advance(p);
    const Type type = parse_attributes(p, &align, &elements);
    bool ended = false; // with a semicolon that was passed over
    do {
        Variable *v = parse_declarator(p, space, type, align, elements);
        v->managed = p->managed;
        v->linkage = p->function ? OWN_TEXT : p->linkage;
        if (accept(p, "="))
            ended = (v->error = try_to_parse(p, parse_all_initials, v)) != NULL;
        // Shared variables of a function stand for the whole block, whatever their braces.
        const bool outer = !p->function || space == GLOBAL || space == CONST;
        Variable **list = outer ? &p->module->variables : &p->scope->variables;
        Variable *known = outer ? sim_find_variable(*list, v->name) : NULL;
        if (known && ((v->initial_count == 0 && !v->error) || known->initial_count > 0))
            continue; // declared extern before, or again
        place(p, v);
        v->next = *list;
        *list = v;
    } while (!ended && accept(p, ","));
    if (!ended)
        expect(p, ";");
}

static void add_register(Parser *p, Slice name, Type type)
{
    Function *f = p->function;
    if (f->register_count == MAX_REGISTERS)
        fail(p, "too many registers");
    if (f->register_count == p->register_space) {
        p->register_space = p->register_space ? 2 * p->register_space : 256;
        Register **grown = sim_allocate(&p->module->arena, p->register_space * sizeof *grown);
        if (f->register_count)
            memcpy(grown, f->registers, f->register_count * sizeof *grown);
        f->registers = grown;
    }
    Register *reg = sim_allocate(&p->module->arena, sizeof *reg);
    *reg = (Register){.name = name, .type = type};
    f->registers[f->register_count++] = reg;
}

static void parse_registers(Parser *p)
{
    size_t align;
    int elements;
    advance(p);
    const Type type = parse_attributes(p, &align, &elements);
    do {
        Named *named = sim_allocate(&p->module->arena, sizeof *named);
        named->name = expect_word(p, "a register's name");
        named->first = p->function->register_count;
        if (accept(p, "<")) {
            const int64_t count = expect_integer(p);
            expect(p, ">");
            if (count < 1 || count > MAX_REGISTERS)
                fail(p, "a run of %lld registers", (long long)count);
            named->count = (uint32_t)count;
            for (int64_t i = 0; i < count; i++)
                add_register(p, named->name, type);
        } else {
            add_register(p, named->name, type);
        }
        Named **bucket = &p->scope->named[bucket_of(named->name)];
        named->next = *bucket;
        *bucket = named;
    } while (accept(p, ","));
    expect(p, ";");
}

// ---- Statements

static void parse_operand(Parser *p, Operand *o);

static void parse_elements(Parser *p, Operand *o, const char *end)
{
    Operand elements[128];
    if (++p->nesting > MAX_NESTING)
        fail(p, "operands nested too deeply");
    while (!next_is(p, end)) {
        if (o->count == 128)
            fail(p, "a list of more than 128 operands");
        parse_operand(p, &elements[o->count++]);
        if (!accept(p, ","))
            break;
    }
    expect(p, end);
    p->nesting--;
    o->elements = sim_allocate(&p->module->arena, ((size_t)o->count + 1) * sizeof *o->elements);
    if (o->count)
        memcpy(o->elements, elements, (size_t)o->count * sizeof *elements);
}

static void parse_list(Parser *p, Operand *o, const char *end)
{
    o->kind = IS_VECTOR;
    parse_elements(p, o, end);
}

// [base], [base+8], [base, {coordinates}]: the latter are the operand's elements.
static void parse_address(Parser *p, Operand *o)
{
    parse_operand(p, o);
    if (o->kind == IS_VECTOR || o->kind == IS_SINK || o->address)
        fail(p, "not an address");
    o->address = true;
    if (accept(p, "+") || next_is(p, "-"))
        o->integer = expect_integer(p);
    if (accept(p, ","))
        parse_elements(p, o, "]");
    else
        expect(p, "]");
}

// %r1.b0: a part of a register.
static void find_part(Parser *p, Operand *o)
{
    const char *dot = memchr(o->name.text, '.', o->name.length);
    const size_t length = dot ? (size_t)(dot - o->name.text) : 0;
    o->reg = dot ? find_register(p, (Slice){o->name.text, length}) : NULL;
    if (o->reg)
        o->selector = (Slice){dot + 1, o->name.length - length - 1};
}

static void parse_name(Parser *p, Operand *o)
{
    o->name = expect_word(p, "an operand");
    if (sim_slice_is(o->name, "_")) {
        o->kind = IS_SINK;
        return;
    }
    o->reg = find_register(p, o->name);
    if (!o->reg)
        find_part(p, o);
    if (o->reg) {
        o->kind = IS_REGISTER;
        if (accept(p, "|")) {
            const Slice second = expect_word(p, "a register");
            o->second = find_register(p, second);
            if (!o->second && !sim_slice_is(second, "_"))
                fail(p, "unknown register '%.*s'", (int)second.length, second.text);
        }
        return;
    }
    o->variable = find_variable(p, o->name);
    o->kind = IS_SYMBOL; // a label, if the end of the scope finds one of this name
    if (o->name.text[0] == '_' && accept(p, "|")) { // _|%p
        o->kind = IS_SINK;
        o->second = find_register(p, expect_word(p, "a register"));
    }
}

static void parse_operand(Parser *p, Operand *o)
{
    memset(o, 0, sizeof *o);
    o->label = NOWHERE;
    if (accept(p, "{")) {
        parse_list(p, o, "}");
    } else if (accept(p, "(")) {
        parse_list(p, o, ")");
    } else if (accept(p, "[")) {
        parse_address(p, o);
    } else if (accept(p, "!")) {
        parse_name(p, o);
        o->negated = true;
    } else if (p->token.kind == WORD) {
        parse_name(p, o);
        if (o->kind == IS_SYMBOL && accept(p, "+"))
            o->integer = expect_integer(p);
    } else {
        const bool minus = accept(p, "-");
        if (p->token.kind == INTEGER) {
            o->kind = IS_INTEGER;
            o->integer = minus ? (int64_t)(0 - (uint64_t)p->token.integer) : p->token.integer;
        } else if (p->token.kind == REAL) {
            o->kind = IS_FLOAT;
            o->real = minus ? -p->token.real : p->token.real;
            o->single = p->token.single;
            o->integer = p->token.integer ^ (minus ? o->single ? 0x80000000 : INT64_MIN : 0);
        } else {
            fail(p, "expected an operand, found '%.*s'", (int)(p->token.text.length < 40 ? p->token.text.length : 40),
                 p->token.text.text);
        }
        advance(p);
    }
}

static Statement *new_statement(Parser *p)
{
    Function *f = p->function;
    if (f->count == p->statement_space) {
        if (p->statement_space > (1u << 24))
            fail(p, "too many instructions");
        p->statement_space = p->statement_space ? 2 * p->statement_space : 64;
        Statement *grown = sim_allocate(&p->module->arena, p->statement_space * sizeof *grown);
        if (f->count)
            memcpy(grown, f->statements, f->count * sizeof *grown);
        f->statements = grown;
    }
    Statement *s = &f->statements[f->count++];
    s->line = p->token.line;
    s->source_file = p->location.file;
    s->source_line = p->location.line;
    s->own_file = p->location.own_file;
    s->own_line = p->location.own_line;
    return s;
}

static void parse_guard_and_operands(Parser *p, void *statement)
{
    Statement *s = statement;
    if (accept(p, "@")) {
        s->guard_negated = accept(p, "!");
        const Slice name = expect_word(p, "a predicate");
        s->guard = find_register(p, name);
        if (!s->guard || s->guard->type != PRED)
            fail(p, "'%.*s' is no predicate", (int)name.length, name.text);
    }
    s->opcode = expect_word(p, "an instruction");
    while (!next_is(p, ";")) {
        if (s->count == MAX_OPERANDS)
            fail(p, "more than %d operands", MAX_OPERANDS);
        parse_operand(p, &s->operands[s->count++]);
        if (!accept(p, ","))
            break;
    }
    expect(p, ";");
}

static void parse_instruction(Parser *p)
{
    Statement *s = new_statement(p);
    s->opcode = p->token.text; // until the guard has been read
    s->error = try_to_parse(p, parse_guard_and_operands, s);
    if (s->error)
        s->count = 0; // the last operand may be half read
}

static void link_labels(Operand *o, const Scope *scope)
{
    if (o->kind == IS_SYMBOL && !o->variable)
        for (const Label *label = scope->labels; label; label = label->next)
            if (same(label->name, o->name)) {
                o->kind = IS_LABEL;
                o->label = label->statement;
                return;
            }
    for (int i = 0; i < o->count; i++)
        link_labels(&o->elements[i], scope);
}

static void close_scope(Parser *p)
{
    Scope *scope = p->scope;
    if (scope->labels)
        for (uint32_t i = scope->first_statement; i < p->function->count; i++)
            for (int k = 0; k < p->function->statements[i].count; k++)
                link_labels(&p->function->statements[i].operands[k], scope);
    p->scope = scope->outer;
}

static Location **bucket_of_line(Parser *p, const Location *l)
{
    return &p->locations[((unsigned)l->file * 31 + (unsigned)l->line) % BUCKETS];
}

static bool same_place(const Location *a, const Location *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// The line of the function's own file behind a place that calls what is inlined. The place has been named before;
// where it was inlined at several lines itself, the one is meant that was named right now, or whose own line was the
// last of its file.
static void find_own_line(Parser *p, const Location *call, Location *l)
{
    const Location *found = NULL;
    bool several = false;
    for (const Location *k = *bucket_of_line(p, call); k; k = k->next) {
        if (!same_place(k, call))
            continue;
        several = found != NULL;
        found = k;
        const bool near = k->own_file == p->own.file && k->own_line == p->own.line;
        if (k->next_statement == p->function->count || near) {
            several = false;
            break;
        }
    }
    if (!found || several)
        return;
    const bool own = l->file == found->own_file;
    l->own_file = found->own_file;
    l->own_line = own ? l->line : found->own_line;
}

static void keep_location(Parser *p)
{
    Location **bucket = bucket_of_line(p, &p->location), *k = *bucket;
    while (k && !(same_place(k, &p->location) && k->own_file == p->location.own_file &&
                  k->own_line == p->location.own_line))
        k = k->next;
    if (!k) {
        k = sim_allocate(&p->module->arena, sizeof *k);
        *k = p->location;
        k->next = *bucket;
        *bucket = k;
    }
    k->next_statement = p->function->count;
}

static Location parse_place(Parser *p) // file line column
{
    Location l = {.file = (int)expect_integer(p)};
    l.line = p->token.kind == INTEGER ? (int)expect_integer(p) : 0;
    l.column = p->token.kind == INTEGER ? (int)p->token.integer : 0;
    return l;
}

static void parse_location(Parser *p) // .loc file line column, function_name label, inlined_at file line column
{
    const int line = p->token.line;
    advance(p);
    p->location = parse_place(p);
    while (p->token.line == line && p->token.kind != END && !next_is(p, "inlined_at"))
        advance(p);
    if (p->token.line == line && accept(p, "inlined_at")) {
        const Location call = parse_place(p);
        find_own_line(p, &call, &p->location);
        if (p->token.line == line)
            skip_line(p);
    } else {
        p->location.own_file = p->location.file;
        p->location.own_line = p->location.line;
    }
    if (p->location.own_line > 0 && p->location.own_file == p->location.file)
        p->own = p->location;
    keep_location(p);
}

// "name:" before an instruction, "name: .branchtargets a, b;" or "name: .callprototype ...;"
static void parse_label(Parser *p, Slice name)
{
    Label *label = sim_allocate(&p->module->arena, sizeof *label);
    *label = (Label){name, p->function->count, p->scope->labels};
    p->scope->labels = label;
    if (next_is(p, ".branchtargets")) { // kept as a statement of its own
        Statement *s = new_statement(p);
        s->opcode = p->token.text;
        advance(p);
        Operand *targets = &s->operands[s->count++];
        memset(targets, 0, sizeof *targets);
        parse_list(p, targets, ";");
    } else if (next_is(p, ".callprototype") || next_is(p, ".calltargets")) {
        skip_statement(p);
    }
}

static void parse_body(Parser *p)
{
    Scope scope = {.outer = p->scope, .first_statement = p->function->count};
    p->scope = &scope;
    if (++p->nesting > MAX_NESTING)
        fail(p, "braces nested too deeply");
    expect(p, "{");
    while (!next_is(p, "}")) {
        Space space;
        if (p->token.kind == END)
            fail(p, "a function without an end");
        if (next_is(p, "{"))
            parse_body(p);
        else if (next_is(p, ".reg"))
            parse_registers(p);
        else if (next_is(p, ".loc"))
            parse_location(p);
        else if (next_is(p, ".pragma"))
            skip_statement(p);
        else if (p->token.kind == WORD && space_named(p->token.text, &space))
            parse_variables(p, space);
        else if (next_is(p, ".extern"))
            advance(p);
        else if (accept(p, ";"))
            continue;
        else if (p->token.kind == WORD && p->token.text.text[0] != '.') {
            const char *after = p->at;
            while (*after == ' ' || *after == '\t')
                after++;
            if (after[0] == ':' && after[1] != ':') {
                const Slice name = expect_word(p, "a label");
                expect(p, ":");
                parse_label(p, name);
            } else {
                parse_instruction(p);
            }
        } else if (next_is(p, "@")) {
            parse_instruction(p);
        } else {
            fail(p, "unknown directive '%.*s'", (int)(p->token.text.length < 40 ? p->token.text.length : 40),
                 p->token.text.text);
        }
    }
    close_scope(p);
    p->nesting--;
    expect(p, "}");
}

// ---- Functions and the module

static void parse_parameters(Parser *p, Variable **list)
{
    if (!accept(p, "("))
        return;
    while (!next_is(p, ")")) {
        size_t align;
        int elements;
        if (!accept(p, ".param"))
            fail(p, "a parameter that is not .param");
        const Type type = parse_attributes(p, &align, &elements);
        Variable *v = parse_declarator(p, PARAM, type, align, elements);
        place(p, v);
        *list = v;
        list = &v->next;
        if (!accept(p, ","))
            break;
    }
    expect(p, ")");
}

// Numbers of threads or blocks in each direction: their product, or 1.
static int parse_product(Parser *p, dim3 *extent)
{
    unsigned *const sizes[] = {&extent->x, &extent->y, &extent->z};
    size_t count = 0;
    enum { MOST = 65536 };
    int64_t product = 1;
    while (p->token.kind == INTEGER) {
        if (p->token.integer < 1 || p->token.integer > MOST || product > MOST)
            fail(p, "a block of that many threads");
        product *= p->token.integer;
        if (count < sizeof sizes / sizeof *sizes)
            *sizes[count++] = (unsigned)p->token.integer;
        advance(p);
        if (!accept(p, ","))
            break;
    }
    return product < MOST ? (int)product : MOST;
}

// What stands between a function's parameters and its body: .maxntid 64, 1, 1 and the like.
static void parse_directive(Parser *p, Function *f)
{
    static const char *const HINTS[] = {".minnctapersm", ".maxnctapersm", ".maxnreg", ".noreturn",
                                        ".explicitcluster", ".blocksareclusters", ".abi_preserve",
                                        ".abi_preserve_control"};
    const Slice name = p->token.text;
    if (next_is(p, ".pragma")) {
        skip_statement(p);
        return;
    }
    bool known = false;
    for (size_t k = 0; k < sizeof HINTS / sizeof *HINTS; k++)
        known |= next_is(p, HINTS[k]);
    if (!known && !next_is(p, ".maxntid") && !next_is(p, ".reqntid") && !next_is(p, ".reqnctapercluster") &&
        !next_is(p, ".maxclusterrank"))
        fail(p, "unknown directive '%.*s'", (int)(name.length < 40 ? name.length : 40), name.text);
    advance(p);
    dim3 extent = {1, 1, 1};
    const int product = parse_product(p, &extent);
    if (sim_slice_is(name, ".reqnctapercluster"))
        f->cluster = extent;
    else if (sim_slice_is(name, ".maxclusterrank"))
        f->most_cluster_blocks = product;
    else if (!known)
        f->max_threads = product;
    f->exact_threads |= sim_slice_is(name, ".reqntid");
}

// A function of the name, which may be known from a declaration before.
static Function *add_function(Parser *p, Function *f)
{
    Function *known = sim_find_function(p->module, f->name);
    if (known) {
        f->next = known->next;
        *known = *f;
        return known;
    }
    f->next = p->module->functions;
    p->module->functions = f;
    return f;
}

static void parse_function(Parser *p, bool entry)
{
    Function *f = sim_allocate(&p->module->arena, sizeof *f);
    f->entry = entry;
    f->linkage = p->linkage;
    p->function = f;
    p->register_space = p->statement_space = 0;
    p->location = (Location){0};
    memset(p->locations, 0, sizeof p->locations);
    advance(p);
    if (!entry)
        parse_parameters(p, &f->returned);
    f->name = expect_word(p, "a function's name");
    parse_parameters(p, &f->params);
    f->kernel_param_bytes = f->param_bytes;
    while (p->token.kind == WORD && p->token.text.text[0] == '.')
        parse_directive(p, f);
    const Function *known = sim_find_function(p->module, f->name);
    if (next_is(p, "{")) {
        if (known && known->defined)
            fail(p, "'%.*s' is defined twice", (int)f->name.length, f->name.text);
        f->defined = true;
        p->function = add_function(p, f); // its own name has to be known inside, for recursion
        parse_body(p);
    } else {
        if (!known)
            add_function(p, f);
        accept(p, ";");
    }
    p->function = NULL;
}

// A function that cannot be read becomes one statement that says why, for whoever comes to it.
static void refuse_function(Parser *p, const char *error)
{
    Function *f = p->function;
    f->count = 0;
    f->statements = NULL;
    p->statement_space = 0;
    f->kernel_param_bytes = f->param_bytes; // of the parameters that were read
    if (!f->defined) {
        f->defined = true;
        p->function = f = add_function(p, f);
    }
    Statement *s = new_statement(p);
    s->opcode = f->entry ? (Slice){"the kernel itself", 17} : (Slice){"the function itself", 19};
    s->error = error;
    p->function = NULL;
    p->scope = NULL;
}

// The same; a fault in it concerns only those who launch or call it.
static void parse_function_or_skip(Parser *p, bool entry)
{
    jmp_buf *const outer = p->on_error;
    const Place start = place_now(p);
    jmp_buf here;
    p->on_error = &here;
    const bool failed = setjmp(here) != 0;
    if (!failed)
        parse_function(p, entry);
    p->on_error = outer;
    if (!failed)
        return;
    if (p->function->name.length == 0)
        give_up(p);
    const char *error = kept_error(p);
    go_back(p, &start);
    while (!next_is(p, "{") && !next_is(p, ";") && p->token.kind != END)
        advance(p);
    if (!accept(p, ";"))
        skip_braces(p);
    refuse_function(p, error);
}

static void parse_file(Parser *p) // .file 1 "path"
{
    advance(p);
    const int64_t index = expect_integer(p);
    if (index < 0 || index > 100000 || p->token.kind != STRING)
        fail(p, "expected a file's number and name");
    if (index >= p->module->file_count) {
        Slice *grown = sim_allocate(&p->module->arena, ((size_t)index + 1) * sizeof *grown);
        if (p->module->file_count)
            memcpy(grown, p->module->files, (size_t)p->module->file_count * sizeof *grown);
        p->module->files = grown;
        p->module->file_count = (int)index + 1;
    }
    p->module->files[index] = p->token.text;
    advance(p);
    while (accept(p, ","))
        advance(p);
}

static void parse_header(Parser *p)
{
    if (!accept(p, ".version") || p->token.kind != REAL)
        fail(p, "PTX begins with .version, as in .version 8.0");
    p->module->version = (int)(p->token.real * 10 + 0.5);
    advance(p);
    expect(p, ".target");
    const Slice target = expect_word(p, "a target");
    if (target.length > 3 && target.length < 9 && memcmp(target.text, "sm_", 3) == 0)
        p->module->target = atoi(target.text + 3);
    while (accept(p, ",")) {
        p->module->for_debugger |= sim_slice_is(p->token.text, "debug");
        advance(p);
    }
    if (accept(p, ".address_size") && expect_integer(p) != 64)
        fail(p, "only 64-bit addresses are supported");
}

static Linkage parse_linkage(Parser *p)
{
    static const struct {
        const char *word;
        Linkage linkage;
    } WORDS[] = {{".visible", ALL_TEXTS}, {".weak", ONE_OF_MANY}, {".common", ONE_OF_MANY}, {".extern", ELSEWHERE}};
    Linkage linkage = OWN_TEXT;
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
        if (accept(p, WORDS[k].word))
            linkage = WORDS[k].linkage;
    return linkage;
}

static void parse_module(Parser *p)
{
    advance(p);
    parse_header(p);
    while (p->token.kind != END) {
        Space space;
        p->linkage = parse_linkage(p);
        if (next_is(p, ".entry") || next_is(p, ".func"))
            parse_function_or_skip(p, next_is(p, ".entry"));
        else if (p->token.kind == WORD && space_named(p->token.text, &space))
            parse_variables(p, space);
        else if (next_is(p, ".file"))
            parse_file(p);
        else if (next_is(p, ".section")) {
            advance(p);
            expect_word(p, "a section's name");
            skip_braces(p);
        } else if (next_is(p, ".pragma"))
            skip_statement(p);
        else if (next_is(p, ".loc"))
            skip_line(p);
        else if (!accept(p, ";"))
            fail(p, "unknown directive '%.*s'", (int)(p->token.text.length < 40 ? p->token.text.length : 40),
                 p->token.text.text);
    }
}

Module *sim_parse(const char *text)
{
    Module *module = calloc(1, sizeof *module);
    if (!module)
        sim_die("out of memory for a module");
    jmp_buf failed;
    Parser p = {.module = module, .at = text, .line = 1, .last_shared = &module->shared, .on_error = &failed};
    if (setjmp(failed) == 0) {
        parse_module(&p);
        sim_place_shared(module);
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
