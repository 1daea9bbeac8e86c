// library_atomics.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_ATOMICS[] = {
    {NULL, NULL, NULL},
};
