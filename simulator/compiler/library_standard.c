// library_standard.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_STANDARD[] = {
    {NULL, NULL, NULL},
};
