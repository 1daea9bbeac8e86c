// library_groups.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_GROUPS[] = {
    {NULL, NULL, NULL},
};
