// names.c: demangles kernel names.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

// From the C++ runtime library, which nvcc links into every program.
char *__cxa_demangle(const char *mangled, char *text, size_t *length, int *status);

Slice sim_unqualified_name(Slice mangled)
{
    Slice plain = mangled;
    size_t at = 2;
    if (mangled.length < 3 || memcmp(mangled.text, "_Z", 2) != 0)
        return plain;
    const bool nested = mangled.text[at] == 'N'; // a sequence of names; otherwise a single one
    at += nested;
    at += mangled.text[at] == 'L'; // a static function
    while (at < mangled.length && mangled.text[at] >= '0' && mangled.text[at] <= '9') {
        size_t length = 0;
        for (; at < mangled.length && mangled.text[at] >= '0' && mangled.text[at] <= '9'; at++)
            length = length * 10 + (size_t)(mangled.text[at] - '0');
        if (length > mangled.length - at)
            return mangled;
        plain = (Slice){mangled.text + at, length};
        at += length;
        if (!nested)
            break;
        at += at < mangled.length && mangled.text[at] == 'L';
    }
    return plain;
}

// The index of the opening bracket that matches the closing one at text[at].
static size_t matching_bracket(const char *text, size_t at)
{
    int depth = 0;
    for (;; at--) {
        depth += text[at] == ')' || text[at] == '>' || text[at] == '}';
        depth -= text[at] == '(' || text[at] == '<' || text[at] == '{';
        if (depth <= 0 || at == 0)
            return at;
    }
}

// Removes return type and parameters in place: "void scale<4>(float*)" becomes "scale<4>".
static char *strip_types(char *text)
{
    size_t at = strlen(text);
    if (at > 0 && text[at - 1] == ')') {
        at = matching_bracket(text, at - 1);
        text[at] = 0;
    }
    while (at > 0 && text[at - 1] != ' ') {
        at--;
        if (text[at] == ')' || text[at] == '>' || text[at] == '}')
            at = matching_bracket(text, at);
    }
    return text + at;
}

void sim_demangle(Slice mangled, char *name, size_t size)
{
    char *copy = strndup(mangled.text, mangled.length);
    char *text =
        copy && mangled.length > 2 && memcmp(copy, "_Z", 2) == 0 ? __cxa_demangle(copy, NULL, NULL, NULL) : NULL;
    snprintf(name, size, "%s", text ? strip_types(text) : copy ? copy : "");
    free(text);
    free(copy);
}
