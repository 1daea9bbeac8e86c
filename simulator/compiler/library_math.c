// library_math.c
#include "compiler/library_text.h"

const LibraryEntry LIBRARY_MATH[] = {
    {NULL, NULL, NULL},
};
