// library_half.c
#include "compiler/library_text.h"

const LibraryEntry LIBRARY_HALF[] = {
    {NULL, NULL, NULL},
};
