// library.c: finds and parses the library text that declares a name.
#include "compiler/library.h"

#include <string.h>

#include "compiler/build.h"
#include "compiler/intrinsics.h"

static const LibraryEntry *const TABLES[] = {LIBRARY_CORE, LIBRARY_MATH, LIBRARY_GROUPS, LIBRARY_ATOMICS, LIBRARY_PTX, LIBRARY_HALF,
                                             LIBRARY_STANDARD, LIBRARY_BARRIERS, LIBRARY_PIPELINES, LIBRARY_HOST};
enum { TABLE_COUNT = sizeof TABLES / sizeof *TABLES, DEVICE_TABLE_COUNT = TABLE_COUNT - 1 };

typedef struct LibraryUse { // an entry that declares a name
    const LibraryEntry *entry;
    bool *is_declared; // shared by all names of the entry
    struct LibraryUse *next;
} LibraryUse;

static void note_namespaces(Compiler *c, const char *name, size_t length) // marks each namespace prefix of a qualified name
{
    for (size_t k = 0; k + 1 < length; k++)
        if (name[k] == ':' && name[k + 1] == ':')
            name_intern(c, name, k)->is_library_space = true;
}

void library_start(Compiler *c)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        for (const LibraryEntry *e = TABLES[t]; e->names; e++) {
            bool *is_declared = compile_new(c, bool);
            for (const char *p = e->names; *p;) {
                const char *end = p;
                while (*end && *end != ' ')
                    end++;
                Name *name = name_intern(c, p, (size_t)(end - p));
                LibraryUse *use = compile_new(c, LibraryUse), **last = &name->library;
                *use = (LibraryUse){.entry = e, .is_declared = is_declared};
                while (*last)
                    last = &(*last)->next;
                *last = use;
                note_namespaces(c, p, (size_t)(end - p));
                p = end + (*end == ' ');
            }
        }
}

bool library_has_namespace(Compiler *c, const char *qualified)
{
    return !*qualified || name_intern(c, qualified, strlen(qualified))->is_library_space;
}

// ---- CUDA's vector types: float4 and make_float4

static const struct {
    const char *name, *element;
    uint8_t alignment[4];
} VECTORS[] = {
    {"char", "signed char", {1, 2, 1, 4}}, {"uchar", "unsigned char", {1, 2, 1, 4}}, {"short", "short", {2, 4, 2, 8}},
    {"ushort", "unsigned short", {2, 4, 2, 8}}, {"int", "int", {4, 8, 4, 16}}, {"uint", "unsigned int", {4, 8, 4, 16}},
    {"long", "long", {8, 16, 8, 16}}, {"ulong", "unsigned long", {8, 16, 8, 16}}, {"longlong", "long long", {8, 16, 8, 16}},
    {"ulonglong", "unsigned long long", {8, 16, 8, 16}}, {"float", "float", {4, 8, 4, 16}}, {"double", "double", {8, 16, 8, 16}},
};
enum { VECTOR_COUNT = sizeof VECTORS / sizeof *VECTORS };

static const char *vector_text(Compiler *c, const Name *name)
{
    const bool make = name->length > 5 && !memcmp(name->text, "make_", 5);
    const char *text = name->text + (make ? 5 : 0);
    const size_t length = strlen(text);
    const int elements = length > 1 ? text[length - 1] - '0' : 0;
    if (elements < 1 || elements > 4)
        return NULL;
    for (int k = 0; k < VECTOR_COUNT; k++) {
        if (strlen(VECTORS[k].name) != length - 1 || memcmp(VECTORS[k].name, text, length - 1))
            continue;
        static const char *const fields[] = {"x", "x, y", "x, y, z", "x, y, z, w"};
        const char *e = VECTORS[k].element;
        if (!make)
            return compile_format(c, "struct __align__(%d) %s { %s %s; };", VECTORS[k].alignment[elements - 1], text, e, fields[elements - 1]);
        static const char letters[] = "xyzw";
        const char *parameters = "";
        for (int j = 0; j < elements; j++)
            parameters = compile_format(c, "%s%s%s %c", parameters, j ? ", " : "", e, letters[j]);
        return compile_format(c, "__host__ __device__ inline %s %s(%s) { %s v = {%s}; return v; }", text, name->text, parameters, text, fields[elements - 1]);
    }
    return NULL;
}

// ---- built-in variables

static bool declare_variable(Compiler *c, Scope *scope, Name *name)
{
    static const struct {
        const char *name, *text, *type;
    } variables[] = {{"threadIdx", "%tid", "uint3"}, {"blockIdx", "%ctaid", "uint3"}, {"blockDim", "%ntid", "dim3"}, {"gridDim", "%nctaid", "dim3"}};
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
        if (!strcmp(variables[k].name, name->text)) {
            Symbol *type = scope_lookup(c, scope, name_intern(c, variables[k].type, strlen(variables[k].type)));
            if (!type || type->kind != SYMBOL_TYPE || type->type->kind != TYPE_RECORD)
                return false; // the source declares its own type of this name
            Symbol *symbol = scope_declare(c, scope, SYMBOL_BUILTIN, name, 0);
            symbol->type = type_qualified(c, type->type, TYPE_CONST);
            symbol->text = variables[k].text;
            return true;
        }
    if (strcmp(name->text, "warpSize"))
        return false;
    Symbol *symbol = scope_declare(c, scope, SYMBOL_CONSTANT, name, 0);
    symbol->type = type_basic(c, TYPE_INT);
    symbol->constant.integer = 32;
    return true;
}

// ---- intrinsics

static Type *signature_type(Compiler *c, const char **p)
{
    uint8_t qualifiers = 0;
    for (;; (*p)++) {
        if (**p == 'K')
            qualifiers |= TYPE_CONST;
        else if (**p == 'V')
            qualifiers |= TYPE_VOLATILE;
        else
            break;
    }
    const char letter = *(*p)++;
    Type *type;
    if (letter == 'P') {
        type = type_pointer(c, signature_type(c, p));
    } else {
        static const struct {
            char letter;
            uint8_t kind;
        } letters[] = {{'v', TYPE_VOID}, {'b', TYPE_BOOL}, {'c', TYPE_CHAR}, {'a', TYPE_SIGNED_CHAR}, {'h', TYPE_UNSIGNED_CHAR}, {'s', TYPE_SHORT},
                       {'t', TYPE_UNSIGNED_SHORT}, {'i', TYPE_INT}, {'j', TYPE_UNSIGNED}, {'l', TYPE_LONG}, {'m', TYPE_UNSIGNED_LONG},
                       {'x', TYPE_LONG_LONG}, {'y', TYPE_UNSIGNED_LONG_LONG}, {'f', TYPE_FLOAT}, {'d', TYPE_DOUBLE}};
        type = type_basic(c, TYPE_VOID);
        for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
            if (letters[k].letter == letter)
                type = type_basic(c, letters[k].kind);
    }
    return type_qualified(c, type, qualifiers);
}

static void declare_intrinsic(Compiler *c, Scope *scope, Name *name, const Intrinsic *row)
{
    enum { MAX_PARAMETERS = 16 };
    Type *types[MAX_PARAMETERS];
    uint32_t count = 0;
    const char *p = row->signature;
    Type *result = signature_type(c, &p);
    bool variadic = false;
    while (*p && count < MAX_PARAMETERS) {
        if (*p == 'z') { // variadic
            variadic = true;
            break;
        }
        types[count++] = signature_type(c, &p);
    }
    Function *f = compile_new(c, Function);
    *f = (Function){.name = name, .scope = scope, .is_device = true, .is_host = true, .intrinsic = row, .parameter_count = count, .required = count};
    f->type = type_function(c, result, types, count, variadic, 0);
    f->state = FUNCTION_PARSED;
    f->defaults = compile_allocate(c, (count + 1) * sizeof *f->defaults);
    scope_declare(c, scope, SYMBOL_FUNCTION, name, 0)->function = f;
}

static bool declare_intrinsics(Compiler *c, Scope *scope, Name *name)
{
    const Intrinsic *row = intrinsic_named(name->text, name->length);
    if (!row)
        return false;
    for (const char *own = row->name; row->name && !strcmp(row->name, own); row++)
        declare_intrinsic(c, scope, name, row);
    return true;
}

// ---- declaration on first use

static bool is_visible(Compiler *c, const LibraryEntry *e)
{
    if (e->header && !strcmp(e->header, LIBRARY_HOST_ONLY))
        return c->options->host != NULL;
    if (!e->header || c->parser->state.scope == NULL)
        return true;
    const SourceFile *file = source_file_at(c, parse_token(c)->position);
    if (!file || file->built_in) // the library's texts use each other freely
        return true;
    for (const char *p = e->header; *p;) { // any of these headers suffices
        const size_t length = strcspn(p, " ");
        if (preprocess_has_included(c, compile_copy_text(c, p, length)))
            return true;
        p += length + (p[length] == ' ');
    }
    return false;
}

// Parses the texts of all entries that declare a name, because several headers may declare overloads.
static bool declare_entries(Compiler *c, Name *name)
{
    bool declared = false;
    for (const LibraryUse *use = name->library; use; use = use->next) {
        const LibraryEntry *e = use->entry;
        if (*use->is_declared || !is_visible(c, e))
            continue;
        *use->is_declared = true;
        parse_library_text(c, source_add(c, name->text, e->text, strlen(e->text), true));
        declared = true;
    }
    return declared;
}

bool library_declare(Compiler *c, Scope *scope, Name *name)
{
    if (scope->kind != SCOPE_NAMESPACE)
        return false;
    const bool global = !*scope->qualified;
    Name *key = name;
    if (!global) {
        const char *qualified = compile_format(c, "%s::%s", scope->qualified, name->text);
        key = name_intern(c, qualified, strlen(qualified));
    }
    const LibraryUse *first = key->library;
    if (key->is_library_searched || (first && !*first->is_declared && !is_visible(c, first->entry)))
        return false;
    key->is_library_searched = true;
    bool declared = declare_entries(c, key);
    const char *vector = global && !declared ? vector_text(c, name) : NULL;
    if (vector)
        parse_library_text(c, source_add(c, name->text, vector, strlen(vector), true));
    declared |= vector != NULL;
    if (global && declare_intrinsics(c, scope, name))
        return true;
    if (global && !declared && declare_variable(c, scope, name))
        return true;
    if (!declared && key->is_library_space && !scope_find(scope, name)) {
        scope_namespace(c, scope, name, 0);
        return true;
    }
    return declared;
}

static const char *first_header(Compiler *c, const LibraryEntry *e)
{
    return e->header && strcmp(e->header, LIBRARY_HOST_ONLY) ? compile_copy_text(c, e->header, strcspn(e->header, " ")) : NULL;
}

const char *library_header_of(Compiler *c, const char *qualified)
{
    const Name *name = name_intern(c, qualified, strlen(qualified));
    if (name->library)
        return first_header(c, name->library->entry);
    const size_t length = strlen(qualified);
    for (int t = 0; t < DEVICE_TABLE_COUNT && name->is_library_space; t++) // for a namespace, the header of any of its names
        for (const LibraryEntry *e = TABLES[t]; e->names; e++)
            if (e->header && !strncmp(e->names, qualified, length) && e->names[length] == ':')
                return first_header(c, e);
    return NULL;
}

void library_visit(void (*visit)(void *context, const char *name, size_t length), void *context)
{
    for (int t = 0; t < DEVICE_TABLE_COUNT; t++)
        for (const LibraryEntry *e = TABLES[t]; e->names; e++)
            for (const char *p = e->names; *p;) {
                const size_t length = strcspn(p, " ");
                if (!memchr(p, ':', length) && !(length > 2 && p[0] == '_' && p[2] != '_' && p[1] == '_' && p[2] == 'i'))
                    visit(context, p, length);
                p += length + (p[length] == ' ');
            }
    static const char *const others[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "float2", "float4", "int2", "int4", "make_float2",
                                         "make_float4", "make_int2", "make_int4"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        visit(context, others[k], strlen(others[k]));
}
