// readable.c: names of templates, records and functions as messages show them.
#include "compiler/build.h"

static const char *constant_text(Compiler *c, const Type *type, const Constant *value)
{
    if (value->function)
        return value->function->name ? value->function->name->text : "function";
    if (value->is_unknown)
        return "?";
    if (value->is_real)
        return compile_format(c, "%g", value->real);
    if (type && type->kind == TYPE_BOOL)
        return value->integer ? "true" : "false";
    if (type && type->kind == TYPE_ENUM) {
        const Scope *scope = type->enumeration->scoped ? type->enumeration->members : type->enumeration->scope;
        for (const Symbol *s = scope->first; s; s = s->next_in_scope)
            if (s->kind == SYMBOL_CONSTANT && s->type == type && s->constant.integer == value->integer)
                return s->name->text;
    }
    return compile_format(c, "%lld", (long long)value->integer);
}

const char *template_arguments_text(Compiler *c, const TemplateArgument *arguments, uint32_t count)
{
    const char *text = "";
    for (uint32_t k = 0; k < count; k++) {
        const TemplateArgument *a = &arguments[k];
        const char *one = a->is_pack    ? template_arguments_text(c, a->pack, a->pack_count)
                          : a->type     ? type_text(c, a->type)
                          : a->template ? a->template->name->text
                                        : constant_text(c, a->value_type, &a->value);
        text = compile_format(c, "%s%s%s", text, k && *one ? ", " : "", one);
    }
    return text;
}

const char *template_readable(Compiler *c, Template *t, const TemplateArgument *arguments, uint32_t count)
{
    return compile_format(c, "%s<%s>", t->name ? t->name->text : "template", template_arguments_text(c, arguments, count));
}

const char *record_readable(Compiler *c, Record *r)
{
    if (!r->readable)
        r->readable = r->template ? template_readable(c, r->template, r->arguments, r->argument_count) : r->name ? r->name->text : "unnamed struct";
    return r->readable;
}

const char *function_readable(Compiler *c, const Function *f)
{
    const char *name = f->name ? f->name->text : "function";
    if (f->record && !f->is_constructor && !f->is_lambda)
        name = compile_format(c, "%s::%s", record_readable(c, f->record), name);
    if (f->template && f->arguments)
        name = compile_format(c, "%s<%s>", name, template_arguments_text(c, f->arguments, f->argument_count));
    const char *list = "";
    for (uint32_t k = 0; k < f->type->parameter_count; k++) {
        const Variable *v = k < f->parameter_count && f->parameters ? f->parameters[k] : NULL;
        const char *parameter_name = v && v->name ? compile_format(c, " %s", v->name->text) : "";
        list = compile_format(c, "%s%s%s%s", list, k ? ", " : "", type_text(c, f->type->parameters[k]), parameter_name);
    }
    return compile_format(c, "%s(%s%s)", name, list, f->type->variadic ? ", ..." : "");
}
