// die.c: ends a process after an internal error.
#include "base/memory.h"

#include <stdlib.h>

enum { INTERNAL_ERROR_STATUS = 70 }; // sysexits.h: EX_SOFTWARE

void sim_die(const char *what)
{
    fprintf(stderr, "simulator: %s\n", what);
    _Exit(INTERNAL_ERROR_STATUS);
}
