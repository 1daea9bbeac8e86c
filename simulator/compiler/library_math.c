// library_math.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_MATH[] = {
    {NULL, NULL, NULL},
};
