// library_barriers.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_BARRIERS[] = {
    {NULL, NULL, NULL},
};
