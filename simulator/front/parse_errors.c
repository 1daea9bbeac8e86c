// parse_errors.c: errors of the parser, positions in the text to return to, and handlers.
#include "front/parser.h"

#include <stdarg.h>
#include <string.h>

_Noreturn void sim_fail(Parser *p, const char *format, ...)
{
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(p->error, sizeof p->error, "PTX line %d: %s", p->token.line, what);
    longjmp(*p->on_error, 1);
}

_Noreturn void sim_rethrow(Parser *p)
{
    longjmp(*p->on_error, 1);
}

const char *sim_copy_error(Parser *p)
{
    const size_t bytes = strlen(p->error) + 1;
    return memcpy(sim_allocate(&p->module->arena, bytes), p->error, bytes);
}

Position sim_position(const Parser *p)
{
    return (Position){p->at, p->line, p->nesting, p->token};
}

void sim_restore_position(Parser *p, const Position *position)
{
    p->at = position->at;
    p->line = position->line;
    p->nesting = position->nesting;
    p->token = position->token;
}

bool sim_parse_catching(Parser *p, void (*parse)(Parser *, void *), void *what)
{
    jmp_buf *const outer = p->on_error;
    jmp_buf here;
    p->on_error = &here;
    const bool failed = setjmp(here) != 0;
    if (!failed)
        parse(p, what);
    p->on_error = outer;
    return !failed;
}
