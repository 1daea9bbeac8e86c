// library_groups.c
#include "compiler/library_text.h"

const LibraryEntry LIBRARY_GROUPS[] = {
    {NULL, NULL, NULL},
};
