// library_barriers.c
#include "compiler/library_text.h"

const LibraryEntry LIBRARY_BARRIERS[] = {
    {NULL, NULL, NULL},
};
