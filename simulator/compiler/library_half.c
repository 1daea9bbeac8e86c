// library_half.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_HALF[] = {
    {NULL, NULL, NULL},
};
