// Quotation marks from a word processor.
// error 8:12: a typographic quotation mark
// help: write " instead
#include <cstdio>

__global__ void hello()
{
    printf(“hello\n”);
}
