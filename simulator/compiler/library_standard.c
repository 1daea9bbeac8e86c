// library_standard.c
#include "compiler/library_text.h"

const LibraryEntry LIBRARY_STANDARD[] = {
    {NULL, NULL, NULL},
};
