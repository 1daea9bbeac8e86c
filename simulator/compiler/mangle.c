// mangle.c: mangled names of functions and variables (Itanium C++ ABI, as in nvcc's PTX).
#include "compiler/mangle.h"

#include <string.h>

enum { MAX_SUBSTITUTIONS = 128, MAX_MANGLED = 4000 };

typedef struct Mangler {
    Compiler *compiler;
    char text[MAX_MANGLED + 1];
    size_t length;
    const void *substitutions[MAX_SUBSTITUTIONS]; // the entities that S_, S0_, ... stand for: types, records, scopes, templates
    uint32_t substitution_count;
    uint32_t depth;
} Mangler;

static void put(Mangler *m, const char *text)
{
    const size_t length = strlen(text);
    if (m->length + length > MAX_MANGLED)
        return; // truncated: names of this length are distinct already
    memcpy(m->text + m->length, text, length);
    m->length += length;
}

// PTX names are ASCII: each other byte becomes $ and two hexadecimal digits.
static const char *ptx_name(Compiler *c, const Name *name)
{
    char *text = compile_allocate(c, 3 * name->length + 1), *to = text;
    for (const char *from = name->text; *from; from++)
        if ((unsigned char)*from < 128)
            *to++ = *from;
        else
            to += sprintf(to, "$%02x", (unsigned char)*from);
    return text;
}

static void put_name(Mangler *m, const Name *name)
{
    const char *text = ptx_name(m->compiler, name);
    put(m, compile_format(m->compiler, "%zu%s", strlen(text), text));
}

// ---- substitutions

static bool put_substitution(Mangler *m, const void *thing)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (uint32_t k = 0; k < m->substitution_count; k++)
        if (m->substitutions[k] == thing) {
            char text[8] = "S_";
            if (k > 36) {
                snprintf(text, sizeof text, "S%c%c_", digits[(k - 1) / 36 % 36], digits[(k - 1) % 36]);
            } else if (k > 0) {
                text[1] = digits[k - 1];
                text[2] = '_';
            }
            put(m, text);
            return true;
        }
    return false;
}

static void add_substitution(Mangler *m, const void *thing)
{
    if (m->substitution_count < MAX_SUBSTITUTIONS)
        m->substitutions[m->substitution_count++] = thing;
}

// ---- names

static void put_type(Mangler *m, Type *type);

static void put_value(Mangler *m, Type *type, const Constant *value)
{
    if (value->function) {
        put(m, "XadL");
        put(m, mangle_function(m->compiler, value->function));
        put(m, "EE");
        return;
    }
    put(m, "L");
    put_type(m, type);
    const bool negative = !value->is_real && value->integer < 0 && type_is_signed(type);
    put(m, compile_format(m->compiler, negative ? "n%llu" : "%llu", negative ? 0ull - (unsigned long long)value->integer : (unsigned long long)value->integer));
    put(m, "E");
}

static void put_arguments(Mangler *m, const TemplateArgument *arguments, uint32_t count, bool is_pack)
{
    put(m, is_pack ? "J" : "I");
    for (uint32_t k = 0; k < count; k++) {
        if (arguments[k].is_pack)
            put_arguments(m, arguments[k].pack, arguments[k].pack_count, true);
        else if (arguments[k].type)
            put_type(m, arguments[k].type);
        else if (arguments[k].template)
            put_name(m, arguments[k].template->name);
        else
            put_value(m, arguments[k].value_type, &arguments[k].value);
    }
    put(m, "E");
}

static const Scope *named_scope(const Scope *scope) // the innermost enclosing namespace or record; NULL: the global namespace
{
    while (scope && !((scope->kind == SCOPE_NAMESPACE && (scope->parent || scope->is_unnamed)) || scope->kind == SCOPE_RECORD))
        scope = scope->parent;
    return scope;
}

static void put_record_name(Mangler *m, const Record *r)
{
    if (r->name)
        put_name(m, r->name);
    else
        put(m, r->is_closure ? "UlvE_" : "Ut_");
}

// Appends the enclosing scopes of a name, outermost first, as components of N...E.
static void put_scope(Mangler *m, const Scope *scope)
{
    scope = named_scope(scope);
    if (!scope || m->depth > MAX_NESTING)
        return;
    const void *key = scope->kind == SCOPE_RECORD ? (const void *)scope->record->type : scope;
    if (put_substitution(m, key))
        return;
    m->depth++;
    put_scope(m, scope->parent);
    m->depth--;
    if (scope->kind == SCOPE_NAMESPACE && scope->is_unnamed) {
        put(m, "12_GLOBAL__N_1");
    } else if (scope->kind == SCOPE_NAMESPACE) {
        put_name(m, scope->name);
    } else {
        const Record *r = scope->record;
        if (r->template) {
            if (!put_substitution(m, r->template)) {
                put_record_name(m, r);
                add_substitution(m, r->template);
            }
            put_arguments(m, r->arguments, r->argument_count, false);
        } else {
            put_record_name(m, r);
        }
    }
    add_substitution(m, key);
}

static void put_local_function(Mangler *m, Function *f)
{
    put(m, "Z");
    put(m, mangle_function(m->compiler, f) + 2); // without _Z
    put(m, "E");
}

static void put_record(Mangler *m, Record *r)
{
    const Scope *outer = named_scope(r->scope->parent);
    if (put_substitution(m, r->type))
        return;
    if (r->function && !r->template && r->function->type) {
        put_local_function(m, r->function);
        put_record_name(m, r);
        add_substitution(m, r->type);
        return;
    }
    const bool nested = outer && !(r->template && outer->kind == SCOPE_TEMPLATE);
    if (nested)
        put(m, "N"), put_scope(m, outer);
    if (!r->template) {
        put_record_name(m, r);
    } else {
        if (nested || !put_substitution(m, r->template)) {
            put_record_name(m, r);
            add_substitution(m, r->template);
        }
        put_arguments(m, r->arguments, r->argument_count, false);
    }
    if (nested)
        put(m, "E");
    add_substitution(m, r->type);
}

// ---- types

static const char *basic_letter(TypeKind kind)
{
    static const char letters[][3] = {[TYPE_VOID] = "v", [TYPE_BOOL] = "b", [TYPE_CHAR] = "c", [TYPE_SIGNED_CHAR] = "a", [TYPE_UNSIGNED_CHAR] = "h",
                                      [TYPE_SHORT] = "s", [TYPE_UNSIGNED_SHORT] = "t", [TYPE_INT] = "i", [TYPE_UNSIGNED] = "j", [TYPE_LONG] = "l",
                                      [TYPE_UNSIGNED_LONG] = "m", [TYPE_LONG_LONG] = "x", [TYPE_UNSIGNED_LONG_LONG] = "y", [TYPE_FLOAT] = "f",
                                      [TYPE_DOUBLE] = "d", [TYPE_NULLPTR] = "Dn"};
    return kind <= TYPE_NULLPTR ? letters[kind] : NULL;
}

static void put_qualifiers(Mangler *m, uint8_t qualifiers)
{
    if (qualifiers & TYPE_RESTRICT)
        put(m, "r");
    if (qualifiers & TYPE_VOLATILE)
        put(m, "V");
    if (qualifiers & TYPE_CONST)
        put(m, "K");
}

static void put_enumeration(Mangler *m, Type *type)
{
    const Enumeration *e = type->enumeration;
    const Scope *outer = named_scope(e->scope);
    if (outer)
        put(m, "N"), put_scope(m, outer);
    if (e->name)
        put_name(m, e->name);
    else
        put(m, "Ut_");
    if (outer)
        put(m, "E");
}

// `expanded`: the argument is a pack expansion.
static void put_dependent_argument(Mangler *m, const TemplateArgument *a, bool expanded)
{
    const Symbol *symbol = a->dependent && a->dependent->kind == EXPRESSION_UNKNOWN ? a->dependent->symbol : NULL;
    if (a->is_pack) {
        put(m, "J");
        for (uint32_t k = 0; k < a->pack_count; k++)
            put_dependent_argument(m, &a->pack[k], k + 1 == a->pack_count);
        put(m, "E");
    } else if (a->type) {
        put(m, expanded && a->type->kind == TYPE_PARAMETER ? "Dp" : "");
        put_type(m, a->type);
    } else if (symbol) { // its constant is the parameter's index (parse_templates.c)
        put(m, expanded ? "Xsp" : "X");
        put(m, compile_format(m->compiler, symbol->constant.integer ? "T%lld_E" : "T_E", (long long)symbol->constant.integer - 1));
    } else if (a->template) {
        put_name(m, a->template->name);
    } else {
        put_value(m, a->value_type, &a->value);
    }
}

static void put_dependent(Mangler *m, Type *type)
{
    if (type->kind == TYPE_PARAMETER) {
        put(m, type->index ? compile_format(m->compiler, "T%u_", type->index - 1) : "T_");
    } else if (type->kind == TYPE_MEMBER) {
        put(m, "N");
        put_type(m, type->member.scope);
        put_name(m, type->member.name);
        put(m, "E");
    } else {
        const Template *t = type->instance.template;
        const Scope *outer = named_scope(t->scope);
        if (outer)
            put(m, "N"), put_scope(m, outer);
        if (outer || !put_substitution(m, t)) {
            put_name(m, t->name);
            add_substitution(m, t);
        }
        put(m, "I");
        for (uint32_t k = 0; k < type->instance.argument_count; k++)
            put_dependent_argument(m, &type->instance.arguments[k], false);
        put(m, outer ? "EE" : "E");
    }
}

static void put_type(Mangler *m, Type *type)
{
    const char *letter = basic_letter(type->kind);
    if (++m->depth > MAX_NESTING) {
        m->depth--;
        return;
    }
    const uint8_t qualifiers = type->qualifiers;
    if (letter && !qualifiers) {
        put(m, letter);
    } else if (type->kind == TYPE_RECORD && !qualifiers) {
        put_record(m, type->record);
    } else if (!put_substitution(m, type)) {
        if (qualifiers) {
            put_qualifiers(m, qualifiers);
            put_type(m, type_bare(type));
        } else if (type->kind == TYPE_POINTER || type_is_any_reference(type)) {
            put(m, type->kind == TYPE_POINTER ? "P" : type->kind == TYPE_REFERENCE ? "R" : "O");
            put_type(m, type->target);
        } else if (type->kind == TYPE_ARRAY) {
            put(m, type->count == NO_SIZE ? "A_" : compile_format(m->compiler, "A%llu_", (unsigned long long)type->count));
            put_type(m, type->target);
        } else if (type->kind == TYPE_FUNCTION) {
            put(m, "F");
            put_type(m, type->target);
            for (uint32_t k = 0; k < type->parameter_count; k++)
                put_type(m, type->parameters[k]);
            put(m, type->parameter_count ? "E" : "vE");
        } else if (type->kind == TYPE_ENUM) {
            put_enumeration(m, type);
        } else if (type->kind >= TYPE_PARAMETER) {
            put_dependent(m, type);
        } else {
            put(m, "v");
        }
        add_substitution(m, type);
    }
    m->depth--;
}

// ---- functions and variables

static Mangler *mangler_new(Compiler *c)
{
    Mangler *m = compile_new(c, Mangler);
    m->compiler = c;
    return m;
}

static void put_parameters(Mangler *m, const Function *f)
{
    const Type *type = f->type;
    for (uint32_t k = 0; k < type->parameter_count; k++) {
        const bool is_pack = f->is_pattern && k + 1 == f->parameter_count && f->parameters[k]->is_pack;
        put(m, is_pack ? "Dp" : "");
        put_type(m, type_bare(type->parameters[k]));
    }
    if (type->variadic)
        put(m, "z");
    else if (!type->parameter_count)
        put(m, "v");
}

// The scope in the names of internal symbols. As in nvcc's, it contains a file id; the ids themselves differ.
static const Scope *internal_scope(Compiler *c, bool is_static)
{
    if (!is_static)
        return NULL;
    Scope *scope = scope_new(c, SCOPE_NAMESPACE, NULL);
    const char *file = c->files[0]->name, *slash = strrchr(file, '/');
    file = slash ? slash + 1 : file;
    char *text = compile_format(c, "_INTERNAL_00000000_%zu_%s_00000000", strlen(file), file);
    for (char *p = text; *p; p++)
        if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
            *p = '_';
    scope->name = name_intern(c, text, strlen(text));
    return scope;
}

const char *mangle_function(Compiler *c, Function *f)
{
    if (f->mangled)
        return f->mangled;
    if (f->is_extern_c)
        return f->mangled = ptx_name(c, f->name);
    Mangler *m = mangler_new(c);
    const Scope *outer = named_scope(f->scope);
    put(m, "_Z");
    if (outer) {
        put(m, "N");
        if (f->type->member_const)
            put(m, "K");
        put_scope(m, outer);
    }
    if (f->is_constructor)
        put(m, "C1");
    else if (f->name)
        put_name(m, f->name);
    if (f->template) {
        add_substitution(m, f->template);
        put_arguments(m, f->arguments, f->argument_count, false);
    }
    if (outer)
        put(m, "E");
    // The mangled signature of a template instance is that of the template, with T_ for its parameters, and includes the result type.
    const Function *pattern = f->template ? f->template->pattern : NULL;
    if (pattern && !f->is_constructor && !f->is_conversion) {
        put_type(m, pattern->type->target);
        put_parameters(m, pattern);
    } else {
        put_parameters(m, f);
    }
    return f->mangled = compile_copy_text(c, m->text, m->length);
}

const char *mangle_variable(Compiler *c, const Variable *v)
{
    Mangler *m = mangler_new(c);
    if (v->function && v->scope && v->scope->kind != SCOPE_NAMESPACE && v->scope->kind != SCOPE_RECORD) {
        put(m, "_ZZ");
        put(m, mangle_function(c, v->function) + (v->function->is_extern_c ? 0 : 2));
        put(m, "E");
        put_name(m, v->name);
        if (v->order)
            put(m, compile_format(c, v->order > 1 ? "_%u" : "_0", v->order - 1));
        return compile_copy_text(c, m->text, m->length);
    }
    const Scope *outer = named_scope(v->scope);
    if (!outer) // also for a static variable, as in nvcc
        return ptx_name(c, v->name);
    put(m, "_ZN");
    if (v->is_static && outer->kind == SCOPE_NAMESPACE)
        put_name(m, internal_scope(c, true)->name);
    put_scope(m, outer);
    put_name(m, v->name);
    put(m, "E");
    return compile_copy_text(c, m->text, m->length);
}
